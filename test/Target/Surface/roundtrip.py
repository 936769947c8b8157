# REQUIRES: lark
# RUN: %python %s %src

"""Both source forms say the same, and what is printed is what is read.

For every Kina file of the suite, the grammar's cases and random sentences of the grammar: the native and the core
form that kina-translate prints read back as the module they were printed from, in every order native -> core ->
native, and printing again changes no byte. Programs elaborate to the same typed module from either form.
"""

import glob
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "grammar"))

import kinaparse
from cases import CASES
from sentences import Sentences

SENTENCES = int(os.environ.get("KINA_SENTENCES", "3000"))
SEPARATOR = "%%%%%%%%%%\n"
CHUNK = 1000


def run(*command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        with tempfile.NamedTemporaryFile("w", suffix=".kina", delete=False) as file:
            file.write(text)
        sys.exit(f"{' '.join(command)} {file.name}: {done.stderr[:3000]}")
    return done.stdout


def translate(flag, text):
    return run("kina-translate", flag, text=text)


def without_locations(module):
    return re.sub(r" #loc\d*\b", "", re.sub(r"(?m)^#loc.*\n", "", module))


def fail(what, name, one, other):
    for number, (a, b) in enumerate(zip(one.split("\n"), other.split("\n"))):
        if a != b:
            sys.exit(f"{name}: {what}: line {number + 1}\n{a}\n{b}")
    sys.exit(f"{name}: {what}: one is longer")


def check(name, text):
    def same(what, one, other):
        if one != other:
            fail(what, name, one, other)

    module = without_locations(translate("--import-kina", text))
    core = translate("--export-core", text)
    native = translate("--export-kina", text)
    same("the core form reads back as another module", module, without_locations(translate("--import-kina", core)))
    same("the native form reads back as another module", module, without_locations(translate("--import-kina", native)))
    same("core printed again", core, translate("--export-core", core))
    same("native printed again", native, translate("--export-kina", native))
    same("native to core", core, translate("--export-core", native))
    same("core to native", native, translate("--export-kina", core))
    return core, native


def accepted(texts):
    """Those of `texts` that the parser takes; of core forms that is their brackets."""
    joined = SEPARATOR.join(texts) + SEPARATOR
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(joined)
        file.flush()
        answers = subprocess.run(["kina-translate", "--kina-syntax-check", file.name], check=True, capture_output=True,
                                 text=True).stdout.split()
    assert len(answers) == len(texts)
    return [text for text, answer in zip(texts, answers) if answer == "ok"]


def elaborate(texts):
    modules = [translate("--import-kina", text) for text in texts]
    typed = subprocess.run(["kina-opt", "--split-input-file", "--kina-elaborate"], input="\n// -----\n".join(modules),
                           capture_output=True, text=True)
    return without_locations(typed.stdout).split("// -----"), typed.stderr.count("error")


def main():
    source = sys.argv[1]
    paths = sorted(glob.glob(os.path.join(source, "test", "**", "*.kina"), recursive=True) +
                   glob.glob(os.path.join(source, "examples", "**", "*.kina"), recursive=True))
    files = []
    for path in paths:
        with open(path, errors="replace") as file:
            files.append(file.read())
    files = accepted(files)
    assert len(files) > 60, len(files)
    for at in range(0, len(files), 20):
        check("files", "\n".join(files[at:at + 20]))
    # The grammar knows the brackets of core forms only; some cases are no more than brackets.
    cases = [text for text, good in CASES if good and not re.search(r"(?m)^\(f |\}\(1\)", text)]
    check("cases", "\n".join(cases))

    rng = random.Random(20240229)
    sentences = Sentences(kinaparse.GRAMMAR)
    sentences.TEXTS = dict(sentences.TEXTS, CORE=["\n(define x F64 (binop add 1 -2.5)) ", "\n(import \"s\") "])
    drawn = accepted([sentences.draw(rng) for _ in range(SENTENCES)])
    assert len(drawn) > SENTENCES // 4, len(drawn)
    for at in range(0, len(drawn), CHUNK):
        check(f"sentences {at} to {at + CHUNK}", "\n".join(drawn[at:at + CHUNK]))

    natives, cores = [], []
    for path in sorted(glob.glob(os.path.join(source, "test", "Inputs", "*", "*.kina"))):
        with open(path) as file:
            natives.append(file.read())
        cores.append(translate("--export-core", natives[-1]))
    typed, errors = elaborate(natives)
    from_core, core_errors = elaborate(cores)
    assert errors == core_errors, (errors, core_errors)
    whole = sum("kina.func" in module for module in typed)
    assert whole > 12, whole
    for number, (one, other) in enumerate(zip(typed, from_core, strict=True)):
        if one != other:
            fail("elaborates differently from the core form", f"program {number}", one, other)
    print(f"{len(files)} files, {len(cases)} cases, {len(drawn)} sentences; {whole} programs elaborated")


main()
