"""Runs programs with `kinac run` and compares their results with the published values.

usage: programs.py FOLDER SCRATCH

A result without a name has no published number. A value is published as a number, a list, or as "first a, last b, norm c" of a tensor,
with ten digits; a result agrees if it is as close as those digits say.
"""

import json
import os
import re
import subprocess
import sys

import numpy as np

TOLERANCE = 5e-9


def wave(shape, f, s, c=0.0):
    """c + s*sin(f*(k+1)) over the flat row-major index k: how the programs state inputs."""
    k = np.arange(int(np.prod(shape)))
    return (c + s * np.sin(f * (k + 1))).reshape(shape)


PROGRAMS = [
    ("01_mlp_sgd", "train",
     dict(W1_0=wave([3, 5], .7, .5), b1_0=wave([5], .9, .1), W2_0=wave([5, 3], 1.1, .5), b2_0=wave([3], 1.3, .1),
          x=wave([6, 3], .37, 1), y=np.array([0, 1, 2, 2, 1, 0], np.int32), B=2, steps=7, lr=0.1),
     ["W1", "b1", "W2", "b2", "loss of the last step"]),
    # The parameters are one named tuple.
    ("21_parameter_set", "train",
     {"p0.W1": wave([3, 5], .7, .5), "p0.b1": wave([5], .9, .1), "p0.W2": wave([5, 3], 1.1, .5),
      "p0.b2": wave([3], 1.3, .1), "x": wave([6, 3], .37, 1), "y": np.array([0, 1, 2, 2, 1, 0], np.int32), "B": 2,
      "steps": 7, "lr": 0.1}, ["W1", "b1", "W2", "b2", "loss of the last step"]),
    # A generic function on the host; what the module does on a device is not compiled.
    ("18_placements", "host_step",
     dict(x=wave([4, 3], .37, 1), y=wave([4, 2], .9, 1), w1=wave([3, 5], .7, .5), w2=wave([5, 2], 1.1, .5)),
     ["value", "grad w1", "grad w2"]),
    ("08_fixed_point", "implicit", dict(x=wave([2, 3], .7, 1), W=wave([3, 3], .9, .3)), ["value", "grad x", "grad W"]),
    ("13_masked_lm", "step",
     dict(ids=np.array([[1, 3, 0, 2], [4, 4, 2, 1]], np.int32), labels=np.array([[3, 0, 2, 1], [4, 2, 1, 0]], np.int32),
          lens=np.array([3, 4], np.int32), emb=wave([5, 3], .7, 1), wo=wave([3, 5], .9, 1)),
     ["value", "grad emb", "grad wo"]),
    ("02_transformer", "step",
     dict(x=wave([2, 3, 8], .37, 1), wq=wave([8, 8], .7, .4), wk=wave([8, 8], .9, .4), wv=wave([8, 8], 1.1, .4),
          bh=wave([2, 4], 1.7, .1), wo=wave([8, 8], 1.3, .4), g=wave([8], .5, .2, 1), b=wave([8], .3, .1),
          w1=wave([8, 6], 1.9, .4), w2=wave([6, 8], 2.3, .4)), ["value", "grad wq", "grad w1"]),
    # Gradients through loops over time, to a tolerance, adaptive, of run-time size, with
    # branches, closures, pullbacks of the user's own and every form of @checkpoint.
    ("03_lstm", "step",
     dict(xs=wave([5, 2, 3], .37, 1), wx=wave([3, 16], .7, .5), wh=wave([4, 16], .9, .5), b=wave([16], 1.1, .1),
          h0=wave([2, 4], 1.3, .2), c0=wave([2, 4], 1.7, .2)), ["value", "grad wx", "grad wh", "grad b"]),
    ("04_cg", "step",
     dict(A=np.array([[4, 1, .5], [1, 3, -.25], [.5, -.25, 2]]), b=np.array([1.0, 2, -1]), w=np.array([.3, -.7, 1.1])),
     ["value", "grad A", "grad b"]),
    ("05_rk45", "step", dict(y0=np.array([1, .5]), th=np.array([3, 1.5]), t1=2), ["value", "grad th"]),
    ("06_gram_schmidt", "step", dict(X=wave([4, 3], .7, 1) + np.eye(4, 3), W=wave([4, 3], .9, 1)), ["value", "grad X"]),
    ("07_lanczos", "step",
     dict(A=wave([5, 5], .7, 1) + wave([5, 5], .7, 1).T + np.diag([1.0, 2, 3, 4, 5]), v=wave([5], .9, 1, .5), M=3),
     ["value", "grad A", "grad v"]),
    # Effects: a handler that is reverse mode itself, early exit, state.
    ("10_grad_handler", "main", dict(x=1.3), ["value", "grad x"]),
    ("11_early_exit", "step", dict(x=np.array([1.0, 2, 3, 4]), limit=10), ["value", "grad x"], "limit=10"),
    ("11_early_exit", "step", dict(x=np.array([1.0, 2, 3, 4]), limit=100), ["value", "grad x"], "limit=100"),
    ("12_state", "step", dict(n=4, a=0.7, first=0.25), ["value", "grad a", "grad first"]),
    ("09_dropout", "step", dict(x=np.array([.9, -.8, 1.2]), w=wave([3, 3], .7, 1)), ["value", "grad x", "grad w"]),
    ("14_custom_vjp", "forward_mode", dict(x=np.array([.5, 1, 1.5]), t=np.array([1, -2, .5])), ["forward_mode(x, t)"]),
    ("17_hmc", "hmc", dict(q=np.array([.7, -.4, 1.1]), p=np.array([.3, .8, -.5]), u=0.5, eps=0.3, n=8),
     ["q after an accepted step", None, "dh"]),
    ("14_custom_vjp", "step", dict(x=np.array([.5, 1, 1.5]), n=3),
     ["value", "grad x (ct clipped at 0.75, so no differences)"]),
    ("15_checkpoints", "step",
     dict(x=np.array([.3, -.2, .5]), w=np.array([[.9, .4, -.3], [-.5, 1.1, .2], [.1, -.6, .8]]), n=9),
     ["value", "grad x", "grad w"]),
    ("19_nbody", "step",
     dict(q0=np.array([[1, 0], [-.5, .8], [-.5, -.9]]), v0=np.array([[0, .5], [-.4, -.3], [.4, -.2]]),
          m=np.array([1, .8, 1.2]), dt=0.05, n=20), ["value", "grad v0", "grad m"]),
    ("20_pendulum", "step",
     dict(th=np.array([5, .5]), obs=np.exp(-.1 * np.arange(12)) * np.cos(.55 * np.arange(1, 13)), h=0.2),
     ["value", "grad th"]),
    ("20_pendulum", "fit",
     dict(th0=np.array([5, .5]), obs=np.exp(-.1 * np.arange(12)) * np.cos(.55 * np.arange(1, 13)), h=0.2, lr=2,
          steps=50), ["fit lr=2 steps=50: th", "loss of its last step"]),
    ("22_core", "main", dict(x=0.9, n=3), ["value", "grad x"]),
]


def run(folder, scratch, program, function, arguments, count):
    # Statements that print are left out; the values do not depend on them.
    source = os.path.join(scratch, program + ".kina")
    with open(os.path.join(folder, program + ".kina")) as file, open(source, "w") as copy:
        copy.writelines(line for line in file if not line.strip().startswith("print("))
    command = ["kinac", "run", source, function]
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            path = os.path.join(scratch, f"{program}.{name}.npy")
            np.save(path, value)
            value = path
        command += ["--arg", f"{name}={value}"]
    outputs = [os.path.join(scratch, f"{program}.{function}.{i}.npy") for i in range(count)]
    for path in outputs:
        command += ["--out", path]
    subprocess.run(command, check=True)
    return [np.load(path) for path in outputs]


def summary(text):
    """The published text as a function of a tensor and the numbers that it gives."""
    if text.startswith("first"):
        numbers = [float(n) for n in re.findall(r"(?:first|last|norm) ([-+.\de]+)", text)]
        return lambda x: [x.flat[0], x.flat[-1], np.linalg.norm(x)], numbers
    numbers = [float(n) for n in re.findall(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)]
    return lambda x: list(np.ravel(x)), numbers


def disagreement(result, text):
    reduce, expected = summary(text)
    actual = reduce(np.asarray(result, np.float64))
    if len(actual) != len(expected):
        return float("inf")
    return max(abs(a - e) / max(1.0, abs(e)) for a, e in zip(actual, expected))


def main():
    folder, scratch = sys.argv[1:]
    os.makedirs(scratch, exist_ok=True)
    with open(os.path.join(folder, "expected.json")) as file:
        published = {name: dict(rows) for name, rows in json.load(file).items()}
    failed = False
    for program, function, arguments, names, *inputs in PROGRAMS:
        results = run(folder, scratch, program, function, arguments, len(names))
        wanted = published[" ".join([program] + inputs)]
        worst = {name: disagreement(result, wanted[name]) for name, result in zip(names, results) if name}
        wrong = {name: error for name, error in worst.items() if not error <= TOLERANCE}
        failed |= bool(wrong)
        print(" ".join([program, function] + inputs) + ": " +
              (f"disagrees in {wrong}" if wrong else f"{len(worst)} results agree to {max(worst.values()):.1e}"))
        if disagreement(results[0] + 1e-6, wanted[names[0]]) > TOLERANCE:
            print("negative control: a wrong value is found")
    sys.exit(failed)


main()
