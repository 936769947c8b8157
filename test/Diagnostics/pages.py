# REQUIRES: z3
# RUN: %python %s %src %t
#
# A page that says what is not so is found, whichever part of it that is.
# RUN: rm -rf %t.copy && mkdir -p %t.copy && cp -r %src/docs %t.copy && cp -r %src/include %t.copy
# RUN: ln -s %src/lib %src/tools %src/runtime %t.copy
# RUN: sed -i -e 's/element types differ: F32/element types differ: F64/' %t.copy/docs/diagnostics/K0202.md
# RUN: sed -i -e 's/max(x, 0.0);/max(x, 0.0;/' %t.copy/docs/diagnostics/K0101.md
# RUN: sed -i -e 's/{ 2.0 \* in }/{ x }/;s/in: F64/x: F64/' %t.copy/docs/diagnostics/K0105.md
# RUN: sed -i -e '/^No example/d' -e 's/K0802.md/K0899.md/' %t.copy/docs/diagnostics/K0808.md
# RUN: sed -i -e '/K0115, /s/"und/"reserved: und/' %t.copy/include/Kina/Support/DiagnosticCodes.def
# RUN: not %python %s %t.copy %t.work K0101 K0105 K0115 K0202 K0808 | FileCheck %s
# CHECK: K0115 is given, but reserved in the table
# CHECK: K0101.md: 'example2.kina' does not mend it
# CHECK: K0105.md: the example gives nothing
# CHECK: K0115.md: the heading is not the title of the table
# CHECK: K0202.md: what the commands print is other text
# CHECK: -error[K0202]: element types differ: F64 and F64
# CHECK: +error[K0202]: element types differ: F32 and F64
# CHECK: K0808.md: there is no 'K0899.md'
# CHECK: K0808.md: has no example and no reason, or both
"""Every code has a page of one form, and what its examples print is what the page shows.

  pages.py [--update] ROOT WORK [CODE..]

A page has the title of the table; what the code means, with a wrong example and the commands (```sh) that show it; `## Why`;
`## What to do`, with right examples; `See also`. What the commands of the first part print has the page's code, and no
other one. Programs and commands behind `## What to do` give no diagnostic. A page without an example says why
("No example: .."), and one whose code nothing gives says "Reserved: ..". With --update what the commands print is written
into the pages; a block that holds `...` stays as it is where it fits.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys

FENCED = re.compile(r"(?ms)^```(\w+) *([^\n]*)\n(.*?)^```$")
# What stands below all errors points to the page that is being read.
POINTER = re.compile(r"\n+For more information[^\n]*kinac explain[^\n]*")


class Page:
    def __init__(self, root, code, title, work):
        self.root, self.code, self.title = root, code, title
        self.path = root / f"docs/diagnostics/{code}.md"
        self.text = self.path.read_text()
        self.work = work / code
        self.problems = []

    def problem(self, text):
        self.problems.append(f"{self.path.relative_to(self.root)}: {text}")

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        text = POINTER.sub("", done.stdout.decode(errors="replace")).rstrip("\n")
        return text + f"\nexit status {done.returncode}" * bool(done.returncode)

    def shell(self, body, is_wrong):
        """The block with what its commands print today."""
        told, lines = set(), []
        for command in re.findall(r"(?m)^\$ (.*)$", body):
            printed = self.run(command)
            lines += [f"$ {command}", *printed.split("\n")] if printed else [f"$ {command}"]
            told |= set(re.findall(r"(?m)^(?:error|warning|remark)\[(K\d{4})\]", printed))
            if not is_wrong and (told or "exit status" in printed):
                self.problem(f"`{command}` does not mend it\n{printed}")
        if is_wrong and told != {self.code}:
            self.problem(f"the example gives {', '.join(sorted(told)) or 'nothing'}\n" + "\n".join(lines))
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def check(self):
        """Tests the page, and returns it with what its commands print today."""
        if not self.text.startswith(f"# {self.code}: {self.title}\n\n"):
            self.problem("the heading is not the title of the table")
        if not self.text.rstrip().split("\n\n")[-1].startswith("See also "):
            self.problem("does not end in 'See also ..'")
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", self.text):
            page = self.path.parent / target
            if not page.exists():
                self.problem(f"there is no '{target}'")
            elif anchor and anchor not in {re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-")
                                           for line in re.findall(r"(?m)^#+ (.*)$", page.read_text())}:
                self.problem(f"'{target}' has no section '{anchor}'")
        is_reserved = self.text.split("\n")[2].startswith("Reserved: ")
        emitted = not self.title.startswith("reserved: ")
        if is_reserved == emitted:
            self.problem("is reserved in the page or in the table alone")
        if is_reserved:
            return self.text
        headings = re.findall(r"(?m)^## (.*)$", self.text)
        if headings != ["Why", "What to do"]:
            self.problem(f"has the sections {headings}")
            return self.text
        has_example = "```sh\n" in self.text.split("\n## Why\n")[0]
        if has_example == bool(re.search(r"(?m)^No example: ", self.text)):
            self.problem("has no example and no reason, or both")

        self.work.mkdir(parents=True, exist_ok=True)
        for stale in self.work.iterdir():
            stale.unlink()
        names = {}
        for index, found in enumerate(re.finditer(FENCED, self.text)):
            kind, name, body = found.groups()
            if kind == "kina":
                name = name or f"example{index}.kina"
                if name in names.values():
                    self.problem(f"two examples are '{name}'")
                names[found.start()] = name
                (self.work / name).write_text(body)

        remedies = self.text.index("\n## What to do\n")

        def block(found):
            kind, _, body = found.groups()
            is_wrong = found.start() < remedies
            if kind == "kina":
                # As far as errors of the program itself can come.
                if not is_wrong and (printed := self.run(f"kinac --emit=ad -o /dev/null {names[found.start()]}")):
                    self.problem(f"'{names[found.start()]}' does not mend it\n{body}{printed}")
                return found.group()
            if kind != "sh":
                self.problem(f"has a block of kind '{kind}'")
                return found.group()
            today = self.shell(body, is_wrong)
            if today != body and "..." in body and fits(body, today):
                today = body
            return f"```sh\n{today}```"

        return FENCED.sub(block, self.text)


def fits(wanted, got):
    """Whether a text is another one in which `...` stands for a part of a line."""
    return bool(re.fullmatch("[^\n]*".join(map(re.escape, wanted.split("..."))), got))


def emitted_codes(root):
    """The codes that the sources give somewhere."""
    def read(*folders):
        return "\n".join(path.read_text() for folder in folders for path in sorted((root / folder).rglob("*.[ch]*")))

    compiler, library = read("lib", "tools"), read("runtime/lib")
    codes = {code for pair in re.findall(r"DiagCode::(K\d{4})|\"(K\d{4}): ", compiler) for code in pair}
    # What compiled code and the run-time library give has the code's digits.
    numbers = dict(re.findall(r"KINA_ERROR_(\w+) = (\d{3})", read("runtime/include")))
    digits = re.findall(r"\bk\w+Code = (\d{3})", compiler)
    return codes | {f"K0{number}" for number in [*digits, *(numbers[name] for name in re.findall(r"KINA_ERROR_(\w+)", library))]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("codes", nargs="*")
    options = parser.parse_args()
    os.environ["NO_COLOR"] = "1"
    table = dict(re.findall(r'KINA_DIAGNOSTIC\((K\d{4}), \w+, "([^"]*)"\)',
                            (options.root / "include/Kina/Support/DiagnosticCodes.def").read_text()))
    problems = []
    if set(table) != (found := {path.stem for path in (options.root / "docs/diagnostics").glob("*.md")}):
        problems.append(f"codes and pages differ: {sorted(set(table) ^ found)}")
    emitted = emitted_codes(options.root)
    for code, title in table.items():
        if (code in emitted) == title.startswith("reserved: "):
            problems.append(f"{code} is {'given, but' if code in emitted else 'given nowhere, and not'} reserved in the table")
    pages = [Page(options.root, code, title, options.work) for code, title in table.items()
             if not options.codes or code in options.codes]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for page, today in zip(pages, pool.map(Page.check, pages)):
            if today != page.text:
                if options.update:
                    page.path.write_text(today)
                else:
                    page.problem("what the commands print is other text (pages.py --update writes it)\n" +
                                 "".join(difference(page.text, today)))
            problems += page.problems
    print("\n".join(problems))
    return bool(problems)


def difference(old, new):
    return difflib.unified_diff(old.splitlines(True), new.splitlines(True), "page", "today", n=1)


sys.exit(main())
