"""The operations of Kina beside their meaning in JAX: one row an operation.

A row names the operation, how it is written in Kina, the same in JAX, and the
signatures it is compiled and run with. A signature reads

    x: T[M, K]; i: I32[N] -> T[M, N] | M=3 K=4 N=5 | M=1 K=1 N=1

parameters, result, and one set of sizes for every run of the compiled function.
T is the float type under test (F64, then F32). Sizes that appear as numbers are
static. A signature without sizes runs once.
"""

import dataclasses
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np

INF, NAN = np.inf, np.nan


@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    kina: str                      # an expression of the parameters
    jax: Callable                  # the same; takes the parameters in order
    signatures: tuple
    domain: dict = dataclasses.field(default_factory=dict)   # parameter -> (low, high)
    data: dict = dataclasses.field(default_factory=dict)     # parameter -> its value, instead of a random one
    derivative: bool = True        # compare the derivatives as well
    second: bool = True            # and the second one
    zero: bool = False             # the derivative is 0 by definition
    smooth: bool = True            # differences approach the derivative at these points
    types: tuple = ("F64", "F32")  # what T stands for
    tolerance: dict = dataclasses.field(default_factory=dict)


FAMILIES: dict[str, list[Operation]] = {}


def rows(family):
    table = FAMILIES.setdefault(family, [])

    def add(name, kina, function, signatures, **options):
        if isinstance(signatures, str):
            signatures = (signatures,)
        table.append(Operation(name, kina, function, tuple(signatures), **options))
    return add


# ---------------------------------------------------------------------------
# Element-wise, one operand
# ---------------------------------------------------------------------------
row = rows("unary")
SHAPES = ("x: T -> T", "x: T[N] -> T[N] | N=17 | N=1", "x: T[A, 1, 3] -> T[A, 1, 3] | A=2")
SPECIAL = "x: T[N] -> T[N] | N=8"
SPECIAL_VALUES = np.array([0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 1e-30])


@jax.custom_jvp
def sigmoid(x):
    """jax.nn.sigmoid, whose own derivative s*(1 - s) is 0 where 1 - s rounds to 0."""
    return jax.nn.sigmoid(x)


sigmoid.defjvps(lambda tangent, value, x: tangent * jax.nn.sigmoid(x) * jax.nn.sigmoid(-x))


def exact_gelu(x):
    return 0.5 * x * (1 + jax.scipy.special.erf(x / np.sqrt(2.0)))


def unary(name, function, low=-3.0, high=3.0, kina=None, special=True, **options):
    row(name, kina or f"{name}(x)", function, SHAPES, domain={"x": (low, high)}, **options)
    if special:
        row(f"{name}: special values", kina or f"{name}(x)", function, SPECIAL, data={"x": SPECIAL_VALUES},
            derivative=False)


unary("neg", jnp.negative, kina="-x")
unary("abs", jnp.abs)
unary("sign", jnp.sign, zero=True)
unary("square", jnp.square)
unary("sqrt", jnp.sqrt, 0.1, 9)
unary("rsqrt", lambda x: 1 / jnp.sqrt(x), 0.1, 9, special=False)
unary("exp", jnp.exp)
unary("expm1", jnp.expm1)
unary("log", jnp.log, 0.05, 9)
unary("log1p", jnp.log1p, -0.9, 9)
unary("sin", jnp.sin, -7, 7)
unary("cos", jnp.cos, -7, 7)
unary("tan", jnp.tan, -1.4, 1.4)
unary("asin", jnp.arcsin, -0.95, 0.95)
unary("acos", jnp.arccos, -0.95, 0.95)
unary("atan", jnp.arctan)
unary("sinh", jnp.sinh)
unary("cosh", jnp.cosh)
unary("tanh", jnp.tanh)
unary("sigmoid", sigmoid, -8, 8)
unary("log_sigmoid", jax.nn.log_sigmoid, -8, 8)
unary("softplus", jax.nn.softplus, -8, 8)
unary("silu", lambda x: x * jax.nn.sigmoid(x), -8, 8, special=False)
unary("relu", lambda x: jnp.where(x > 0, x, jnp.where(x != x, x, 0)))
unary("gelu", exact_gelu, special=False)
unary("gelu, tanh", lambda x: jax.nn.gelu(x, approximate=True), kina="gelu(x, form=tanh)", special=False)
unary("erf", jax.scipy.special.erf)
unary("floor", jnp.floor, zero=True)
unary("ceil", jnp.ceil, zero=True)
unary("round", jnp.round, zero=True)

row("round: ties to even", "round(x)", jnp.round, "x: T[N] -> T[N] | N=7",
    data={"x": np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3.5, -2.5])}, zero=True, smooth=False)
row("relu: at 0", "relu(x)", jax.nn.relu, "x: T[N] -> T[N] | N=3", data={"x": np.array([0.0, -0.0, 2.0])}, smooth=False)
row("abs: at 0", "abs(x)", lambda x: jnp.where(x == 0, 0.0, jnp.abs(x)), "x: T[N] -> T[N] | N=3", data={"x": np.array([0.0, -2.0, 2.0])}, smooth=False)
row("exp: large", "exp(x)", jnp.exp, "x: T[N] -> T[N] | N=6", data={"x": np.array([-87.0, 80.0, 710.0, -760.0, 1e4, -1e4])},
    types=("F64",), derivative=False)
row("sin: large", "sin(x)", jnp.sin, "x: T[N] -> T[N] | N=4", data={"x": np.array([1e3, -1e4, 12345.678, 1e5])},
    smooth=False, types=("F64",))
row("sigmoid: far out", "sigmoid(x)", sigmoid, "x: T[N] -> T[N] | N=4", data={"x": np.array([-80.0, 80.0, -30.0, 40.0])})
row("softplus: far out", "softplus(x)", jax.nn.softplus, "x: T[N] -> T[N] | N=4", data={"x": np.array([-80.0, 80.0, -30.0, 800.0])})
# JAX's second derivative cancels there.
row("log_sigmoid: far out", "log_sigmoid(x)", jax.nn.log_sigmoid, "x: T[N] -> T[N] | N=4",
    data={"x": np.array([-80.0, 80.0, -30.0, -800.0])}, second=False)
row("expm1: near 0", "expm1(x)", jnp.expm1, "x: T[N] -> T[N] | N=3", data={"x": np.array([1e-12, -1e-9, 1e-5])})
row("log1p: near 0", "log1p(x)", jnp.log1p, "x: T[N] -> T[N] | N=3", data={"x": np.array([1e-12, -1e-9, 1e-5])})
# (1 - y)(1 + y) is exact far out; its derivative has the absolute error of 1 near 0.
row("tanh: near 0", "tanh(x)", jnp.tanh, "x: T[N] -> T[N] | N=4", data={"x": np.array([1e-12, -1e-9, 1e-5, 20.0])},
    second=False)
row("isnan", "isnan(x)", jnp.isnan, "x: T[N] -> Bool[N] | N=8", data={"x": SPECIAL_VALUES})
row("isfinite", "isfinite(x)", jnp.isfinite, "x: T[N] -> Bool[N] | N=8", data={"x": SPECIAL_VALUES})
row("not", "not x", jnp.logical_not, "x: Bool[N] -> Bool[N] | N=9", types=("F64",))
for integer in ("I32", "I64"):
    for name, function in (("neg", jnp.negative), ("abs", jnp.abs), ("sign", jnp.sign), ("square", jnp.square)):
        row(f"{name}, {integer}", f"{name}(x)", function, f"x: {integer}[N] -> {integer}[N] | N=9", types=("F64",))

# ---------------------------------------------------------------------------
# Element-wise, two operands and more
# ---------------------------------------------------------------------------
row = rows("binary")
BROADCASTS = ("x: T; y: T -> T",
              "x: T[N]; y: T[N] -> T[N] | N=9 | N=1",
              "x: T; y: T[M, N] -> T[M, N] | M=2 N=3",
              "x: T[B, M, N]; y: T[N] -> T[B, M, N] | B=2 M=3 N=4",
              "x: T[M, 1]; y: T[1, N] -> T[M, N] | M=3 N=4 | M=1 N=1",
              "x: T[M, 1]; y: T[B, 1, 3] -> T[B, M, 3] | B=2 M=2")
FEW = BROADCASTS[1:2] + BROADCASTS[4:5]


def binary(name, kina, function, signatures=BROADCASTS, **options):
    row(name, kina, function, signatures, **options)


POSITIVE = {"x": (0.3, 3.0), "y": (0.3, 3.0)}
binary("add", "x + y", jnp.add)
binary("sub", "x - y", jnp.subtract)
binary("mul", "x * y", jnp.multiply)
binary("div", "x / y", jnp.divide, domain=POSITIVE)
binary("mod", "x % y", jnp.mod, FEW, domain={"x": (-5, 5), "y": (0.7, 1.3)}, tolerance={"F32": 2e-5})
binary("mod, negative divisor", "x % y", jnp.mod, FEW[:1], domain={"x": (-5, 5), "y": (-1.3, -0.7)}, tolerance={"F32": 2e-5})
binary("pow", "x ** y", jnp.power, domain=POSITIVE)
binary("pow, literal 2", "x ** 2", lambda x: x * x, "x: T[N] -> T[N] | N=7")
binary("pow, literal 3.0", "x ** 3.0", lambda x: x * x * x, "x: T[N] -> T[N] | N=7")
binary("pow, literal -1", "x ** -1", lambda x: 1 / x, "x: T[N] -> T[N] | N=7", domain={"x": (0.5, 2)})
binary("pow, literal 0.5", "x ** 0.5", jnp.sqrt, "x: T[N] -> T[N] | N=7", domain={"x": (0.5, 2)})
binary("pow, literal base", "2.0 ** x", jnp.exp2, "x: T[N] -> T[N] | N=7")
binary("min", "min(x, y)", jnp.minimum)
binary("max", "max(x, y)", jnp.maximum)
binary("atan2", "atan2(x, y)", jnp.arctan2)
binary("literal on the left", "1.5 - x", lambda x: 1.5 - x, "x: T[N] -> T[N] | N=5")
binary("literal on the right", "x / 3", lambda x: x / 3, "x: T[N] -> T[N] | N=5")
TIES = {"x": np.array([2.0, 2.0, 2.0, NAN, 1.0]), "y": np.array([1.0, 2.0, 3.0, 1.0, NAN])}
binary("min: ties and NaN", "min(x, y)", jnp.minimum, "x: T[N]; y: T[N] -> T[N] | N=5", data=TIES, smooth=False)
binary("max: ties and NaN", "max(x, y)", jnp.maximum, "x: T[N]; y: T[N] -> T[N] | N=5", data=TIES, smooth=False)
binary("same operand twice", "x * x + sin(x) * x", lambda x: x * x + jnp.sin(x) * x, "x: T[N] -> T[N] | N=6")

COMPARED = {"x": np.array([1.0, 2.0, NAN, -0.0, INF]), "y": np.array([2.0, 2.0, 1.0, 0.0, INF])}
for symbol, function in (("==", jnp.equal), ("!=", jnp.not_equal), ("<", jnp.less), ("<=", jnp.less_equal),
                         (">", jnp.greater), (">=", jnp.greater_equal)):
    row(f"compare {symbol}", f"x {symbol} y", function, "x: T[N]; y: T[N] -> Bool[N] | N=5", data=COMPARED)
    row(f"compare {symbol}, I32", f"x {symbol} y", function, "x: I32[M, 1]; y: I32[4] -> Bool[M, 4] | M=3",
        domain={"x": (-2, 2), "y": (-2, 2)}, types=("F64",))
row("and", "x and y", jnp.logical_and, "x: Bool[N]; y: Bool[N] -> Bool[N] | N=9", types=("F64",))
row("or", "x or y", jnp.logical_or, "x: Bool[N]; y: Bool[N] -> Bool[N] | N=9", types=("F64",))

for integer in ("I32", "I64"):
    pair = f"x: {integer}[N]; y: {integer}[N] -> {integer}[N] | N=24"
    options = dict(types=("F64",), domain={"x": (-50, 50), "y": (1, 9)})
    by_negative = dict(types=("F64",), domain={"x": (-50, 50), "y": (-9, -1)})
    for symbol, name, function in (("+", "add", jnp.add), ("-", "sub", jnp.subtract), ("*", "mul", jnp.multiply),
                                   ("/", "div", jnp.floor_divide), ("%", "mod", jnp.mod)):
        row(f"{name}, {integer}", f"x {symbol} y", function, pair, **options)
    row(f"div by negative, {integer}", "x / y", jnp.floor_divide, pair, **by_negative)
    row(f"mod by negative, {integer}", "x % y", jnp.mod, pair, **by_negative)
    row(f"pow, {integer}", "x ** y", jnp.power, pair, types=("F64",), domain={"x": (-5, 6), "y": (0, 6)})
    row(f"min, {integer}", "min(x, y)", jnp.minimum, pair, **options)
    row(f"max, {integer}", "max(x, y)", jnp.maximum, pair, **options)
    for name, function in (("bit_and", jnp.bitwise_and), ("bit_or", jnp.bitwise_or), ("bit_xor", jnp.bitwise_xor),
                           ("shift_left", jnp.left_shift), ("shift_right", jnp.right_shift)):
        row(f"{name}, {integer}", f"{name}(x, y)", function, pair, **options)
row("add wraps, I32", "x + y", jnp.add, "x: I32[2]; y: I32[2] -> I32[2]", types=("F64",),
    data={"x": np.array([2**31 - 1, -2**31]), "y": np.array([1, -1])})

# ---------------------------------------------------------------------------
# Choice and conversion
# ---------------------------------------------------------------------------
row = rows("choice")
row("select", "select(c, x, y)", jnp.where,
    ("c: Bool[N]; x: T[N]; y: T[N] -> T[N] | N=9", "c: Bool[M, N]; x: T[N]; y: T -> T[M, N] | M=3 N=4",
     "c: Bool; x: T[N]; y: T[N] -> T[N] | N=3"))
row("where", "where(x > y, x, 2.0 * y)", lambda x, y: jnp.where(x > y, x, 2 * y), "x: T[N]; y: T[N] -> T[N] | N=9")
row("if on a mask", "if (x > 0.0) { x } else { 0.5 * x }", lambda x: jnp.where(x > 0, x, 0.5 * x), "x: T[N] -> T[N] | N=9")
row("clamp", "clamp(x, lo, hi)", jnp.clip, ("x: T[N]; lo: T; hi: T -> T[N] | N=20", "x: T; lo: T; hi: T -> T"),
    domain={"x": (-3, 3), "lo": (-1.5, -0.5), "hi": (0.5, 1.5)})
row("copy", "copy(x)", lambda x: x, "x: T[N] -> T[N] | N=4")
row("detach", "detach(x) * x", lambda x: jax.lax.stop_gradient(x) * x, "x: T[N] -> T[N] | N=4", smooth=False)
row("cast", "cast(x, F64)", lambda x: x, "x: T[N] -> F64[N] | N=5", types=("F32",))
row("cast F64 to F32", "cast(x, F32)", lambda x: x, "x: F64[N] -> F32[N] | N=5", types=("F32",), smooth=False)
for integer in ("I8", "U8", "I32", "I64"):
    row(f"cast {integer} to float", "cast(x, T)", lambda x: x.astype(jnp.float64), f"x: {integer}[N] -> T[N] | N=9",
        domain={"x": (0, 100)})
row("cast Bool to float", "cast(x, T)", lambda x: x.astype(jnp.float64), "x: Bool[N] -> T[N] | N=9")
row("cast I32 to I64", "cast(x, I64)", lambda x: x.astype(jnp.int64), "x: I32[N] -> I64[N] | N=9", types=("F64",))
row("cast I64 to I32", "cast(x, I32)", lambda x: x.astype(jnp.int32), "x: I64[N] -> I32[N] | N=9", types=("F64",))
for integer, low, high in (("I32", -2**31, 2**31 - 1), ("I64", -2**63, 2**63 - 1), ("I8", -128, 127), ("U8", 0, 255)):
    # Saturates; NaN gives 0.
    values = np.array([low if x < low else high if x > high else int(x) for x in (1.9, -1.9, 0.0, 300.0, -300.0, 1e20, -1e20)]
                      + [0, high], dtype=np.uint8 if integer == "U8" else np.dtype(f"i{int(integer[1:]) // 8}"))
    row(f"cast float to {integer}", f"cast(x, {integer})", lambda x, values=values: jnp.asarray(values), f"x: T[9] -> {integer}[9]",
        data={"x": np.array([1.9, -1.9, 0.0, 300.0, -300.0, 1e20, -1e20, NAN, INF])})

# ---------------------------------------------------------------------------
# Contraction
# ---------------------------------------------------------------------------
row = rows("contraction")
row("matmul", "x @ y", jnp.matmul, (
    "x: T[M, K]; y: T[K, N] -> T[M, N] | M=3 K=4 N=5 | M=1 K=1 N=1 | M=33 K=70 N=17",
    "x: T[2, 3]; y: T[3, 4] -> T[2, 4]",
    "x: T[M, 1]; y: T[1, N] -> T[M, N] | M=3 N=4",
    "x: T[K]; y: T[K] -> T | K=7 | K=1",
    "x: T[M, K]; y: T[K] -> T[M] | M=3 K=4",
    "x: T[K]; y: T[K, N] -> T[N] | K=4 N=3",
    "x: T[B, M, K]; y: T[B, K, N] -> T[B, M, N] | B=2 M=3 K=4 N=5",
    "x: T[B, M, K]; y: T[K, N] -> T[B, M, N] | B=2 M=3 K=4 N=5",
    "x: T[M, K]; y: T[B, K, N] -> T[B, M, N] | B=2 M=3 K=4 N=5",
    "x: T[B, M, K]; y: T[K] -> T[B, M] | B=2 M=3 K=4",
    "x: T[K]; y: T[B, K, N] -> T[B, N] | B=2 K=4 N=3",
    "x: T[A, B, M, K]; y: T[A, B, K, N] -> T[A, B, M, N] | A=2 B=3 M=2 K=3 N=2",
    "x: T[A, 1, M, K]; y: T[B, K, N] -> T[A, B, M, N] | A=2 B=3 M=2 K=3 N=2"))
row("matmul, written out", "matmul(x, y)", jnp.matmul, "x: T[M, K]; y: T[K, N] -> T[M, N] | M=3 K=4 N=5")
row("matmul with its own transpose", "x @ transpose(x)", lambda x: x @ x.T, "x: T[M, K] -> T[M, M] | M=3 K=4")
row("matmul of transposes", "transpose(x) @ transpose(y)", lambda x, y: x.T @ y.T, "x: T[K, M]; y: T[N, K] -> T[M, N] | M=3 K=4 N=5")
row("dot", "dot(x, y)", jnp.dot, "x: T[K]; y: T[K] -> T | K=9 | K=1")
row("outer", "outer(x, y)", jnp.outer, "x: T[M]; y: T[N] -> T[M, N] | M=3 N=4 | M=1 N=2")

for spec, signatures in (
        ("ij,jk->ik", ("x: T[M, K]; y: T[K, N] -> T[M, N] | M=3 K=4 N=5 | M=1 K=1 N=1", "x: T[2, 3]; y: T[3, 4] -> T[2, 4]")),
        ("bhsd,bhtd->bhst", "x: T[B, H, S, D]; y: T[B, H, R, D] -> T[B, H, S, R] | B=2 H=3 S=4 R=2 D=5"),
        ("bhst,bthd->bshd", "x: T[B, H, S, R]; y: T[B, R, H, D] -> T[B, S, H, D] | B=2 H=3 S=4 R=2 D=5"),
        ("kabi,kbj->jika", "x: T[K, A, B, 2]; y: T[K, B, N] -> T[N, 2, K, A] | K=2 A=3 B=4 N=5"),
        ("abkl,lkc->cab", "x: T[A, B, K, 2]; y: T[2, K, C] -> T[C, A, B] | A=3 B=2 K=4 C=5"),
        ("i,i->", "x: T[N]; y: T[N] -> T | N=7 | N=1"),
        ("i,j->ij", "x: T[M]; y: T[N] -> T[M, N] | M=3 N=4"),
        ("bi,bj->bji", "x: T[B, M]; y: T[B, N] -> T[B, N, M] | B=2 M=3 N=4"),
        ("ij,ji->ij", "x: T[M, N]; y: T[N, M] -> T[M, N] | M=3 N=4"),
        ("ij,kl->il", "x: T[M, K]; y: T[N, A] -> T[M, A] | M=3 K=4 N=2 A=5"),
        (",i->i", "x: T; y: T[N] -> T[N] | N=3")):
    row(f"einsum {spec}", f'einsum("{spec}", x, y)', lambda x, y, spec=spec: jnp.einsum(spec, x, y), signatures)
row("einsum of one", 'einsum("ijk -> ki", x)', lambda x: jnp.einsum("ijk->ki", x), "x: T[M, N, 2] -> T[2, M] | M=3 N=4")
row("einsum of three", 'einsum("ij, jk, kl -> li", x, y, z)', lambda x, y, z: jnp.einsum("ij,jk,kl->li", x, y, z),
    "x: T[M, K]; y: T[K, N]; z: T[N, 2] -> T[2, M] | M=3 K=4 N=5")
row("einsum, bilinear", 'einsum("bi,ij,bj->b", x, y, z)', lambda x, y, z: jnp.einsum("bi,ij,bj->b", x, y, z),
    "x: T[B, M]; y: T[M, N]; z: T[B, N] -> T[B] | B=2 M=3 N=4")
row("einsum, I32", 'einsum("ij,jk->ki", x, y)', lambda x, y: jnp.einsum("ij,jk->ki", x, y), "x: I32[M, K]; y: I32[K, N] -> I32[N, M] | M=3 K=4 N=5",
    types=("F64",))

# ---------------------------------------------------------------------------
# Reductions and running sums
# ---------------------------------------------------------------------------
row = rows("reduction")


def smooth_norm(x, axis=None, keepdims=False):
    """The Euclidean norm with derivative 0 at 0."""
    squares = jnp.sum(x * x, axis=axis, keepdims=keepdims)
    zero = squares == 0
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, squares)))


REDUCTIONS = (
    ("", {}, "x: T[N] -> T | N=9 | N=1"),
    (", of rank 3", {}, "x: T[A, B, C] -> T | A=2 B=3 C=4"),
    (", axis=0", dict(axis=0), ("x: T[M, N] -> T[N] | M=3 N=4 | M=1 N=1", "x: T[2, 3] -> T[3]")),
    (", axis=-1", dict(axis=-1), "x: T[A, B, C] -> T[A, B] | A=2 B=3 C=70"),
    (", axis=1, keepdims=true", dict(axis=1, keepdims=True), "x: T[M, N] -> T[M, 1] | M=3 N=4"),
    (", axes=[0, 2]", dict(axis=(0, 2)), "x: T[A, B, C] -> T[B] | A=2 B=3 C=4"),
    (", axes=[0, -1], keepdims=true", dict(axis=(0, -1), keepdims=True), "x: T[A, B, C] -> T[1, B, 1] | A=2 B=3 C=4"))
for name, function in (("sum", jnp.sum), ("prod", jnp.prod), ("mean", jnp.mean), ("var", jnp.var), ("max", jnp.max),
                       ("min", jnp.min), ("logsumexp", jax.nn.logsumexp), ("norm", smooth_norm)):
    for form, keywords, signature in REDUCTIONS:
        row(f"{name}{form}", f"{name}(x{'' if 'rank' in form else form})",
            lambda x, f=function, k=keywords: f(x, **k), signature, domain={"x": (0.5, 2.0)} if name == "prod" else {},
            **(dict(tolerance={"F64": 1e-11, "F32": 5e-5}) if name == "prod" else {}),
            second=form in ("", ", axis=1, keepdims=true"),
            # Of one element the variance is 0 everywhere, derivative included.
            **(dict(zero=True) if name == "var" and not form else {}))
row("sum of many", "sum(x)", jnp.sum, "x: T[N] -> T | N=5000", tolerance={"F32": 2e-5}, domain={"x": (0, 1)})
for name, function in (("max", jnp.max), ("min", jnp.min)):
    row(f"{name}: ties", f"{name}(x, axis=1)", lambda x, f=function: f(x, axis=1), "x: T[M, N] -> T[M] | M=2 N=4",
        data={"x": np.array([[1.0, 3.0, 3.0, 1.0], [5.0, 5.0, 5.0, 5.0]])}, smooth=False)
    row(f"{name}: NaN", f"{name}(x, axis=1)", lambda x, f=function: f(x, axis=1), "x: T[M, N] -> T[M] | M=2 N=3",
        data={"x": np.array([[1.0, NAN, 3.0], [-INF, -2.0, INF]])}, derivative=False)
row("prod: with zeros", "prod(x, axis=1)", lambda x: jnp.prod(x, axis=1), "x: T[M, N] -> T[M] | M=3 N=3",
    data={"x": np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [2.0, 3.0, 4.0]])})
row("prod: with zeros, over both axes", "prod(x)", jnp.prod, "x: T[M, N] -> T | M=2 N=3",
    data={"x": np.array([[2.0, 0.0, 3.0], [-1.0, 4.0, 5.0]])})
for name, values in (("with zeros", [[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [2.0, 3.0, 4.0]]), ("with many", [[2.0] * 9, [0.0] + [3.0] * 8])):
    row(f"prod: second derivative {name}", "grad(fn(x) { sum(prod(x, axis=1)) })(x)", jax.grad(lambda x: jnp.sum(jnp.prod(x, axis=1))),
        "x: T[M, N] -> T[M, N] | M=%d N=%d" % np.shape(values), data={"x": np.array(values)})
row("prod: third derivative with zeros", "grad(fn(x) { grad(fn(x) { prod(x) })(x)[0] })(x)", jax.grad(lambda x: jax.grad(jnp.prod)(x)[0]),
    "x: T[N] -> T[N] | N=4", data={"x": np.array([0.0, 0.0, 3.0, 2.0])})


def far_norm(scale):
    # Of the quotients, which are exact, since the squares overflow in the reference too.
    return lambda x: scale * smooth_norm(x / scale, axis=1)


for size, kinds in ((2.0 ** 1010, ("F64",)), (2.0 ** -1000, ("F64",)), (2.0 ** 124, ("F32",)),
                    (2.0 ** -110, ("F32",)), (2.0 ** 500, ("F64",)), (2.0 ** -420, ("F64",)), (2.0 ** 46, ("F32",)), (2.0 ** -55, ("F32",))):
    row(f"norm: near {size:.0e}", "norm(x, axis=1)", far_norm(size), "x: T[M, N] -> T[M] | M=2 N=3", types=kinds, smooth=False,
        data={"x": size * np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])})
row("norm: second derivative", "grad(fn(x) { norm(x) })(x)", jax.grad(smooth_norm), "x: T[N] -> T[N] | N=4", tolerance={"F32": 1e-4})
row("norm: at 0", "norm(x, axis=1)", lambda x: smooth_norm(x, axis=1), "x: T[M, N] -> T[M] | M=2 N=2",
    data={"x": np.array([[0.0, 0.0], [3.0, 4.0]])}, smooth=False)
row("logsumexp: large", "logsumexp(x, axis=-1)", lambda x: jax.nn.logsumexp(x, axis=-1), "x: T[M, N] -> T[M] | M=3 N=3",
    data={"x": np.array([[1e3, 1e3, -1e3], [-1e3, -1001.0, -1e3], [0.0, 80.0, -80.0]])}, smooth=False,
    tolerance={"F32": 1e-4})
row("var: large mean", "var(x)", jnp.var, "x: T[N] -> T | N=4", data={"x": np.array([1000.0, 1001.0, 1002.0, 1003.0])})
for name, function in (("argmax", jnp.argmax), ("argmin", jnp.argmin)):
    for axis in (0, 1, -1):
        row(f"{name}, axis={axis}", f"{name}(x, axis={axis})", lambda x, f=function, a=axis: f(x, axis=a).astype(jnp.int32),
            f"x: T[M, N] -> I32[{'N' if axis == 0 else 'M'}] | M=3 N=4 | M=1 N=1")
    row(f"{name}: first of equals", f"{name}(x, axis=0)", lambda x, f=function: f(x, axis=0).astype(jnp.int32), "x: T[N] -> I32 | N=5",
        data={"x": np.array([2.0, 1.0, 2.0, 1.0, 1.5])})
    row(f"{name}: first NaN", f"{name}(x, axis=0)", lambda x, f=function: f(x, axis=0).astype(jnp.int32), "x: T[N] -> I32 | N=4",
        data={"x": np.array([2.0, NAN, 5.0, NAN])})
for integer in ("I32", "I64"):
    for name, function in (("sum", jnp.sum), ("prod", jnp.prod), ("max", jnp.max), ("min", jnp.min), ("cumsum", jnp.cumsum)):
        row(f"{name}, {integer}", f"{name}(x, axis=0)", lambda x, f=function: f(x, axis=0).astype(x.dtype),
            f"x: {integer}[M, N] -> {integer}[{'M, N' if name == 'cumsum' else 'N'}] | M=3 N=4", domain={"x": (-4, 5)}, types=("F64",))
for name, function in (("any", jnp.any), ("all", jnp.all)):
    row(name, f"{name}(x)", function, "x: Bool[M, N] -> Bool | M=2 N=2 | M=1 N=1", types=("F64",))
    row(f"{name}, axis=1", f"{name}(x, axis=1)", lambda x, f=function: f(x, axis=1), "x: Bool[M, N] -> Bool[M] | M=6 N=2", types=("F64",))
row("cumsum, axis=0", "cumsum(x, axis=0)", lambda x: jnp.cumsum(x, axis=0),
    ("x: T[N] -> T[N] | N=9 | N=1", "x: T[M, N] -> T[M, N] | M=4 N=3"))
row("cumsum, axis=-1", "cumsum(x, axis=-1)", lambda x: jnp.cumsum(x, axis=-1), ("x: T[M, N] -> T[M, N] | M=3 N=4", "x: T[2, 3] -> T[2, 3]"))

# ---------------------------------------------------------------------------
# Shape
# ---------------------------------------------------------------------------
row = rows("shape")
row("reshape", "reshape(x, [M * N])", lambda x: x.reshape(-1), "x: T[M, N] -> T[M * N] | M=3 N=4 | M=1 N=1")
row("reshape, split", "reshape(x, [M, N, 2])", lambda x: x.reshape(x.shape[0], -1, 2), "x: T[M, 2 * N] -> T[M, N, 2] | M=3 N=2")
row("reshape, static", "reshape(x, [3, 2])", lambda x: x.reshape(3, 2), "x: T[2, 3] -> T[3, 2]")
row("reshape, to rank 0", "reshape(x, [])", lambda x: x.reshape(()), "x: T[1, 1] -> T")
row("reshape, from rank 0", "reshape(x, [1, 1])", lambda x: x.reshape(1, 1), "x: T -> T[1, 1]")
row("transpose", "transpose(x)", lambda x: jnp.swapaxes(x, -1, -2),
    ("x: T[M, N] -> T[N, M] | M=3 N=4 | M=1 N=1", "x: T[B, M, N] -> T[B, N, M] | B=2 M=3 N=4", "x: T[2, 3] -> T[3, 2]"))
row("transpose, permutation", "transpose(x, [2, 0, 1])", lambda x: jnp.transpose(x, (2, 0, 1)), "x: T[A, B, C] -> T[C, A, B] | A=2 B=3 C=4")
row("broadcast", "broadcast(x, [M, N])", lambda x, like: jnp.broadcast_to(x, (like.shape[0], x.shape[0])),
    "x: T[N]; like: I32[M] -> T[M, N] | M=3 N=4")
row("broadcast, column", "broadcast(x, [M, 4])", lambda x: jnp.broadcast_to(x, (x.shape[0], 4)), "x: T[M, 1] -> T[M, 4] | M=3")
row("broadcast, scalar", "broadcast(x, [2, 3])", lambda x: jnp.broadcast_to(x, (2, 3)), "x: T -> T[2, 3]")
row("expand_dims, axis=0", "expand_dims(x, axis=0)", lambda x: x[None], ("x: T[N] -> T[1, N] | N=3", "x: T -> T[1]"))
row("expand_dims, axis=-1", "expand_dims(x, axis=-1)", lambda x: x[..., None], "x: T[M, N] -> T[M, N, 1] | M=2 N=3")
row("squeeze, axis=1", "squeeze(x, axis=1)", lambda x: x[:, 0], "x: T[M, 1, N] -> T[M, N] | M=2 N=3")
row("squeeze, axis=-1", "squeeze(x, axis=-1)", lambda x: x[..., 0], "x: T[M, 1] -> T[M] | M=2")

row("concat, axis=0", "concat([x, y], axis=0)", lambda x, y: jnp.concatenate([x, y]),
    ("x: T[M]; y: T[N] -> T[M + N] | M=3 N=4 | M=1 N=1", "x: T[M, 3]; y: T[2, 3] -> T[M + 2, 3] | M=2", "x: T[2]; y: T[0] -> T[2]", "x: T[0, N]; y: T[2, N] -> T[2, N] | N=3"))
row("concat, axis=-1", "concat([x, y, x], axis=-1)", lambda x, y: jnp.concatenate([x, y, x], axis=-1),
    ("x: T[M, N]; y: T[M, 1] -> T[M, 2 * N + 1] | M=2 N=3 | M=1 N=1", "x: T[2, 3]; y: T[2, 2] -> T[2, 8]"))
row("concat, axis=1 of 3", "concat([x, 2.0 * y], axis=1)", lambda x, y: jnp.concatenate([x, 2 * y], axis=1),
    "x: T[A, B, C]; y: T[A, D, C] -> T[A, B + D, C] | A=2 B=3 C=4 D=1")
row("concat of one", "concat([x], axis=0) * x", lambda x: x * x, "x: T[N] -> T[N] | N=3")
row("stack, axis=0", "stack([x, y], axis=0)", lambda x, y: jnp.stack([x, y]),
    ("x: T[N]; y: T[N] -> T[2, N] | N=3 | N=1", "x: T[M, 2]; y: T[M, 2] -> T[2, M, 2] | M=3", "x: T; y: T -> T[2]"))
row("stack, axis=-1", "stack([x, y, x * y], axis=-1)", lambda x, y: jnp.stack([x, y, x * y], axis=-1),
    ("x: T[N]; y: T[N] -> T[N, 3] | N=4", "x: T; y: T -> T[3]"))
row("stack, axis=1", "stack((x, y), axis=1)", lambda x, y: jnp.stack([x, y], axis=1), "x: T[M, N]; y: T[M, N] -> T[M, 2, N] | M=2 N=3")
row("split, first", "split(x, sizes=[2, N], axis=0).0", lambda x: x[:2], "x: T[N + 2] -> T[2] | N=3 | N=1")
row("split, last", "split(x, [M, 1, N], axis=1).2", lambda x, m, n: x[:, m.shape[0] + 1:],
    "x: T[A, M + N + 1]; m: I32[M]; n: I32[N] -> T[A, N] | A=2 M=3 N=4")
row("split, all of it", "concat(split(x, sizes=[N, 0, 2], axis=-1), axis=-1) * x", lambda x: x * x, ("x: T[M, N + 2] -> T[M, N + 2] | M=2 N=3",))
row("split and turned", "dot(split(x, sizes=[3, 3], axis=0).0, split(x, sizes=[3, 3], axis=0).1)", lambda x: x[:3] @ x[3:], "x: T[6] -> T")
row("pad", "pad(x, low=[1, 0], high=[0, 2])", lambda x: jnp.pad(x, ((1, 0), (0, 2))), ("x: T[M, N] -> T[M + 1, N + 2] | M=2 N=3 | M=1 N=1", "x: T[2, 2] -> T[3, 4]"))
row("pad, symbolic", "pad(x, [N], [2 * N], value=v)", lambda x, v: jnp.concatenate([jnp.full(x.shape, v), x, jnp.full(2 * x.shape[0], v)]),
    "x: T[N]; v: T -> T[4 * N] | N=3 | N=1")
row("pad with nothing", "pad(x, low=[0], high=[0], value=v)", lambda x, v: x, "x: T[N]; v: T -> T[N] | N=3")
row("flip, axis=0", "flip(x, axis=0)", lambda x: jnp.flip(x, 0), ("x: T[N] -> T[N] | N=4 | N=1", "x: T[M, N] -> T[M, N] | M=3 N=2", "x: T[3, 2] -> T[3, 2]"))
row("flip, axis=-1", "flip(x, -1) * x", lambda x: jnp.flip(x, -1) * x, "x: T[A, B, C] -> T[A, B, C] | A=2 B=3 C=4")
row("repeat_interleave, axis=0", "repeat_interleave(x, 3, axis=0)", lambda x: jnp.repeat(x, 3, axis=0),
    ("x: T[N] -> T[3 * N] | N=4 | N=1", "x: T[M, N] -> T[3 * M, N] | M=2 N=3", "x: T[2, 2] -> T[6, 2]"))
row("repeat_interleave, symbolic", "repeat_interleave(x, n=K, axis=1)", lambda x, like: jnp.repeat(x, like.shape[0], axis=1),
    "x: T[M, N]; like: I32[K] -> T[M, K * N] | M=2 N=3 K=2 | M=1 N=1 K=1")


def three_times(step):
    return lambda x: step(step(step(x)))


for name, kina, function, signature in (
        ("stack", "a + 0.1 * stack([a[1], -a[0]], axis=0)", lambda a: a + 0.1 * jnp.stack([a[1], -a[0]]), "x: T[2] -> T[2]"),
        ("concat", "concat([a[1:], [sin(a[0]) + 1.0]], axis=0)", lambda a: jnp.append(a[1:], jnp.sin(a[0]) + 1), "x: T[N + 1] -> T[N + 1] | N=3"),
        ("split", "{ let (b, c) = split(a, sizes=[2, 2], axis=0); concat([b * c, b - c], axis=0) }",
         lambda a: jnp.concatenate([a[:2] * a[2:], a[:2] - a[2:]]), "x: T[4] -> T[4]"),
        ("pad and flip", "flip(pad(a * a[1], low=[1], high=[1])[2:N + 2], 0)", lambda a: jnp.flip(jnp.pad(a * a[1], 1)[2:]), "x: T[N] -> T[N] | N=4"),
        ("prod", "{ let p = prod(a); a * p + cumsum(a, axis=0) }", lambda a: a * jnp.prod(a) + jnp.cumsum(a), "x: T[N] -> T[N] | N=3")):
    row(f"{name} in a loop", f"for (i in 0..3) [a = copy(x)] {{ {kina} }}", three_times(function), signature)
for element in ("I64", "I32", "I8", "U8", "Bool"):
    small = dict(types=("F64",), domain={"x": (0, 100), "y": (0, 100)})
    row(f"concat, {element}", "concat([x, y], axis=1)", lambda x, y: jnp.concatenate([x, y], axis=1),
        f"x: {element}[M, 2]; y: {element}[M, N] -> {element}[M, N + 2] | M=3 N=2", **small)
    row(f"stack of scalars, {element}", "stack([x, y], axis=0)", lambda x, y: jnp.stack([x, y]), f"x: {element}; y: {element} -> {element}[2]", **small)
    row(f"split, {element}", "split(x, sizes=[1, N], axis=0).1", lambda x: x[1:], f"x: {element}[N + 1] -> {element}[N] | N=3", **small)
    row(f"pad, {element}", f"pad(x, low=[1], high=[1], value={'true' if element == 'Bool' else 3})",
        lambda x: jnp.pad(x, 1, constant_values=1 if x.dtype == bool else 3), f"x: {element}[N] -> {element}[N + 2] | N=4", **small)
    row(f"flip, {element}", "flip(x, axis=0)", lambda x: jnp.flip(x, 0), f"x: {element}[M, N] -> {element}[M, N] | M=3 N=2", **small)
    row(f"repeat_interleave, {element}", "repeat_interleave(x, 2, axis=0)", lambda x: jnp.repeat(x, 2), f"x: {element}[N] -> {element}[2 * N] | N=3",
        **small)

# ---------------------------------------------------------------------------
# Indexing
# ---------------------------------------------------------------------------
row = rows("indexing")


def window(x, start, size):
    return jax.lax.dynamic_slice_in_dim(x, start, size)


def pick(x, i):
    return jnp.take_along_axis(x, i[:, None], axis=1)[:, 0]


row("x[1]", "x[1]", lambda x: x[1], ("x: T[4] -> T", "x: T[3, N] -> T[N] | N=4"))
row("x[1, :]", "x[1, :]", lambda x: x[1, :], "x: T[3, N] -> T[N] | N=4")
row("x[:, 2]", "x[:, 2]", lambda x: x[:, 2], "x: T[M, 4] -> T[M] | M=3 | M=1")
row("x[1, 2]", "x[1, 2]", lambda x: x[1, 2], "x: T[3, 4] -> T")
row("x[1:3]", "x[1:3]", lambda x: x[1:3], ("x: T[5] -> T[2]", "x: T[4, N] -> T[2, N] | N=3"))
row("x[:, 1:3]", "x[:, 1:3]", lambda x: x[:, 1:3], "x: T[M, 4] -> T[M, 2] | M=3")
row("x[:2]", "x[:2]", lambda x: x[:2], "x: T[5] -> T[2]")
row("x[2:]", "x[2:]", lambda x: x[2:], "x: T[5] -> T[3]")
row("x[:N]", "x[:N]", lambda x: x[:x.shape[0] // 2], "x: T[2 * N] -> T[N] | N=3")
row("x[N:]", "x[N:]", lambda x: x[x.shape[0] // 2:], "x: T[2 * N] -> T[N] | N=3")
row("x[i]", "x[i]", lambda x, i: x[i], ("x: T[N]; i: I32 -> T | N=4", "x: T[M, N]; i: I32 -> T[N] | M=4 N=3"), domain={"i": (0, 4)})
row("x[i, j]", "x[i, j]", lambda x, i, j: x[i, j], "x: T[M, N]; i: I32; j: I32 -> T | M=3 N=4", domain={"i": (0, 3), "j": (0, 4)})
row("x[:, i]", "x[:, i]", lambda x, i: x[:, i], "x: T[M, N]; i: I32 -> T[M] | M=3 N=4", domain={"i": (0, 4)})
row("x[i : i + 2]", "x[i : i + 2]", lambda x, i: window(x, i, 2), "x: T[N]; i: I32 -> T[2] | N=5", domain={"i": (0, 4)})
row("x[i*2 : i*2 + 2, :]", "x[i*2 : i*2 + 2, :]", lambda x, i: window(x, 2 * i, 2), "x: T[M, N]; i: I32 -> T[2, N] | M=6 N=3",
    domain={"i": (0, 3)})
row("the same element twice", "x[i] * x[j]", lambda x, i, j: x[i] * x[j], "x: T[N]; i: I32; j: I32 -> T | N=4", data={"i": 2, "j": 2})
row("update of an element", "update(x, [i], v)", lambda x, i, v: x.at[i].set(v), "x: T[N]; i: I32; v: T -> T[N] | N=4", domain={"i": (0, 4)})
row("update of a row", "update(x, [i, :], v)", lambda x, i, v: x.at[i].set(v), "x: T[M, N]; i: I32; v: T[N] -> T[M, N] | M=3 N=4",
    domain={"i": (0, 3)})
row("update of a column", "update(x, [:, 1], v)", lambda x, v: x.at[:, 1].set(v), "x: T[M, 3]; v: T[M] -> T[M, 3] | M=2")
row("update of a box", "update(x, [1:3, :], v)", lambda x, v: x.at[1:3].set(v), "x: T[4, N]; v: T[2, N] -> T[4, N] | N=3")
row("gather", "gather(x, i)", lambda x, i: x[i],
    ("x: T[V]; i: I32[N] -> T[N] | V=5 N=7", "x: T[V, R]; i: I32[N] -> T[N, R] | V=5 R=3 N=7",
     "x: T[V, R]; i: I32[M, N] -> T[M, N, R] | V=5 R=2 M=2 N=3", "x: T[V, R]; i: I64[N] -> T[N, R] | V=5 R=3 N=2"), domain={"i": (0, 5)})
row("gather, axis=1", "gather(x, i, axis=1)", lambda x, i: jnp.take(x, i, axis=1), "x: T[M, V]; i: I32[N] -> T[M, N] | M=2 V=5 N=3",
    domain={"i": (0, 5)})
row("take_along, axis=1", "take_along(x, i, axis=1)", lambda x, i: jnp.take_along_axis(x, i, axis=1),
    "x: T[M, N]; i: I32[M, K] -> T[M, K] | M=3 N=4 K=2", domain={"i": (0, 4)})
row("take_along, axis=0", "take_along(x, i, axis=0)", lambda x, i: jnp.take_along_axis(x, i, axis=0),
    "x: T[M, N]; i: I32[K, N] -> T[K, N] | M=3 N=4 K=2", domain={"i": (0, 3)})
row("scatter_add", "scatter_add(x, i, v)", lambda x, i, v: x.at[i].add(v),
    ("x: T[V]; i: I32[N]; v: T[N] -> T[V] | V=4 N=7", "x: T[V, R]; i: I32[N]; v: T[N, R] -> T[V, R] | V=4 R=3 N=7"), domain={"i": (0, 4)})
row("one_hot", "one_hot<T>(i, 4)", lambda i: jax.nn.one_hot(i, 4, dtype=jnp.float64),
    ("i: I32[N] -> T[N, 4] | N=6", "i: I32[M, N] -> T[M, N, 4] | M=2 N=3"), domain={"i": (0, 4)})
row("one_hot: out of range", "one_hot<T>(i, 3)", lambda i: jax.nn.one_hot(i, 3, dtype=jnp.float64), "i: I32[N] -> T[N, 3] | N=4",
    data={"i": np.array([0, 3, -1, 2])})
row("one_hot, type from its use", "sum(x * one_hot(i, C), axis=-1)", pick, "x: T[N, C]; i: I32[N] -> T[N] | N=5 C=4", domain={"i": (0, 4)})

# ---------------------------------------------------------------------------
# Making
# ---------------------------------------------------------------------------
row = rows("making")
row("zeros", "zeros<T>([N, 3])", lambda x: jnp.zeros((x.shape[0], 3)), "x: I32[N] -> T[N, 3] | N=4")
row("ones", "ones<T>([2, N])", lambda x: jnp.ones((2, x.shape[0])), "x: I32[N] -> T[2, N] | N=4")
row("zeros, type from its use", "x + zeros([N])", lambda x: x, "x: T[N] -> T[N] | N=4")
row("fill", "fill([2, N], v)", lambda x, v: jnp.full((2, x.shape[0]), v), "x: I32[N]; v: T -> T[2, N] | N=4")
row("full_like", "x + full_like(x, v)", lambda x, v: x + v, "x: T[M, N]; v: T -> T[M, N] | M=2 N=3")
row("zeros_like", "zeros_like(x) + x", lambda x: x, "x: T[N] -> T[N] | N=4")
row("ones_like", "x * ones_like(x)", lambda x: x, "x: T[N] -> T[N] | N=4")
row("eye", "eye<T>([3])", lambda x: jnp.eye(3), "x: I32[N] -> T[3, 3] | N=1")
row("eye, symbolic", "eye<T>([N])", lambda x: jnp.eye(x.shape[0]), "x: I32[N] -> T[N, N] | N=4 | N=1")
row("iota", "iota<T>([N, 3], axis=0)", lambda x: jnp.tile(jnp.arange(x.shape[0], dtype=jnp.float64)[:, None], (1, 3)), "x: I32[N] -> T[N, 3] | N=4")
row("iota, I32", "iota<I32>([N], axis=0)", lambda x: jnp.arange(x.shape[0]).astype(jnp.int32), "x: I64[N] -> I32[N] | N=4", types=("F64",))
row("diag of a vector", "diag(x)", jnp.diag, "x: T[N] -> T[N, N] | N=4")
row("diag of a matrix", "diag(x)", jnp.diag, "x: T[N, N] -> T[N] | N=4")
row("tril", "tril(x)", jnp.tril, "x: T[M, N] -> T[M, N] | M=3 N=4 | M=4 N=3")
row("tril, k=1", "tril(x, k=1)", lambda x: jnp.tril(x, 1), "x: T[M, N] -> T[M, N] | M=3 N=4")
row("triu", "triu(x)", jnp.triu, "x: T[M, N] -> T[M, N] | M=3 N=4")
row("triu, k=-1", "triu(x, k=-1)", lambda x: jnp.triu(x, -1), "x: T[B, M, N] -> T[B, M, N] | B=2 M=3 N=4")
row("vector of scalars", "[x, 2.0 * y, x * y]", lambda x, y: jnp.stack([x, 2 * y, x * y]), "x: T; y: T -> T[3]")
row("matrix of scalars", "[[x, y], [y, x]]", lambda x, y: jnp.array([[x, y], [y, x]]), "x: T; y: T -> T[2, 2]")
row("constants", "[pi * x, x]", lambda x: jnp.stack([np.pi * x, x]), "x: T -> T[2]")
row("inf and nan", "[inf, -inf, nan, x]", lambda x: jnp.stack([INF, -INF, NAN, x]), "x: T -> T[4]", smooth=False)

# ---------------------------------------------------------------------------
# Networks
# ---------------------------------------------------------------------------
row = rows("network")
for name, function in (("softmax", jax.nn.softmax), ("log_softmax", jax.nn.log_softmax)):
    row(name, f"{name}(x)", function, ("x: T[N] -> T[N] | N=7", "x: T[B, M, N] -> T[B, M, N] | B=2 M=3 N=4", "x: T[2, 3] -> T[2, 3]"))
    row(f"{name}, axis=0", f"{name}(x, axis=0)", lambda x, f=function: f(x, axis=0), "x: T[M, N] -> T[M, N] | M=5 N=3")
    row(f"{name}: one element", f"{name}(x)", function, "x: T[N] -> T[N] | N=1", zero=True)
    row(f"{name}: large", f"{name}(x)", function, "x: T[M, N] -> T[M, N] | M=2 N=3",
        data={"x": np.array([[1e3, 999.0, -1e3], [-1e3, -1e3, -1001.0]])}, smooth=False)
row("cross-entropy", "mean(logsumexp(z, axis=-1) - sum(z * one_hot(y, C), axis=-1))",
    lambda z, y: jnp.mean(jax.nn.logsumexp(z, axis=-1) - pick(z, y)), "z: T[B, C]; y: I32[B] -> T | B=6 C=5", domain={"y": (0, 5)})
row("a layer", "tanh(x @ w + b)", lambda x, w, b: jnp.tanh(x @ w + b), "x: T[B, I]; w: T[I, O]; b: T[O] -> T[B, O] | B=4 I=3 O=2")
row("attention", "softmax(q @ transpose(k) / sqrt(8.0), axis=-1) @ v",
    lambda q, k, v: jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / np.sqrt(8.0), axis=-1) @ v,
    "q: T[B, S, 8]; k: T[B, R, 8]; v: T[B, R, D] -> T[B, S, D] | B=2 S=3 R=4 D=2")


def layernorm(x, g, b, eps=1e-5):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(jnp.mean((x - mean)**2, axis=-1, keepdims=True) + eps) * g + b


NORMED = {"g": (0.5, 1.5)}
row("layernorm", "layernorm(x, g, b)", layernorm,
    ("x: T[D]; g: T[D]; b: T[D] -> T[D] | D=7", "x: T[N, D]; g: T[D]; b: T[D] -> T[N, D] | N=3 D=5 | N=1 D=70",
     "x: T[A, B, D]; g: T[D]; b: T[D] -> T[A, B, D] | A=2 B=3 D=4", "x: T[2, 3]; g: T[3]; b: T[3] -> T[2, 3]"), domain=NORMED)
row("layernorm, eps", "layernorm(x, g, b, eps=0.25)", lambda x, g, b: layernorm(x, g, b, 0.25),
    "x: T[N, D]; g: T[D]; b: T[D] -> T[N, D] | N=3 D=5", domain=NORMED)
row("layernorm: one element", "layernorm(x, g, b)", layernorm, "x: T[N, D]; g: T[D]; b: T[D] -> T[N, D] | N=2 D=1", domain=NORMED)
row("layernorm: no rows", "layernorm(x, g, b)", layernorm, "x: T[0, 3]; g: T[3]; b: T[3] -> T[0, 3]", zero=True)
row("layernorm: large mean", "layernorm(x, g, b)", layernorm, "x: T[N, D]; g: T[D]; b: T[D] -> T[N, D] | N=1 D=4", domain=NORMED,
    data={"x": np.array([[1000.0, 1001.0, 1002.0, 1004.0]])}, tolerance={"F32": 1e-4})
row("layernorm: second order", "grad(fn (a, c, d) { sum(tanh(layernorm(a, c, d))) }, wrt=a)(x, g, b)",
    lambda x, g, b: jax.grad(lambda a: jnp.sum(jnp.tanh(layernorm(a, g, b))))(x),
    "x: T[N, D]; g: T[D]; b: T[D] -> T[N, D] | N=2 D=4", domain=NORMED, tolerance={"F64": 1e-11, "F32": 5e-5})

# ---------------------------------------------------------------------------
# Convolution
# ---------------------------------------------------------------------------
row = rows("convolution")


def conv(x, w, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    return jax.lax.conv_general_dilated(x, w, stride, [(p, p) for p in padding], rhs_dilation=dilation,
                                        feature_group_count=groups)


def convolution(name, options, signatures, **more):
    """A row; `options` are the attributes as Kina writes them."""
    keywords = eval(f"dict({options})")
    for keyword in ("stride", "padding", "dilation"):
        if isinstance(keywords.get(keyword), int):
            keywords[keyword] = (keywords[keyword],) * 2
    more.setdefault("types", ("F64",))
    row(f"conv2d{name}", f"conv2d(x, w{', ' if options else ''}{options})", lambda x, w: conv(x, w, **keywords), signatures,
        **more)


convolution("", "", ("x: T[B, C, H + 2, W + 2]; w: T[O, C, 3, 3] -> T[B, O, H, W] | B=2 C=3 O=4 H=5 W=20 | B=1 C=1 O=1 H=1 W=1",
                     "x: T[B, C, H + K, W + L]; w: T[O, C, K + 1, L + 1] -> T[B, O, H, W] | B=2 C=2 O=3 H=3 W=2 K=1 L=3",
                     "x: T[2, 3, 5, 6]; w: T[4, 3, 2, 3] -> T[2, 4, 4, 4]", "x: T[2, 3, 2, 3]; w: T[4, 3, 1, 1] -> T[2, 4, 2, 3]",
                     "x: T[1, 2, 4, 4]; w: T[18, 2, 3, 3] -> T[1, 18, 2, 2]", "x: T[2, 18, 4, 4]; w: T[2, 18, 3, 2] -> T[2, 2, 2, 3]"),
            types=("F64", "F32"), tolerance={"F32": 3e-5})
convolution(", padding", "padding=1", "x: T[B, C, H, W]; w: T[O, C, 3, 3] -> T[B, O, H, W] | B=2 C=2 O=3 H=4 W=5 | B=1 C=1 O=1 H=1 W=1")
convolution(", wide padding", "padding=(3, 2)", "x: T[2, 2, 3, 4]; w: T[3, 2, 2, 1] -> T[2, 3, 8, 8]")
convolution(", stride", "stride=2, padding=1",
            ("x: T[B, C, 2 * H, 2 * W]; w: T[O, C, 3, 3] -> T[B, O, H, W] | B=2 C=2 O=3 H=3 W=4 | B=1 C=1 O=1 H=1 W=1",
             "x: T[B, C, H, W]; w: T[O, C, 3, 3] -> T[B, O, (H + 1) floordiv 2, (W + 1) floordiv 2] | B=2 C=2 O=3 H=5 W=4"))
convolution(", strides", "stride=[3, 1], padding=(0, 1)", "x: T[2, 3, 9, 5]; w: T[2, 3, 2, 3] -> T[2, 2, 3, 5]")
convolution(", stride beyond the kernel", "stride=3", "x: T[2, 2, 8, 9]; w: T[3, 2, 1, 2] -> T[2, 3, 3, 3]")
convolution(", dilation", "dilation=(2, 3), padding=(1, 0)", ("x: T[2, 2, 6, 8]; w: T[3, 2, 3, 2] -> T[2, 3, 4, 5]",
            "x: T[B, 2, H + 2, W + 3]; w: T[3, 2, 3, 2] -> T[B, 3, H, W] | B=2 H=4 W=3"))
convolution(", stride and dilation", "stride=2, dilation=(3, 2), padding=2", "x: T[2, 2, 7, 6]; w: T[3, 2, 3, 2] -> T[2, 3, 3, 4]",
            types=("F64", "F32"))
convolution(", groups", "groups=2, padding=1", ("x: T[B, 2 * C, H, W]; w: T[2 * O, C, 3, 3] -> T[B, 2 * O, H, W] | B=2 C=2 O=3 H=3 W=4",
            "x: T[2, 4, 5, 3]; w: T[6, 2, 3, 3] -> T[2, 6, 5, 3]"))
convolution(", groups and stride", "groups=3, stride=(2, 1)", "x: T[2, 6, 5, 4]; w: T[3, 2, 2, 2] -> T[2, 3, 2, 3]")
convolution(", depthwise", "groups=16, padding=1", "x: T[2, 16, 4, 3]; w: T[16, 1, 3, 3] -> T[2, 16, 4, 3]")
convolution(": no images", "", "x: T[0, 2, 4, 4]; w: T[3, 2, 3, 3] -> T[0, 3, 2, 2]", zero=True)
convolution(": no kernels", "padding=1", "x: T[2, 3, 4, 4]; w: T[0, 3, 3, 3] -> T[2, 0, 4, 4]", zero=True)
for active in ("a", "b"):
    for options in ("stride=2, padding=1", "dilation=2, groups=2"):
        keywords = dict(stride=(2, 2), padding=(1, 1)) if "stride" in options else dict(dilation=(2, 2), groups=2)
        inner = lambda a, b, k=keywords: jnp.sum(jnp.tanh(conv(a, b, **k)))
        row(f"conv2d, {options}: second order, {active}", f"grad(fn (a, b) {{ sum(tanh(conv2d(a, b, {options}))) }}, wrt={active})(x, w)",
            lambda x, w, f=inner, k="ab".index(active): jax.grad(f, argnums=k)(x, w),
            f"x: T[2, 4, 5, 6]; w: T[2, {4 if 'stride' in options else 2}, 2, 3] -> "
            f"{'T[2, 4, 5, 6]' if active == 'a' else 'T[2, 4, 2, 3]' if 'stride' in options else 'T[2, 2, 2, 3]'}",
            tolerance={"F64": 1e-11}, types=("F64",))
