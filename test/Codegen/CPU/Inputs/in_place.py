#!/usr/bin/env python3
"""What a loop owns is updated where it is: iterations allocate nothing and copy nothing.

  in_place.py --work DIR

Every program carries tensors of N numbers through n iterations of which each writes a few.
With more iterations the runtime counts as many allocations as with few. An iteration that
copied would cost time that grows with N: at 2^16 numbers a million of them would move
half a terabyte, and take minutes.
"""

import argparse
import ctypes as C
import pathlib
import subprocess
import sys
import time

import numpy as np

import kina_native

SOURCE = """
fn put(h: tensor<F64, [N]>, k: I32, v: F64) -> tensor<F64, [N]> { update(h, [k], h[k] + v) }
// Becomes a loop state, so the parameter is consumed.
fn bump(h: tensor<F64, [N]>, k: I32) -> tensor<F64, [N]> {
  while (j < 2) [g = h, j = 0] { (update(g, [k], g[k] + 1.0), j + 1) }
}
@export fn plain(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  for (i in 0..n) [h = x] { update(h, [i % 7], h[i % 5] + 1.0) }
}
@export fn arms(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  for (i in 0..n) [h = x] { if (i % 2 == 0) { update(h, [i % 7], 1.0) } else { update(h, [i % 5], h[1] + 2.0) } }
}
@export fn one_arm(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  for (i in 0..n) [h = x] { if (i % 3 == 0) { update(h, [i % 7], h[0] + 1.0) } else { h } }
}
@export fn two(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  let (a, b) = for (i in 0..n) [a = x, b = zeros<F64>([N])] {
    (update(a, [i % 7], b[i % 3] + 1.0), update(b, [i % 5], a[i % 2]))
  };
  a + b
}
@export fn swapped(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  let (a, b) = for (i in 0..n) [a = x, b = zeros<F64>([N])] {
    (update(b, [i % 7], b[i % 3] + 1.0), update(a, [i % 5], a[i % 2]))
  };
  a - b
}
@export fn nested(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  for (i in 0..n) [h = x] {
    for (j in 0..2) [g = h] { update(g, [j], g[j] + 1.0) }
  }
}
@export fn consumer(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> { for (i in 0..n) [h = x] { bump(h, i % 7) } }
@export fn reader(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> { for (i in 0..n) [h = x] { put(h, i % 3, 0.5) } }
@export fn called(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  for (i in 0..n) [h = x] { put(bump(h, i % 7), i % 3, 0.5) }
}
@export fn closure(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  let step = fn(g, k) { update(g, [k], g[k] + 1.0) };
  for (i in 0..n) [h = x] { step(step(h, i % 7), i % 3) }
}
@export fn pieces(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> requires N >= 4 {
  for (i in 0..n) [h = x] { update(h, [2:4], h[2:4] * 0.5 + 1.0) }
}
@export fn history(x: tensor<F64, [N]>, n: I32) -> tensor<F64, [N]> {
  let (s, h, _) = while (i < n) [s = 0.0, h = x, i = 0] {
    let t = s * 0.5 + h[i % 7];
    (t, update(h, [i % 11], t), i + 1)
  };
  h + s
}
"""
PROGRAMS = ["plain", "arms", "one_arm", "two", "nested", "consumer", "reader", "closure", "pieces", "history"]
# States that change places, and a call on what another call gives, are copied, into buffers
# that are made once.
COPIED = ["swapped", "called"]


def expected(name, x, n):
    """The same in Python."""
    h, b, s = x.copy(), np.zeros_like(x), 0.0
    for i in range(n):
        if name == "plain":
            h[i % 7] = h[i % 5] + 1
        elif name == "arms":
            if i % 2 == 0:
                h[i % 7] = 1
            else:
                h[i % 5] = h[1] + 2
        elif name == "one_arm":
            if i % 3 == 0:
                h[i % 7] = h[0] + 1
        elif name == "two":
            first, second = b[i % 3] + 1, h[i % 2]
            h[i % 7], b[i % 5] = first, second
        elif name == "swapped":
            first, second = b[i % 3] + 1, h[i % 2]
            b[i % 7], h[i % 5] = first, second
            h, b = b, h
        elif name == "nested":
            h[:2] += 1
        elif name in ("consumer", "reader", "called"):
            h[i % 7] += 2 if name != "reader" else 0
            h[i % 3] += .5 if name != "consumer" else 0
        elif name == "closure":
            h[i % 7] += 1
            h[i % 3] += 1
        elif name == "pieces":
            h[2:4] = h[2:4] * .5 + 1
        elif name == "history":
            s = s * .5 + h[i % 7]
            h[i % 11] = s
    return {"two": h + b, "swapped": h - b, "history": h + s}.get(name, h)


class Statistics(C.Structure):
    _fields_ = [("allocations", C.c_uint64), ("live", C.c_uint64), ("peak", C.c_uint64)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    (work / "in-place.kina").write_text(SOURCE)
    text = subprocess.run(["kinac", "--emit=ad", work / "in-place.kina"], capture_output=True, text=True, check=True).stdout
    module = kina_native.Module(text)
    runtime, failures = module.runtime, 0

    def call(name, x, n):
        """The result, the number of allocations, seconds."""
        module.context = C.c_void_p(runtime.kina_context_create(None))
        start = time.process_time()
        (value,) = module.call(name, [("f64", x), ("i32", n)], [("f64", 1)])
        seconds = time.process_time() - start
        statistics = Statistics()
        runtime.kina_context_statistics(module.context, C.byref(statistics))
        runtime.kina_context_destroy(module.context)
        return value, statistics.allocations, seconds

    small, large = np.linspace(-1, 1, 16), np.linspace(-1, 1, 1 << 16)
    for name in PROGRAMS + COPIED:
        n = 1000 if name in COPIED else 1_000_000
        value, few, _ = call(name, small, 13)
        same = np.allclose(value, expected(name, small, 13), rtol=1e-14, atol=0)
        _, many, seconds = call(name, large, n)
        good = same and few == many and seconds < 5
        failures += not good
        print(f"{'' if good else 'FAIL '}{name}: {'' if same else 'another value, '}{few} allocations, "
              f"{many} with {n} iterations of {seconds / n * 1e9:.1f} ns")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
