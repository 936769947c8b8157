"""The classifier of sentences in JAX, each sentence cut to its length instead of masked."""

import jax
import jax.numpy as jnp
import numpy as np

NAMES = ("table", "places", "wq", "wk", "wv", "wo")


def logits(tokens, table, places, wq, wk, wv, wo):
    """Of one sentence without padding."""
    x = table[tokens] + places[:len(tokens)]
    attention = jax.nn.softmax((x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1]), axis=-1)
    return jnp.mean(attention @ (x @ wv), axis=0) @ wo


def check(example):
    jax.config.update("jax_enable_x64", True)
    random = np.random.RandomState(2)
    B, S, V, D, K, C = 5, 12, 30, 16, 8, 4
    weights = [random.randn(*shape) for shape in ([V, D], [S, D], [D, K], [D, K], [D, K], [K, C])]
    lengths, labels = np.array([12, 1, 7, 3, 9], np.int32), random.randint(0, C, B).astype(np.int32)
    tokens = random.randint(0, V - 1, [B, S]).astype(np.int32)
    other = np.where(np.arange(S) < lengths[:, None], tokens, V - 1).astype(np.int32)

    def loss(*weights):
        classes = jnp.stack([logits(t[:n], *weights) for t, n in zip(tokens, lengths)])
        return -jnp.mean(jax.nn.log_softmax(classes)[np.arange(B), labels]), classes

    named = dict(lengths=lengths, **dict(zip(NAMES, weights)))
    [classes], got, padded = example.run(("classify", dict(tokens=tokens, **named), 1),
                                         ("step", dict(tokens=tokens, labels=labels, **named), 7),
                                         ("step", dict(tokens=other, labels=labels, **named), 7))
    (wanted, reference), slopes = jax.jit(jax.value_and_grad(loss, argnums=range(6), has_aux=True))(*weights)
    example.judge("classes agree", bool((classes == np.argmax(reference, axis=-1)).all()))
    example.compare("loss", got[0], wanted, 1e-13)
    for name, slope, reference in zip(NAMES, got[1:], slopes):
        example.compare(f"gradient in {name}", slope, reference, 1e-12)
    example.judge("padding changes no bit", all((a == b).all() for a, b in zip(got, padded)))
    example.judge("a token that does not occur has gradient 0", bool((got[1][V - 1] == 0).all()))
