#!/usr/bin/env python3
"""Trains examples/digits/digits.kina with the compiled program and judges the result.

The images are the UCI optical recognition of handwritten digits (1,797 images of
8x8 pixels) as they ship with scikit-learn. Prints the loss of every epoch, the
accuracy on images the network has not seen, a check of the gradient against
differences, the largest difference to the same training in JAX, and the times;
writes a picture of the loss. Fails if any of these is not as it should be.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "digits.kina"
PARAMETERS = ("W1", "b1", "W2", "b2")
HIDDEN, BATCH, EPOCHS, STEP = 128, 32, 20, 0.2
ACCURACY_WANTED = 0.95
GRADIENT_ERROR_ALLOWED = 1e-6
JAX_DIFFERENCE_ALLOWED = 1e-9


def load():
    """Training and test images with pixels in [0, 1], and their labels: every fifth image is for the test."""
    from sklearn.datasets import load_digits
    digits = load_digits()
    images, labels = digits.data / 16.0, digits.target.astype(np.int32)
    test = np.arange(4, len(images), 5)[:357]
    train = np.setdiff1d(np.arange(len(images)), test)
    return images[train], labels[train], images[test], labels[test]


def initial(pixels, classes):
    random = np.random.RandomState(0)
    return {"W1": random.randn(pixels, HIDDEN) * np.sqrt(2 / pixels), "b1": np.zeros(HIDDEN),
            "W2": random.randn(HIDDEN, classes) * np.sqrt(2 / HIDDEN), "b2": np.zeros(classes)}


def kinac(build, command, function, arguments, out=(), options=()):
    """Runs kinac on the program; returns what it printed on stdout and stderr."""
    line = [build / "bin" / "kinac", command, PROGRAM, function, *options]
    for name, value in arguments.items():
        line += ["--arg", f"{name}={value}"]
    for path in out:
        line += ["--out", path]
    result = subprocess.run(line, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"error: kinac {command} {function} failed with status {result.returncode}\n{result.stderr}")
    return result.stdout, result.stderr


def seconds(text, what):
    """The time that kinac --timing printed for `what`."""
    match = re.search(rf"^ *([0-9.]+) ms  {what}$", text, re.MULTILINE)
    if not match:
        sys.exit(f"error: kinac printed no time for '{what}':\n{text}")
    return float(match.group(1)) / 1e3


def train_in_jax(parameters, images, labels):
    """The same training in JAX, in f64."""
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)

    def loss(parameters, x, y):
        W1, b1, W2, b2 = parameters
        z = jax.nn.relu(x @ W1 + b1) @ W2 + b2
        return jnp.mean(jax.nn.logsumexp(z, axis=-1) - jnp.sum(z * jax.nn.one_hot(y, z.shape[1]), axis=-1))

    def step(parameters, batch):
        value, gradient = jax.value_and_grad(loss)(parameters, *batch)
        return [p - STEP * g for p, g in zip(parameters, gradient)], value

    count = len(images) // BATCH
    batches = (images[:count * BATCH].reshape(count, BATCH, -1), labels[:count * BATCH].reshape(count, BATCH))
    epoch = jax.jit(lambda parameters: jax.lax.scan(step, parameters, batches))
    state, losses = [jnp.asarray(parameters[name]) for name in PARAMETERS], []
    for _ in range(EPOCHS):
        state, values = epoch(state)
        losses.append(float(values.mean()))
    return [np.asarray(value) for value in state], np.array(losses)


def draw(losses, accuracy, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4.2), dpi=120)
    axes.plot(range(1, len(losses) + 1), losses, marker="o", markersize=4, color="#2a5d9f")
    axes.set_yscale("log")
    axes.set_xticks(range(0, len(losses) + 1, 2))
    axes.set_xlabel("epoch")
    axes.set_ylabel("mean cross-entropy of the epoch (nats)")
    axes.set_title(f"Handwritten digits: training loss; test accuracy {accuracy:.1%}")
    axes.grid(True, which="both", alpha=0.25)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/demo"))
    options = parser.parse_args()
    build, out = options.build.resolve(), options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)

    images, labels, test_images, test_labels = load()
    start = initial(images.shape[1], 10)
    arrays = {"x": images, "y": labels, "x_test": test_images, "y_test": test_labels,
              "x_few": images[:8], "y_few": labels[:8], **{f"{name}_0": value for name, value in start.items()}}
    files = {name: out / f"{name}.npy" for name in [*arrays, *PARAMETERS, "losses", "accuracy"]}
    for name, value in arrays.items():
        np.save(files[name], value)
    print(f"Training {HIDDEN} hidden units on {len(images)} images, {EPOCHS} epochs in batches of {BATCH}")

    # The gradient first: training on a wrong one would only hide it.
    first = {name: files[f"{name}_0"] for name in PARAMETERS}
    text, _ = kinac(build, "grad-check", "loss", {**first, "x": files["x_few"], "y": files["y_few"]})
    found = re.search(r"relative error ([0-9.eE+-]+)", text)
    if not found:
        sys.exit(f"error: kinac grad-check printed no error:\n{text}")
    gradient_error = float(found.group(1))

    results = [*(files[name] for name in PARAMETERS), files["losses"]]
    _, times = kinac(build, "run", "train",
                     {**{f"{name}_0": files[f"{name}_0"] for name in PARAMETERS},
                      "x": files["x"], "y": files["y"], "B": BATCH, "E": EPOCHS, "lr": STEP},
                     results, ["--timing"])
    losses = np.load(files["losses"])
    for epoch, value in enumerate(losses, 1):
        print(f"epoch {epoch:2d}  loss {value:.4f}")

    trained = {name: files[name] for name in PARAMETERS}
    kinac(build, "run", "accuracy", {**trained, "x": files["x_test"], "y": files["y_test"]}, [files["accuracy"]])
    accuracy = float(np.load(files["accuracy"]))

    reference, reference_losses = train_in_jax(start, images, labels)
    difference = max([np.abs(losses / reference_losses - 1).max()] +
                     [np.abs(np.load(files[name]) - value).max() / np.abs(value).max()
                      for name, value in zip(PARAMETERS, reference)])
    draw(losses, accuracy, out / "loss.png")

    checks = [
        (f"test accuracy      {accuracy:.4f}   (at least {ACCURACY_WANTED}; {len(test_images)} images)",
         accuracy >= ACCURACY_WANTED),
        (f"gradient           {gradient_error:.1e}  relative error against differences (at most {GRADIENT_ERROR_ALLOWED:.0e})",
         gradient_error <= GRADIENT_ERROR_ALLOWED),
        (f"same run in JAX    {difference:.1e}  largest relative difference (at most {JAX_DIFFERENCE_ALLOWED:.0e})",
         difference <= JAX_DIFFERENCE_ALLOWED),
        ("loss               falls", bool(np.isfinite(losses).all() and losses[-1] < 0.2 * losses[0])),
    ]
    for line, good in checks:
        print(line if good else f"{line}  FAILED")
    training = seconds(times, "running")
    print(f"compile time       {seconds(times, 'in all') - training:.2f} s")
    print(f"training time      {training:.2f} s")
    picture = out / "loss.png"
    print(f"picture            {picture.relative_to(pathlib.Path.cwd()) if picture.is_relative_to(pathlib.Path.cwd()) else picture}")
    sys.exit(0 if all(good for _, good in checks) else 1)


if __name__ == "__main__":
    main()
