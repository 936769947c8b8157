"""Runs the functions of control-flow.kina and .mlir and compares values and tangents with
JAX, which follows the same program in Python, and with numbers worked out by hand.

usage: control_flow.py FOLDER SCRATCH
"""

import os
import sys

import jax
import jax.numpy as jnp
import kinac_batch
import numpy as np

jax.config.update("jax_enable_x64", True)
TOLERANCE = 1e-12


def repeated(step, start, n):
    for _ in range(n):
        start = step(start)
    return start


def around(x, c, s):
    return (c + sum(s)) * (2 * x)


def nested(x):
    outer = x
    for _ in range(2):
        outer = outer * x + x + x
    return outer


def ragged(x, m):
    p = 1.0
    for i, count in enumerate(m):
        for _ in range(count):
            p = p * (x + i)
    return p


def recurrence(a):
    x, total = a, 0.0
    for t in range(1, 21):
        x = x * a + 0.1
        total = total + t * 4.0 * x
    return total


def euler(y, a):
    t = 0.2
    while t < 2.0:
        y = y + 0.2 * (a @ y)
        t = min(t + 0.2, 2.0)
    return y.sum()


def filtered(a, x):
    c, total = 0.2, 0.0
    for value in x:
        c = a * c + value
        total = total + c * c
    return total


def guarded(x, fan):
    if fan == 1:
        r = x * x
        return jnp.sqrt(r) if r > 0 else 0.0 * x
    return x


def root(a):
    y = a
    while abs(y * y - a) > 1e-14:
        y = 0.5 * (y + a / y)
    return y


def iterate(x, w):
    y = x
    for _ in range(5):
        y = jnp.tanh(w * y) + x if y > 1.0 else y + w
    return y


def newton(a):
    return repeated(lambda y: y - (y ** 3 - a) / (3 * y * y), a, 6)


def safe_root(x):
    return 0.001 + 0 * x if x < 1e-3 else jnp.sqrt(x)


Y0, A = np.array([[1.0, 9], [1, 9]]), np.array([[0.0, 1], [-100, 0]])
XS = np.array([.11, -.37, .23, .41, -.19])
S = np.array([1.0, 2, 3])


class Case:
    """`function` of `point` along `direction`, the other arguments fixed; `known` are numbers that the value
    and the derivatives have to agree with, to the digits that are given."""

    def __init__(self, name, function, point, direction=None, known=(), fixed=None, order=1, file="control-flow.kina"):
        self.name, self.function, self.point, self.known, self.file = name, function, point, known, file
        self.fixed, self.order = fixed or {}, order
        self.direction = direction or {f"t{name}": np.ones_like(value) for name, value in point.items()}

    def arguments(self):
        return {**self.point, **self.fixed, **self.direction}

    def expected(self):
        point = tuple(jnp.asarray(value) for value in self.point.values())
        along = tuple(jnp.asarray(value) for value in self.direction.values())
        functions = [lambda *values: self.function(*values, *self.fixed.values())]
        for _ in range(self.order):
            functions.append(lambda *values, f=functions[-1]: jax.jvp(f, values, along)[1])
        return [np.asarray(f(*point)) for f in functions]


CASES = []
for n, known in ((0, (1, 0)), (2, (.25, 1)), (3, (.125, .75))):
    CASES.append(Case("powers", lambda x, n: repeated(lambda a: a * x, 1.0 + 0 * x, n), dict(x=.5), known=known, fixed=dict(n=n)))
CASES += [
    Case("quotients", lambda x, n: repeated(lambda a: a / x, 1.0, n), dict(x=.5), known=(8, -48), fixed=dict(n=3)),
    Case("sines", lambda x, n: repeated(lambda a: jnp.sin(a * x), 1.0, n), dict(x=.5), known=(.1184331814, .6785945955),
         fixed=dict(n=3)),
    Case("nested", nested, dict(x=2.0), known=(20, 22)),
    Case("nested", nested, dict(x=4.0), known=(104, 66)),
    Case("around", around, dict(x=1.0, c=0.0), dict(tx=1.0, tc=0.0), (12, 12), dict(s=S)),
    Case("around", around, dict(x=1.0, c=5.0), dict(tx=1.0, tc=0.0), (22, 22), dict(s=S)),
    Case("around", around, dict(x=1.0, c=5.0), dict(tx=.3, tc=-.7), (), dict(s=S)),
    Case("ragged", ragged, dict(x=2.0), known=(32, 32), fixed=dict(m=np.array([1, 0, 2], np.int32))),
    Case("condition", lambda i, j: i * j, dict(i=3.0, j=5.0), dict(ti=1.0, tj=0.0), (15, 5), file="control-flow.mlir"),
    Case("condition", lambda i, j: i * j, dict(i=3.0, j=5.0), dict(ti=0.0, tj=1.0), (15, 3), file="control-flow.mlir"),
    Case("early", lambda u, v: u, dict(u=3.0, v=5.0), dict(tu=1.0, tv=0.0), (3, 1)),
    Case("early", lambda u, v: u, dict(u=3.0, v=5.0), dict(tu=0.0, tv=1.0), (3, 0)),
    Case("recurrence", recurrence, dict(a=.5), known=(170.399974823, 355.198837280)),
    Case("recurrence", recurrence, dict(a=.9), known=(817.130278696, 6063.168634799)),
    Case("euler", euler, dict(y0=Y0, a=A), dict(ty=np.array([[1.0, 0], [0, 0]]), ta=0 * A), (313224, 31397)),
    Case("euler", euler, dict(y0=Y0, a=A), dict(ty=np.array([[0, 0], [0, 1.0]]), ta=0 * A), (313224, -74.6)),
    Case("euler", euler, dict(y0=Y0, a=A), dict(ty=0 * A, ta=np.array([[0, 1.0], [0, 0]])), (313224, 1173252)),
    Case("euler", euler, dict(y0=Y0, a=A), dict(ty=np.array([[.3, -.2], [.5, .7]]), ta=np.array([[.1, .4], [-.2, .6]]))),
    Case("filtered", filtered, dict(a=.7, x=XS), dict(ta=1.0, tx=0 * XS), (.355716076725, .2687283356)),
    Case("filtered", filtered, dict(a=.7, x=XS), dict(ta=.2, tx=np.array([.3, .1, -.5, .7, -1]))),
    Case("safe_root", safe_root, dict(x=0.0), known=(.001, 0, 0), order=2),
    Case("safe_root", safe_root, dict(x=4.0), known=(2, .25, -1 / 32), order=2),
    Case("masked_root", lambda x: safe_root(x[0])[None], dict(x=np.array([0.0])), known=(.001, 0, 0), order=2),
    Case("masked_root", lambda x: safe_root(x[0])[None], dict(x=np.array([4.0])), known=(2, .25, -1 / 32), order=2),
    Case("cut", lambda x: 0 * x, dict(x=1.0), known=(0, 0)),
    Case("guarded", guarded, dict(x=3.0), known=(3, 1), fixed=dict(fan=0)),
    Case("guarded", guarded, dict(x=3.0), known=(3, 1), fixed=dict(fan=1)),
    Case("guarded", guarded, dict(x=0.0), known=(0, 0), fixed=dict(fan=1)),
    Case("decay", lambda z: repeated(lambda y: y * (1 - .1 * z), 2.0, 10), dict(z=2.3),
         known=(.1465336095, -.1903033889, .2224325325, -.2310987350), order=3),
    Case("stepped", lambda x, lb, ub, step: x ** (1 + len(range(lb, ub, step))), dict(x=2.0), known=(32, 80),
         fixed=dict(lb=0, ub=10, step=3)),
    Case("stepped", lambda x, lb, ub, step: x ** (1 + len(range(lb, ub, step))), dict(x=2.0), known=(2, 1),
         fixed=dict(lb=5, ub=2, step=3)),
    Case("root", root, dict(a=2.0), known=(2 ** .5, .5 / 2 ** .5)),
    Case("root", root, dict(a=.3)),
    Case("iterate", iterate, dict(x=.4, w=.5), dict(tx=1.0, tw=-.5)),
    Case("newton", newton, dict(a=2.0), known=(2 ** (1 / 3), 2 ** (1 / 3) / 6)),
    Case("newton_by_grad", newton, dict(a=2.0), known=(2 ** (1 / 3), 2 ** (1 / 3) / 6)),
]
for n, known in enumerate([(.8, 1, 0), (.784, 1.06, .8), (.7670656, 1.120208, 1.62944),
                           (.7491980035, 1.1800418043, 2.4835390743)]):
    step = lambda h0, th, n: repeated(lambda h: th * h + .1 * h * h, h0, n)
    for direction, derivative in (((1.0, 0.0), known[1]), ((0.0, 1.0), known[2])):
        CASES.append(Case("logistic", step, dict(h0=.8, th=.9), dict(t0=direction[0], tth=direction[1]),
                          (known[0], derivative), dict(n=n)))


def main(folder, scratch):
    failures = 0
    for file in sorted({case.file for case in CASES}):
        cases = [case for case in CASES if case.file == file]
        calls = [(f"d_{case.name}", case.arguments(), case.order + 1) for case in cases]
        for case, results in zip(cases, kinac_batch.run(os.path.join(folder, file), calls, scratch, "-O0")):
            if isinstance(results, Exception):
                print(f"FAIL {case.name}: {results}")
                failures += 1
                continue
            for k, (got, wanted) in enumerate(zip(results, case.expected())):
                known = case.known[k] if case.known else float(wanted.sum())
                if not np.allclose(got, wanted, rtol=TOLERANCE, atol=1e-15):
                    print(f"FAIL {case.name} {case.arguments()}: derivative {k} is {got}, wanted {wanted}")
                    failures += 1
                if not np.allclose(got, known, rtol=2e-9, atol=1e-15):
                    print(f"FAIL {case.name} {case.arguments()}: derivative {k} is {got}, known is {known}")
                    failures += 1
    print(f"{len(CASES)} cases, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
