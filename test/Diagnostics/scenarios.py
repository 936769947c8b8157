# RUN: %python %s
"""What `kinac` says of each program of Inputs, in full: NAME.txt beside NAME.kina.

A first line `// kinac ..` gives the command, `check` else. With --update the texts are written instead of compared.
"""

import difflib
import pathlib
import re
import shlex
import subprocess
import sys


def main():
    folder = pathlib.Path(__file__).parent / "Inputs"
    bad = False
    for source in sorted(folder.glob("*.kina")):
        first = source.read_bytes().split(b"\n")[0].decode()
        words = shlex.split(first.removeprefix("// kinac")) if first.startswith("// kinac") else ["check"]
        done = subprocess.run(["kinac", *words, source.name], cwd=folder, capture_output=True, text=True)
        text = done.stderr
        expected = source.with_suffix(".txt")
        if "--update" in sys.argv:
            expected.write_text(text)
            continue
        wanted = expected.read_text() if expected.exists() else ""
        if text != wanted or done.returncode != bool(re.search(r"(?m)^error", wanted)):
            bad = True
            print(f"{source.name}: status {done.returncode}")
            print("\n".join(difflib.unified_diff(wanted.splitlines(), text.splitlines(), "expected", "found", lineterm="")))
    return bad


sys.exit(main())
