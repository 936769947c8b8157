#!/usr/bin/env python3
"""Measures the element functions against mpmath and keeps the table of docs/Accuracy.md.

  make_accuracy.py [--check] [--points N] --work DIR [ROOT]

Needs `kinac` on the PATH. Every function is compiled for F64 and F32 and evaluated at special
points, beside zeros and poles, and at random ones of every magnitude. The table stands between
`<!-- bounds .. -->` and `<!-- end -->`; with --check nothing is written, and an error above its bound,
a wrong special value or a table with other rows fails. For F16 and BF16 every value of the type is
the argument, and the result has to be that of F32, rounded.

An error is counted in units of the last place of the exact result; below the normal numbers the
unit is the smallest number of the type.
"""

import argparse
import dataclasses
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import zlib
from typing import Callable

import ml_dtypes
import mpmath
import numpy as np
from mpmath import mp

INF, NAN = math.inf, math.nan
FORMATS = {"F64": (np.float64, np.int64, 53, -1022, 1023), "F32": (np.float32, np.int32, 24, -126, 127)}


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    kina: str
    exact: Callable                     # of mpf, which are finite and not 0
    at: tuple = ()                      # values at 0, -0, inf, -inf
    dense: tuple = ((-10, 10),)         # intervals that get more points
    near: tuple = (0.0,)                # and places
    domain: Callable = lambda x: True   # elsewhere the value is NaN
    special: Callable | None = None     # of two arguments: the value where the rule is not `exact`
    halves: bool = True
    below: float = 1                    # results below `below` times the smallest normal number count apart


def gelu_inner(x):
    return 2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)


def gelu(x):
    # Beyond 1000 the factor is 1, or far below every float; erfc is slow there.
    bounded = max(min(x, 1000), -1000)
    return x * mp.erfc(-bounded / mp.sqrt(2)) / 2


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def round_even(x):
    low = mp.floor(x)
    rest = x - low
    up = rest > 0.5 or (rest == 0.5 and int(low) % 2)
    return signed_zero(low + 1 if up else low, x)


def signed_zero(value, sign):
    return value if value else math.copysign(0.0, sign)


UNARY = (
    Function("-x", "-x", lambda x: -x, (-0.0, 0.0, -INF, INF)),
    Function("abs", "abs(x)", abs, (0.0, 0.0, INF, INF)),
    Function("sign", "sign(x)", mp.sign, (0.0, -0.0, 1.0, -1.0)),
    Function("square", "square(x)", lambda x: x * x, (0.0, 0.0, INF, INF)),
    Function("sqrt", "sqrt(x)", mp.sqrt, (0.0, -0.0, INF, NAN), ((0, 4),), domain=lambda x: x > 0),
    Function("rsqrt", "rsqrt(x)", lambda x: 1 / mp.sqrt(x), (INF, -INF, 0.0, NAN), ((0, 4),), domain=lambda x: x > 0),
    Function("exp", "exp(x)", mp.exp, (1.0, 1.0, INF, 0.0), ((-110, 100), (-750, 720))),
    Function("expm1", "expm1(x)", mp.expm1, (0.0, -0.0, INF, -1.0), ((-40, 90), (-1, 1), (80, 720))),
    Function("log", "log(x)", mp.log, (-INF, -INF, INF, NAN), ((0, 3), (0.5, 2)), (1.0,), lambda x: x > 0),
    Function("log1p", "log1p(x)", mpmath.log1p, (0.0, -0.0, INF, NAN), ((-1, 2), (-0.5, 0.5)), (0.0, -1.0), lambda x: x >= -1),
    Function("sin", "sin(x)", mp.sin, (0.0, -0.0, NAN, NAN), ((-10, 10), (-1e5, 1e5)), (0.0, math.pi, -math.pi, 355.0, 2 * math.pi)),
    Function("cos", "cos(x)", mp.cos, (1.0, 1.0, NAN, NAN), ((-10, 10), (-1e5, 1e5)), (math.pi / 2, 1.5 * math.pi, -math.pi / 2)),
    Function("tan", "tan(x)", mp.tan, (0.0, -0.0, NAN, NAN), ((-10, 10), (-1e5, 1e5)), (0.0, math.pi / 2, math.pi, -math.pi / 2)),
    Function("asin", "asin(x)", mp.asin, (0.0, -0.0, NAN, NAN), ((-1, 1),), (0.0, 1.0, -1.0, 0.5), lambda x: abs(x) <= 1),
    Function("acos", "acos(x)", mp.acos, (math.pi / 2, math.pi / 2, NAN, NAN), ((-1, 1),), (0.0, 1.0, -1.0, 0.5), lambda x: abs(x) <= 1),
    Function("atan", "atan(x)", mp.atan, (0.0, -0.0, math.pi / 2, -math.pi / 2)),
    Function("sinh", "sinh(x)", mp.sinh, (0.0, -0.0, INF, -INF), ((-3, 3), (-90, 90), (-711, 711))),
    Function("cosh", "cosh(x)", mp.cosh, (1.0, 1.0, INF, INF), ((-3, 3), (-90, 90), (-711, 711))),
    Function("tanh", "tanh(x)", mp.tanh, (0.0, -0.0, 1.0, -1.0), ((-3, 3), (-22, 22))),
    Function("sigmoid", "sigmoid(x)", logistic, (0.5, 0.5, 1.0, 0.0), ((-8, 8), (-110, 40), (-750, -80))),
    Function("log_sigmoid", "log_sigmoid(x)", lambda x: -mpmath.log1p(mp.exp(-x)), (-math.log(2), -math.log(2), -0.0, -INF),
             ((-8, 8), (-90, 110), (80, 750))),
    Function("softplus", "softplus(x)", lambda x: mpmath.log1p(mp.exp(x)), (math.log(2), math.log(2), INF, 0.0),
             ((-8, 8), (-110, 90), (-750, -80))),
    Function("silu", "silu(x)", lambda x: x * logistic(x), (0.0, -0.0, INF, -0.0), ((-8, 8), (-120, 40), (-760, -80))),
    Function("relu", "relu(x)", lambda x: max(x, mp.mpf(0)), (0.0, None, INF, 0.0)),
    Function("gelu", "gelu(x)", gelu, (0.0, -0.0, INF, -0.0), ((-6, 6), (-15, 10), (-39, -12)), below=64),
    Function("gelu(form=tanh)", "gelu(x, form=tanh)", lambda x: x * logistic(gelu_inner(x)), (0.0, -0.0, INF, -0.0),
             ((-6, 6), (-12, 10), (-22, -10))),
    Function("erf", "erf(x)", mp.erf, (0.0, -0.0, 1.0, -1.0), ((-6, 6), (-1, 1))),
    Function("floor", "floor(x)", lambda x: signed_zero(mp.floor(x), x), (0.0, -0.0, INF, -INF), ((-9, 9),), (0.0, 1.0, -1.0, 2.0**23)),
    Function("ceil", "ceil(x)", lambda x: signed_zero(mp.ceil(x), x), (0.0, -0.0, INF, -INF), ((-9, 9),), (0.0, 1.0, -1.0, 2.0**23)),
    Function("round", "round(x)", round_even, (0.0, -0.0, INF, -INF), ((-9, 9),), (0.5, 1.5, -0.5, -2.5, 2.0**22 + 0.5, 1.0)),
    Function("x ** 2", "x ** 2", lambda x: x * x, (0.0, 0.0, INF, INF)),
    Function("x ** 3", "x ** 3", lambda x: x * x * x, (0.0, -0.0, INF, -INF)),
    Function("x ** -1", "x ** -1", lambda x: 1 / x, (INF, -INF, 0.0, -0.0)),
    Function("x ** 0.5", "x ** 0.5", mp.sqrt, (0.0, None, INF, None), ((0, 4),), domain=lambda x: x > 0),
    Function("2 ** x", "2.0 ** x", lambda x: mp.power(2, x), (1.0, 1.0, INF, 0.0), ((-150, 130), (-1080, 1030))),
)


def is_odd(y):
    return math.isfinite(y) and y == math.floor(y) and int(y) % 2 == 1


def power_special(x, y):
    """IEEE 754's pow, where an argument is 0, infinite or NaN, or the base is negative."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return NAN
    sign = math.copysign(1.0, x) if is_odd(y) else 1.0
    if x == 0:
        return sign * (0.0 if y > 0 else INF)
    if math.isinf(y):
        return 1.0 if abs(x) == 1 else INF if (abs(x) > 1) == (y > 0) else 0.0
    if math.isinf(x):
        return sign * (INF if y > 0 else 0.0)
    if x < 0 and y != math.floor(y):
        return NAN
    return None


def power(x, y):
    magnitude = mp.power(abs(x), y)
    return -magnitude if x < 0 and is_odd(float(y)) else magnitude


def arithmetic(function):
    """The special values of an operation of the machine are NumPy's."""
    def special(x, y):
        if x and y and math.isfinite(x) and math.isfinite(y):
            return None
        with np.errstate(all="ignore"):
            return float(function(np.float64(x), np.float64(y)))
    return special


def mod_special(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return NAN
    if x == 0:
        return math.copysign(0.0, y)
    if math.isinf(y):
        return x if (x < 0) == (y < 0) else y
    return None


def extreme(is_first):
    def special(x, y):
        if math.isnan(x) or math.isnan(y):
            return NAN
        if x == y == 0:
            return None
        return x if is_first(x, y) else y
    return special


def zero_of_any_sign(x, y):
    return mp.mpf(0)


def mod(x, y):
    """Of exact integers: both are multiples of one power of two."""
    scale = min(x.exp, y.exp)
    whole = [int(mp.sign(z)) * int(z.man) << (z.exp - scale) for z in (x, y)]
    rest = whole[0] % whole[1]
    return signed_zero(mp.ldexp(mp.mpf(rest), scale), y)


# The addition is exact in the precision of the sum; the points keep the exponents close enough for it.
BINARY = (
    Function("x + y", "x + y", lambda x, y: mp.fadd(x, y, exact=True), special=arithmetic(np.add), halves=False),
    Function("x - y", "x - y", lambda x, y: mp.fsub(x, y, exact=True), special=arithmetic(np.subtract), halves=False),
    Function("x * y", "x * y", lambda x, y: x * y, special=arithmetic(np.multiply), halves=False),
    Function("x / y", "x / y", lambda x, y: x / y, special=arithmetic(np.divide), halves=False),
    Function("x % y", "x % y", mod, special=mod_special, halves=False),
    Function("x ** y", "x ** y", power, dense=((0, 4), (-20, 20)), near=(1.0, -1.0, 2.0, -3.0, 0.5), special=power_special, halves=False),
    Function("min", "min(x, y)", zero_of_any_sign, special=extreme(lambda x, y: x < y), halves=False),
    Function("max", "max(x, y)", zero_of_any_sign, special=extreme(lambda x, y: x > y), halves=False),
    Function("atan2", "atan2(x, y)", lambda x, y: mp.atan2(x, y), special=arithmetic(np.arctan2), halves=False),
)
FUNCTIONS = UNARY + BINARY


EXACT = ("-x", "abs", "sign", "relu", "floor", "ceil", "round", "min", "max")
CORRECTLY_ROUNDED = ("square", "sqrt", "x ** 2", "x ** -1", "x ** 0.5", "x + y", "x - y", "x * y", "x / y", "x % y")


# ---------------------------------------------------------------------------
# Points
# ---------------------------------------------------------------------------
def of_all_magnitudes(random, kind, integer, count):
    bits = random.randint(np.iinfo(integer).min, np.iinfo(integer).max, size=2 * count, dtype=integer)
    values = bits.view(kind)
    return values[np.isfinite(values)][:count]


def column(function, random, float_type, count):
    kind, integer, *_ = FORMATS[float_type]
    info = np.finfo(kind)
    parts = [of_all_magnitudes(random, kind, integer, count)]
    parts += [random.uniform(low, high, size=count).astype(kind) for low, high in function.dense]
    for place in function.near:
        center = kind(place)
        parts.append((center + np.ldexp(random.uniform(-1, 1, size=count // 4), -random.randint(0, 60, size=count // 4))).astype(kind))
        beside = [center]
        for direction in (kind(-INF), kind(INF)):
            at = center
            for _ in range(4):
                at = np.nextafter(at, direction)
                beside.append(at)
        parts.append(np.array(beside, kind))
    parts.append(np.array([info.max, -info.max, info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal,
                           1, -1, 0.5, 2, 1e22, 2.0**100, -2.0**100], kind))
    return np.concatenate(parts)


SPECIALS = (0.0, -0.0, INF, -INF, NAN)


def points(function, float_type, count):
    """The arguments: one array each."""
    kind, integer, *_ = FORMATS[float_type]
    random = np.random.RandomState(zlib.crc32(f"{function.name} {float_type}".encode()))
    if function in UNARY:
        return [np.concatenate([column(function, random, float_type, count), np.array(SPECIALS, kind)])]
    x, y = column(function, random, float_type, count), column(function, random, float_type, count)
    random.shuffle(y)
    pairs = [(x, y)]
    base = random.uniform(-3, 3, size=count).astype(kind)
    pairs.append((base, random.randint(-60, 61, size=count).astype(kind)))          # integer exponents
    near = (1 + np.ldexp(random.uniform(-1, 1, size=count), -random.randint(1, 30, size=count))).astype(kind)
    pairs.append((near, np.ldexp(random.uniform(-1, 1, size=count), random.randint(0, 40, size=count)).astype(kind)))
    some = np.array([*SPECIALS, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1e30, -1e30, 1e-40, -1e-40, 2.0**53 + 2, 3.5], kind)
    grid = np.array(list(itertools.product(some, some)), kind)
    pairs.append((grid[:, 0], grid[:, 1]))
    return [np.concatenate([pair[k] for pair in pairs]) for k in (0, 1)]


def wanted(function, arguments):
    """The exact value: an mpf, or a float where it is special; None where anything goes."""
    if function in BINARY:
        special = function.special(*arguments)
        return special if special is not None else function.exact(*map(mp.mpf, arguments))
    x = arguments[0]
    if math.isnan(x):
        return NAN
    if x == 0 or math.isinf(x):
        place = (0 if x == 0 else 2) + (math.copysign(1, x) < 0)
        return function.at[place]
    if not function.domain(x):
        return NAN
    if function.name == "log1p" and x == -1:
        return -INF
    return function.exact(mp.mpf(x))


def measure(got, exact, float_type):
    """The error in units of the last place; infinite where a special value or the sign of 0 is wrong."""
    _, _, digits, low, high = FORMATS[float_type]
    if exact is None:
        return 0.0
    if isinstance(exact, float) and (not math.isfinite(exact) or exact == 0):
        same = math.isnan(got) if math.isnan(exact) else got == exact and math.copysign(1, got) == math.copysign(1, exact)
        return 0.0 if same else INF
    exact = mp.mpf(exact)
    if exact == 0:
        return 0.0 if got == 0 else INF
    if math.isnan(got) or math.copysign(1, got) != mp.sign(exact):
        return INF
    if math.isinf(got):
        if abs(exact) >= mp.ldexp(2 - mp.ldexp(1, -digits), high):
            return 0.0
        got = mp.sign(exact) * mp.ldexp(1, high + 1)
    exponent = min(max(mp.mag(exact) - 1, low), high)
    return float(min(abs(mp.mpf(got) - exact) * mp.ldexp(1, digits - 1 - exponent), mp.mpf(1e300)))


# ---------------------------------------------------------------------------
# Runs
# ---------------------------------------------------------------------------
HALVES = {"F16": np.float16, "BF16": ml_dtypes.bfloat16}


def run_kinac(work, count):
    """{(function, type): (arguments, results)}"""
    text, calls, answers = [], [], {}
    for number, function in enumerate(FUNCTIONS):
        names = ("x",) if function in UNARY else ("x", "y")
        for float_type in (*FORMATS, *(HALVES if function.halves else ())):
            declare = ", ".join(f"{name}: &tensor<{float_type}, [N]>" for name in names)
            entry = f"f{number}_{float_type}"
            text.append(f"@export fn {entry}({declare}) -> tensor<{float_type}, [N]> {{ {function.kina} }}")
            inputs = [(float_type, points(function, float_type, count))] if float_type in FORMATS else []
            if float_type in HALVES:
                every = np.arange(1 << 16, dtype=np.uint16).view(HALVES[float_type])
                inputs = [(float_type, [every]), ("F32", [every.astype(np.float32)])]
            for called, arguments in inputs:
                key = (function.name, float_type, called)
                stem = work / f"{number}.{float_type}.{called}"
                for name, values in zip(names, arguments):
                    np.save(f"{stem}.{name}.npy", values)
                calls.append({"function": f"f{number}_{called}", "arguments": {n: f"{stem}.{n}.npy" for n in names},
                              "out": [f"{stem}.out.npy"]})
                answers[key] = (arguments, pathlib.Path(f"{stem}.out.npy"))
                answers[key][1].unlink(missing_ok=True)
    (work / "functions.kina").write_text("\n".join(text) + "\n")
    (work / "calls.json").write_text(json.dumps(calls))
    subprocess.run(["kinac", "run", work / "functions.kina", "--batch", work / "calls.json"], check=True, stdout=subprocess.DEVNULL)
    return {key: (arguments, np.load(path)) for key, (arguments, path) in answers.items()}


def worst(function, float_type, arguments, got):
    """The largest error among normal results and among the others, and where they are."""
    mp.prec = 140 if float_type == "F64" else 100
    tiny, largest = float(np.finfo(FORMATS[float_type][0]).tiny), [(0.0, ""), (0.0, "")]
    for *point, value in zip(*(a.tolist() for a in arguments), got.tolist()):
        exact = wanted(function, point)
        error = measure(value, exact, float_type)
        is_tiny = isinstance(exact, mp.mpf) and abs(exact) < function.below * tiny
        if error > largest[is_tiny][0]:
            largest[is_tiny] = (error, f"{point} gives {value!r}, wanted {mp.nstr(exact, 20)}")
    return largest


def half_mismatch(half, wide, kind):
    """Where a 16-bit result is not the one of F32, rounded (a NaN is a NaN)."""
    with np.errstate(all="ignore"):
        rounded = wide.astype(kind)
    half = half.view(kind) if half.dtype != kind else half
    return ~((half.view(np.uint16) == rounded.view(np.uint16)) | (np.isnan(half) & np.isnan(rounded)))


def bound(function, error):
    """What the table promises for a measured error: at least 1/4 more, in steps of 1/2, as the sample is not everything."""
    least = 0 if function.name in EXACT else 0.5 if function.name in CORRECTLY_ROUNDED else 1
    return max(least, math.ceil(2 * (error + 0.25)) / 2) if least < error < INF else max(least, error)


def parse_table(page):
    rows = {}
    for line in page.read_text().split("<!-- end -->")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if line.startswith("| `"):
            assert cells[0].strip("`") not in rows, f"{page}: two rows of {cells[0]}"
            rows[cells[0].strip("`")] = [float(cell) for cell in cells[1:]]
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--points", type=int, help="random points of each kind")
    parser.add_argument("--only", default="")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    page = options.root / "docs/Accuracy.md"
    results = run_kinac(options.work, options.points or (100 if options.check else 4000))
    promised = parse_table(page) if options.check else {}
    failures, rows, evaluated = [], [], 0
    if options.check and list(promised) != [f.name for f in FUNCTIONS]:
        failures.append(f"{page} has other rows than utils/make_accuracy.py")
    for function in FUNCTIONS:
        if options.only not in function.name:
            continue
        cells = []
        for column_number, float_type in enumerate(FORMATS):
            arguments, got = results[function.name, float_type, float_type]
            evaluated += len(got)
            for is_tiny, (error, text) in enumerate(worst(function, float_type, arguments, got)):
                cells.append(bound(function, error))
                limit = promised.get(function.name, [INF] * 4)[2 * column_number + is_tiny]
                if options.only:
                    print(f"{function.name} {float_type}{' denormal' * is_tiny}: {error:.3f}: {text}")
                if error > limit or error == INF:
                    failures.append(f"{function.name} {float_type}: error {error:.3f} > {limit}: {text}")
        rows.append((function.name, cells))
        for half in HALVES if function.halves else ():
            arguments, got = results[function.name, half, half]
            differ = half_mismatch(got, results[function.name, half, "F32"][1], HALVES[half])
            if differ.any():
                failures.append(f"{function.name} {half}: {differ.sum()} values are not F32's rounded, {arguments[0][differ][0]} first")
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{len(rows)} functions, {evaluated} values against mpmath, {len(failures)} failures")
    if not options.check and not options.only and not failures:
        table = "\n".join(f"| `{name}` | " + " | ".join(f"{cell:g}" for cell in cells) + " |" for name, cells in rows)
        text = re.sub(r"(<!-- bounds[^\n]*\n(?:\|[^\n]*\n){2}).*?(<!-- end -->)", lambda m: f"{m[1]}{table}\n{m[2]}", page.read_text(), flags=re.S)
        page.write_text(text)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
