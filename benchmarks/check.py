#!/usr/bin/env python3
"""Times `kinac check` on a program of 500 lines, as an editor would call it.

  check.py [--build BUILD] [--lines N] [--runs N]

The stages are timed by `--timing`; what starting takes is what `kinac --version` takes. Times of the processor do not depend on
what else the machine does. The first run finds no more in the caches of files than the build left there.
"""

import argparse
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import time

# Of every kind that programs have: a layer, a loop, indexing, a gradient, sizes with facts.
PART = """
fn layer_{k}(x: tensor<F64, [B, I]>, w: tensor<F64, [I, O]>, b: tensor<F64, [O]>) -> tensor<F64, [B, O]> {{
  let y = x @ w + b;
  relu(y) * 0.5
}}

fn loss_{k}(w: tensor<F64, [I, O]>, x: tensor<F64, [B, I]>, b: tensor<F64, [O]>) -> F64 {{
  let y = layer_{k}(x, w, b);
  mean(square(y)) + 1e-3 * sum(square(w))
}}

fn step_{k}(w: tensor<F64, [I, O]>, x: tensor<F64, [B, I]>, b: tensor<F64, [O]>, n: I32) -> tensor<F64, [I, O]> {{
  while (i < n) [v = copy(w), i = 0] {{
    let g = grad(loss_{k}, wrt=w)(v, x, b);
    (v - 0.1 * g, i + 1)
  }}
}}

fn heads_{k}(x: tensor<F64, [B, S, D]>) -> tensor<F64, [B, S, 8, D floordiv 8]> requires D mod 8 = 0 {{
  reshape(x, [B, S, 8, D floordiv 8])
}}

fn scan_{k}(x: tensor<F64, [T, N]>, h: tensor<F64, [N]>) -> F64 {{
  let last = for (t in 0..T) [s = copy(h)] {{
    if (sum(s) > 1.0) {{ s * 0.5 + x[t, :] }} else {{ s + x[t, :] }}
  }};
  sum(last)
}}
"""


def program(lines):
    text, k = "", 0
    while text.count("\n") < lines:
        text += PART.format(k=k)
        k += 1
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    kinac = options.build / "bin/kinac"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.kina"
        source.write_text(program(options.lines))

        def run(*words):
            """Time by the clock and of the processor, and what is printed."""
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            done = subprocess.run([kinac, *words], capture_output=True, text=True)
            clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            assert done.returncode == 0, done.stderr
            return clock * 1e3, (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3, done.stderr

        first = run("check", "--timing", source)
        runs = [run("check", "--timing", source) for _ in range(options.runs)]
        starts = [run("--version") for _ in range(options.runs)]

    def median(times, what):
        return statistics.median(entry[what] for entry in times)

    print(f"{program(options.lines).count(chr(10))} lines, {options.runs} runs, milliseconds (median)")
    names = re.findall(r"(?m)^ *[\d.,]+ ms  (.*)$", first[2])
    for k, name in enumerate(names):
        stage = statistics.median(float(re.findall(r"(?m)^ *([\d.,]+) ms", text)[k].replace(",", "")) for *_, text in runs)
        print(f"{stage:8.1f}  {name}")
    for what, name in enumerate(("by the clock", "of the processor")):
        print(f"{name}: {median(runs, what):.1f}, of which {median(starts, what):.1f} for the start of the process; "
              f"{first[what]:.1f} the first time")


if __name__ == "__main__":
    main()
