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
    grid, cells = grid_table(build)
    if not rows and not grid:
        return
    table = build / "accuracy.md"
    table.write_text("\n".join(grid) + "\n# Largest relative errors against JAX\n\n| family | operation | " + " | ".join(kinds) + " |\n"
                     + "|---" * (2 + len(kinds)) + "|\n" + "\n".join(rows) + "\n")
    print(f"oracle: {len(rows)} operations and forms, largest errors "
          + ", ".join(f"{kind} {value:.1e}" for kind, value in largest.items()) + f"{cells}; table in {table}")


def report_sanitizers(folder):
    """Prints what the sanitizers found (test/lit.cfg.py says where they write), and returns how many found something."""
    # A refused allocation is only a warning.
    texts = {path: path.read_text(errors="replace") for path in sorted(folder.glob("sanitizer-report.*"))}
    findings = {path: text for path, text in texts.items() if "ERROR: " in text or "runtime error: " in text}
    for path, text in findings.items():
        print(f"{path}:\n{text[:4000]}")
    if findings:
        print(f"sanitizers: {len(findings)} reports")
    return len(findings)


SHAPES = {"static": "s", "dynamic": "d", "size 0": "0", "size 1": "1", "batch": "b", "broadcast": "r"}
UNITS = {"F16": 2.0**-10, "BF16": 2.0**-7}


def cell_text(entries):
    """The largest error, and the classes of shapes: its letter, `-` where it means nothing, `?` where a test is missing."""
    errors = {shape: error for shape, (error, _, _) in entries.items() if error is not None}
    marks = "".join(SHAPES[shape] if error is not None else "-" if reason else "?" for shape, (error, reason, _) in entries.items())
    if not errors:
        return "" if set(marks) == {"-"} else marks
    worst, float_type = max(errors.values()), next(iter(entries.values()))[2]
    return f"{f'{worst / UNITS[float_type]:.1f} ulp' if float_type in UNITS else f'{worst:.0e}'} {marks}"


def grid_table(build):
    """The cells operation x computed x float type x class of shapes, as lines, and their counts."""
    rows, counts, missing = [], {"tested": 0, "meaningless": 0, "missing": 0}, []
    for path in sorted(build.glob("test/Grid/Output/*.tmp*/grid.json")):
        family, table = json.loads(path.read_text()), {}
        for name, kind, float_type, shape, error, reason in family["cells"]:
            table.setdefault(name, {}).setdefault((kind, float_type), {})[shape] = (error, reason, float_type)
            counts["tested" if error is not None else "meaningless" if reason else "missing"] += 1
            if error is None and not reason:
                missing.append(f"{name} ({kind}, {float_type}, {shape})")
        rows += [(family["family"], name, columns) for name, columns in table.items()]
    if not rows:
        return [], ""
    columns = list(rows[0][2])
    lines = ["# Every operation, by float type and class of shapes", "",
             "The largest error, in F64 and F32 relative, in the 16-bit floats in units of the last place; and what was tested: "
             + ", ".join(f"`{letter}` {name}" for name, letter in SHAPES.items())
             + ". `-` stands where a class means nothing, an empty cell where all do (no derivative, no float, nothing to broadcast), "
             "`?` where a test is missing.", "",
             "| family | operation | " + " | ".join(f"{kind} {float_type}" for kind, float_type in columns) + " |",
             "|---" * (2 + len(columns)) + "|"]
    lines += [f"| {family} | `{name}` | " + " | ".join(cell_text(cells[c]) for c in columns) + " |" for family, name, cells in rows]
    summary = ", ".join(f"{count} {what}" for what, count in counts.items())
    lines += ["", f"{sum(counts.values())} cells: {summary}.", *(["", "Missing: " + "; ".join(missing) + "."] if missing else []), ""]
    return lines, f"; cells: {summary}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lit = pathlib.Path(sys.executable).parent / "lit"
    report = build / "test" / "report.json"
    report.unlink(missing_ok=True)
    for old in report.parent.glob("sanitizer-report.*"):
        old.unlink()
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
    findings = report_sanitizers(report.parent)
    print(f"check: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed or status or findings or not passed else 0)


if __name__ == "__main__":
    main()
