# RUN: %python %s %t
"""The positions of diagnostics in JSON, held against the text: `range` counts UTF-16 units, `column` bytes.

Behind text outside of ASCII, with tabs, Windows line ends, a byte order mark, without a last line end, in a line of
10,000 characters; from a file and from standard input.
"""

import json
import pathlib
import subprocess
import sys

MARK = b"\xef\xbb\xbf"
# Each gives one error: the name of the case, the program, what is underlined.
CASES = [
    ("plain", 'fn f(x: F64) -> F64 { bad }\n', "bad"),
    ("tabs", 'fn f(x: F64)\t->\tF64 {\n\t\tbad\t}\n', "bad"),
    ("latin", 'fn f(x: F64) -> F64 { check x > 0.0, "größer"; bad }\n', "bad"),
    ("wide", 'fn f(x: F64) -> F64 { check x > 0.0, "日本語"; bad }\n', "bad"),
    ("astral", 'fn f(x: F64) -> F64 { check x > 0.0, "a 😀 b 𝔘 c"; bad }\n', "bad"),
    ("combining", 'fn f(x: F64) -> F64 { check x > 0.0, "e\u0301 \u200d"; bad }\n', "bad"),
    ("astral name", 'fn f(x: F64) -> F64 { let 𝔘x = x; x }\n', "𝔘"),
    ("several lines", '// 😀\nfn f(x: F64) -> F64 {\n  let y: tensor<F64, [2]> = if (x > 0.0) { // 日\n    x } else { x };\n  x }\n',
     "if (x > 0.0) { // 日\n    x } else { x }"),
    ("no line end", 'fn f(x: F64) -> F64 { check x > 0.0, "日"; bad }', "bad"),
    ("open string", 'fn f(x: F64) -> F64 { check x > 0.0, "日', '"日'),
    ("long", 'fn f(x: F64) -> F64 { check x > 0.0, "日😀"; ' + "let y = x; " * 450 + "bad" + " + x" * 1200 + " }\n", "bad"),
    ("long, far apart", 'fn f(x: F64) -> F64 { check x > 0.0, "' + "😀日" * 2000 + '"; let z = bad; z }\n', "bad"),
]


def units(text):
    return len(text.encode("utf-16-le")) // 2


def place(text, offset):
    """Line and UTF-16 unit from 0, line and byte from 1."""
    before = text[:offset]
    line = before.count("\n")
    last = before[before.rfind("\n") + 1:]
    return {"line": line, "character": units(last)}, (line + 1, len(last.encode()) + 1)


def main():
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    problems = []
    for name, program, underlined in CASES:
        for kind, text, mark in [("", program, b""), (", marked", program, MARK),
                                 (", CRLF", program.replace("\n", "\r\n"), b""),
                                 (", marked, CRLF", program.replace("\n", "\r\n"), MARK)]:
            wanted = underlined.replace("\n", "\r\n") if "CRLF" in kind else underlined
            data = mark + text.encode()
            path = work / "program.kina"
            path.write_bytes(data)
            for what, words, given in [("file", ["kinac", "check", "--error-format=json", str(path)], None),
                                       ("standard input", ["kinac", "check", "--error-format=json", "-"], data),
                                       ("kina-translate", ["kina-translate", "--import-kina", "--error-format=json",
                                                           str(path)], None)]:
                done = subprocess.run(words, input=given, capture_output=True)
                told = [json.loads(line) for line in done.stderr.decode().splitlines()]
                # The importer knows the errors of the syntax only.
                if what == "kina-translate" and not told and not done.returncode:
                    continue
                if not told or not done.returncode:
                    problems.append(f"{name}{kind}, {what}: no error\n{done.stderr.decode()}")
                    continue
                offset = text.index(wanted)
                start, (line, column) = place(text, offset)
                end, (end_line, end_column) = place(text, offset + len(wanted))
                diag = told[0]
                found = (diag["range"], diag["line"], diag["column"], diag["end_line"], diag["end_column"])
                if found != ({"start": start, "end": end}, line, column, end_line, end_column):
                    problems.append(f"{name}{kind}, {what}: {diag}\nexpected {start} to {end}, column {column}")
            # As text the underline stands below what it underlines, and no line is long.
            shown = subprocess.run(["kinac", "check", str(path)], capture_output=True).stderr.decode()
            lines = shown.splitlines()
            below = next((i for i, one in enumerate(lines) if "^" in one and "|" in one), None)
            if below is None or any(len(one) > 200 for one in lines):
                problems.append(f"{name}{kind}: as text\n{shown}")
            elif "\n" not in wanted and name in ("plain", "tabs", "latin", "long", "no line end"):
                cells = lines[below - 1].replace("日", "日 ").replace("😀", "😀 ")
                begin = lines[below].index("^")
                if cells[begin:begin + len(wanted)] != wanted or lines[below].count("^") != len(wanted):
                    problems.append(f"{name}{kind}: as text\n{shown}")
    print("\n".join(problems))
    return bool(problems)


sys.exit(main())
