"""Compares the functions of higher-order.kina with JAX.

usage: higher_order.py FOLDER SCRATCH
"""

import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
                      "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1")
import jax
import jax.numpy as jnp
import kinac_batch
import numpy as np

jax.config.update("jax_enable_x64", True)
TOLERANCE = 1e-11
RANDOM = np.random.RandomState(5)


def normal(*shape):
    return RANDOM.uniform(-1, 1, size=shape)


def f(x):
    return jnp.sin(x * x) * jnp.exp(-x) / (1 + x * x)


def jvp1(g, x, t=1.0):
    return jax.jvp(g, (x,), (t,))[1]


def confusion(x):
    return [jvp1(lambda x: x * jvp1(lambda y: x + y, 1.0), x),
            jvp1(lambda x: x * jvp1(lambda y: x * y, 2.0), x),
            jax.grad(lambda x: x * jax.grad(lambda y: x * y * y)(x))(x),
            jax.grad(lambda x: x * jvp1(lambda y: x * y * y, x, x))(x),
            jvp1(lambda x: jax.grad(lambda y: x * y * y * jvp1(lambda z: x * y * z * z, y))(x), x)]


def loss(w, v, x):
    y = jnp.tanh(jnp.tanh(x @ w) @ v)
    return jnp.mean(jax.nn.logsumexp(y, axis=1) - jnp.sum(jax.nn.softmax(y, axis=1) * y, axis=1)) + jnp.sqrt(jnp.sum(w * w))


def products(w, v, x, tw, tv):
    return 3 * list(jax.jvp(jax.grad(lambda w, v: loss(w, v, x), (0, 1)), (w, v), (tw, tv))[1])


def counted(x, n):
    a = x
    for _ in range(n):
        a = jnp.where(a > .5, jnp.sin(a * x), a * a + x)
    return a


def loops(x, n):
    second, third = jax.grad(jax.grad(counted)), jax.grad(jax.grad(jax.grad(counted)))
    return [*3 * [second(x, n)], third(x, n), *3 * [-.25 * x ** -1.5]]


def rows(x, w):
    h = x
    for t in range(x.size):
        h = jnp.tanh(w @ h) + x[t] * h
    return jnp.sum(h * h)


def field(x, s):
    return jnp.outer(jnp.sum(x ** 3, axis=0) * s, jnp.array([2.0, 3])) + jnp.exp(s)


def energy(x, s):
    return jnp.sum(jnp.sin(x) * x) * jnp.sum(x * x) * s * s


def hessians(x, s):
    (xx, xs), (sx, ss) = jax.hessian(energy, (0, 1))(x, s)
    return xx, xs, sx, ss, xx


def model(w, b, n, x):
    y = w * x + b
    return jnp.sum(y * y) * n, y, b * b


def auxiliary(w, b, n, x):
    value, y, bb = model(w, b, n, x)
    return [value, y, np.int32(n + 1), bb, *jax.grad(lambda w, b, x: model(w, b, n, x)[0], (0, 1, 2))(w, b, x)]


def pulled(w, b, n, x):
    return jax.vjp(lambda w, b: model(w, b, n, x), w, b)[1]((2.0, x, 0.5))


POINT = dict(x=normal(2, 3), s=0.7)
MODEL = dict(w=normal(3), b=0.3, n=4, x=normal(3))
CASES = [
    ("second", dict(x=0.7), lambda x: 4 * [jax.grad(jax.grad(f))(x)]),
    ("third", dict(x=0.7), lambda x: 8 * [jax.grad(jax.grad(jax.grad(f)))(x)]),
    ("confusion", dict(x=3.0), confusion),
    ("products", dict(w=normal(3, 4), v=normal(4, 2), x=normal(5, 3), tw=normal(3, 4), tv=normal(4, 2)), products),
    ("loops", dict(x=0.6, n=5), loops),
    ("loop_hessian", dict(x=normal(3), w=normal(3, 3)), lambda x, w: 2 * [jax.jit(jax.hessian(rows))(x, w)]),
    ("jacobians", POINT, lambda x, s: [*jax.jacobian(field, (0, 1))(x, s), jax.jacobian(field, 1)(x, s)]),
    ("jacobians", dict(x=normal(1, 1), s=-0.3), lambda x, s: [*jax.jacobian(field, (0, 1))(x, s), jax.jacobian(field, 1)(x, s)]),
    ("of_scalars", dict(s=0.7), lambda s: [2 * s, jnp.array([1, 2 * s, jnp.cos(s)]), 6 * s]),
    ("of_tuples", dict(x=normal(3)), lambda x: [jnp.diag(2 * x), 3 * x * x, jnp.diag(jnp.cos(x))]),
    ("hessians", POINT, hessians),
    ("along_hessian", dict(POINT, t=normal(2, 3)),
     lambda x, s, t: [jax.jvp(lambda x: jax.hessian(energy)(x, s), (x,), (t,))[1]]),
    ("auxiliary", MODEL, auxiliary),
    ("pulled", MODEL, pulled),
    ("pulled_by_tuple", MODEL, pulled),
    ("pushed", MODEL, lambda w, b, n, x: jax.jvp(lambda w, b: model(w, b, n, x), (w, b), (x, 0.5))[1]),
]


def main(folder, scratch):
    # As one function, which takes less than an operation at a time. Trip counts are no values of JAX.
    counts = [{name: value for name, value in arguments.items() if isinstance(value, int)} for _, arguments, _ in CASES]
    points = [{name: value for name, value in arguments.items() if name not in count} for (_, arguments, _), count in zip(CASES, counts)]
    answers = jax.jit(lambda points: [list(function(**point, **count)) for (_, _, function), point, count in zip(CASES, points, counts)])(points)
    expected = [[np.asarray(value) for value in values] for values in answers]
    calls = [(name, arguments, len(values)) for (name, arguments, _), values in zip(CASES, expected)]
    failures = 0
    for (name, _, _), values, results in zip(calls, expected, kinac_batch.run(os.path.join(folder, "higher-order.kina"), calls, scratch, "-O0")):
        if isinstance(results, Exception):
            print(f"FAIL {name}: {results}")
            failures += 1
            continue
        for k, (got, wanted) in enumerate(zip(results, values)):
            if got.shape != wanted.shape or not np.allclose(got, wanted, rtol=TOLERANCE, atol=TOLERANCE * np.abs(wanted).max()):
                print(f"FAIL {name}: result {k} is {got.tolist()}, wanted {wanted.tolist()}")
                failures += 1
    print(f"{len(CASES)} cases, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
