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


def report_accuracy(build):
    """Gathers the largest errors of the oracle tests, by operation, into one table."""
    families = [json.loads(path.read_text()) for path in sorted(build.glob("test/Oracle/Output/*.tmp/accuracy.json"))]
    kinds = ("F64 value", "F64 vjp", "F32 value", "F32 vjp")
    largest, rows = dict.fromkeys(kinds, 0.0), []
    for family in families:
        for name, errors in family["errors"].items():
            for kind in kinds:
                largest[kind] = max(largest[kind], errors.get(kind, 0.0))
            cells = [f"{errors[kind]:.1e}" if kind in errors else "exact" if "exact value" in errors else "" for kind in kinds]
            rows.append(f"| {family['family']} | `{name}` | " + " | ".join(cells) + " |")
    if not rows:
        return
    table = build / "accuracy.md"
    table.write_text("# Largest relative errors against JAX\n\n| family | operation | " + " | ".join(kinds) + " |\n"
                     + "|---" * (2 + len(kinds)) + "|\n" + "\n".join(rows) + "\n")
    print(f"oracle: {len(rows)} operations and forms, largest errors "
          + ", ".join(f"{kind} {value:.1e}" for kind, value in largest.items()) + f"; table in {table}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lit = pathlib.Path(sys.executable).parent / "lit"
    report = build / "test" / "report.json"
    report.unlink(missing_ok=True)
    workers = max(1, os.cpu_count() or 1)
    arguments = sys.argv[2:] or [str(build / "test")]
    status = subprocess.run([lit, "-sv", "--no-progress-bar", f"-j{workers}",
                             "--output", report] + arguments).returncode
    if not report.exists():
        sys.exit(status or 1)
    codes = [test["code"] for test in json.loads(report.read_text())["tests"]]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    failed = len(codes) - passed - skipped
    report_accuracy(build)
    print(f"check: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed or status or not passed else 0)


if __name__ == "__main__":
    main()
