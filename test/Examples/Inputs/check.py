"""Runs an example of examples/ and compares it with an independent implementation.

usage: check.py NAME --source ROOT --work DIR [--memory | --plant]

Prints one line per comparison, and ends with status 1 if one of them failed. --plant falsifies the
first result of every call by a thousandth: then the comparisons have to fail. --memory looks at the
memory that the example takes instead, if there is such a check.
"""

import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

import kinac_batch

HERE = pathlib.Path(__file__).resolve().parent


class Example:
    def __init__(self, options):
        folder = options.source / "examples" / options.name
        self.source = folder / f"{options.name.replace('-', '_')}.kina"
        self.work, self.plant = options.work, options.plant
        self.failed = False

    def run(self, *calls, without=None):
        """The results of (function, arguments by name, number of results). The lines of the program that
        are `without` are left out."""
        source = self.source
        if without:
            lines = source.read_text().splitlines(keepends=True)
            source = self.work / f"without-{source.name}"
            source.write_text("".join(line for line in lines if line.strip() != without))
        answers = kinac_batch.run(str(source), calls, self.work)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
            if self.plant:
                answer[0] = answer[0] * answer[0].dtype.type(1.001)
        return answers

    def peak(self, function, arguments, count):
        """The results of a call, and the most memory in MiB that it took, with the compiler's."""
        command, out = ["kinac", "run", self.source, function], [self.work / f"{k}.npy" for k in range(count)]
        self.work.mkdir(parents=True, exist_ok=True)
        for name, value in arguments.items():
            path = value
            if isinstance(value, np.ndarray):
                path = self.work / f"{name}.npy"
                np.save(path, value)
            command += ["--arg", f"{name}={path}"]
        for path in out:
            command += ["--out", path]
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"kinac ended with status {process.returncode}")
        return [np.load(path) for path in out], usage.ru_maxrss / 1024

    def judge(self, line, good):
        self.failed |= not good
        print(line if good else f"{line}  FAILED")

    def compare(self, what, got, wanted, bound):
        """The norm of the difference, relative to that of `wanted`."""
        got, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
        if got.shape != wanted.shape:
            return self.judge(f"{what}: shape {got.shape}, expected {wanted.shape}", False)
        error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
        self.judge(f"{what}: relative error {error:.1e} (at most {bound:.0e})", bool(error <= bound))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--plant", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    example = Example(options)
    oracle = __import__(options.name.replace("-", "_") + "_oracle")
    (oracle.memory if options.memory else oracle.check)(example)
    sys.exit(1 if example.failed else 0)


if __name__ == "__main__":
    main()
