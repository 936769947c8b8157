# RUN: %python %s
# REQUIRES: numpy
# Loads a library of its own into Python, which has no run time of a sanitizer.
# UNSUPPORTED: sanitizer
"""Every operation that --kina-lower-to-linalg knows, run natively, against NumPy: values at the
edges of each type, static and symbolic sizes, sizes 0 and 1, and the run-time checks."""

import math
import sys

import numpy as np
import kina_native as native

np.seterr(all="ignore")
rng = np.random.default_rng(7)
functions = []  # text
checks = []     # (name, arguments, results, expected, tolerance) or a code in expected


def tensor(dtype, dims):
    return f"!kina.tensor<{dtype}, [{', '.join(map(str, dims))}]>" if dims else dtype


def add(body, parameters, results, arguments, expected, tolerance=0.0, names=(), attributes=""):
    """A function with the body, whose parameters are %0, %1 ...; `results` are types as (dtype, dims)."""
    name = f"f{len(functions)}"
    signature = ", ".join(f"%{i}: {tensor(*p)}" if isinstance(p, tuple) else f"%{i}: {p}"
                          for i, p in enumerate(parameters))
    types = ", ".join(tensor(*r) for r in results)
    variables = ", ".join(f'#kina.var<"{n}", {least}>' for n, least in names)
    functions.append(f"kina.func public @{name}({signature}) -> ({types}) "
                     f"attributes {{shape_vars = [{variables}]{attributes}}} {{\n{body}\n}}")
    dtypes = [p[0] if isinstance(p, tuple) else "index" for p in parameters]
    cases = arguments if isinstance(arguments, list) else [arguments]
    wanted = expected if isinstance(expected, list) else [expected]
    for values, want in zip(cases, wanted, strict=True):
        checks.append((name, body, list(zip(dtypes, values)), [(r[0], len(r[1])) for r in results], want, tolerance))


def ulps(got, want):
    """The largest distance in units in the last place of the wanted values; NaN meets NaN."""
    if got.shape != want.shape:
        return math.inf
    got, want = got.astype(got.dtype), want.astype(got.dtype)
    if got.dtype.kind not in "fV" and got.dtype != native.BF16:
        return 0 if np.array_equal(got, want) else math.inf
    wide_got, wide = got.astype(np.longdouble), want.astype(np.longdouble)
    same = (np.isnan(wide_got) & np.isnan(wide)) | (wide_got == wide)
    if native.BF16 is not None and got.dtype == native.BF16:
        spacing = np.maximum(np.abs(wide), 2.0 ** -126) * 2.0 ** -8
    else:
        spacing = np.spacing(np.abs(want)).astype(np.longdouble)
    error = np.where(same, 0, np.abs(wide_got - wide) / spacing)
    return float(np.max(error, initial=0, where=~same)) if not np.any(np.isnan(error) & ~same) else math.inf


# Element by element ------------------------------------------------------------------------------

def longdouble(function):
    """The correctly rounded value, up to the quality of the C library in extended precision."""
    return lambda *a: function(*[x.astype(np.longdouble) for x in a])


special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, -1e-310, 0.5, -0.5, 1.5, 2.5, -2.5,
                    700.0, -700.0, 745.0, -745.0, 1e300, 36.0, -36.0, -37.5, 0.1, -0.1, 1e-9, 20.0, -20.0])
values = np.concatenate([special, rng.normal(size=40) * 3, rng.normal(size=20) * 1e-3])


def erf(x):
    return np.array([math.erf(float(v)) for v in x.ravel()], np.longdouble).reshape(x.shape)


def erfc(x):
    return np.array([math.erfc(float(v)) for v in x.ravel()], np.longdouble).reshape(x.shape)


def sigmoid(x):
    z = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + z), z / (1 + z))


unary = {
    "neg": (np.negative, 0), "abs": (np.abs, 0), "sign": (lambda x: np.where(x == 0, x, np.sign(x)), 0),
    "square": (np.square, 0.5), "sqrt": (np.sqrt, 0.5), "rsqrt": (lambda x: 1 / np.sqrt(x), 1.5),
    "exp": (np.exp, 1), "expm1": (np.expm1, 1), "log": (np.log, 1), "log1p": (np.log1p, 1), "sin": (np.sin, 1),
    "cos": (np.cos, 1), "tan": (np.tan, 1), "asin": (np.arcsin, 1), "acos": (np.arccos, 1), "atan": (np.arctan, 1),
    "sinh": (np.sinh, 2), "cosh": (np.cosh, 2), "tanh": (np.tanh, 2), "sigmoid": (sigmoid, 3),
    "log_sigmoid": (lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), 3),
    "softplus": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), 3),
    "silu": (lambda x: np.where(x == -np.inf, -0.0, x * sigmoid(x)), 4), "relu": (lambda x: np.where(x > 0, x, 0 * x), 0), "erf": (erf, 2),
    "floor": (np.floor, 0), "ceil": (np.ceil, 0), "round": (np.round, 0),
}


def narrow(x, dtype):
    return x.astype(native.DTYPES[dtype])


for dtype, slack in (("f64", 0), ("f32", 0), ("f16", 0.01), ("bf16", 0.01)):
    if native.DTYPES[dtype] is None:
        continue
    x = narrow(values, dtype)
    wide = x.astype(np.longdouble if dtype == "f64" else np.float64)
    for op, (function, tolerance) in unary.items():
        if op == "silu":
            # Below, exp(x) is denormal and has few digits to give.
            x = x[~(np.isfinite(wide) & (wide < -700))]
        else:
            x = narrow(values, dtype)
        wide = x.astype(np.longdouble if dtype == "f64" else np.float64)
        want = function(wide)
        if op == "relu":
            want = np.where(np.isinf(wide) & (wide < 0), 0, want)
        # A 16-bit result is the rounded f32 result, whose own error may tip a tie.
        tolerance = tolerance + 0.5 if slack == 0 else min(tolerance, 1) * 0.51 + slack
        add(f"%r = kina.{op} %0 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor(dtype, ['N'])}", [(dtype, ["N"])],
            [(dtype, ["N"])], (x,), narrow(want, dtype), tolerance, [("N", 1)])
    add(f"%r = kina.isnan %0 : {tensor(dtype, ['N'])}\n%s = kina.isfinite %0 : {tensor(dtype, ['N'])}\n"
        f"kina.return %r, %s : {tensor('i1', ['N'])}, {tensor('i1', ['N'])}", [(dtype, ["N"])],
        [("i1", ["N"]), ("i1", ["N"])], (x,), (np.isnan(wide), np.isfinite(wide)), 0, [("N", 1)])

x = np.concatenate([np.linspace(-6, 6, 49), [0.0, 1e-5, -1e-5, 30, -30]])
# At -30 the rounding of erfc's argument alone, in the reference, is hundreds of ulp of the
# result; element-functions.test looks closer.
add("%r = kina.gelu %0 erf : !kina.tensor<f64, [N]>\nkina.return %r : !kina.tensor<f64, [N]>", [("f64", ["N"])],
    [("f64", ["N"])], (x,), (0.5 * x * erfc(-x / np.sqrt(np.longdouble(2)))).astype(float), 500, [("N", 1)])
u = np.sqrt(2 / np.longdouble(np.pi)) * (x + np.longdouble(0.044715) * x ** 3)
add("%r = kina.gelu %0 tanh : !kina.tensor<f64, [N]>\nkina.return %r : !kina.tensor<f64, [N]>", [("f64", ["N"])],
    [("f64", ["N"])], (x[:-2],), (x * sigmoid(2 * u)).astype(float)[:-2], 300, [("N", 1)])

# Pairs of everything with everything.
a, b = [v.ravel() for v in np.meshgrid(special, special)]
python_mod = lambda p, q: np.mod(p, q)
for op, function, tolerance in (("add", np.add, 0), ("sub", np.subtract, 0), ("mul", np.multiply, 0),
                                ("div", np.divide, 0), ("mod", python_mod, 1), ("min", np.minimum, 0),
                                ("max", np.maximum, 0), ("atan2", np.arctan2, 1), ("pow", np.power, 1)):
    for dtype in ("f64", "f32"):
        p, q = narrow(a, dtype), narrow(b, dtype)
        want = function(p, q) if op in ("add", "sub", "mul", "div", "min", "max", "mod") else narrow(
            function(p.astype(np.longdouble), q.astype(np.longdouble)), dtype)
        add(f"%r = kina.{op} %0, %1 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor(dtype, ['N'])}",
            [(dtype, ["N"])] * 2, [(dtype, ["N"])], (p, q), want, tolerance, [("N", 1)])
for i, (predicate, function) in enumerate((("eq", np.equal), ("ne", np.not_equal), ("lt", np.less),
                                           ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal))):
    add(f"%r = kina.cmp {predicate}, %0, %1 : !kina.tensor<f64, [N]>\nkina.return %r : !kina.tensor<i1, [N]>",
        [("f64", ["N"])] * 2, [("i1", ["N"])], (a, b), function(a, b), 0, [("N", 1)])

for dtype, edges in (("i8", [0, 1, -1, 2, -2, 7, -7, 127, -128, 8, 100]), ("ui8", [0, 1, 2, 7, 8, 127, 128, 200, 255]),
                     ("i32", [0, 1, -1, 3, -3, 31, 32, 2 ** 31 - 1, -2 ** 31, 12345]),
                     ("i64", [0, 1, -1, 3, -3, 63, 64, 2 ** 63 - 1, -2 ** 63, 10 ** 12])):
    kind = native.DTYPES[dtype]
    width, sign = np.dtype(kind).itemsize * 8, dtype != "ui8"
    p, q = [v.ravel().astype(object) for v in np.meshgrid(np.array(edges, object), np.array(edges, object))]
    wrap = lambda v: np.array([((int(n) + (2 ** (width - 1) if sign else 0)) % 2 ** width)
                               - (2 ** (width - 1) if sign else 0) for n in v], kind)
    # Amounts count as unsigned: a negative one is beyond the width.
    left = lambda n, s: 0 if s < 0 or s >= width else n << s
    right = lambda n, s: n >> (width if s < 0 else int(s))
    table = {"add": lambda n, m: n + m, "sub": lambda n, m: n - m, "mul": lambda n, m: n * m, "min": min, "max": max,
             "and": lambda n, m: n & m, "or": lambda n, m: n | m, "xor": lambda n, m: n ^ m, "shift_left": left,
             "shift_right": right}
    for op, function in table.items():
        add(f"%r = kina.{op} %0, %1 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor(dtype, ['N'])}",
            [(dtype, ["N"])] * 2, [(dtype, ["N"])], (p, q), wrap([function(n, m) for n, m in zip(p, q)]), 0,
            [("N", 1)])
    keep = q != 0
    for op, function in (("div", lambda n, m: n // m), ("mod", lambda n, m: n % m)):
        add(f"%r = kina.{op} %0, %1 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor(dtype, ['N'])}",
            [(dtype, ["N"])] * 2, [(dtype, ["N"])], [(p[keep], q[keep]), ([5], [0])],
            [wrap([function(n, m) for n, m in zip(p[keep], q[keep])]), 804], 0, [("N", 1)])
        add(f"%r = kina.{op} %0, %1 : {dtype}\nkina.return %r : {dtype}", [(dtype, [])] * 2, [(dtype, [])],
            [(7, 2), (1, 0)], [wrap([function(7, 2)])[0], 804])
    keep = (q >= 0) & (q <= 300)
    add(f"%r = kina.pow %0, %1 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor(dtype, ['N'])}",
        [(dtype, ["N"])] * 2, [(dtype, ["N"])], [(p[keep], q[keep])] + ([([2], [-1])] if sign else []),
        [wrap([int(n) ** int(m) for n, m in zip(p[keep], q[keep])])] + ([802] if sign else []), 0, [("N", 1)])
    for op, function in (("neg", lambda n: -n), ("abs", abs), ("sign", lambda n: (n > 0) - (n < 0)),
                         ("square", lambda n: n * n), ("not", lambda n: ~n)):
        add(f"%r = kina.{op} %0 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor(dtype, ['N'])}",
            [(dtype, ["N"])], [(dtype, ["N"])], (edges,), wrap([function(n) for n in edges]), 0, [("N", 1)])
    add(f"%r = kina.cmp lt, %0, %1 : {tensor(dtype, ['N'])}\nkina.return %r : {tensor('i1', ['N'])}",
        [(dtype, ["N"])] * 2, [("i1", ["N"])], (p, q), p < q, 0, [("N", 1)])

t, f = True, False
add("%r = kina.and %0, %1 : !kina.tensor<i1, [4]>\n%s = kina.xor %0, %1 : !kina.tensor<i1, [4]>\n"
    "%t = kina.not %0 : !kina.tensor<i1, [4]>\n%u = kina.cmp lt, %0, %1 : !kina.tensor<i1, [4]>\n"
    "kina.return %r, %s, %t, %u : !kina.tensor<i1, [4]>, !kina.tensor<i1, [4]>, !kina.tensor<i1, [4]>, "
    "!kina.tensor<i1, [4]>", [("i1", [4])] * 2, [("i1", [4])] * 4, ([t, t, f, f], [t, f, t, f]),
    (np.array([t, f, f, f]), np.array([f, t, t, f]), np.array([f, f, t, t]), np.array([f, f, t, f])))

# Casts: every type to every type.
ranges = {"i8": (-128, 127), "ui8": (0, 255), "i32": (-2 ** 31, 2 ** 31 - 1), "i64": (-2 ** 63, 2 ** 63 - 1)}
sources = {"f64": np.concatenate([values, [2.0 ** 31, -2.0 ** 31 - 0.5, 2.0 ** 63, -2.0 ** 63, 127.9, 128.0, 255.9, 256,
                                           -0.9, 3e9, 65519.999, 65520.0, 1.00390625 + 1e-12, 2.0 ** -24, 6e-8, 1e-41]]),
           "f32": narrow(values, "f32"), "f16": narrow(values, "f16"),
           "i8": np.arange(-128, 128), "ui8": np.arange(256),
           "i32": np.array([0, 1, -1, 2 ** 31 - 1, -2 ** 31, 2049, 65519, 2 ** 24 + 1, 33685505]),
           "i64": np.array([0, 1, -1, 2 ** 63 - 1, -2 ** 63, 2 ** 53 + 1, 255, 256, 2049, -(2 ** 62 + 2 ** 54 + 1),
                            2 ** 62 + 2 ** 54 + 1]), "i1": np.array([t, f])}
if native.BF16 is not None:
    sources["bf16"] = narrow(values, "bf16")
for source, x in sources.items():
    x = x.astype(native.DTYPES[source])
    for target in sources:
        if target == source:
            continue
        if target == "i1":
            want = x.astype(np.float64) != 0
        elif target in ranges:
            low, high = ranges[target]
            if x.dtype.kind in "iub":
                bits = np.dtype(native.DTYPES[target]).itemsize * 8
                want = np.array([((int(n) - low) % 2 ** bits) + low for n in x])
            else:
                wide = x.astype(np.float64)
                want = np.array([0 if np.isnan(v) else high if v >= high else low if v <= low else int(v)
                                 for v in wide], object)
            want = want.astype(native.DTYPES[target])
        elif target == "bf16":
            # Rounded once, by hand: ml_dtypes goes through f32.
            def to_bf16(value):
                if isinstance(value, (float, np.floating)) and (np.isnan(value) or np.isinf(value) or value == 0):
                    return np.float32(value)
                from fractions import Fraction
                exact = Fraction(int(value)) if not isinstance(value, (float, np.floating)) else Fraction(float(value))
                if exact == 0:
                    return np.float32(0)
                exponent = max(math.floor(math.log2(abs(exact))), -126)
                while abs(exact) >= Fraction(2) ** (exponent + 1):
                    exponent += 1
                while exponent > -126 and abs(exact) < Fraction(2) ** exponent:
                    exponent -= 1
                unit = Fraction(2) ** (exponent - 7)
                rounded = round(exact / unit) * unit
                return np.float32(float(rounded)) if abs(rounded) < 2 ** 128 else np.float32(math.copysign(np.inf, rounded))
            want = narrow(np.array([to_bf16(v) for v in (x.astype(np.float64) if x.dtype.kind == "V" or
                                    x.dtype == native.BF16 or x.dtype.kind == "f" else x)]), "bf16")
        else:
            # NumPy rounds f64 to f16 once, but a long double twice.
            want = x.astype(np.float64 if target == "f16" else np.longdouble).astype(native.DTYPES[target])
        add(f"%r = kina.cast %0 : {tensor(source, ['N'])} to {tensor(target, ['N'])}\n"
            f"kina.return %r : {tensor(target, ['N'])}", [(source, ["N"])], [(target, ["N"])], (x,), want, 0, [("N", 1)])

# Choice, with a scalar and a tensor mask.
add("%m = kina.cmp lt, %0, %1 : !kina.tensor<f64, [N]>\n%r = kina.select %m, %0, %1 : !kina.tensor<i1, [N]>, !kina.tensor<f64, [N]>\n"
    "kina.return %r : !kina.tensor<f64, [N]>", [("f64", ["N"])] * 2, [("f64", ["N"])], (a, b), np.where(a < b, a, b), 0, [("N", 1)])
add("%r = kina.select %0, %1, %2 : i1, !kina.tensor<f64, [N]>\nkina.return %r : !kina.tensor<f64, [N]>",
    [("i1", []), ("f64", ["N"]), ("f64", ["N"])], [("f64", ["N"])], [(t, [1., 2.], [3., 4.]), (f, [1., 2.], [3., 4.])],
    [np.array([1., 2.]), np.array([3., 4.])], 0, [("N", 1)])

# Contraction -------------------------------------------------------------------------------------

for dtype, tolerance in (("f64", 0), ("f32", 0), ("i32", 0), ("ui8", 0), ("f16", 0), ("bf16", 0)):
    if native.DTYPES[dtype] is None:
        continue
    for batch in ((), (2,), (2, 3)):
        for ta in (False, True):
            for tb in (False, True):
                names = ["B", "C"][:len(batch)]
                ashape = names + (["K", "M"] if ta else ["M", "K"])
                bshape = names + (["N", "K"] if tb else ["K", "N"])
                for outs in (False, True):
                    if outs and (ta != tb or dtype in ("i32", "ui8")) or len(batch) == 2 and dtype != "f64":
                        continue
                    size = dict(B=2, C=3, M=4, K=5, N=3)
                    make = lambda dims: narrow(rng.integers(-4, 5, [size[d] for d in dims]) / (4 if dtype[0] in "fb" else 1), dtype)
                    x, y, z = make(ashape), make(bshape), make(names + ["M", "N"])
                    wide = np.float64 if dtype[0] in "fb" else np.int64
                    p, q = x.astype(wide), y.astype(wide)
                    want = np.matmul(np.swapaxes(p, -1, -2) if ta else p, np.swapaxes(q, -1, -2) if tb else q)
                    if outs:
                        want = want + z.astype(wide)
                    result = tensor(dtype, names + ["M", "N"])
                    add(f"%r = kina.matmul %0, %1 {'transpose_a' if ta else ''} {'transpose_b' if tb else ''} "
                        f"{'outs %2 : ' + result if outs else ''} : {tensor(dtype, ashape)}, {tensor(dtype, bshape)}\n"
                        f"kina.return %r : {result}",
                        [(dtype, ashape), (dtype, bshape)] + ([(dtype, names + ['M', 'N'])] if outs else []),
                        [(dtype, names + ["M", "N"])], (x, y, z) if outs else (x, y), narrow(want, dtype), tolerance,
                        [(n, 0 if n == "K" else 1) for n in names + ["M", "K", "N"]])
# The chain is fused: the last term's low bits survive.
eps = 2.0 ** -30
add("%r = kina.matmul %0, %1 : !kina.tensor<f64, [1, 2]>, !kina.tensor<f64, [2, 1]>\nkina.return %r : !kina.tensor<f64, [1, 1]>",
    [("f64", [1, 2]), ("f64", [2, 1])], [("f64", [1, 1])], ([[-1, 1 + eps]], [[1.0], [1 - eps]]), np.array([[-eps * eps]]))
add("%r = kina.matmul %0, %1 : !kina.tensor<f32, [M, K]>, !kina.tensor<f32, [K, M]>\nkina.return %r : !kina.tensor<f32, [M, M]>",
    [("f32", ["M", "K"]), ("f32", ["K", "M"])], [("f32", ["M", "M"])], (np.zeros((2, 0)), np.zeros((0, 2))),
    np.zeros((2, 2), np.float32), 0, [("M", 1), ("K", 0)])

# Reductions --------------------------------------------------------------------------------------

def logsumexp(x, axis, keepdims):
    m = np.max(x, axis, keepdims=True, initial=-np.inf)
    m = np.where(np.isfinite(m), m, 0)
    s = np.log(np.sum(np.exp(x - m), axis, keepdims=keepdims))
    return s + (m if keepdims else np.squeeze(m, axis))


floats = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "var": np.var,
          "reduce_max": lambda x, axis, keepdims: np.max(x, axis, keepdims=keepdims),
          "reduce_min": lambda x, axis, keepdims: np.min(x, axis, keepdims=keepdims),
          "norm": lambda x, axis, keepdims: np.sqrt(np.sum(x * x, axis, keepdims=keepdims)), "logsumexp": logsumexp}
cube = rng.normal(size=(3, 4, 5))
shapes = ((["A", "B", "C"], [("A", 1), ("B", 1), ("C", 1)]), ([3, 4, 5], []))
for dims, names in shapes:
    for axes in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
        for keepdims in (False, True):
            for dtype in ("f64", "f32", "bf16", "f16"):
                # Everything in f64; the other types, and static sizes, only where they differ.
                if native.DTYPES[dtype] is None or (dtype != "f64" and (keepdims or dims[0] == 3)):
                    continue
                if (dims[0] == 3 or dtype != "f64") and axes not in ((1,), (0, 2)):
                    continue
                for op, function in floats.items():
                    x = narrow(cube, dtype)
                    want = narrow(np.asarray(function(x.astype(np.float64), axis=axes, keepdims=keepdims)), dtype)
                    kept = [1 if i in axes else d for i, d in enumerate(dims) if keepdims or i not in axes]
                    add(f"%r = kina.{op} %0 axes [{', '.join(map(str, axes))}] {'keepdims' if keepdims else ''} : {tensor(dtype, dims)}\n"
                        f"kina.return %r : {tensor(dtype, kept)}", [(dtype, dims)], [(dtype, kept)], (x,), want,
                        {"f64": 40, "f32": 60, "bf16": 0.51, "f16": 0.51}[dtype] * (20 if op in ("sum", "mean") else 1), names)
two = np.array([[np.inf, 1, 2], [-np.inf, -np.inf, -np.inf], [np.nan, np.inf, 0], [1000, 1000, 999], [-1e9, -1e9, 0]])
add("%r = kina.logsumexp %0 axes [1] : !kina.tensor<f64, [N, 3]>\nkina.return %r : !kina.tensor<f64, [N]>",
    [("f64", ["N", 3])], [("f64", ["N"])], (two,), logsumexp(two, 1, False), 2, [("N", 1)])
add("%r = kina.sum %0 axes [0] : !kina.tensor<f64, [N]>\n%s = kina.prod %0 axes [0] : !kina.tensor<f64, [N]>\n"
    "%t = kina.logsumexp %0 axes [0] : !kina.tensor<f64, [N]>\nkina.return %r, %s, %t : f64, f64, f64",
    [("f64", ["N"])], [("f64", [])] * 3, (np.zeros(0),), (np.float64(0), np.float64(1), np.float64(-np.inf)), 0, [("N", 0)])
nans = np.array([[1, np.nan, 3, np.nan], [2, 2, 2, 2], [-np.inf, -np.inf, -np.inf, -np.inf], [5, 7, 7, 1]])
for op, function in (("reduce_max", np.max), ("reduce_min", np.min)):
    add(f"%r = kina.{op} %0 axes [1] : !kina.tensor<f64, [N, 4]>\nkina.return %r : !kina.tensor<f64, [N]>",
        [("f64", ["N", 4])], [("f64", ["N"])], (nans,), function(nans, 1), 0, [("N", 1)])
for op, function in (("argmax", np.argmax), ("argmin", np.argmin)):
    for axis in (0, 1):
        kept = ["N", 4][1 - axis:][:1]
        add(f"%r = kina.{op} %0 axis {axis} : !kina.tensor<f64, [N, 4]>\nkina.return %r : {tensor('i32', kept)}",
            [("f64", ["N", 4])], [("i32", kept)], (nans,), function(nans, axis).astype(np.int32), 0, [("N", 1)])
    add(f"%r = kina.{op} %0 axis 0 : !kina.tensor<ui8, [N]>\nkina.return %r : i32", [("ui8", ["N"])], [("i32", [])],
        (np.array([3, 200, 100, 200, 3]),), np.int32(function(np.array([3, 200, 100, 200, 3]))), 0, [("N", 1)])
for dtype in ("i32", "ui8", "i8"):
    x = rng.integers(0 if dtype == "ui8" else -100, 100, (3, 7)).astype(native.DTYPES[dtype])
    for op, function in (("sum", np.sum), ("prod", np.prod), ("reduce_max", np.max), ("reduce_min", np.min)):
        want = function(x, 1, **({} if "max" in op or "min" in op else {"dtype": x.dtype}))
        add(f"%r = kina.{op} %0 axes [1] : {tensor(dtype, ['A', 'B'])}\nkina.return %r : {tensor(dtype, ['A'])}",
            [(dtype, ["A", "B"])], [(dtype, ["A"])], (x,), want, 0, [("A", 1), ("B", 1)])
mask = np.array([[t, f, t], [f, f, f], [t, t, t]])
for op, function in (("any", np.any), ("all", np.all)):
    add(f"%r = kina.{op} %0 axes [1] : !kina.tensor<i1, [N, 3]>\n%s = kina.{op} %0 axes [0, 1] : !kina.tensor<i1, [N, 3]>\n"
        f"kina.return %r, %s : !kina.tensor<i1, [N]>, i1", [("i1", ["N", 3])], [("i1", ["N"]), ("i1", [])], (mask,),
        (function(mask, 1), np.bool_(function(mask))), 0, [("N", 1)])
for axis in (0, 1, 2):
    e = np.exp(cube - cube.max(axis, keepdims=True))
    for op, want in (("cumsum", np.cumsum(cube, axis)), ("softmax", e / e.sum(axis, keepdims=True)),
                     ("log_softmax", cube - cube.max(axis, keepdims=True) - np.log(e.sum(axis, keepdims=True)))):
        add(f"%r = kina.{op} %0 axis {axis} : {tensor('f64', ['A', 'B', 'C'])}\nkina.return %r : {tensor('f64', ['A', 'B', 'C'])}",
            [("f64", ["A", "B", "C"])], [("f64", ["A", "B", "C"])], (cube,), want, 8, [("A", 1), ("B", 1), ("C", 1)])
for n in (0, 1, 6):
    x = np.arange(n, dtype=np.int32) + 1
    add(f"%r = kina.cumsum %0 axis 0 : !kina.tensor<i32, [N]>\nkina.return %r : !kina.tensor<i32, [N]>", [("i32", ["N"])],
        [("i32", ["N"])], (x,), np.cumsum(x, dtype=np.int32), 0, [("N", 0)])

for dtype, low, high in (("f64", 5e-324, 1.7e308), ("f32", 1.5e-45, 3e38), ("bf16", 1e-40, 3e38)):
    if native.DTYPES[dtype] is not None:
        x = narrow(np.array([[3, 4], [low, 0], [low * 3, low * 4], [high, high / 1e9], [np.inf, 1], [np.nan, np.inf], [0, -0.0],
                             [high / 2, high / 2], [high, high], [1e-9, high]]), dtype)
        wide = x.astype(np.longdouble)
        add(f"%r = kina.norm %0 axes [1] : {tensor(dtype, ['N', 2])}\nkina.return %r : {tensor(dtype, ['N'])}", [(dtype, ["N", 2])],
            [(dtype, ["N"])], (x,), narrow(np.sqrt(np.sum(wide * wide, 1)), dtype), 1, [("N", 1)])
add("%r = kina.norm %0 axes [0] : !kina.tensor<f64, [N]>\nkina.return %r : f64", [("f64", ["N"])], [("f64", [])], (np.zeros(0),),
    np.float64(0), 0, [("N", 0)])

def recurrence(a, b, start, axis, reverse):
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    out, state = np.empty_like(a), np.full_like(a[:1].sum(0), start)
    for j in reversed(range(len(a))) if reverse else range(len(a)):
        out[j] = state
        state = a[j] * state + b[j]
    return np.moveaxis(out, 0, axis)


for dtype, dims, axes, tolerance in (("f64", ["A", "B", "C"], (0, 1, 2), 8), ("f32", [3, 4, 5], (1,), 60), ("bf16", ["A", "B", "C"], (1,), 0.51),
                                     ("f16", ["A", 4, 5], (0,), 0.51)):
    if native.DTYPES[dtype] is None:
        continue
    for axis in axes:
        for start, reverse in ((0, True), (1, False), (1, True)):
            # Terms of one sign: a sum that cancels has no relative accuracy.
            a, b = narrow(np.abs(cube), dtype), narrow(np.abs(cube[::-1] + 1), dtype)
            want = narrow(recurrence(a.astype(np.float64), b.astype(np.float64), start, axis, reverse), dtype)
            add(f"%r = kina.recurrence %0, %1 from {start} axis {axis} {'reverse' if reverse else ''} : {tensor(dtype, dims)}\n"
                f"kina.return %r : {tensor(dtype, dims)}", [(dtype, dims)] * 2, [(dtype, dims)], (a, b), want, tolerance,
                [(d, 1) for d in dims if isinstance(d, str)])
for n in (0, 1, 5):
    a, b = np.arange(n) - 1.5, np.arange(n) + 2.0
    add("%r = kina.recurrence %0, %1 from 1 axis 0 : !kina.tensor<f64, [N]>\nkina.return %r : !kina.tensor<f64, [N]>", [("f64", ["N"])] * 2,
        [("f64", ["N"])], (a, b), recurrence(a, b, 1, 0, False) if n else a, 0, [("N", 0)])

# Shape -------------------------------------------------------------------------------------------

for dtype in ("f64", "f32", "f16", "bf16", "i64", "i32", "i8", "ui8", "i1"):
    if native.DTYPES[dtype] is None:
        continue
    make = lambda *shape: narrow(rng.integers(0, 2 if dtype == "i1" else 100, shape), dtype)
    for m, n in ((2, 3), (0, 3), (3, 0), (1, 1)):
        x, y, z = make(m, 2, n), make(m, n, n), make(m, 0, n)
        dims = ["M", "N + 2", "N"]
        add(f"%c = kina.concat %0, %1, %2 axis 1 : {tensor(dtype, ['M', 2, 'N'])}, {tensor(dtype, ['M', 'N', 'N'])}, {tensor(dtype, ['M', 0, 'N'])}\n"
            f"%r = kina.flip %c axis 1 : {tensor(dtype, dims)}\n%s = kina.flip %c axis 2 : {tensor(dtype, dims)}\n"
            f"kina.return %c, %r, %s : {', '.join([tensor(dtype, dims)] * 3)}",
            [(dtype, ["M", 2, "N"]), (dtype, ["M", "N", "N"]), (dtype, ["M", 0, "N"])], [(dtype, dims)] * 3, (x, y, z),
            tuple(f(np.concatenate([x, y, z], 1)) for f in (np.asarray, lambda c: np.flip(c, 1), lambda c: np.flip(c, 2))), 0, [("M", 0), ("N", 0)])
x = rng.normal(size=(2, 3))
add("%r = kina.concat %0, %0 axis 0 : !kina.tensor<f64, [2, 3]>, !kina.tensor<f64, [2, 3]>\n%s = kina.flip %0 axis 1 : !kina.tensor<f64, [2, 3]>\n"
    "kina.return %r, %s : !kina.tensor<f64, [4, 3]>, !kina.tensor<f64, [2, 3]>", [("f64", [2, 3])], [("f64", [4, 3]), ("f64", [2, 3])], (x,),
    (np.concatenate([x, x]), x[:, ::-1]))
# Boxes without elements, also where the axis has none.
add("%z = kina.constant 0 : index\n%r = kina.slice %0[%1, %z] sizes [#kina.dim<0>, #kina.dim<3>] dropped [] : !kina.tensor<f64, [2, 3]> to !kina.tensor<f64, [0, 3]>\n"
    "%s = kina.update %r into %0[%1, %z] sizes [#kina.dim<0>, #kina.dim<3>] dropped [] : !kina.tensor<f64, [0, 3]> into !kina.tensor<f64, [2, 3]>\n"
    "%t = kina.concat %r, %r axis 1 : !kina.tensor<f64, [0, 3]>, !kina.tensor<f64, [0, 3]>\n"
    "kina.return %r, %s, %t : !kina.tensor<f64, [0, 3]>, !kina.tensor<f64, [2, 3]>, !kina.tensor<f64, [0, 6]>", [("f64", [2, 3]), "index"],
    [("f64", [0, 3]), ("f64", [2, 3]), ("f64", [0, 6])], [(x, 2), (x, 3)], [(np.zeros((0, 3)), x, np.zeros((0, 6))), 803])

x = np.arange(24.0)
for source, target, names, shape, result in (
        (["A", "B", 4], ["A", "4*B"], "AB", (2, 3, 4), (2, 12)), (["4*A", "B"], ["A", 4, "B"], "AB", (8, 3), (2, 4, 3)),
        (["A", "B"], ["A*B"], "AB", (4, 6), (24,)), (["A*B"], ["A*B"], "", (24,), (24,)),
        (["A", "B"], ["B", "A"], "AB", (4, 6), (6, 4)), (["A", 1, "B"], ["A", "B", 1, 1], "AB", (4, 1, 6), (4, 6, 1, 1)),
        ([1, "A"], ["A"], "A", (1, 24), (24,)), (["A"], [1, "A", 1], "A", (24,), (1, 24, 1)),
        ([2, 3, 4], [4, 6], "", (2, 3, 4), (4, 6)), ([2, 12], [24], "", (2, 12), (24,)),
        ([24], [2, 3, 4], "", (24,), (2, 3, 4)), (["A", "B", 2, 3], ["B*A", 6], "AB", (2, 2, 2, 3), (4, 6))):
    if source == ["A*B"]:
        continue
    add(f"%r = kina.reshape %0 : {tensor('f64', source)} to {tensor('f64', target)}\nkina.return %r : {tensor('f64', target)}",
        [("f64", source)], [("f64", target)], (x.reshape(shape),), x.reshape(result), 0, [(n, 1) for n in names])
add("%r = kina.reshape %0 checked : !kina.tensor<f64, [A, B]> to !kina.tensor<f64, [C, 4]>\nkina.return %r : !kina.tensor<f64, [C, 4]>",
    [("f64", ["A", "B"]), ("f64", ["C"])], [("f64", ["C", 4])], [(np.ones((2, 6)), np.ones(3)), (np.ones((2, 6)), np.ones(2))],
    [np.ones((3, 4)), 801], 0, [("A", 1), ("B", 1), ("C", 1)])
add("%r = kina.reshape %0 checked : !kina.tensor<f64, [A, B]> to !kina.tensor<f64, [2, 3]>\nkina.return %r : !kina.tensor<f64, [2, 3]>",
    [("f64", ["A", "B"])], [("f64", [2, 3])], [(np.ones((3, 2)),), (np.ones((2, 2)),)], [np.ones((2, 3)), 801], 0, [("A", 1), ("B", 1)])
add("%r = kina.reshape %0 checked : !kina.tensor<f64, [6]> to !kina.tensor<f64, [A, B]>\nkina.return %r : !kina.tensor<f64, [A, B]>",
    [("f64", [6]), ("f64", ["A", "B"])], [("f64", ["A", "B"])], [(np.ones(6), np.ones((3, 2))), (np.ones(6), np.ones((2, 2)))],
    [np.ones((3, 2)), 801], 0, [("A", 1), ("B", 1)])
add("%r = kina.reshape %0 : f64 to !kina.tensor<f64, [1, 1]>\n%s = kina.reshape %r : !kina.tensor<f64, [1, 1]> to f64\n"
    "%t = kina.reshape %1 : !kina.tensor<f64, [1]> to f64\n%u = kina.reshape %2 checked : !kina.tensor<f64, [N]> to f64\n"
    "%v = kina.reshape %0 checked : f64 to !kina.tensor<f64, [N]>\n"
    "kina.return %r, %s, %t, %u, %v : !kina.tensor<f64, [1, 1]>, f64, f64, f64, !kina.tensor<f64, [N]>",
    [("f64", []), ("f64", [1]), ("f64", ["N"])], [("f64", [1, 1]), ("f64", []), ("f64", []), ("f64", []), ("f64", ["N"])],
    [(5.0, [6.0], [7.0]), (5.0, [6.0], [7.0, 8.0])],
    [(np.array([[5.0]]), np.float64(5), np.float64(6), np.float64(7), np.array([5.0])), 801], 0, [("N", 1)])
x = rng.normal(size=(2, 3, 4))
for perm in ((1, 0, 2), (2, 0, 1), (0, 2, 1)):
    dims = ["A", "B", "C"]
    to = [dims[p] for p in perm]
    add(f"%r = kina.transpose %0 perm [{', '.join(map(str, perm))}] : {tensor('f64', dims)}\nkina.return %r : {tensor('f64', to)}",
        [("f64", dims)], [("f64", to)], (x,), x.transpose(perm), 0, [(d, 1) for d in dims])
for source, shape in ((["N"], (3,)), ([1, "N"], (1, 3)), (["M", 1], (2, 1)), (["M", "N"], (2, 3)), ([1, 1], (1, 1)), ([1], (1,))):
    y = rng.normal(size=shape)
    add(f"%r = kina.broadcast %0 : {tensor('f64', source)} to !kina.tensor<f64, [2, M, N]>\nkina.return %r : !kina.tensor<f64, [2, M, N]>",
        [("f64", source), ("f64", ["M", "N"])], [("f64", [2, "M", "N"])], (y, np.zeros((2, 3))), np.broadcast_to(y, (2, 2, 3)), 0,
        [("M", 1), ("N", 1)])
add("%r = kina.broadcast %0 : ui8 to !kina.tensor<ui8, [N, 2]>\nkina.return %r : !kina.tensor<ui8, [N, 2]>",
    [("ui8", []), ("i1", ["N"])], [("ui8", ["N", 2])], (200, [t, f]), np.full((2, 2), 200, np.uint8), 0, [("N", 1)])

# Networks ----------------------------------------------------------------------------------------

def convolutions(x, w, y, stride, padding, dilation, groups):
    """The convolution of x with w, and the cotangents of x and w for y, in f64."""
    x, w, y = (value.astype(np.float64) for value in (x, w, y))
    (_, channels, height, width), (outputs, inner, rows, columns) = x.shape, w.shape
    out, dx, dw = np.zeros(y.shape), np.zeros(x.shape), np.zeros(w.shape)
    for o in range(outputs):
        first = o // (outputs // groups) * inner
        for i, j, k, l in np.ndindex(y.shape[2], y.shape[3], rows, columns):
            h, v = i * stride[0] + k * dilation[0] - padding[0], j * stride[1] + l * dilation[1] - padding[1]
            if 0 <= h < height and 0 <= v < width:
                box = x[:, first:first + inner, h, v]
                out[:, o, i, j] += box @ w[o, :, k, l]
                dx[:, first:first + inner, h, v] += y[:, o, i, j, None] * w[o, :, k, l]
                dw[o, :, k, l] += y[:, o, i, j] @ box
    return out, dx, dw


for dtype, batches in (("f64", (2, 0)), ("f16", (2,)), ("bf16", (2,))):
    if native.DTYPES[dtype] is None:
        continue
    for options, names in ((((1, 1), (1, 0), (1, 1), 1), [("B", 0)]), (((2, 3), (2, 1), (3, 2), 2), [("B", 0)])):
        stride, padding, dilation, groups = options
        out = [(size + 2 * p - d * (kernel - 1) - 1) // s + 1
               for size, kernel, s, p, d in zip((6, 7), (3, 2), stride, padding, dilation)]
        xt, wt, yt = (dtype, ["B", 4, 6, 7]), (dtype, [2, 4 // groups, 3, 2]), (dtype, ["B", 2, *out])
        attributes = f"stride {list(stride)} padding {list(padding)} dilation {list(dilation)} groups {groups}"
        body = "\n".join(f"%r{i} = kina.{op} {a}, {b} {attributes} : {tensor(*s)}, {tensor(*t)} to {tensor(*r)}"
                         for i, (op, a, b, s, t, r) in enumerate((
                             ("conv2d", "%0", "%1", xt, wt, yt), ("conv2d_input_grad", "%1", "%2", wt, yt, xt),
                             ("conv2d_kernel_grad", "%0", "%2", xt, yt, wt))))
        # Of integers the sums are exact: 16-bit results are the rounded f32 sums.
        cases = [tuple(narrow(rng.integers(-9, 10, [size if d == "B" else d for d in dims]), dtype) for _, dims in (xt, wt, yt))
                 for size in batches]
        add(body + f"\nkina.return %r0, %r1, %r2 : {tensor(*yt)}, {tensor(*xt)}, {tensor(*wt)}", [xt, wt, yt], [yt, xt, wt],
            cases, [tuple(narrow(value, dtype) for value in convolutions(*case, *options)) for case in cases], 0, names)
    x, g, b = (narrow(rng.normal(size=size) + 1, dtype) for size in ((3, 7), (7,), (7,)))
    wide = [value.astype(np.float64) for value in (x, g, b)]
    centred = wide[0] - wide[0].mean(axis=1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 0.01) * wide[1] + wide[2]
    add(f"%r = kina.layernorm %0, %1, %2 eps 0.01 : {tensor(dtype, ['N', 'D'])}, {tensor(dtype, ['D'])}\n"
        f"kina.return %r : {tensor(dtype, ['N', 'D'])}", [(dtype, ["N", "D"]), (dtype, ["D"]), (dtype, ["D"])],
        [(dtype, ["N", "D"])], (x, g, b), narrow(want, dtype), 0.51 if dtype != "f64" else 50, [("N", 1), ("D", 1)])

# Making ------------------------------------------------------------------------------------------

add("%a = kina.constant 1.5 : f64\n%b = kina.constant -2.0 : f64\n%r = kina.from_elements %a, %b, %b, %a : (f64, f64, f64, f64) -> !kina.tensor<f64, [2, 2]>\n"
    "%s = kina.from_elements %a, %0 : (f64, f64) -> !kina.tensor<f64, [2]>\n%c = kina.constant 200 : ui8\n"
    "%t = kina.from_elements %c : (ui8) -> !kina.tensor<ui8, [1]>\n"
    "kina.return %r, %s, %t : !kina.tensor<f64, [2, 2]>, !kina.tensor<f64, [2]>, !kina.tensor<ui8, [1]>", [("f64", [])],
    [("f64", [2, 2]), ("f64", [2]), ("ui8", [1])], (9.0,), (np.array([[1.5, -2], [-2, 1.5]]), np.array([1.5, 9.0]), np.array([200], np.uint8)))
for dtype in ("f64", "f32", "i64", "i32", "ui8", "bf16"):
    if native.DTYPES[dtype] is not None:
        add(f"%r = kina.iota 1 : {tensor(dtype, ['N', 5])}\nkina.return %r : {tensor(dtype, ['N', 5])}", [("f64", ["N"])],
            [(dtype, ["N", 5])], (np.zeros(3),), narrow(np.broadcast_to(np.arange(5), (3, 5)), dtype), 0, [("N", 1)])
for index in ("i32", "i64", "ui8", "i8"):
    i = np.array([0, 2, 3, 1, 7] + ([-1] if index != "ui8" else [255]))
    add(f"%r = kina.one_hot %0 : {tensor(index, ['N'])} to !kina.tensor<f32, [N, 4]>\n%s = kina.one_hot %1 : {index} to !kina.tensor<i1, [3]>\n"
        f"kina.return %r, %s : !kina.tensor<f32, [N, 4]>, !kina.tensor<i1, [3]>", [(index, ["N"]), (index, [])],
        [("f32", ["N", 4]), ("i1", [3])], (i, 1), ((i[:, None] == np.arange(4)).astype(np.float32), np.array([f, t, f])), 0, [("N", 1)])

# Indexing ----------------------------------------------------------------------------------------

x = rng.normal(size=(4, 5))
add("%r = kina.slice %0[%1, %2] sizes [#kina.dim<2>, #kina.dim<N - 2>] dropped [] : !kina.tensor<f64, [M, N]> to !kina.tensor<f64, [2, N - 2]>\n"
    "kina.return %r : !kina.tensor<f64, [2, N - 2]>", [("f64", ["M", "N"]), "index", "index"], [("f64", [2, "N - 2"])],
    [(x, 1, 2), (x, 2, 0), (x, 3, 0), (x, -1, 0), (x, 0, 3)], [x[1:3, 2:5], x[2:4, 0:3], 803, 803, 803], 0, [("M", 1), ("N", 1)])
add("%z = kina.constant 0 : index\n%r = kina.slice %0[%1, %z] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : !kina.tensor<f64, [M, N]> to !kina.tensor<f64, [N]>\n"
    "%s = kina.slice %0[%1, %1] sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 1] : !kina.tensor<f64, [M, N]> to f64\n"
    "kina.return %r, %s : !kina.tensor<f64, [N]>, f64", [("f64", ["M", "N"]), "index"], [("f64", ["N"]), ("f64", [])],
    [(x, 2), (x, 4), (x, -1)], [(x[2], x[2, 2]), 803, 803], 0, [("M", 1), ("N", 1)])
def updated(at, value):
    y = x.copy()
    y[at] = value
    return y
row = rng.normal(size=5)
add("%z = kina.constant 0 : index\n%r = kina.update %1 into %0[%2, %z] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0] : !kina.tensor<f64, [N]> into !kina.tensor<f64, [M, N]>\n"
    "kina.return %r, %0 : !kina.tensor<f64, [M, N]>, !kina.tensor<f64, [M, N]>", [("f64", ["M", "N"]), ("f64", ["N"]), "index"], [("f64", ["M", "N"])] * 2,
    [(x, row, 3), (x, row, 4)], [(updated(3, row), x), 803], 0, [("M", 1), ("N", 1)])
add("%r = kina.update %1 into %0[%2, %2] sizes [#kina.dim<1>, #kina.dim<1>] dropped [0, 1] : f64 into !kina.tensor<f64, [M, N]>\n"
    "kina.return %r : !kina.tensor<f64, [M, N]>", [("f64", ["M", "N"]), ("f64", []), "index"], [("f64", ["M", "N"])],
    [(x, 9.0, 1), (x, 9.0, 7)], [updated((1, 1), 9.0), 803], 0, [("M", 1), ("N", 1)])
x = rng.normal(size=(3, 4, 2))
for axis in (0, 1, 2):
    dims = ["A", "B", "C"]
    for shape in ((), (3,), (2, 2)):
        i = rng.integers(0, x.shape[axis], shape)
        idims = ["I", "J"][:len(shape)]
        result = dims[:axis] + idims + dims[axis + 1:]
        names = [(d, 1) for d in dims + idims]
        bad = np.array(i) + (0 if shape else x.shape[axis])
        if shape:
            bad.flat[-1] = -1
        want = np.take(x, i, axis)
        for index in ("i32", "i64"):
            add(f"%r = kina.gather %0 at %1 axis {axis} : {tensor('f64', dims)}, {tensor(index, idims)}\nkina.return %r : {tensor('f64', result)}",
                [("f64", dims), (index, idims)], [("f64", result)], [(x, i), (x, bad)], [want, 803], 0, names)
        v = np.round(rng.normal(size=want.shape) * 8)
        y = x.copy()
        np.add.at(y, (slice(None),) * axis + (i,), v)
        add(f"%r = kina.scatter_add %2 into %0 at %1 axis {axis} : {tensor('f64', result)} into {tensor('f64', dims)}, {tensor('i32', idims)}\n"
            f"kina.return %r, %0 : {tensor('f64', dims)}, {tensor('f64', dims)}", [("f64", dims), ("i32", idims), ("f64", result)],
            [("f64", dims)] * 2, [(x, i, v), (x, bad, v)], [(y, x), 803], 1, names)
    shape = list(x.shape)
    shape[axis] = 5
    i = rng.integers(0, x.shape[axis], shape)
    idims = dims[:axis] + ["J"] + dims[axis + 1:]
    bad = i.copy()
    bad.flat[2] = x.shape[axis]
    add(f"%r = kina.take_along %0 at %1 axis {axis} : {tensor('f64', dims)}, {tensor('i32', idims)}\nkina.return %r : {tensor('f64', idims)}",
        [("f64", dims), ("i32", idims)], [("f64", idims)], [(x, i), (x, bad)], [np.take_along_axis(x, i, axis), 803], 0, [(d, 1) for d in dims + ["J"]])
    v = np.round(rng.normal(size=shape) * 8)
    y = x.copy()
    for at in np.ndindex(*shape):
        to = list(at)
        to[axis] = i[at]
        y[tuple(to)] += v[at]
    add(f"%r = kina.put_along_add %2 into %0 at %1 axis {axis} : {tensor('f64', idims)} into {tensor('f64', dims)}, {tensor('i32', idims)}\n"
        f"kina.return %r : {tensor('f64', dims)}", [("f64", dims), ("i32", idims), ("f64", idims)], [("f64", dims)], [(x, i, v), (x, bad, v)], [y, 803], 0,
        [(d, 1) for d in dims + ["J"]])
vector = np.arange(5, dtype=np.int32)
add("%r = kina.scatter_add %2 into %0 at %1 axis 0 : i32 into !kina.tensor<i32, [N]>, i64\n"
    "kina.return %r : !kina.tensor<i32, [N]>", [("i32", ["N"]), ("i64", []), ("i32", [])], [("i32", ["N"])],
    [(vector, 3, 10), (vector, 5, 10), (vector, 2 ** 62, 1)], [np.array([0, 1, 2, 13, 4], np.int32), 803, 803], 0, [("N", 1)])

# Dimensions --------------------------------------------------------------------------------------

add("%r = kina.dim <T> : i64\n%s = kina.dim <q*T + 1> : i64\n%t = kina.dim <min(T, q) + max(T, 3)> : f64\n%u = kina.dim <(T - 7) floordiv q> : i32\n"
    "kina.return %r, %s, %t, %u : i64, i64, f64, i32", [("f64", ["T + 1", "8*q"])], [("i64", []), ("i64", []), ("f64", []), ("i32", [])],
    [(np.zeros((5, 16)),), (np.zeros((5, 15)),), (np.zeros((1, 8)),)], [(np.int64(4), np.int64(9), np.float64(6), np.int32(-2)), 802, 802], 0, [("T", 1), ("q", 1)])
add("%r = kina.dim <H> : i64\nkina.return %r : i64", [("f64", ["D*H"]), ("f64", ["D"])], [("i64", [])],
    [(np.zeros(12), np.zeros(3)), (np.zeros(13), np.zeros(3))], [np.int64(4), 802], 0, [("D", 1), ("H", 1)])
add("%r = kina.broadcast %0 : f64 to !kina.tensor<f64, [M]>\nkina.return %r : !kina.tensor<f64, [M]>", [("f64", []), "index {kina.dim = \"M\"}"],
    [("f64", ["M"])], [(2.0, 3), (2.0, 0)], [np.full(3, 2.0), 802], 0, [("M", 1)])
add("kina.bind_dim \"K\" = %0 : i32\n%c = kina.constant 1.0 : f32\n%r = kina.broadcast %c : f32 to !kina.tensor<f32, [2*K]>\n"
    "%s = kina.sum %r axes [0] : !kina.tensor<f32, [2*K]>\nkina.return %s : f32", [("i32", [])], [("f32", [])], [(3,), (0,)], [np.float32(6), 801])
add("kina.return %0 : !kina.tensor<f64, [N]>", [("f64", ["N"])], [("f64", ["N"])], [(np.zeros(8),), (np.zeros(12),)], [np.zeros(8), 801], 0, [("N", 1)],
    ', preconditions = [#kina.clause<<N mod 8 = 0>, runtime, "8 | N", loc(unknown)>]')
add("kina.assume trusted <N = 4>\nkina.return %0 : !kina.tensor<f64, [N]>", [("f64", ["N"])], [("f64", ["N"])], [(np.zeros(4),), (np.zeros(3),)],
    [np.zeros(4), 801], 0, [("N", 1)])
add("kina.check %0, \"must hold\"\nkina.return", [("i1", [])], [], [(t,), (f,)], [(), 801])

# Control flow ------------------------------------------------------------------------------------

add("""%r = kina.if %0 -> (!kina.tensor<f64, [N]>) {
  %a = kina.neg %1 : !kina.tensor<f64, [N]>
  kina.yield %a : !kina.tensor<f64, [N]>
} else {
  kina.yield %1 : !kina.tensor<f64, [N]>
}
kina.return %r : !kina.tensor<f64, [N]>""", [("i1", []), ("f64", ["N"])], [("f64", ["N"])], [(t, [1., 2.]), (f, [1., 2.])],
    [np.array([-1., -2.]), np.array([1., 2.])], 0, [("N", 1)])
# Leapfrog: the carried tensors swap, the extra value is that of the last test.
add("""%zero = kina.constant 0 : i32
%one = kina.constant 1 : i32
%r:4 = kina.while (%x = %0, %y = %1, %i = %zero) : !kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>, i32 -> (i32) {
  %c = kina.cmp lt, %i, %2 : i32
  %e = kina.add %i, %2 : i32
  kina.condition(%c) %e : i32
} do {
^bb0(%x: !kina.tensor<f64, [N]>, %y: !kina.tensor<f64, [N]>, %i: i32, %e: i32):
  %z = kina.add %x, %y : !kina.tensor<f64, [N]>
  %rem = kina.remat -> (!kina.tensor<f64, [N]>) {
    %w = kina.mul %z, %z : !kina.tensor<f64, [N]>
    kina.yield %w : !kina.tensor<f64, [N]>
  }
  %next = kina.sub %rem, %x : !kina.tensor<f64, [N]>
  %i1 = kina.add %i, %one : i32
  kina.yield %y, %next, %i1 : !kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>, i32
}
kina.return %r#0, %r#1, %r#3 : !kina.tensor<f64, [N]>, !kina.tensor<f64, [N]>, i32""", [("f64", ["N"]), ("f64", ["N"]), ("i32", [])],
    [("f64", ["N"]), ("f64", ["N"]), ("i32", [])], [([.5, .1], [.2, .3], 0), ([.5, .1], [.2, .3], 3)],
    [(np.array([.5, .1]), np.array([.2, .3]), np.int32(0)), None], 0, [("N", 1)])
x, y = np.array([.5, .1]), np.array([.2, .3])
for _ in range(3):
    x, y = y, (x + y) * (x + y) - x
checks[-1] = checks[-1][:4] + ((x, y, np.int32(6)),) + checks[-1][5:]

functions.append("""
kina.global @scale : f64 {
  %0 = kina.constant 3.0 : f64
  kina.yield %0 : f64
}
kina.global @table : !kina.tensor<f64, [2]> {
  %0 = kina.get_global @scale : f64
  %1 = kina.from_elements %0, %0 : (f64, f64) -> !kina.tensor<f64, [2]>
  kina.yield %1 : !kina.tensor<f64, [2]>
}
kina.func private @twice(%0: !kina.tensor<f64, [K]>) -> !kina.tensor<f64, [K]> attributes {shape_vars = [#kina.var<"K">]} {
  %1 = kina.add %0, %0 : !kina.tensor<f64, [K]>
  kina.return %1 : !kina.tensor<f64, [K]>
}""")
add("""%t = kina.get_global @table : !kina.tensor<f64, [2]>
%a = kina.call @twice(%t) subst {K = #kina.dim<2>} : (!kina.tensor<f64, [2]>) -> !kina.tensor<f64, [2]>
%b = kina.call @twice(%0) subst {K = #kina.dim<2*N>} : (!kina.tensor<f64, [2*N]>) -> !kina.tensor<f64, [2*N]>
kina.return %a, %b : !kina.tensor<f64, [2]>, !kina.tensor<f64, [2*N]>""", [("f64", ["2*N"])], [("f64", [2]), ("f64", ["2*N"])],
    (np.arange(4.0),), (np.array([6.0, 6.0]), np.arange(4.0) * 2), 0, [("N", 1)])

# -------------------------------------------------------------------------------------------------

def main():
    module = native.Module("\n".join(functions))
    failures = 0
    for name, body, arguments, results, want, tolerance in checks:
        try:
            got = module.call(name, arguments, results)
        except native.CallError as error:
            got = error
        problem = None
        if isinstance(want, int) and not isinstance(want, bool):
            if not isinstance(got, native.CallError) or got.code != want:
                problem = f"expected K0{want}, got {got}"
        elif isinstance(got, native.CallError):
            problem = str(got)
        else:
            for value, wanted in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
                error = ulps(value, np.asarray(wanted))
                if not error <= tolerance:
                    problem = f"off by {error} ulp (allowed {tolerance}): got\n{value}\nwant\n{wanted}"
        if problem:
            failures += 1
            print(f"FAIL {body}\n  {problem}\n  arguments {arguments}", file=sys.stderr)
    print(f"{len(checks)} checks of {len(functions)} functions, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
