#!/usr/bin/env python3
"""Times the training of examples/digits against the same training in JAX.

Both run on the CPU, in F64, the medians of several runs: compiling, and training
once it is compiled. JAX's training is one compiled program, loops included.
"""

import argparse
import pathlib
import statistics
import sys

import numpy as np

import jax_times

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples" / "digits"))
import run  # noqa: E402


def kina(build, out, arrays, repeats):
    files = {name: out / f"{name}.npy" for name in arrays}
    for name, value in arrays.items():
        np.save(files[name], value)
    results = [out / f"result{k}.npy" for k in range(5)]
    arguments = {**files, "B": run.BATCH, "E": run.EPOCHS, "lr": run.STEP}
    compiling, training = [], []
    for _ in range(repeats):
        _, times = run.kinac(build, "run", "train", arguments, results, ["--timing"])
        training.append(run.seconds(times, "running"))
        compiling.append(run.seconds(times, "in all") - training[-1])
    return statistics.median(compiling), statistics.median(training)


def in_jax(arrays, repeats):
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)

    def loss(parameters, x, y):
        W1, b1, W2, b2 = parameters
        z = jax.nn.relu(x @ W1 + b1) @ W2 + b2
        return jnp.mean(jax.nn.logsumexp(z, axis=-1) - jnp.sum(z * jax.nn.one_hot(y, z.shape[1]), axis=-1))

    def step(parameters, batch):
        value, gradient = jax.value_and_grad(loss)(parameters, *batch)
        return [p - run.STEP * g for p, g in zip(parameters, gradient)], value

    count = len(arrays["x"]) // run.BATCH
    batches = (arrays["x"][:count * run.BATCH].reshape(count, run.BATCH, -1),
               arrays["y"][:count * run.BATCH].reshape(count, run.BATCH))
    start = [jnp.asarray(arrays[f"{name}_0"]) for name in run.PARAMETERS]

    def train(parameters):
        def epoch(parameters, _):
            parameters, values = jax.lax.scan(step, parameters, batches)
            return parameters, values.mean()
        return jax.lax.scan(epoch, parameters, None, length=run.EPOCHS)

    return jax_times.measure(train, (start,), repeats)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    images, labels, _, _ = run.load()
    arrays = {"x": images, "y": labels,
              **{f"{name}_0": value for name, value in run.initial(images.shape[1], 10).items()}}
    print(f"{run.EPOCHS} epochs of {len(images)} digits, batches of {run.BATCH}, {run.HIDDEN} hidden units, F64")
    print(f"{'':8}{'compiling':>12}{'training':>12}")
    for name, (compiling, training) in (("kina", kina(options.build.resolve(), options.out.resolve(), arrays, options.repeats)),
                                        ("jax", in_jax(arrays, options.repeats))):
        print(f"{name:8}{compiling:10.3f} s{training:10.3f} s")


if __name__ == "__main__":
    main()
