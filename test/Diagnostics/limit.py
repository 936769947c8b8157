# RUN: %python %s %t
"""The first hundred errors are shown, and one line says that there are more, wherever they come from."""

import json
import pathlib
import re
import subprocess
import sys

PROGRAMS = {
    # What the parser finds, the elaborator, and both by turns.
    "syntax": lambda count: "".join(f"fn f{i}(x: F64) -> F64 {{ x + ; x }}\n" for i in range(count)),
    "statements": lambda count: "fn f(x: F64) -> F64 {\n" + "  let y = ;\n" * count + "  x\n}\n",
    "names": lambda count: "".join(f"fn f{i}(x: F64) -> F64 {{ x + bad{i} }}\n" for i in range(count)),
    "both": lambda count: "".join(f"fn f{i}(x: F64) -> F64 {{ x + {'; x' if i % 2 else f'bad{i}'} }}\n"
                                  for i in range(count)),
}
MORE = "there are more errors; the first 100 are shown"


def main():
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    problems = []
    for name, make in PROGRAMS.items():
        for count in (99, 100, 101, 1000):
            path = work / f"{name}.kina"
            path.write_text(make(count))
            tools = [["kinac", "check"]]
            if name in ("syntax", "statements"):
                tools.append(["kina-translate", "--import-kina"])
            for tool in tools:
                text = subprocess.run([*tool, str(path)], capture_output=True, text=True)
                told = subprocess.run([*tool, "--error-format=json", str(path)], capture_output=True, text=True)
                objects = [json.loads(line) for line in told.stderr.splitlines()]
                lines = [one["line"] for one in objects if one["severity"] == "error"]
                notes = [one["message"] for one in objects if one["severity"] == "note"]
                shown = [int(at) for at in re.findall(rf"(?m)^ +--> .*{name}\.kina:(\d+):", text.stderr)]
                more = [MORE] if count > 100 else []
                # Where the parser stops, what comes behind is not looked at; what is shown is in order.
                if (len(lines) != min(count, 100) or lines != sorted(lines) or lines != shown or notes != more
                        or text.stderr.count(f"note: {MORE}") != len(more) or not text.returncode):
                    problems.append(f"{name}, {count}, {tool[0]}: {len(lines)} errors, {len(shown)} shown, {notes}")
    print("\n".join(problems))
    return bool(problems)


sys.exit(main())
