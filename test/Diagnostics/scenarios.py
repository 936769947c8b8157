# REQUIRES: z3
# RUN: %python %s
"""What `kinac` says of each program of Inputs, in full: NAME.txt beside NAME.kina, where `\\e` is an escape character.

A first line `// kinac ..` gives the command, `check` else. A line

    // help: OLD ==> NEW

says how the nearest line above that has OLD is mended: NEW has what a help of the diagnostics between spells, with
anything for its `..`. With `mend` instead of `help` the diagnostic leaves it to the reader. A program with all its
mends gives no diagnostic any more. With --update the texts are written instead of compared.
"""

import difflib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent / "Inputs"


def run(words, name, cwd=FOLDER):
    done = subprocess.run(["kinac", *words, name], cwd=cwd, capture_output=True, text=True)
    return done.returncode, done.stderr


def command(text):
    first = text.split("\n")[0]
    return shlex.split(first.removeprefix("// kinac")) if first.startswith("// kinac") else ["check"]


def spelled(help):
    """Regular expressions of what a help spells: what is quoted, and calls."""
    parts = re.findall(r"'([^']+)'|`([^`]+)`|(\w+\(.*\))", help)
    return [re.escape("".join(part)).replace(r"\.\.", ".+") for part in parts]


def mend(name, text, words):
    """The problems of a program's mends."""
    lines = text.split("\n")
    told = [json.loads(line) for line in run([*words, "--error-format=json"], name)[1].splitlines()]
    problems, mended = [], 0
    for number, line in enumerate(lines):
        if not (found := re.match(r"// (help|mend): (.*?) ==> ?(.*)", line)):
            continue
        kind, old, new = found.groups()
        at = next((i for i in range(number - 1, -1, -1) if old in lines[i] and not lines[i].startswith("//")), None)
        if at is None:
            problems.append(f"line {number + 1}: no line above has '{old}'")
            continue
        before, lines[at] = lines[at], lines[at].replace(old, new, 1)
        mended += 1
        # What was told since the mends of the program before.
        start = next((i for i in range(at, -1, -1) if lines[i].startswith("// ")), 0)
        helps = [help for diag in told if start < diag.get("line", 0) <= number for help in diag.get("help", [])]
        if kind == "help" and not any(len(re.findall(part, lines[at])) > len(re.findall(part, before))
                                      for help in helps for part in spelled(help)):
            problems.append(f"line {number + 1}: no help spells this: {helps}")
    if mended:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / name).write_text("\n".join(lines))
            status, rest = run(words, name, folder)
            if status or rest:
                problems.append(f"what is mended is not right: status {status}\n{rest}")
    return problems


def main():
    bad = False
    for source in sorted(FOLDER.glob("*.kina")):
        text = source.read_text()
        words = command(text)
        status, found = run(words, source.name)
        found = found.replace("\x1b", "\\e")
        expected = source.with_suffix(".txt")
        if "--update" in sys.argv:
            expected.write_text(found)
            continue
        wanted = expected.read_text() if expected.exists() else ""
        problems = mend(source.name, text, words)
        if found != wanted or status != bool(re.search(r"(?m)^(\\e\[[0-9;]*m)?error", wanted)):
            problems.append(f"status {status}")
            problems += difflib.unified_diff(wanted.splitlines(), found.splitlines(), "expected", "found", lineterm="")
        if problems:
            bad = True
            print(f"{source.name}:", *problems, sep="\n")
    return bad


sys.exit(main())
