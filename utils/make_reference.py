#!/usr/bin/env python3
"""Fills the tables of docs/LanguageReference.md and docs/Diagnostics.md from the sources that they describe.

  make_reference.py [--check] [ROOT]

A table stands between `<!-- NAME: .. -->` and `<!-- end -->`. With --check nothing is written, and a page that is not up
to date is an error.
"""

import argparse
import pathlib
import re
import sys


def entries(path, macro):
    """The arguments of each use of a macro in a .def file."""
    text = re.sub(r'"\s*\n\s*"', "", path.read_text())
    for arguments in re.findall(rf"(?m)^{macro}\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)", text):
        yield [re.sub(r"\\(.)", r"\1", word.strip().strip('"')) for word in
               re.findall(r'"(?:[^"\\]|\\.)*"|[^,"]+', arguments) if word.strip()]


def codes(root):
    rows = ["| code | stage | |", "|---|---|---|"]
    for code, stage, title in entries(root / "include/Kina/Support/DiagnosticCodes.def", "KINA_DIAGNOSTIC"):
        rows.append(f"| [{code}](diagnostics/{code}.md) | {stage} | {title} |")
    return rows


def as_code(usage):
    """The forms in a text set as code; what stands between them is prose."""
    result, depth, start = "", 0, 0
    for at, c in enumerate(usage):
        if c == "(" and depth == 0 and usage[at - 1:at] != "`":
            start, depth = at, 1
        elif depth:
            depth += (c == "(") - (c == ")")
            if depth == 0:
                result += f"`{usage[start:at + 1]}`"
        else:
            result += c
    return result


def forms(root):
    path = root / "lib/Target/Surface/CoreForms.def"
    rows = []
    for macro, title in (("ITEM", "Items"), ("STATEMENT", "Statements, among the bindings of a `let`"),
                         ("EXPR", "Expressions")):
        rows += ["", f"{title}:", ""]
        rows += [f"- {as_code(usage)}" for *_, usage in entries(path, f"KINA_CORE_{macro}")]
    return rows[1:]


def reserved(root):
    words = [text for _, text in entries(root / "lib/Target/Surface/Tokens.def", "KINA_KEYWORD")]
    return ["Reserved: " + " ".join(f"`{word}`" for word in words) + "."]


def operations(root):
    names = re.findall(r'(?m)^    \{"(\w+)", ', (root / "lib/Transforms/Elaborate/Operations.cpp").read_text())
    assert len(names) > 50
    return [" ".join(f"`{name}`" for name in names) + "."]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    def fill(match):
        rows = globals()[match.group(2)](options.root)
        assert rows, match.group(2)
        return "\n".join([match.group(1), *rows, "<!-- end -->"])

    for name, tables in (("LanguageReference", 3), ("Diagnostics", 1)):
        page = options.root / f"docs/{name}.md"
        old = page.read_text()
        new, count = re.subn(r"(<!-- (\w+): .*? -->)\n(?:.*?\n)??<!-- end -->", fill, old, flags=re.S)
        assert count == tables, count
        if new == old:
            continue
        if options.check:
            sys.exit(f"{page} is not up to date: run utils/make_reference.py")
        page.write_text(new)


main()
