#!/usr/bin/env python3
"""Runs the code blocks of a Markdown file, so that the documentation cannot lie.

  run_blocks.py FILE.md --source ROOT --work DIR [--build BUILD]

  ```kina NAME.kina   is saved under that name, for the commands that follow, and checked
  ```mlir             has to pass kina-opt; with a NAME.mlir it is saved as well
  ```sh               every line after "$ " is run; the lines below it are its output
  ```c NAME.c         is saved under that name
  ```text             is not run
  ```cpp PATH         (or tablegen, python) stands in that file of the repository; a line
                      `...` leaves something out, spaces and line ends may differ

All blocks of a file share one folder, in which `examples` is that of the repository and `build/dev` is BUILD.
In expected output `...` stands for any text in a line, and alone in a line for any
lines; numbers may differ by one part in 10^9. A command that fails does so on purpose
only if its output ends with "exit status N". Of `make TARGET` only a dry run is made.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def blocks(text):
    """The fenced blocks: line number, words of the info string, lines."""
    lines, k = text.splitlines(), 0
    while k < len(lines):
        match = re.match(r"^```(\S.*)?$", lines[k])
        if not match:
            k += 1
            continue
        start, body = k + 1, []
        k += 1
        while k < len(lines) and lines[k] != "```":
            body.append(lines[k])
            k += 1
        if k == len(lines):
            raise SystemExit(f"line {start}: the block does not end")
        yield start, (match.group(1) or "").split(), body
        k += 1


def line_matches(wanted, got):
    if re.fullmatch(".*".join(map(re.escape, wanted.split("..."))), got):
        return True
    if NUMBER.sub("#", wanted) != NUMBER.sub("#", got):
        return False
    return all(abs(float(a) - float(b)) <= 1e-9 * max(abs(float(a)), abs(float(b)))
               for a, b in zip(NUMBER.findall(wanted), NUMBER.findall(got)))


def matches(wanted, got):
    if not wanted:
        return not got
    if wanted[0].strip() == "...":
        return any(matches(wanted[1:], got[k:]) for k in range(len(got) + 1))
    return bool(got) and line_matches(wanted[0], got[0]) and matches(wanted[1:], got[1:])


class Runner:
    def __init__(self, document, source, work, build):
        self.document, self.source, self.work = document, source, work
        self.failures = self.count = 0
        work.mkdir(parents=True, exist_ok=True)
        links = {"examples": source / "examples", "build/dev": build}
        for name, target in links.items():
            link = work / name
            if target and not link.is_symlink():
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)

    def run(self, number, command, expected=None):
        self.count += 1
        folder = self.work
        if command.startswith("make "):
            command, expected, folder = f"make -n {command[5:]} > /dev/null", None, self.source
        result = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, stdin=subprocess.DEVNULL)
        got = [line.rstrip() for line in result.stdout.rstrip("\n").split("\n")] if result.stdout.strip() else []
        status = 0
        if expected and (match := re.fullmatch(r"exit status (\d+)", expected[-1])):
            status, expected = int(match.group(1)), expected[:-1]
        if result.returncode == status and (expected is None or matches(expected, got)):
            return
        self.failures += 1
        print(f"{self.document}:{number}: `{command}` ended with status {result.returncode}")
        if expected is not None:
            print("expected:", *expected, sep="\n  ")
        print("got:", *got, sep="\n  ")

    def shell(self, start, body):
        k = 0
        while k < len(body):
            if not body[k].startswith("$ "):
                raise SystemExit(f"{self.document}:{start + k + 1}: a line of output without a command")
            number, command = start + k + 1, body[k][2:]
            while command.endswith("\\"):
                k += 1
                command = command[:-1] + body[k].lstrip()
            output, k = [], k + 1
            while k < len(body) and not body[k].startswith("$ "):
                output.append(body[k].rstrip())
                k += 1
            while output and not output[-1]:
                output.pop()
            self.run(number, command, output)

    def excerpt(self, start, path, body):
        self.count += 1
        words = [" ".join(part.split()) for part in re.split(r"(?m)^\s*\.\.\.$", "\n".join(body))]
        text = " ".join((self.source / path).read_text().split())
        if not re.search(".*?".join(map(re.escape, words)), text):
            self.failures += 1
            print(f"{self.document}:{start}: this does not stand in {path}")

    def block(self, start, info, body):
        kind, name = (info + ["", ""])[:2]
        path = self.work / (name or f"block{start}.{kind}")
        if kind in ("kina", "mlir"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(body) + "\n")
            tool = "kinac check" if kind == "kina" else "kina-opt -o /dev/null"
            self.run(start, f"{tool} {shlex.quote(str(path.relative_to(self.work)))}", [])
        elif kind == "c" and name:
            path.write_text("\n".join(body) + "\n")
        elif kind == "sh":
            self.shell(start, body)
        elif kind in ("cpp", "tablegen", "python"):
            self.excerpt(start, name, body)
        elif kind != "text":
            raise SystemExit(f"{self.document}:{start}: a block of kind '{kind}'; known are kina, mlir, c, sh, text, "
                             "cpp, tablegen and python")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path)
    options = parser.parse_args()
    os.environ["NO_COLOR"] = "1"
    runner = Runner(options.document, options.source.resolve(), options.work, options.build)
    for start, info, body in blocks(options.document.read_text()):
        runner.block(start, info, body)
    print(f"{options.document.name}: {runner.count} commands, {runner.failures} failed")
    sys.exit(1 if runner.failures else 0)


if __name__ == "__main__":
    main()
