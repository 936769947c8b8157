# REQUIRES: lark
# RUN: %python %s kina-translate %src/test/Inputs

"""The parser against the grammar: both must accept the same texts.

Compared are the cases of grammar/cases.py (also with what they say), the programs of test/Inputs, these programs
with one or two tokens changed, and random sentences of the grammar. Everything is drawn from a fixed seed.
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
from sentences import Sentences, mutate, tokens_of

SEPARATOR = "%%%%%%%%%%\n"
MUTATIONS = int(os.environ.get("KINA_MUTATIONS", "2400"))
SENTENCES = int(os.environ.get("KINA_SENTENCES", "1200"))


def main():
    tool, inputs = sys.argv[1:]
    rng = random.Random(20240229)
    programs = []
    for path in sorted(glob.glob(os.path.join(inputs, "*", "*.kina"))):
        with open(path) as file:
            programs.append((os.path.basename(path), file.read()))
    texts = [("case", text) for text, _ in CASES] + programs
    seeds = [text for text, good in CASES if good]
    for _, text in programs:
        seeds += re.split(r"\n(?=@|fn |effect |let |type |\()", text)
    seeds = [text for text in seeds if len(tokens_of(text)) > 8]
    vocabulary = sorted({w for text in seeds for w in tokens_of(text) if not w.isspace() and not w.startswith("//")}
                        | kinaparse.RESERVED | set("&& || == != <= >= ** .. . | & ! % @ _ 1.5 7 1e3 MiB".split()))
    texts += [("mutation", mutate(rng, rng.choice(seeds), vocabulary)) for _ in range(MUTATIONS)]
    sentences = Sentences(kinaparse.GRAMMAR)
    texts += [("sentence", sentences.draw(rng)) for _ in range(SENTENCES)]

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(SEPARATOR.join(text for _, text in texts) + SEPARATOR)
        file.flush()
        answers = subprocess.run([tool, "--kina-syntax-check", file.name], check=True, capture_output=True,
                                 text=True).stdout.split()
    if len(answers) != len(texts):
        sys.exit(f"{len(texts)} texts, but {len(answers)} answers")

    differences = accepted = 0
    for (origin, text), answer in zip(texts, answers):
        expected = kinaparse.accepts(text)
        accepted += expected
        if (answer == "ok") != expected:
            differences += 1
            if differences <= 20:
                print(f"--- {origin}: the grammar says {expected}, the parser {answer}\n{text}\n")
    for (text, good), answer in zip(CASES, answers):
        if (answer == "ok") != good:
            differences += 1
            print(f"--- the case should be {good}, the parser says {answer}\n{text}\n")
    print(f"{len(texts)} texts compared, {accepted} of them Kina, {differences} differences")
    # Texts of both kinds, or the comparison would say little.
    if accepted * 10 < len(texts) or accepted * 10 > len(texts) * 9:
        sys.exit("the texts are one-sided")
    sys.exit(differences > 0)


main()
