#!/usr/bin/env python3
"""Runs every test of a build with lit and closes with the counts on one line.

  run-tests.py BUILD [lit arguments]

The unit tests are part of the lit suite (test/Unit), and so are the oracle
tests and the code blocks of the documentation.
"""

import json
import os
import pathlib
import subprocess
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lit = pathlib.Path(sys.executable).parent / "lit"
    report = build / "test" / "report.json"
    report.unlink(missing_ok=True)
    workers = max(1, os.cpu_count() or 1)
    arguments = sys.argv[2:] or [str(build / "test")]
    status = subprocess.run([lit, "-sv", "--no-progress-bar", "--time-tests", f"-j{workers}",
                             "--output", report] + arguments).returncode
    if not report.exists():
        sys.exit(status or 1)
    codes = [test["code"] for test in json.loads(report.read_text())["tests"]]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    failed = len(codes) - passed - skipped
    accuracy = build / "oracle" / "accuracy.md"
    if accuracy.exists():
        print(f"Largest errors of the oracle tests, by operation: {accuracy}")
    print(f"check: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed or status or not passed else 0)


if __name__ == "__main__":
    main()
