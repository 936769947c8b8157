#!/usr/bin/env python3
"""Times the block of examples/transformer, and its gradient, against JAX.

Both compile and run on the CPU, in F32, with batches of two, 128 places, width 256 and four heads; the
medians of several runs. What one compiles has only the one function, as JAX's program has.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

import numpy as np

import jax_times

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "Examples" / "Inputs"))
import transformer_oracle as reference  # noqa: E402


def kina(build, out, function, arrays, count, repeats):
    """Medians of the times that `kinac --timing` prints: LLVM and what is before it, and running."""
    paths = {name: str(out / f"{name}.npy") for name in arrays}
    for name, value in arrays.items():
        np.save(paths[name], value)
    call = {"function": function, "arguments": paths, "out": [str(out / f"out{k}.npy") for k in range(count)]}
    (out / "calls.json").write_text(json.dumps([call]))
    compiling, running = [], []
    for _ in range(repeats):
        text = subprocess.run([build / "bin" / "kinac", "run", ROOT / "examples/transformer/transformer.kina", "--timing",
                               "--batch", out / "calls.json"], capture_output=True, text=True, check=True).stderr
        times = {what: float(ms) / 1e3 for ms, what in re.findall(r"^ *([0-9.]+) ms  (.*)$", text, re.MULTILINE)}
        running.append(times["running"])
        compiling.append(times["in all"] - times["running"])
    return statistics.median(compiling), statistics.median(running)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    build, out = options.build.resolve(), options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    import jax
    import jax.numpy as jnp
    x, y, weights = reference.inputs()

    def step(x, y, *weights):
        loss = lambda *weights: jnp.mean(jnp.square(reference.block(x, *weights) - y))
        return jax.value_and_grad(loss, argnums=range(len(weights)))(*weights)

    print(f"a transformer block, batch {x.shape[0]}, S = {x.shape[1]}, D = {x.shape[2]}, F32")
    print(f"{'':22}{'compiling':>12}{'running':>12}")
    for what, function, arrays, count, other in (
            ("forward", "block", dict(x=x, **weights), 1, reference.block),
            ("forward and backward", "step", dict(x=x, y=y, **weights), 14, step)):
        for who, times in (("kina", kina(build, out, function, arrays, count, options.repeats)),
                           ("jax", jax_times.measure(other, list(arrays.values()), options.repeats))):
            print(f"{what if who == 'kina' else '':22}{times[0]:10.3f} s{times[1]:10.3f} s  {who}")


if __name__ == "__main__":
    main()
