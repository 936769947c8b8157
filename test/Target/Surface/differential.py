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

SEPARATOR = "%%%%%%%%%%\n"
MUTATIONS = int(os.environ.get("KINA_MUTATIONS", "2400"))
SENTENCES = int(os.environ.get("KINA_SENTENCES", "1200"))


def tokens_of(text):
    return kinaparse.WORDS.findall(text)


def mutate(rng, text, vocabulary):
    words = tokens_of(text)
    places = [i for i, word in enumerate(words) if not word.isspace() and not word.startswith("//")]
    for _ in range(rng.choice((1, 1, 1, 2))):
        at = rng.choice(places)
        kind = rng.randrange(5)
        if kind == 0:
            words[at] = ""
        elif kind == 1:
            words[at] += " " + words[at]
        elif kind == 2:
            other = rng.choice([p for p in places if abs(p - at) < 12])
            words[at], words[other] = words[other], words[at]
        elif kind == 3:
            words[at] = rng.choice(vocabulary)
        else:
            words[at] += " " + rng.choice(vocabulary)
    return "".join(words)


class Sentences:
    """Random sentences: productions are chosen freely up to some length and depth, then the shortest."""

    TEXTS = {
        "ID": ["x", "y", "f", "N", "E", "min", "float", "_"],
        "INT": ["0", "1", "12"],
        "FLOAT": ["1.0", "2.5e-3", "1e9"],
        "STRING": ['"s"', '""'],
        "UNIT": ["KiB", "MiB", "GiB"],
        "DTYPE": ["F64", "Bool"],
        "GENERIC": ["zeros"],
        "CORE": ["\n(f (g :k x) [N + 1] \"s\") ", "\n() "],
        "_OR": ["or", "||"],
        "_AND": ["and", "&&"],
    }

    def __init__(self, grammar):
        self.rules = {}
        for rule in grammar.rules:
            self.rules.setdefault(rule.origin.name, []).append(rule.expansion)
        self.patterns = {t.name: t.pattern for t in grammar.terminals}
        self.depth = {}
        changed = True
        while changed:
            changed = False
            for name, choices in self.rules.items():
                for expansion in choices:
                    if all(s.is_term or s.name in self.depth for s in expansion):
                        depth = 1 + max((0 if s.is_term else self.depth[s.name] for s in expansion), default=0)
                        if depth < self.depth.get(name, 1 << 30):
                            self.depth[name] = depth
                            changed = True
        self.rules = {
            name: [(max((0 if s.is_term else self.depth[s.name] for s in e), default=0), e) for e in choices]
            for name, choices in self.rules.items()}

    def word(self, rng, name):
        if name in self.TEXTS:
            return rng.choice(self.TEXTS[name])
        value = self.patterns[name].value
        return value[:-2] if name.startswith("KW_") else value

    def expand(self, rng, name, budget, out):
        choices = self.rules[name]
        if len(out) < self.limit and budget > 0:
            expansion = rng.choice(choices)[1]
        else:
            least = min(cost for cost, _ in choices)
            expansion = rng.choice([e for cost, e in choices if cost == least])
        for symbol in expansion:
            if symbol.is_term:
                out.append(self.word(rng, symbol.name))
            else:
                self.expand(rng, symbol.name, budget - 1, out)

    def draw(self, rng):
        out = []
        self.limit = rng.randrange(10, 80)
        self.expand(rng, rng.choice(("item", "item", "module")), 60, out)
        return " ".join(out)


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
