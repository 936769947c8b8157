"""Random texts: mutations of given ones, and sentences of the grammar."""

import kinaparse


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
