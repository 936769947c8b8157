#!/usr/bin/env python3
"""Remarks on copies, and the copies that are there.

  copies.py FILE.kina

A function with a remark has a loop that copies a whole buffer, and the other way round; the places stand in the file,
below `// copies`. What is made anew, below `// makes`, is no update: it may be copied without a word."""

import json
import re
import subprocess
import sys

path = sys.argv[1]
lines = open(path).read().splitlines()
done = subprocess.run(["kinac", "--remarks", "--error-format=json", "--emit=loops", path], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
told = [json.loads(line) for line in done.stderr.splitlines()]
wrong = [d for d in told if d["severity"] != "remark" or d["code"] != "K0701"]
expected = {k + 1 for k, line in enumerate(lines, 1) if line.strip() == "// copies"}
got = {d["line"] for d in told}
print(f"{len(got)} places are told")
problems = [f"line {k}: no remark" for k in sorted(expected - got)] + [f"line {k}: a remark" for k in sorted(got - expected)]
problems += [str(d) for d in wrong]

copying, function = set(), None
for line in done.stdout.splitlines():
    if found := re.search(r"func\.func @(\w+)", line):
        function = found[1]
    # Functions stand at the first level, their loops' bodies from the third on.
    if re.match(r" {6,}memref\.copy", line) and "strided" not in line:
        copying.add(function)
function, remarked, made = None, set(), set()
for k, line in enumerate(lines, 1):
    if found := re.search(r"fn (\w+)\(", line):
        function = found[1]
    remarked |= {function} if k in got else set()
    made |= {function} if line.strip() == "// makes" else set()
problems += [f"{f}: a remark, and no copy" for f in sorted(remarked - copying)]
problems += [f"{f}: a copy, and no remark" for f in sorted(copying - remarked - made)]
print(*problems, sep="\n")
sys.exit(bool(problems))
