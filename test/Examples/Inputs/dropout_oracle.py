"""Training with dropout in JAX, on numbers of Philox4x32-10 that are computed in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np


def uniform(key, counter, shape):
    """Philox4x32-10 over the blocks from `counter` on; two words make a number of 53 bits."""
    mask, size = np.uint64(0xFFFFFFFF), int(np.prod(shape))
    blocks = np.uint64(counter) + np.arange((size + 1) // 2, dtype=np.uint64)
    c = [blocks & mask, blocks >> np.uint64(32), np.zeros_like(blocks), np.zeros_like(blocks)]
    k = [np.uint64(key) & mask, np.uint64(key) >> np.uint64(32)]
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(q >> np.uint64(32)) ^ c[1] ^ k[0], q & mask, (p >> np.uint64(32)) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
    words = np.stack(c, axis=1).reshape(-1, 2)
    bits = words[:size, 0] | words[:size, 1] << np.uint64(32)
    return ((bits >> np.uint64(11)).astype(np.float64) / 2.0**53).reshape(shape)


def network(x, w1, w2, first=1.0, second=1.0):
    return jnp.tanh(x * first @ w1) * second @ w2


def check(example):
    jax.config.update("jax_enable_x64", True)
    random = np.random.RandomState(7)
    B, D, H, C, steps, rate, key = 16, 6, 20, 3, 25, 0.2, 2**40 + 12345
    x, w1, w2 = random.randn(B, D), 0.4 * random.randn(D, H), 0.4 * random.randn(H, C)
    y = np.sin(x[:, :C])
    named = dict(x=x, w1=w1, w2=w2)
    training = ("train", dict(y=y, key=key, steps=steps, rate=rate, **named), 3)
    [prediction], trained, again, other = example.run(
        ("predict", named, 1), training, training, ("train", dict(training[1], key=key + 1), 3))
    example.compare("prediction", prediction, network(x, w1, w2), 1e-13)

    step = jax.jit(jax.value_and_grad(lambda w, *masks: jnp.mean(jnp.square(network(x, *w, *masks) - y))))
    weights, losses, kept = (w1, w2), [], []
    for k in range(steps):
        at = k * (B * D + B * H)
        first, second = uniform(key, at, [B, D]) >= 0.2, uniform(key, at + B * D, [B, H]) >= 0.5
        kept.append((first.mean(), second.mean()))
        loss, slopes = step(weights, first / 0.8, second / 0.5)
        losses.append(loss)
        weights = tuple(w - rate * slope for w, slope in zip(weights, slopes))
    example.judge("shares kept: {:.2f} and {:.2f}".format(*np.mean(kept, axis=0)),
                  bool(np.allclose(np.mean(kept, axis=0), [0.8, 0.5], atol=0.03)))
    for name, value, wanted in zip(("w1", "w2", "losses"), trained, (*weights, losses)):
        example.compare(f"trained {name}", value, wanted, 1e-11)
    example.judge("the same bits again", all((a == b).all() for a, b in zip(trained, again)))
    example.judge("other numbers for another key", bool((trained[2] != other[2]).all()))
