# RUN: %python %s %src/test/Inputs

"""Every program imports without a word, and its module survives a round trip through text and bytecode."""

import glob
import os
import subprocess
import sys


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True)
    if done.returncode or done.stderr:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    return done.stdout


paths = sorted(glob.glob(os.path.join(sys.argv[1], "*", "*.kina")))
assert len(paths) >= 26
modules = [run("kina-translate", "--import-kina", "--mlir-print-debuginfo", path).strip() for path in paths]
# One process for all: starting one is what takes the time.
again = run("kina-opt", "--mlir-print-debuginfo", "--split-input-file", text=b"\n// -----\n".join(modules))
again = [module.strip() for module in again.split(b"\n// -----\n")]
assert len(again) == len(modules)
for path, once, twice in zip(paths, modules, again):
    if once != twice:
        sys.exit(f"{path}: the module changes when it is read again")
for path, module in list(zip(paths, modules))[::8]:
    bytecode = run("kina-opt", "--emit-bytecode", text=module)
    if run("kina-opt", "--mlir-print-debuginfo", text=bytecode).strip() != module:
        sys.exit(f"{path}: the module changes through bytecode")
