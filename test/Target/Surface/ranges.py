# RUN: %python %s kina-translate %src/test/Inputs

"""Every operation and syntax node has a range in its file, and it is the right one: a leaf's range holds its text, a
node's range holds its children's, an operation's range its operands' and its regions'."""

import glob
import os
import re
import subprocess
import sys

LOC = re.compile(r'loc\("([^"]*)":(\d+):(\d+)(?: to (?:(\d+))?:(\d+))?\)')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
OPERATION = re.compile(r'^ *(?:(%\w+) = )?"kina_surface\.(\w+)"\(([^)]*)\)')
STATEMENTS = ("let", "let_dim", "assume", "check", "assign", "do")
counts = {"operations": 0, "nodes": 0, "leaves": 0}


class Source:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.text = file.read()
        self.lines = [0]
        for line in self.text.split(b"\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)

    def range_of(self, match):
        assert match and match.group(1) == self.path, f"no location in {self.path}"
        line, column = int(match.group(2)), int(match.group(3))
        assert match.group(5), f"{match.group()} is no range"
        end_line, end_column = int(match.group(4) or line), int(match.group(5))
        return self.lines[line - 1] + column - 1, self.lines[end_line - 1] + end_column - 1

    def slice(self, span):
        return self.text[span[0]:span[1]].decode()


def inside(inner, outer):
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def read_node(source, text, at):
    """Reads `kind "text" [children] loc(..)` at `at`; the node's range and the offset behind it."""
    match = re.compile(r"\w+").match(text, at)
    kind, at, spelled, children = match.group(), match.end(), None, []
    match = re.compile(r" " + STRING.pattern).match(text, at)
    if match:
        spelled, at = match.group(1), match.end()
    if text.startswith(" [", at):
        at += 2
        while True:
            child, at = read_node(source, text, at)
            children.append(child)
            if text[at] == "]":
                at += 1
                break
            at += 2
    match = re.compile(" " + LOC.pattern).match(text, at)
    span = source.range_of(match)
    counts["nodes"] += 1
    for child in children:
        assert inside(child, span), f"{source.path}: {kind} at {span} does not hold its child at {child}"
    here = source.slice(span)
    if kind in ("name", "int", "float", "bool", "bytes", "dtype", "pattern_name"):
        counts["leaves"] += 1
        assert here.replace(" ", "") == spelled, f"{kind} {spelled!r} stands at {here!r}"
    elif kind in ("decorator", "return_case") and here.startswith("("):
        assert spelled in here, f"{kind} {spelled!r} stands at {here!r}"
    elif kind in ("type_name", "param", "state", "shape_var", "effect_op", "effect_case", "type_member", "keyword"):
        assert here.startswith(spelled), f"{kind} {spelled!r} stands at {here!r}"
    elif kind in ("place", "decorator"):
        assert here.startswith("@" + spelled), f"{kind} {spelled!r} stands at {here!r}"
    elif kind == "type_tensor":
        assert here.startswith("tensor") and here.endswith(">"), here
    elif kind in ("type_tuple", "pattern_tuple"):
        assert here.startswith("(") and here.endswith(")"), here
    return span, match.end()


def check(tool, path):
    source = Source(path)
    text = subprocess.run(
        [tool, "--import-kina", path, "--mlir-print-op-generic", "--mlir-print-debuginfo", "--mlir-print-local-scope",
         "--mlir-print-unique-ssa-ids"], check=True, capture_output=True, text=True).stdout
    values, stack = {}, []

    def finish(operation, line):
        name, result, operands, nodes, inner = operation
        span = source.range_of(list(LOC.finditer(line))[-1] if LOC.search(line) else None)
        counts["operations"] += 1
        for part in [values[o] for o in operands] + nodes + inner:
            assert inside(part, span), f"{path}: {name} at {span} does not hold its part at {part}"
        here = source.slice(span)
        if name in ("name", "dtype"):
            counts["leaves"] += 1
            assert f'"{here}"' in line, f"{here!r} is not in {line}"
        elif name == "literal":
            assert f'spelling = "{here.strip(chr(34))}"' in line, f"{here!r} is not in {line}"
        elif here.startswith("(") and name in (*STATEMENTS, "fn", "if", "while", "for", "handle", "block"):
            # In core form.
            assert here.endswith(")"), here
        elif name in STATEMENTS:
            assert here.endswith(";"), here
        elif name in ("fn", "if", "while", "for", "handle", "block"):
            assert here.endswith("}"), here
        if result:
            values[result] = span
        if stack:
            stack[-1][4].append(span)

    for line in text.split("\n"):
        match = OPERATION.match(line)
        if match:
            nodes = []
            for start in re.finditer(r"#kina_surface\.syntax<", line):
                span, end = read_node(source, line, start.end())
                assert line[end] == ">", line
                nodes.append(span)
            operation = (match.group(2), match.group(1), re.findall(r"%\w+", match.group(3)), nodes, [])
            if line.endswith("({"):
                stack.append(operation)
            else:
                finish(operation, line)
        elif line.lstrip().startswith("})") and stack:
            finish(stack.pop(), line)
    assert not stack, path


def main():
    tool, inputs = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(inputs, "*", "*.kina")))
    for path in paths:
        check(tool, path)
    print(", ".join(f"{count} {what}" for what, count in counts.items()), "in", len(paths), "files")
    # A change of the printed form must not let everything pass unread.
    assert min(counts.values()) > 2000


main()
