#!/usr/bin/env python3
"""Peak memory of a gradient through a loop, and the iterations it executes, against the
formulas.

  memory.py --work DIR

The runtime counts the bytes that a call holds at most, and the iterations of all its
loops. A state here is a vector of 100 numbers; the bytes of a frame of residuals are read
off the tape of all iterations, by the slope between two lengths.
"""

import argparse
import ctypes as C
import math
import pathlib
import subprocess
import sys

import numpy as np

import kina_native

SOURCE = """
fn chain(h0: tensor<F64, [100]>, w: F64, n: I32) -> F64 {{
  {0} let (h, i) = while (i < n) [h = h0, i = 0] {{ (0.5 * h + sin(h * w), i + 1) }};
  sum(h)
}}
@export fn gradient(h0: tensor<F64, [100]>, w: F64, n: I32) -> (F64, tensor<F64, [100]>, F64) {{
  value_and_grad(chain, wrt=(h0, w))(h0, w, n)
}}
// N writes into a carried tensor of N: what is kept is one number a write.
fn writes(v: tensor<F64, [N]>) -> F64 {{
  let w = for (i in 0..N) [w: tensor<F64, [N]> = zeros([N])] {{ update(w, [i], sin(v[i]) * v[i]) }};
  sum(w)
}}
@export fn write_gradient(v: &tensor<F64, [N]>) -> (F64, tensor<F64, [N]>) {{ value_and_grad(writes)(v) }}
// One trip of a bound of 4096.
fn early(x: F64, n: I32) -> F64 {{
  {0} let (a, i) = while (i < 4096 and i < n) [a: F64 = x, i = 0] {{ (sin(a * x), i + 1) }};
  a
}}
@export fn early_gradient(x: F64, n: I32) -> (F64, F64) {{ value_and_grad(early, wrt=x)(x, n) }}
"""
STATE = 100 * 8 + 8           # the vector and the counter


class Statistics(C.Structure):
    _fields_ = [("allocations", C.c_uint64), ("live", C.c_uint64), ("peak", C.c_uint64)]


class Program:
    def __init__(self, work, checkpoint, tape):
        (work / "memory.kina").write_text(SOURCE.format(checkpoint))
        text = subprocess.run(["kinac", "--emit=verified", work / "memory.kina"], capture_output=True, text=True, check=True).stdout
        (work / "memory.mlir").write_text(text)
        text = subprocess.run(["kina-opt", f"--kina-ad={tape}", work / "memory.mlir"], capture_output=True, text=True, check=True).stdout
        self.module = kina_native.Module(text)
        self.module.runtime.kina_context_steps.restype = C.c_uint64

    def call(self, name, arguments, results):
        """The results, peak bytes and iterations."""
        runtime = self.module.runtime
        self.module.context = C.c_void_p(runtime.kina_context_create(None))
        values = self.module.call(name, arguments, results)
        statistics = Statistics()
        runtime.kina_context_statistics(self.module.context, C.byref(statistics))
        steps = runtime.kina_context_steps(self.module.context)
        runtime.kina_context_destroy(self.module.context)
        return values, statistics.peak, steps

    def chain(self, n):
        return self.call("gradient", [("f64", np.linspace(-1, 1, 100)), ("f64", 0.75), ("i32", n)], [("f64", 0), ("f64", 1), ("f64", 0)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    failures = 0

    def expect(what, got, wanted, slack):
        nonlocal failures
        good = abs(got - wanted) <= 0.1 * wanted + slack
        failures += not good
        print(f"{'' if good else 'FAIL '}{what}: {got}, formula {wanted}")

    taped, roots, stride = (Program(work, *form) for form in (("", "tape=auto"), ("@checkpoint(sqrt)", "tape=auto"),
                                                              ("", "tape=stride slots=64")))
    frame = (taped.chain(2000)[1] - taped.chain(1000)[1]) / 1000
    print(f"a state is {STATE} bytes, a frame of residuals {frame:.0f}")
    slack = 6 * STATE
    for n in (1000, 10000, 100000):
        whole, peak, steps = taped.chain(n)
        expect(f"N={n}, taped: peak bytes", peak, round(n * frame), slack)
        expect(f"N={n}, taped: iterations", steps, 2 * n, 100)
        bits = [value.tobytes() for value in whole]
        k = math.isqrt(n)
        values, peak, steps = roots.chain(n)
        failures += [value.tobytes() for value in values] != bits
        expect(f"N={n}, k={k}: peak bytes", peak, round(n / k * STATE + k * frame), slack)
        # Forwards, again, and backwards; the segments, twice; the search of the root.
        expect(f"N={n}, k={k}: iterations", steps, 3 * n + 2 * n // k + k, 100)
        values, peak, steps = stride.chain(n)
        failures += [value.tobytes() for value in values] != bits
        g = 1
        while 64 * g < n:
            g *= 2
        expect(f"N={n}, stride {g}: peak bytes", peak, round(64 * STATE + g * frame), slack)
        expect(f"N={n}, stride {g}: iterations", steps, 3 * n + n // g, 100)

    (value, gradient), peak, _ = taped.call("write_gradient", [("f64", np.linspace(0, 1, 1000))], [("f64", 0), ("f64", 1)])
    x = np.linspace(0, 1, 1000)
    failures += not np.allclose(gradient, np.cos(x) * x + np.sin(x), rtol=1e-12)
    expect("1000 writes: peak bytes", peak, 3 * 8000, 1000)
    _, peak, steps = taped.call("early_gradient", [("f64", 0.5), ("i32", 1)], [("f64", 0), ("f64", 0)])
    expect("one trip of at most 4096: iterations", steps, 2, 2)
    print(f"memory: {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
