"""The LSTM as a scan in JAX, and the memory that the gradient of a long sequence takes."""

import jax
import jax.numpy as jnp
import numpy as np


def predict(xs, wx, wh, b):
    H = wh.shape[0]

    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    start = jnp.zeros((xs.shape[1], H))
    return jax.lax.scan(cell, (start, start), xs)[0][0]


def check(example):
    jax.config.update("jax_enable_x64", True)
    random = np.random.RandomState(4)
    T, B, I, H = 50, 3, 4, 8
    xs, target = random.randn(T, B, I), random.randn(B, H)
    weights = [0.5 * random.randn(*shape) for shape in ([I, 4 * H], [H, 4 * H], [4 * H])]
    named = dict(xs=xs, **dict(zip(("wx", "wh", "b"), weights)))
    calls = (("predict", named, 1), ("step", dict(target=target, **named), 4))
    [state], got = example.run(*calls)
    [_], plain = example.run(*calls, without="@checkpoint")

    loss = lambda *weights: jnp.mean(jnp.square(predict(xs, *weights) - target))
    wanted, slopes = jax.jit(jax.value_and_grad(loss, argnums=range(3)))(*weights)
    example.compare("last state", state, jax.jit(predict)(xs, *weights), 1e-12)
    example.compare("error", got[0], wanted, 1e-12)
    for name, slope, reference in zip(("wx", "wh", "b"), got[1:], slopes):
        example.compare(f"gradient in {name}", slope, reference, 1e-11)
    example.judge("@checkpoint changes no bit", all((a == b).all() for a, b in zip(got, plain)))
