"""The transformer block in JAX, in F32."""

import jax
import jax.numpy as jnp
import numpy as np

B, S, D, H, M = 2, 128, 256, 4, 1024
WEIGHTS = dict(g1=[D], b1=[D], wq=[D, D], wk=[D, D], wv=[D, D], bias=[H, D // H], wo=[D, D],
               g2=[D], b2=[D], w1=[D, M], c1=[M], w2=[M, D], c2=[D])


def block(x, g1, b1, wq, wk, wv, bias, wo, g2, b2, w1, c1, w2, c2):
    def norm(x, gain, shift):
        return jax.nn.standardize(x, axis=-1, epsilon=1e-5) * gain + shift

    def heads(w):
        return (norm(x, g1, b1) @ w).reshape(*x.shape[:2], *bias.shape) + bias

    a = jax.nn.dot_product_attention(heads(wq), heads(wk), heads(wv), is_causal=True)
    r = x + a.reshape(x.shape) @ wo
    return r + jax.nn.gelu(norm(r, g2, b2) @ w1 + c1, approximate=False) @ w2 + c2


def inputs():
    random = np.random.RandomState(1)
    draw = lambda shape, scale: (scale * random.randn(*shape)).astype(np.float32)
    weights = {name: draw(shape, shape[0] ** -0.5 if len(shape) == 2 else 0.1) for name, shape in WEIGHTS.items()}
    for gain in ("g1", "g2"):
        weights[gain] += 1
    return draw([B, S, D], 1), draw([B, S, D], 1), weights


def check(example):
    x, y, weights = inputs()
    [value], gradient = example.run(("block", dict(x=x, **weights), 1), ("step", dict(x=x, y=y, **weights), 14))

    def loss(*weights):
        z = block(x, *weights)
        return jnp.mean(jnp.square(z - y)), z

    (wanted, reference), slopes = jax.jit(jax.value_and_grad(loss, argnums=range(13), has_aux=True))(*weights.values())
    example.compare("block", value, reference, 2e-6)
    example.compare("loss", gradient[0], wanted, 2e-6)
    for name, got, slope in zip(WEIGHTS, gradient[1:], slopes):
        example.compare(f"gradient in {name}", got, slope, 5e-6)
