"""Runs the functions of operations-in-loops.kina, three iterations each, against NumPy."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

N = 3
x, x2 = np.array([0.5, -1.5, 2.0, 0.25]), np.arange(12.0).reshape(3, 4) - 5
product_slope = lambda a: np.array([np.prod(np.delete(a, i)) for i in range(len(a))])
padded = lambda a: np.pad(a, 1)
STEPS = {
    "shift": (x, lambda a: np.append(a[1:], a[0] + 1)),
    "turn": (x2, lambda a: 0.5 * a[::-1] + a),
    "halves": (x, lambda a: np.concatenate([a[:2] + a[2:], a[:2] - a[2:]])),
    "padded": (x, lambda a: padded(a)[:-2] + padded(a)[2:] + a),
    "repeats": (x, lambda a: 1.5 * a),
    "stacked": (x, lambda a: a + np.sin(a)),
    "scalars": (x[:2], lambda a: a + 0.1 * np.array([a[1], -a[0]])),
    "sum_of_products": (x2[:, :3], lambda a: 0.1 * a @ x2[:, :3].T),
    "norm_of": (x, lambda a: a / np.linalg.norm(a)),
    "derivative_of_product": (np.array([0.0, 2.0, 3.0]), lambda a: a - 0.01 * product_slope(a)),
    "running_sum": (x2, lambda a: 0.1 * np.cumsum(a, axis=0)[::-1]),
}

with tempfile.TemporaryDirectory() as folder:
    calls = []
    for name, (start, _) in STEPS.items():
        np.save(f"{folder}/{name}.npy", start)
        calls.append({"function": name, "arguments": {"x": f"{folder}/{name}.npy", "n": str(N)}, "out": [f"{folder}/{name}.out.npy"]})
    batch = pathlib.Path(folder, "batch.json")
    batch.write_text(json.dumps(calls))
    subprocess.run(["kinac", "run", sys.argv[1], "--batch", batch], check=True, stdout=subprocess.DEVNULL)
    for name, (wanted, step) in STEPS.items():
        for _ in range(N):
            wanted = step(wanted)
        got = np.load(f"{folder}/{name}.out.npy")
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-15, err_msg=name)
