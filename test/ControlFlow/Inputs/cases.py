"""Programs whose derivative goes through control flow: what tools are known to get wrong,
and the kind of each.

A case is a function in Kina, the same in Python over dual numbers (or other arithmetic),
and arguments, some with a value and gradients that were found by hand or with another
tool. `CK` in the Kina text stands before a loop, for a checkpoint or nothing.
"""

import dataclasses
import math
import re

import numpy as np

import dual as D


@dataclasses.dataclass
class Case:
    name: str
    parameters: str           # "x: F64, v: tensor<F64, [3]>, n: I32"
    wrt: str                  # "x, v"
    body: str
    reference: object         # of the parameters, in order
    runs: list                # dictionaries; "wanted" is (value, gradient, ...)
    helpers: str = ""
    exact: bool = True        # bits are those of every other form
    mlir: str = ""            # the function as typed IR, in place of `body`
    wraps: bool = False       # the counter outruns its bound by wrapping round: a bounded tape may refuse
    unsafe: bool = False      # the reference cannot give this gradient: only `wanted` holds

    def names(self):
        return re.findall(r"(\w+)\s*:", self.parameters)

    def types(self):
        return [t.strip() for t in re.split(r"(?:^|,)\s*\w+\s*:", self.parameters)[1:]]

    def text(self, checkpoint):
        types = dict(zip(self.names(), self.types()))
        wrt = [w.strip() for w in self.wrt.split(",")]
        passed = ", ".join(f"{n}: {'&' if t.startswith('tensor') else ''}{t}" for n, t in types.items())
        body = re.sub(r"\bCK\b", checkpoint, self.body)
        helpers = re.sub(r"\bCK\b", checkpoint, self.helpers)
        results = ", ".join(["F64" if types[wrt[0]] != "F32" and "F32, " not in types[wrt[0]] else "F32"]
                            + [types[w] for w in wrt])
        return (f"{helpers}\nfn {self.name}({self.parameters}) -> {results.split(',')[0]} {{ {body} }}\n"
                f"@export fn {self.name}_g({passed}) -> ({results}) {{\n"
                f"  value_and_grad({self.name}, wrt=({self.wrt}))({', '.join(types)})\n}}\n")


CASES = []


def case(name, parameters, wrt, body, runs, **more):
    def register(reference):
        CASES.append(Case(name, parameters, wrt, body, reference, runs, **more))
        return reference
    return register


def power_runs(wanted=()):
    return [dict(x=0.5, n=n, **({"wanted": wanted[n]} if n in wanted else {})) for n in (0, 1, 2, 3, 7, 20)] \
        if isinstance(wanted, dict) else [dict(x=0.5, n=n) for n in (0, 1, 2, 3, 7, 20)]


# 1. A power, by loops of every kind.

@case("power", "x: F64, n: I32", "x", "CK let (a, i) = while (i < n) [a = 1.0, i = 0] { (a * x, i + 1) }; a",
      power_runs({0: (1, 0), 2: (.25, 1), 3: (.125, .75)}))
@case("power_for", "x: F64, n: I32", "x", "CK let a = for (i in 0..n) [a: F64 = 1.0] { a * x }; a",
      power_runs({0: (1, 0), 2: (.25, 1), 3: (.125, .75)}))
@case("power_down", "x: F64, n: I32", "x", "CK let (a, i) = while (i > 0) [a: F64 = 1.0, i = n] { (a * x, i - 1) }; a",
      power_runs())
@case("power_flag", "x: F64, n: I32", "x",
      "CK let (a, i, go) = while (go) [a: F64 = 1.0, i = 0, go = n > 0] { (a * x, i + 1, i + 1 < n) }; a", power_runs())
@case("power_swapped_test", "x: F64, n: I32", "x",
      "CK let (a, i) = while (n > i) [a: F64 = 1.0, i = 0] { (x * a, 1 + i) }; a", power_runs())
@case("power_no_counter", "x: F64, n: I32", "x",
      "CK let (a, i) = while (i != n) [a: F64 = 1.0, i = 0] { (x * a, i + 1) }; a", power_runs())
@case("power_two_tests", "x: F64, n: I32", "x",
      "CK let (a, i) = while (a < 100.0 and i < n) [a: F64 = 1.0, i = 0] { (x * a, i + 1) }; a", power_runs())
def power(x, n):
    a = 1.0
    for _ in range(n):
        a = a * x
    return a + x * 0.0


@case("inverse_power", "x: F64, n: I32", "x", "CK let (a, i) = while (i < n) [a = 1.0, i = 0] { (a / x, i + 1) }; a",
      power_runs({3: (8, -48)}))
def inverse_power(x, n):
    a = 1.0 + x * 0.0
    for _ in range(n):
        a = a / x
    return a


@case("sine_power", "x: F64, n: I32", "x", "CK let (a, i) = while (i < n) [a = 1.0, i = 0] { (sin(a * x), i + 1) }; a",
      power_runs({3: (0.1184331814, 0.6785945955)}))
def sine_power(x, n):
    a = 1.0 + x * 0.0
    for _ in range(n):
        a = D.sin(a * x)
    return a


# 2. A loop in a loop, with the carried value yielded from inside.

@case("nested", "x: F64, n: I32", "x",
      "CK let (o, i) = while (i < n) [o = x, i = 0] { CK let (s, j) = while (j < n) [s = o * x, j = 0] { (s + x, j + 1) };"
      " (s, i + 1) }; o",
      [dict(x=2.0, n=2, wanted=(20, 22)), dict(x=4.0, n=2, wanted=(104, 66)), dict(x=1.25, n=0), dict(x=1.25, n=5)])
def nested(x, n):
    o = x
    for _ in range(n):
        o = o * x
        for _ in range(n):
            o = o + x
    return o


# 3. A value made before the loop, used after it.

@case("before_and_after", "x: F64, c: F64, s: tensor<F64, [3]>, n: I32", "x, c, s",
      "let b = 2.0 * x; CK let (a, k) = while (k < n) [a = c, k = 0] { (a + s[k], k + 1) }; a * b",
      [dict(x=1.0, c=0.0, s=[1., 2, 3], n=3, wanted=(12, 12)), dict(x=1.0, c=5.0, s=[1., 2, 3], n=3, wanted=(22, 22)),
       dict(x=1.0, c=5.0, s=[1., 2, 3], n=0), dict(x=1.0, c=5.0, s=[1., 2, 3], n=1)])
def before_and_after(x, c, s, n):
    a = c
    for k in range(n):
        a = a + D.take(s, k)
    return a * (x * 2.0)


# 4. Ragged nests with run-time counts, two and three deep.

@case("ragged", "x: F64, m: tensor<I32, [3]>", "x",
      "CK let p = for (i in 0..3) [p: F64 = 1.0] { CK let q = for (j in 0..m[i]) [q: F64 = p] { q * (x + cast(i, F64)) }; q }; p",
      [dict(x=2.0, m=[1, 0, 2], wanted=(32, 32)), dict(x=2.0, m=[0, 0, 0]), dict(x=.5, m=[3, 1, 0]), dict(x=.5, m=[-1, 4, 2])])
def ragged(x, m):
    p = 1.0 + x * 0.0
    for i in range(3):
        for _ in range(m[i]):
            p = p * (x + float(i))
    return p


@case("ragged3", "x: F64, n: I32", "x",
      "CK let p = for (i in 0..n) [p: F64 = x] { CK let p = for (j in 0..i) [p: F64 = p] {"
      " CK let (p, k) = while (k <= j) [p: F64 = p, k = i % 2] { (sin(p * x) + cast(k, F64) * x, k + 1) }; p + x }; p * x }; p",
      [dict(x=0.7, n=n) for n in (0, 1, 2, 4, 6)])
def ragged3(x, n):
    p = x
    for i in range(n):
        for j in range(i):
            for k in range(i % 2, j + 1):
                p = D.sin(p * x) + x * float(k)
            p = p + x
        p = p * x
    return p


# 5. A value that the condition region computes, and hands over, is active.

EXTRA = """
kina.func private @extra(%i: f64 {kina.name = "i"}, %j: f64 {kina.name = "j"}, %n: i32 {kina.name = "n"}) -> f64 {
  %zero = kina.constant 0 : i32
  %one = kina.constant 1 : i32
  %0:3 = kina.while (%a = %i, %c = %zero) : f64, i32 -> (f64) {
    %res = kina.mul %a, %j : f64
    %more = kina.cmp lt, %c, %n : i32
    kina.condition(%more) %res : f64
  } do {
  ^bb0(%a: f64, %c: i32, %res: f64):
    %s = kina.sin %res : f64
    %t = kina.add %s, %a : f64
    %d = kina.add %c, %one : i32
    kina.yield %t, %d : f64, i32
  }
  kina.return %0#2 : f64
}
"""


@case("extra", "i: F64, j: F64, n: I32", "i, j", "", mlir=EXTRA,
      runs=[dict(i=3.0, j=5.0, n=0, wanted=(15, 5, 3)), dict(i=3.0, j=.5, n=1), dict(i=3.0, j=.5, n=7)])
def extra(i, j, n):
    for _ in range(n):
        i = D.sin(i * j) + i
    return i * j


# 6. Early exit: by a flag, by the condition, out of an inner loop.

@case("leave", "u: F64, v: F64, n: I32, m: I32", "u, v",
      "CK let (r, i, go) = while (go and i <= n) [r = 0.0, i = 1, go = true] { (r + cast(i, F64) * u, i + 1, i != m) };"
      " r + 0.0 * v",
      [dict(u=3.0, v=5.0, n=2, m=1, wanted=(3, 1, 0)), dict(u=3.0, v=5.0, n=9, m=4), dict(u=3.0, v=5.0, n=4, m=7)])
def leave(u, v, n, m):
    r = (u + v) * 0.0
    for i in range(1, n + 1):
        r = r + u * float(i)
        if i == m:
            break
    return r


@case("leave_inner", "x: F64, n: I32", "x",
      "CK let s = for (i in 0..n) [s: F64 = x] { CK let (t, j, go) = while (go and j < 5) [t: F64 = s, j = 0, go = true] {"
      " if (t > 1.5) { (t * 0.25, j, false) } else { (t * t + x, j + 1, true) } }; t + 0.125 * x }; s",
      [dict(x=0.5, n=n) for n in (0, 1, 2, 7)])
def leave_inner(x, n):
    s = x
    for _ in range(n):
        for _ in range(5):
            if s > 1.5:
                s = s * 0.25
                break
            s = s * s + x
        s = s + x * 0.125
    return s


# 7. Two sums through 20 steps.

@case("running_loss", "a: F64", "a",
      "CK let (X, L, t) = while (t <= 20) [X = a, L = 0.0, t = 1] { let Y = a * X + 0.1; (Y, L + cast(t, F64) * 4.0 * Y, t + 1) }; L",
      [dict(a=0.5, wanted=(170.399974823, 355.198837280)), dict(a=0.9, wanted=(817.130278696, 6063.168634799))])
def running_loss(a):
    x, loss = a, a * 0.0
    for t in range(1, 21):
        x = a * x + 0.1
        loss = loss + x * 4.0 * t
    return loss


# 8. A quadratic map.

@case("quadratic", "h0: F64, th: F64, n: I32", "h0, th",
      "CK let h = for (i in 0..n) [h = h0] { th * h + 0.1 * (h * h) }; h",
      [dict(h0=.8, th=.9, n=0, wanted=(.8, 1, 0)), dict(h0=.8, th=.9, n=1, wanted=(.784, 1.06, .8)),
       dict(h0=.8, th=.9, n=2, wanted=(.7670656, 1.120208, 1.62944)),
       dict(h0=.8, th=.9, n=3, wanted=(.7491980035, 1.1800418043, 2.4835390743)),
       dict(h0=.8, th=.9, n=8, wanted=(.6466212991, 1.4492432728, 6.8882204517))])
def quadratic(h, th, n):
    for _ in range(n):
        h = th * h + h * h * 0.1
    return h + th * 0.0


# 9. A counter in floating point, that trips once more than the closed form says.

@case("float_counter", "Y0: tensor<F64, [2, 2]>, A: tensor<F64, [2, 2]>", "Y0, A",
      "CK let (Y, t) = while (t < 2.0) [Y = Y0, t: F64 = 0.2] { (Y + 0.2 * (A @ Y), min(t + 0.2, 2.0)) }; sum(Y)",
      [dict(Y0=[[1., 9], [1, 9]], A=[[0., 1], [-100, 0]],
            wanted=(313224, [[31397, 31397], [-74.6, -74.6]], [[47102, 1173252], [-14879.68, 47102]]))])
def float_counter(y, a):
    t = 0.2
    while t < 2.0:
        y = y + D.einsum("ij,jk->ik", a, y) * 0.2
        t = min(t + 0.2, 2.0)
    return D.total(y)


@case("active_counter", "h: F64, x: F64", "h, x",
      "CK let (y, t) = while (t < 1.0) [y = x, t = 0.0] { let s = min(h, 1.0 - t); (y + s * sin(y * t + 1.0), t + s) }; y",
      [dict(h=0.15, x=0.3), dict(h=2.0, x=0.3), dict(h=0.037, x=1.1)])
def active_counter(h, x):
    y, t = x, x * 0.0
    while t < 1.0:
        s = D.minimum(h, 1.0 - t)
        y = y + s * D.sin(y * t + 1.0)
        t = t + s
    return y


# 10. A carry that starts inactive.

@case("inactive_start", "a: F64, x: tensor<F64, [5]>", "a, x",
      "CK let (L, c, i) = while (i < 5) [L = 0.0, c = 0.2, i = 0] { let d = a * c + x[i]; (L + d * d, d, i + 1) }; L",
      [dict(a=.7, x=[.11, -.37, .23, .41, -.19], wanted=(0.355716076725, 0.2687283356))])
def inactive_start(a, x):
    c, loss = 0.2, 0.0
    for i in range(5):
        c = a * c + D.take(x, i)
        loss = loss + c * c
    return loss


# 11, 12. What is not evaluated has no derivative, not even a bad one.

@case("guarded_sqrt", "x: F64", "x", "if (x < 0.001) { 0.001 } else { sqrt(x) }", unsafe=True,
      runs=[dict(x=0.0, wanted=(.001, 0)), dict(x=4.0, wanted=(2, .25))])
@case("guarded_infinity", "x: F64, c: F64", "x", "if (x > 0.0) { 0.0 } else { x * c }", unsafe=True,
      runs=[dict(x=1.0, c=math.inf, wanted=(0, 0)), dict(x=-1.0, c=2.0, wanted=(-2, 2))])
@case("guard_in_loop", "x: F64, n: I32", "x",
      "CK let (s, i) = while (i < n) [s: F64 = 0.0, i = 0] { (if (x > cast(i, F64)) { s + sqrt(x - cast(i, F64)) } else { s }, i + 1) }; s",
      unsafe=True, runs=[dict(x=2.0, n=4, wanted=(math.sqrt(2) + 1, .5 / math.sqrt(2) + .5)), dict(x=0.0, n=3, wanted=(0, 0))])
@case("two_guards", "x: F64, fan: Bool", "x",
      "if (fan) { let r = x * x; if (r > 0.0) { sqrt(r) } else { 0.0 } } else { x }", unsafe=True,
      runs=[dict(x=3.0, fan=False, wanted=(3, 1)), dict(x=3.0, fan=True, wanted=(3, 1)), dict(x=0.0, fan=True, wanted=(0, 0)),
            dict(x=0.0, fan=False, wanted=(0, 1))])
@case("guarded_index", "v: tensor<F64, [3]>, i: I32", "v", "if (i < 3) { v[i] * v[i] } else { 0.0 }", unsafe=True,
      runs=[dict(v=[1., 2, 3], i=1, wanted=(4, [0, 4, 0])), dict(v=[1., 2, 3], i=7, wanted=(0, [0, 0, 0]))])
@case("infinite_in_dead_iteration", "x: F64, n: I32", "x",
      "CK let (s, i) = while (i < n) [s: F64 = x, i = 0] { (1.0 / s + sqrt(s), i + 1) }; x * 2.0 + (if (n > 0) { s } else { 1.0 })",
      unsafe=True, runs=[dict(x=0.0, n=0, wanted=(1, 2)), dict(x=1.0, n=1, wanted=(4, 1.5))])
def unsafe(*_):
    return None


# 13.

@case("decay", "z: F64, n: I32", "z", "CK let y = for (i in 0..n) [y: F64 = 2.0] { y * (1.0 - 0.1 * z) }; y",
      [dict(z=2.3, n=10, wanted=(0.1465336095, -0.1903033889))])
def decay(z, n):
    y = 2.0
    for _ in range(n):
        y = y * (1.0 - z * 0.1)
    return y


# 14. A carried tensor, written by the element and by the row.

@case("writes", "v: tensor<F64, [9]>, x: F64", "v, x",
      "CK let w = for (i in 0..9) [w: tensor<F64, [9]> = zeros([9])] { update(w, [i], v[i] * x + (if (i > 0) { w[i - 1] } else { x })) };"
      " sum(w * w)",
      [dict(v=[.1, .2, .3, -.4, .5, .6, .7, -.8, .9], x=0.5)])
def writes(v, x):
    w = np.zeros(9)
    for i in range(9):
        w = D.put(w, i, D.take(v, i) * x + (D.take(w, i - 1) if i else x))
    return D.total(w * w)


@case("overwrites", "v: tensor<F64, [3]>, n: I32", "v",
      "CK let (w, i) = while (i < n) [w = v, i = 0] { let w2 = update(w, [i % 3], w[(i + 1) % 3] * v[i % 3]);"
      " (update(w2, [(i + 2) % 3], sin(w[i % 3])), i + 1) }; sum(w * v)",
      [dict(v=[.5, 1.5, -.7], n=n) for n in (0, 1, 2, 3, 8)])
def overwrites(v, n):
    w = v
    for i in range(n):
        w2 = D.put(w, i % 3, D.take(w, (i + 1) % 3) * D.take(v, i % 3))
        w = D.put(w2, (i + 2) % 3, D.sin(D.take(w, i % 3)))
    return D.total(w * v)


@case("rows", "M: tensor<F64, [3, 3]>, n: I32", "M",
      "CK let W = for (i in 0..n) [W = M] { update(W, [i % 3, :], tanh(W[(i + 1) % 3] @ M)) }; sum(W * W)",
      [dict(M=[[.5, -.2, .1], [.3, .9, -.4], [-.6, .2, .7]], n=n) for n in (0, 1, 4, 7)])
def rows(m, n):
    w = m
    for i in range(n):
        w = D.put(w, i % 3, D.tanh(D.einsum("j,jk->k", D.take(w, (i + 1) % 3), m)))
    return D.total(w * w)


# 15, 16. Bounds, steps, and counters of every kind.

@case("bounded", "x: F64, n: I32", "x",
      "CK let (a, i) = while (i < 4096 and i < n) [a: F64 = x, i = 0] { (a * a + x, i + 1) }; a",
      [dict(x=0.3, n=1), dict(x=0.3, n=0), dict(x=0.1, n=6)])
def bounded(x, n):
    a = x
    for _ in range(n):
        a = a * a + x
    return a


@case("step3", "x: F64, lb: I32, ub: I32", "x",
      "CK let (p, i) = while (i < ub) [p = x, i = lb] { (p * x, i + 3) }; p",
      [dict(x=2.0, lb=0, ub=10, wanted=(32, 80)), dict(x=2.0, lb=5, ub=2, wanted=(2, 1)), dict(x=2.0, lb=-5, ub=5),
       dict(x=2.0, lb=0, ub=9), dict(x=2.0, lb=1, ub=2)])
def step3(x, lb, ub):
    p = x
    for _ in range(lb, ub, 3):
        p = p * x
    return p


@case("counted", "x: F64, lb: I32, ub: I32", "x",
      "CK let (p, i) = while (i <= ub) [p = x, i = lb] { (p * x + cast(i, F64), i + 2) };"
      "CK let (p, i) = while (i >= lb) [p = p, i = ub] { (sin(p * x) + cast(i, F64) * x, i - 3) };"
      "CK let (p, i) = while (ub > i) [p = p, i = lb] { (p * x + cast(i, F64), 4 + i) }; p",
      [dict(x=0.8, lb=0, ub=9), dict(x=0.8, lb=3, ub=2), dict(x=0.8, lb=-7, ub=-1), dict(x=0.8, lb=4, ub=4)])
def counted(x, lb, ub):
    p = x
    for i in range(lb, ub + 1, 2):
        p = p * x + float(i)
    for i in range(ub, lb - 1, -3):
        p = D.sin(p * x) + x * float(i)
    for i in range(lb, ub, 4):
        p = p * x + float(i)
    return p


@case("wraps", "x: F64, lb: I8, ub: I8", "x",
      "CK let (p, i, k) = while (i < ub and k < 20) [p = x, i = lb, k = 0] { (sin(p + x) * 0.75, i + cast(100, I8), k + 1) }; p",
      [dict(x=.5, lb=0, ub=120), dict(x=.5, lb=-128, ub=100), dict(x=.5, lb=5, ub=1)])
def wraps(x, lb, ub):
    p, i, k = x, lb, 0
    while i < ub and k < 20:
        p = D.sin(p + x) * 0.75
        i, k = (i + 100 + 128) % 256 - 128, k + 1
    return p


@case("wraps32", "x: F64, lb: I32", "x",
      "CK let (p, i) = while (i > 0) [p = x, i = lb] { (p * x + 1.0, i + 715827883) }; p",
      [dict(x=.5, lb=1), dict(x=.5, lb=0), dict(x=.5, lb=2147483647)])
def wraps32(x, lb):
    p, i = x, lb
    while i > 0:
        p = p * x + 1.0
        i = (i + 715827883 + 2**31) % 2**32 - 2**31
    return p


@case("wide", "x: F64, lb: I64, ub: I64", "x",
      "CK let (p, i) = while (i < ub) [p = x, i = lb] { (p * x + 1.0, i + 4611686018427387904) }; p",
      [dict(x=.5, lb=-9223372036854775807, ub=0), dict(x=.5, lb=0, ub=10), dict(x=.5, lb=9, ub=-9)])
def wide(x, lb, ub):
    p, i, k = x, lb, 0
    while i < ub and k < 1000:
        p = p * x + 1.0
        i, k = (i + 2**62 + 2**63) % 2**64 - 2**63, k + 1
    return p


@case("inclusive_end", "x: F64, lb: I32", "x",
      "CK let (p, i, k) = while (i <= 2147483647 and k < 5) [p = x, i = lb, k = 0] { (p * x + 1.0, i + 1, k + 1) }; p",
      [dict(x=.5, lb=2147483646), dict(x=.5, lb=0)], wraps=True)
def inclusive_end(x, lb):
    p = x
    for _ in range(5):
        p = p * x + 1.0
    return p


@case("doubling_counter", "x: F64, n: I32", "x",
      "CK let (p, i) = while (i < n) [p = x, i = 1] { (sin(p * x) + cast(i, F64), i * 2 + 1) }; p", [dict(x=.5, n=n) for n in (0, 2, 50)])
def doubling_counter(x, n):
    p, i = x, 1
    while i < n:
        p = D.sin(p * x) + float(i)
        i = i * 2 + 1
    return p


@case("moving_limit", "x: F64, n: I32", "x",
      "CK let (p, i, m) = while (i < m) [p = x, i = 0, m = n] { (sin(p * x) + 0.5 * x, i + 1, if (p > 0.5) { m - 1 } else { m }) }; p",
      [dict(x=.9, n=n) for n in (0, 1, 5, 12)])
def moving_limit(x, n):
    p, i, m = x, 0, n
    while i < m:
        m = m - 1 if p > 0.5 else m
        p = D.sin(p * x) + x * 0.5
        i += 1
    return p


@case("step_of_the_loop", "x: F64, n: I32, s: I32", "x",
      "CK let (p, i, s2) = while (i < n) [p = x, i = 0, s2 = s] { (sin(p * x) + cast(i, F64), i + s2, s2 + 1) };"
      "CK let (p, i) = while (i < n) [p = p, i = 0] { (p * x + cast(i, F64), i + s) }; p",
      [dict(x=.5, n=13, s=1), dict(x=.5, n=13, s=4), dict(x=.5, n=0, s=1)])
def step_of_the_loop(x, n, s):
    p, i, t = x, 0, s
    while i < n:
        p = D.sin(p * x) + float(i)
        i, t = i + t, t + 1
    for i in range(0, n, s):
        p = p * x + float(i)
    return p


# Carries: the same value twice, swapped, from outside, never read, integers and booleans.

@case("aliased", "x: F64, v: tensor<F64, [3]>, n: I32", "x, v",
      "CK let (a, b, u, w, i) = while (i < n) [a = x, b = x, u = v, w = v, i = 0] {"
      " (b * b, a + b, update(w, [i % 3], a), u * w, i + 1) }; a + 2.0 * b + sum(u) + sum(u * w)",
      [dict(x=.5, v=[.5, -.25, .75], n=n) for n in (0, 1, 2, 5)])
def aliased(x, v, n):
    a = b = x
    u = w = v
    for i in range(n):
        a, b, u, w = b * b, a + b, D.put(w, i % 3, a), u * w
    return a + b * 2.0 + D.total(u) + D.total(u * w)


@case("swapped", "x: F64, v: tensor<F64, [3]>, w: tensor<F64, [3]>, n: I32", "x, v, w",
      "CK let (a, b, p, q, i) = while (i < n) [a = x, b = 2.0, p = v, q = w, i = 0] { (b, a * x, q, p, i + 1) };"
      " a + 3.0 * b + sum(p) + 2.0 * sum(q * v)",
      [dict(x=.5, v=[.5, -.25, .75], w=[1., 2, 3], n=n) for n in (0, 1, 2, 5)])
def swapped(x, v, w, n):
    a, b, p, q = x, 2.0, v, w
    for _ in range(n):
        a, b, p, q = b, a * x, q, p
    return a + b * 3.0 + D.total(p) + D.total(q * v) * 2.0


@case("from_outside", "x: F64, y: F64, v: tensor<F64, [3]>, n: I32", "x, y, v",
      "CK let (a, b, u, i) = while (i < n) [a = x, b = y, u = zeros([3]), i = 0] { (y, a * b, v, i + 1) }; a * b + sum(u * u)",
      [dict(x=.5, y=.75, v=[.5, -.25, .75], n=n) for n in (0, 1, 2, 4)])
def from_outside(x, y, v, n):
    a, b, u = x, y, v * 0.0
    for _ in range(n):
        a, b, u = y, a * b, v
    return a * b + D.total(u * u)


@case("unused", "x: F64, n: I32", "x",
      "CK let (a, b, c, i) = while (i < n) [a = x, b = x * x, c = 1.0, i = 0] { (a * 1.5, b * a, c * x, i + 1) }; a",
      [dict(x=.5, n=n) for n in (0, 1, 4)])
def unused(x, n):
    return x * 1.5 ** n


@case("no_derivative", "x: F64, y: F64, n: I32", "x, y",
      "CK let (a, i) = while (i < n) [a = 0.5, i = 0] { (a * 0.5, i + 1) }; a * y + 0.0 * x", [dict(x=.5, y=1.5, n=n) for n in (0, 3)])
def no_derivative(x, y, n):
    return y * 0.5 ** (n + 1) + x * 0.0


@case("mixed_carries", "x: F64, n: I32", "x",
      "CK let (a, k, f, j, i) = while (i < n) [a: F64 = x, k = 3, f = false, j: I64 = 1, i = 0] {"
      " let a2 = if (f) { a * x + cast(k, F64) } else { sin(a) - cast(j, F64) * 0.125 };"
      " (a2, if (a2 > 0.5) { k * 5 % 7 } else { k - 1 }, not f or a2 > 1.0, j * 3 % 11, i + 1) }; a + cast(k, F64)",
      [dict(x=.5, n=n) for n in (0, 1, 3, 9)])
def mixed_carries(x, n):
    a, k, f, j = x, 3, False, 1
    for _ in range(n):
        a = a * x + float(k) if f else D.sin(a) - float(j) * 0.125
        k, f, j = (k * 5 % 7 if a > 0.5 else k - 1), (not f) or bool(a > 1.0), j * 3 % 11
    return a + float(k)


# Loops and branches in each other.

@case("branch_in_loop", "x: F64, y: F64, n: I32", "x, y",
      "CK let (a, b) = for (i in 0..n) [a: F64 = x, b: F64 = y] { if (i % 3 == 0) { (a * b, b) } else if (a > b) { (a - b * 0.5, a * x) }"
      " else { (y, sin(a)) } }; a + b * b",
      [dict(x=.5, y=.75, n=n) for n in (0, 1, 2, 3, 8)])
def branch_in_loop(x, y, n):
    a, b = x, y
    for i in range(n):
        if i % 3 == 0:
            a, b = a * b, b
        elif a > b:
            a, b = a - b * 0.5, a * x
        else:
            a, b = y, D.sin(a)
    return a + b * b


@case("loop_in_branch", "x: F64, y: F64, n: I32, c: Bool", "x, y",
      "let t = if (c) { CK let (a, i) = while (i < n) [a = x, i = 0] { (a * y, i + 1) }; a } else { if (x < y) { x } else {"
      " CK let (a, i) = while (a > 0.25) [a = x, i = 0] { (a * y * 0.5, i + 1) }; a * cast(i, F64) } }; t * x",
      [dict(x=.5, y=.75, n=3, c=True), dict(x=.5, y=.75, n=0, c=True), dict(x=.5, y=.75, n=3, c=False), dict(x=3.5, y=.75, n=3, c=False)])
def loop_in_branch(x, y, n, c):
    t = x + y * 0.0
    if c:
        for _ in range(n):
            t = t * y
    elif x >= y:
        k = 0
        while t > 0.25:
            t, k = t * y * 0.5, k + 1
        t = t * float(k)
    return t * x


@case("loop_in_branch_in_loop", "x: F64, n: I32", "x",
      "CK let s = for (i in 0..n) [s: F64 = x] { if (i % 2 == 0) { CK let t = for (j in 0..i) [t: F64 = s] { sin(t) * x }; t + s }"
      " else { s * x + cast(i, F64) } }; s", [dict(x=.8, n=n) for n in (0, 1, 2, 3, 7)])
def loop_in_branch_in_loop(x, n):
    s = x
    for i in range(n):
        if i % 2 == 0:
            t = s
            for _ in range(i):
                t = D.sin(t) * x
            s = t + s
        else:
            s = s * x + float(i)
    return s


@case("loops_after_loops", "x: F64, n: I32", "x",
      "CK let (a, i) = while (i < n) [a = x, i = 0] { (a * x, i + 1) }; CK let (b, j) = while (j < i) [b = a, j = 0] { (b + a * x, j + 1) };"
      " CK let (c, k) = while (c > 0.01) [c = b, k = 0] { (c * x * 0.5, k + 1) }; a * b * c",
      [dict(x=.8, n=n) for n in (0, 1, 2, 5)])
def loops_after_loops(x, n):
    a = x
    for _ in range(n):
        a = a * x
    b = a
    for _ in range(n):
        b = b + a * x
    c = b
    while c > 0.01:
        c = c * x * 0.5
    return a * b * c


# Calls and functions as values.

@case("call_in_loop", "x: F64, y: F64, n: I32", "x, y",
      "CK let (a, b, i) = while (i < n) [a = x, b = y, i = 0] { let (p, q) = callee(a, b, i); (p * x, q, i + 1) }; a * b",
      [dict(x=.5, y=.75, n=n) for n in (0, 1, 2, 4)],
      helpers="fn callee2(a: F64, n: I32) -> F64 { CK let (s, i) = while (i < n) [s = a, i = 0] { (sin(s + a), i + 1) }; s }\n"
              "fn callee(a: F64, b: F64, n: I32) -> (F64, F64) { CK let s = for (i in 0..n) [s: F64 = b] { callee2(s, i) + a * b }; (s, a + b) }")
def call_in_loop(x, y, n):
    def inner(a, n):
        s = a
        for _ in range(n):
            s = D.sin(s + a)
        return s
    a, b = x, y
    for i in range(n):
        s = b
        for j in range(i):
            s = inner(s, j) + a * b
        a, b = s * x, a + b
    return a * b


@case("function_values", "x: F64, y: F64, n: I32", "x, y",
      "let f = fn(t: F64) -> F64 { t * y + x }; repeat(f, x, n) + repeat(fn(t: F64) -> F64 { repeat(fn(s: F64) -> F64 { sin(s * t) }, y, 2) }, x, n)",
      [dict(x=.5, y=.75, n=n) for n in (0, 1, 2, 4)],
      helpers="fn repeat(f: fn(F64) -> F64, a: F64, n: I32) -> F64 { CK let (s, i) = while (i < n) [s = a, i = 0] { (f(s), i + 1) }; s }")
def function_values(x, y, n):
    a = b = x
    for _ in range(n):
        a = a * y + x
        s = y
        for _ in range(2):
            s = D.sin(s * b)
        b = s
    return a + b + y * 0.0


@case("checkpointed_call", "x: F64, v: tensor<F64, [3]>, n: I32", "x, v",
      "CK let (h, i) = while (i < n) [h = v, i = 0] { (layer(h, x) * v, i + 1) }; sum(h)",
      [dict(x=.5, v=[.5, -.25, .75], n=n) for n in (0, 1, 5)],
      helpers="@checkpoint fn layer(h: tensor<F64, [3]>, x: F64) -> tensor<F64, [3]> { CK let (h, i) = while (i < 2) [h = h, i = 0]"
              " { (tanh(h * x) + h, i + 1) }; h }")
def checkpointed_call(x, v, n):
    h = v
    for _ in range(n):
        for _ in range(2):
            h = D.tanh(h * x) + h
        h = h * v
    return D.total(h)


@case("gradient_in_loop", "x: F64, y: F64, n: I32", "x, y",
      "CK let (s, i) = while (i < n) [s = x, i = 0] { (s - 0.5 * grad(well, wrt=t)(s, y), i + 1) }; s", [dict(x=.5, y=.75, n=n) for n in (0, 1, 3)],
      helpers="fn well(t: F64, y: F64) -> F64 { t * t * t * y + sin(t) }")
def gradient_in_loop(x, y, n):
    s = x
    for _ in range(n):
        s = s - (s * s * y * 3.0 + D.cos(s)) * 0.5
    return s


@case("negative_zeros", "m: tensor<F64, [N, N]>, v: tensor<F64, [N]>, x: F64, n: I32", "m, v, x",
      "CK let (s, i) = while (i < n % 4) [s = m, i = 0 - 1] { (-update(s, [i % N, :], v), i + 2) };"
      " CK let (r, j) = while (n % 3 >= j) [r = m, j = 0] { ((0.25 - 0.25) * r, n) }; sum(s) + sum(r) * x",
      [dict(m=[[.5, .8, -.4], [-.9, -.6, -.3], [.5, .5, .85]], v=[-.3, .9, .4], x=-1.5, n=n) for n in (3, 4)])
def negative_zeros(m, v, x, n):
    s, i = m, -1
    while i < n % 4:
        s, i = -D.put(s, i % 3, v), i + 2
    r, j = m, 0
    while n % 3 >= j:
        r, j = r * 0.0, n
    return D.total(s) + D.total(r) * x


@case("same_argument_twice", "x: F64, v: tensor<F64, [N]>, M: tensor<F64, [N, N]>, n: I32", "x, v, M",
      "CK let h = while (h < 1.0) [h = row(x, v, x, M, n)] { h + x }; h",
      [dict(x=.75, v=[-.02, -.24, -.29], M=[[-.95, .41, .82], [-.15, .49, .83], [.39, -.92, -.52]], n=1)],
      helpers="fn row(x: F64, v: tensor<F64, [N]>, y: F64, M: tensor<F64, [N, N]>, n: I32) -> F64 { (M @ v)[n % N] }")
def same_argument_twice(x, v, m, n):
    h = D.take(D.einsum("ij,j->i", m, v), n)
    while D.primal(h) < 1.0:
        h = h + x
    return h


# Sizes: slices by a counter, nothing at all, born inside, in F32.

@case("slices", "v: tensor<F64, [8]>, n: I32", "v",
      "CK let (s, w) = for (i in 0..n) [s: F64 = 0.0, w: tensor<F64, [2]> = v[0:2]] { let u = v[2*i : 2*i + 2];"
      " (s + sum(u * w), w * u + v[i : i + 2]) }; s + sum(w)",
      [dict(v=[.1, .2, .3, -.4, .5, .6, .7, -.8], n=n) for n in (0, 1, 4)])
def slices(v, n):
    s, w = 0.0, D.take(v, slice(0, 2))
    for i in range(n):
        u = D.take(v, slice(2 * i, 2 * i + 2))
        s, w = s + D.total(u * w), w * u + D.take(v, slice(i, i + 2))
    return s + D.total(w)


@case("born_inside", "x: F64, v: tensor<F64, [N]>, n: I32", "x, v",
      "CK let (s, i) = while (i < n) [s = x, i = 0] { let dim K = i % 3 + 1; check K <= N, \"too long\"; let w = v[0:K];"
      " let u = tanh(w * s) + w * cast(K, F64); let t = if (sum(u) > 0.5) { let dim L = K + 1 - i % 2; check L <= N, \"too long\";"
      " CK let (t, j) = while (j < i) [t = sin(sum(v[0:L] * s)), j = 0] { let dim J = j + 1; check J <= N, \"too long\";"
      " (t * 0.5 + sum(v[0:J] * v[0:J] * t), j + 1) }; t } else { s * v[0] };"
      " (sin(sum(u * u) * 0.1) + t * cast(K, F64) * 0.1, i + 1) }; s + part(v, s, n)",
      [dict(x=.3, v=[1.1, .4, -.7, .2, .6], n=n) for n in (0, 1, 2, 5)],
      helpers="fn part(v: tensor<F64, [N]>, s: F64, n: I32) -> F64 { let dim P = n % 4 + 1; check P <= N, \"too long\"; let w = v[0:P] * s; sum(w * w) }")
def born_inside(x, v, n):
    s = x
    for i in range(n):
        k = i % 3 + 1
        w = D.take(v, slice(0, k))
        u = D.tanh(w * s) + w * float(k)
        if D.primal(D.total(u)) > 0.5:
            t = D.sin(D.total(D.take(v, slice(0, k + 1 - i % 2)) * s))
            for j in range(i):
                w = D.take(v, slice(0, j + 1))
                t = t * 0.5 + D.total(w * w * t)
        else:
            t = s * D.take(v, 0)
        s = D.sin(D.total(u * u) * 0.1) + t * (float(k) * 0.1)
    w = D.take(v, slice(0, n % 4 + 1)) * s
    return s + D.total(w * w)


@case("empty", "v: tensor<F64, [0]>, x: F64, n: I32", "v, x",
      "CK let (w, s, i) = while (i < n) [w = v, s = x, i = 0] { (tanh(w * s) + v, s * x + sum(w), i + 1) }; s + sum(w)",
      [dict(v=[], x=.5, n=n) for n in (0, 3)])
def empty(v, x, n):
    s = x
    for _ in range(n):
        s = s * x
    return s


@case("any_size", "v: tensor<F64, [N]>, M: tensor<F64, [N, N]>, n: I32", "v, M",
      "CK let (w, i) = while (i < n) [w = v, i = 0] { (tanh(M @ w) + v, i + 1) }; sum(w * v)",
      [dict(v=[.5, -.25], M=[[.5, .3], [-.2, .9]], n=n) for n in (0, 3)] +
      [dict(v=[.5], M=[[.5]], n=3)])
def any_size(v, m, n):
    w = v
    for _ in range(n):
        w = D.tanh(D.einsum("ij,j->i", m, w)) + v
    return D.total(w * v)


@case("narrow", "x: F32, v: tensor<F32, [3]>, n: I32", "x, v",
      "CK let (a, w, i) = while (i < n) [a = x, w = v, i = 0] { (sin(a * x) + w[i % 3], w * a + v, i + 1) }; a + sum(w)",
      [dict(x=.5, v=[.5, -.25, .75], n=n) for n in (0, 1, 7)])
def narrow(x, v, n):
    a, w = x, v
    for i in range(n):
        a, w = D.sin(a * x) + D.take(w, i % 3), w * a + v
    return a + D.total(w)


# Derivatives of derivatives.

SECOND = [
    # name, text, parameters, runs: arguments and the published value
    ("guarded_sqrt_2", "fn gs1(x: F64) -> F64 { if (x < 0.001) { 0.001 } else { sqrt(x) } }\n"
     "fn gs2(x: F64) -> F64 { grad(gs1)(x) }\n@export fn guarded_sqrt_2(x: F64) -> F64 { grad(gs2)(x) }\n",
     [(dict(x=0.0), 0.0), (dict(x=4.0), -1 / 32)]),
    ("decay_2", "fn de1(z: F64) -> F64 { CK let y = for (i in 0..10) [y: F64 = 2.0] { y * (1.0 - 0.1 * z) }; y }\n"
     "fn de2(z: F64) -> F64 { grad(de1)(z) }\n@export fn decay_2(z: F64) -> F64 { grad(de2)(z) }\n", [(dict(z=2.3), 0.2224325325)]),
    ("decay_3", "fn df1(z: F64) -> F64 { CK let y = for (i in 0..10) [y: F64 = 2.0] { y * (1.0 - 0.1 * z) }; y }\n"
     "fn df2(z: F64) -> F64 { grad(df1)(z) }\nfn df3(z: F64) -> F64 { grad(df2)(z) }\n@export fn decay_3(z: F64) -> F64 { grad(df3)(z) }\n",
     [(dict(z=2.3), -0.2310987350)]),
]
