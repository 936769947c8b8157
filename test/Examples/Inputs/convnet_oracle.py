"""The convolutional network and its training in JAX, with its own pooling."""

import jax
import jax.numpy as jnp
import numpy as np

NAMES = ("k1", "b1", "k2", "b2", "w")
STEPS, RATE = 12, 0.3


def logits(images, k1, b1, k2, b2, w):
    def convolve(x, k, b, stride):
        y = jax.lax.conv_general_dilated(x, k, (stride, stride), [(1, 1), (1, 1)])
        return jax.nn.relu(y + b[:, None, None])

    x = convolve(images, k1, b1, 1)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return convolve(x, k2, b2, 2).mean((2, 3)) @ w


def check(example):
    random = np.random.RandomState(3)
    B, H, W, P, Q, C = 6, 3, 2, 5, 7, 3
    images, labels = random.randn(B, 1, 4 * H, 4 * W).astype(np.float32), np.arange(B, dtype=np.int32) % C
    weights = [(0.4 * random.randn(*shape)).astype(np.float32)
               for shape in ([P, 1, 3, 3], [P], [Q, P, 3, 3], [Q], [Q, C])]
    named = dict(images=images, **dict(zip(NAMES, weights)))
    [classes], got = example.run(
        ("classify", named, 1),
        ("train", dict(labels=labels, steps=STEPS, rate=RATE, **named), 6))

    def loss(weights):
        return -jnp.mean(jax.nn.log_softmax(logits(images, *weights))[np.arange(B), labels])

    example.judge("classes agree", bool((classes == np.argmax(logits(images, *weights), axis=-1)).all()))
    step, losses = jax.jit(jax.value_and_grad(loss)), []
    for _ in range(STEPS):
        value, slopes = step(weights)
        losses.append(value)
        weights = [a - RATE * b for a, b in zip(weights, slopes)]
    example.compare("losses", got[0], losses, 1e-5)
    for name, value, wanted in zip(NAMES, got[1:], weights):
        example.compare(f"trained {name}", value, wanted, 1e-5)
    example.judge("loss falls", bool(got[0][-1] < 0.9 * got[0][0]))
