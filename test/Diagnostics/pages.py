# RUN: %python %s %src %t
"""Every code has a page, its first example gives the code, and the second one gives no diagnostic of it."""

import pathlib
import re
import shlex
import subprocess
import sys

# Codes that no short program gives.
WITHOUT_EXAMPLE = {"K0107", "K0110", "K0115", "K0118", "K0120", "K0309", "K0604",
                   "K0806", "K0807", "K0808", "K0900", "K0901"}


def main():
    root, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    table = dict(re.findall(r'KINA_DIAGNOSTIC\((K\d{4}), \w+, "([^"]*)"\)',
                            (root / "include/Kina/Support/DiagnosticCodes.def").read_text()))
    folder = root / "docs/diagnostics"
    problems = []
    if set(table) != {path.stem for path in folder.glob("*.md")}:
        problems.append(f"codes and pages differ: {set(table) ^ {path.stem for path in folder.glob('*.md')}}")
    for code, title in table.items():
        text = (folder / f"{code}.md").read_text()
        if not text.startswith(f"# {code}: {title}\n"):
            problems.append(f"{code}: the heading is not the title of the table")
        blocks = re.findall(r"(?ms)^```kina *([^\n]*)\n(.*?)^```$", text)
        if (code in WITHOUT_EXAMPLE) != (not blocks):
            problems.append(f"{code}: has {len(blocks)} examples")
        for index, (command, source) in enumerate(blocks):
            command = shlex.split(command or "check")
            file = work / f"{code}-{index}.kina"
            file.write_text(source)
            words = [] if command[0] == "compile" else command[:1]
            done = subprocess.run(["kinac", *words, str(file), *command[1:]], capture_output=True, text=True)
            told = re.findall(r"(error|warning)\[(K\d{4})\]", done.stderr)
            if index == 0 and [(kind, name) for kind, name in told if kind == "error"][1:]:
                problems.append(f"{code}: the example has more errors than one\n{done.stderr}")
            if index == 0 and code not in [name for _, name in told]:
                problems.append(f"{code}: the example does not give it\n{done.stderr}")
            if index > 0 and (told or done.returncode):
                problems.append(f"{code}: the mended example is not right\n{done.stderr}")
    print("\n".join(problems))
    return bool(problems)


sys.exit(main())
