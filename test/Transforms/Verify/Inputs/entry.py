"""Compares the entry checks of random `requires` clauses with Python's whole numbers, in calls of every kind: sizes from
0, integers below the least value, and such that a product of them leaves 64 bits."""

import json
import os
import random
import subprocess
import sys

work, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
FUNCTIONS, CALLS = 80, 70
rng = random.Random(seed)
NAMES = ["N", "P", "Q", "R"]


OPERATORS = {"floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b), "mod": lambda a, b: a % b}
RELATIONS = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
             ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


class Node:
    """A text and what it means."""

    def __init__(self, text, value):
        self.text, self.value = text, value


def size(depth, least):
    kind = rng.randrange(9) if depth else rng.randrange(3)
    if kind == 0:
        number = rng.randrange(0, 12)
        return Node(str(number), lambda v: number)
    if kind < 3:
        name = rng.choice(NAMES)
        return Node(name, lambda v: v[name])
    a = size(depth - 1, least)
    if kind == 3 or kind == 4:
        b = size(depth - 1, least)
        sign = rng.choice("+-")
        return Node(f"({a.text} {sign} {b.text})", lambda v: a.value(v) + b.value(v) if sign == "+" else a.value(v) - b.value(v))
    if kind == 5:
        b = size(depth - 1, least)
        return Node(f"{a.text}*{b.text}", lambda v: a.value(v) * b.value(v))
    if kind == 6:
        b, function = size(depth - 1, least), rng.choice((min, max))
        return Node(f"{function.__name__}({a.text}, {b.text})", lambda v: function(a.value(v), b.value(v)))
    operator = rng.choice(list(OPERATORS))
    # A divisor is at least 1 whatever the arguments are.
    name = rng.choice([name for name in NAMES if least[name] >= 1] or [""])
    number = rng.randrange(2, 9)
    divisor = Node(name, lambda v: v[name]) if name and rng.random() < 0.3 else Node(str(number), lambda v: number)
    return Node(f"({a.text} {operator} {divisor.text})", lambda v: OPERATORS[operator](a.value(v), divisor.value(v)))


def clause(depth, least):
    if depth and rng.random() < 0.4:
        kind = rng.choice(("and", "or", "not"))
        a = clause(depth - 1, least)
        if kind == "not":
            return Node(f"not ({a.text})", lambda v: not a.value(v))
        b = clause(depth - 1, least)
        return Node(f"({a.text} {kind} {b.text})",
                    lambda v: a.value(v) and b.value(v) if kind == "and" else a.value(v) or b.value(v))
    a, b, relation = size(2, least), size(1, least), rng.choice(list(RELATIONS))
    return Node(f"{a.text} {relation} {b.text}", lambda v: RELATIONS[relation](a.value(v), b.value(v)))


def integer():
    return rng.choice((rng.randrange(0, 21), rng.randrange(0, 21), rng.randrange(0, 8), rng.randrange(-20, 0),
                       rng.choice((2**31, 2**40 + rng.randrange(9), 2**62, 2**63 - 1, -2**40, -2**63))))


def is_small(values):
    return all(abs(value) <= 2**15 for value in values.values())


os.makedirs(work, exist_ok=True)
path = os.path.join(work, "entry.kina")
functions = []
while len(functions) < FUNCTIONS:
    least = {name: rng.choice((0, 1, 1, 1, 2)) for name in NAMES}
    made = [clause(2, least) for _ in range(rng.choice((1, 1, 2)))]
    # What can never hold is no program.
    tried = [{name: rng.randrange(least[name], 21) for name in NAMES} for _ in range(300)]
    true = [v for v in tried if all(c.value(v) for c in made)]
    if 10 <= len(true) <= 290:
        functions.append((least, made, true))
with open(path, "w") as file:
    for number, (least, made, _) in enumerate(functions):
        declared = ", ".join(f"{name} >= {least[name]}" for name in NAMES)
        clauses = ", ".join(c.text for c in made)
        file.write(f"@export\nfn f{number}<{declared}>(x: tensor<F64, [N]>, P: Index, Q: Index, R: Index) -> F64 "
                   f"requires {clauses} {{ sum(x) }}\n")

calls, batch = [], []
for number, (least, made, true) in enumerate(functions):
    for _ in range(CALLS):
        values = dict(rng.choice(true)) if rng.random() < 0.3 else {name: integer() for name in NAMES}
        values["N"] = values["N"] if 0 <= values["N"] <= 20 else rng.randrange(0, 21)
        calls.append((number, values))
        batch.append({"function": f"f{number}", "out": [os.path.join(work, "out.npy")],
                      "arguments": {"x": str([0.0] * values["N"]), **{name: str(values[name]) for name in "PQR"}}})
with open(os.path.join(work, "batch.json"), "w") as file:
    json.dump(batch, file)
run = subprocess.run(["kinac", "run", path, "--batch", os.path.join(work, "batch.json")], capture_output=True, text=True)
answers = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
if len(answers) != len(calls):
    sys.exit(f"{len(answers)} answers to {len(calls)} calls\n{run.stdout[:2000]}\n{run.stderr[:4000]}")

counts, failures = {}, []
for (number, values), answer in zip(calls, answers):
    least, made, _ = functions[number]
    fits = all(values[name] >= least[name] for name in NAMES)
    holds = fits and all(c.value(values) for c in made)
    accepted = answer["status"] == 0
    kind = ("small, " if is_small(values) else "large, ") + ("holds, " if holds else "does not hold, ") + ("let in" if accepted else "refused")
    counts[kind] = counts.get(kind, 0) + 1
    # Of large numbers some that would do are refused, as a number on the way does not fit.
    wrong = accepted and not holds or not accepted and holds and is_small(values)
    wrong |= not accepted and is_small(values) and answer["status"] != (801 if fits else 802)
    if wrong:
        failures.append(f"{'; '.join(c.text for c in made)} with {values}, least {least}: {answer}")
print(f"seed {seed}: {len(calls)} calls, " + "; ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
for kind in ("small, holds, let in", "small, does not hold, refused", "large, holds, let in", "large, does not hold, refused"):
    if counts.get(kind, 0) < 50:
        failures.append(f"too few of '{kind}'")
if failures:
    sys.exit("\n".join(failures[:20]) + f"\n{len(failures)} failures")
