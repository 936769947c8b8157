"""Typed Kina whose tensors are values, however many names use them: programs that are made to
test later stages give their tensors away as often as they like."""

import subprocess


def write(source, output):
    """Writes `source`, elaborated and verified, to `output`; returns the process that ended last."""
    surface = str(output) + ".surface"
    step = subprocess.run(["kina-translate", "--import-kina", source, "-o", surface], capture_output=True, text=True)
    if step.returncode:
        return step
    return subprocess.run(["kina-opt", "--kina-elaborate", "--kina-verify-refinements", surface, "-o", output],
                          capture_output=True, text=True)
