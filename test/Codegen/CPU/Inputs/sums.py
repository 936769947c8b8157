"""Sums in the order that the language defines, bit for bit.

usage: sums.py PROGRAM DIRECTORY
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

directory = pathlib.Path(sys.argv[2])
directory.mkdir(parents=True, exist_ok=True)
random = np.random.default_rng(1)
calls, expected = [], []


def interleaved(terms):
    """The sum over the first axis: 64 partial sums, then halves added to halves."""
    terms = terms.reshape(len(terms), -1)
    partial = np.zeros((64, terms.shape[1]))
    for first in range(0, len(terms), 64):
        block = terms[first:first + 64].astype(np.float64)
        partial[:len(block)] += block
    half = 32
    while half:
        partial[:half] += partial[half:2 * half]
        half //= 2
    return partial[0].astype(np.float32)


def call(function, x, *values):
    path = str(directory / f"{len(calls)}.npy")
    np.save(path, x)
    out = [str(directory / f"{len(calls)}.out.{i}.npy") for i in range(len(values))]
    calls.append({"function": function, "arguments": {"x": path}, "out": out})
    expected.append([np.asarray(value) for value in values])


def sample(*shape):
    return (random.standard_normal(shape) * 10 ** random.uniform(-3, 3, shape)).astype(np.float32)


tenths = np.full(10**6, 0.1, np.float32)
assert abs(interleaved(tenths)[0] / (float(np.float32(0.1)) * 10**6) - 1) < 1e-6
call("all", tenths, interleaved(tenths)[0])
x = sample(1000)
for function in ("all", "all_1000"):
    call(function, x, interleaved(x)[0])
for shape in [(1, 1), (3, 5), (63, 1), (1, 63), (64, 64), (100, 70), (65, 33), (200, 31), (7, 999)]:
    x = sample(*shape)
    call("all_2d", x, interleaved(x.ravel())[0])
    call("squares", x, interleaved(x * x))
    for suffix in ("", "_100_70") if shape == (100, 70) else ("",):
        call("rows" + suffix, x, interleaved(x.T))
        call("columns" + suffix, x, interleaved(x))
for shape in [(3, 5, 7), (10, 4, 33), (2, 3, 100), (70, 2, 1)]:
    x = sample(*shape)
    call("outer", x, interleaved(x.transpose(0, 2, 1).reshape(-1, shape[1])))
    call("leading", x, interleaved(x.reshape(-1, shape[2])))
# A chain of 16-bit additions would stop at 2048.
call("small", np.ones(5000, np.float16), np.float16(5000))
x = sample(1000).astype(np.float64)
call("double", x, np.add.accumulate(x)[-1])
for m, n in [(0, 3), (3, 0), (0, 0)]:
    zeros = np.zeros((m, n), np.float32)
    call("empty", zeros, np.float32(0), zeros.sum(1), zeros.sum(0))

(directory / "calls.json").write_text(json.dumps(calls))
subprocess.run(["kinac", "run", sys.argv[1], "--batch", directory / "calls.json"], check=True,
               stdout=subprocess.DEVNULL)
failures = 0
for one, values in zip(calls, expected):
    for path, value in zip(one["out"], values):
        result = np.load(path)
        if result.dtype != value.dtype or not np.array_equal(result, value):
            print(f"{one['function']} of shape {np.load(one['arguments']['x']).shape}: "
                  f"{result}, expected {value}")
            failures += 1
print(f"{len(calls)} sums, {failures} failures")
sys.exit(failures != 0)
