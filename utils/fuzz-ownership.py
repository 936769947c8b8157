#!/usr/bin/env python3
"""Random programs against a model of ownership, and what they compute against NumPy.

  fuzz-ownership.py [--programs N] [--seed S] [--jobs J] [--batch B] [--build DIR] [--work DIR]
                    [--plant RULE] [--only K] [--print]

A program is an exported function, with helpers in some, over small tensors: names and other
names, copies, drops, arms, loops with several states, handlers that resume and that do not,
calls that consume and that borrow, tuples and functions as values. Many are one file. The
model is an interpreter that runs every path of a function, each loop for no, one and two
iterations, and keeps for every tensor whether it was given away; it knows the rules of
docs/Ownership.md and nothing of the compiler. What it finds (line, code and name of every
error) is what `kinac check` has to say. What it accepts is compiled and called, and gives
what an interpreter gives whose tensors are values: no update in place may show under another
name. What fails is shrunk and printed.

--plant breaks a rule of the model, or lets the interpreter of values write in place: then
the comparison must fail.
"""

import argparse
import collections
import concurrent.futures
import copy
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = 3
PATHS = 3000                  # of a function; what has more is left out
LARGEST = 2.0 ** 24           # numbers beyond prove nothing, since results round
STEPS = 3000
PLANTS = ["states-borrow", "drop-borrows", "cases-once", "loops-once", "values-take", "in-place"]


class LeftOut(Exception):
    """This program proves nothing."""


# The tree. Types are V (tensor), P (a pair of tensors), F (float), I (I32) and B (Bool).

class Node:
    """A construct: `kind` says what, and the names of its parts depend on it."""

    def __init__(self, kind, **parts):
        self.kind, self.line, self.end, self.order = kind, 0, 0, 0
        self.__dict__.update(parts)

    def children(self):
        for value in list(self.__dict__.values()):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Node):
                    yield item

    def walk(self):
        yield self
        for child in self.children():
            yield from child.walk()


def name_of(name):
    return Node("name", name=name)


# Making programs.

class Scope:
    """What the maker knows of names: their types, and what tensors they stand for."""

    def __init__(self, outer=None, level=None):
        self.types = dict(outer.types) if outer else {}
        self.tensors = dict(outer.tensors) if outer else {}
        self.gone = set(outer.gone) if outer else set()
        self.lent = set(outer.lent) if outer else set()
        self.levels = dict(outer.levels) if outer else {}
        self.functions = dict(outer.functions) if outer else {}
        self.level = outer.level if outer and level is None else level or 0

    def add(self, name, type, tensors=None, lent=False):
        self.types[name] = type
        if type in "VP":
            self.tensors[name] = tensors or [object() for _ in range(2 if type == "P" else 1)]
            for tensor in self.tensors[name]:
                self.levels.setdefault(tensor, self.level)
                if lent:
                    self.lent.add(tensor)
        self.functions.pop(name, None)


class Maker:
    def __init__(self, seed, number):
        self.r = random.Random(f"{seed}/{number}")
        self.number = number
        self.count = 0
        self.careful = self.r.choice([0.8, 0.95, 0.95, 1.0, 1.0])
        self.helpers = []
        self.handled = []
        self.globals = []

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, probability):
        return self.r.random() < probability

    # Tensors by name.

    def tensors(self, scope):
        """The names of tensors, as (node, what it stands for)."""
        found = []
        for name, type in scope.types.items():
            if type == "V":
                found.append((name_of(name), scope.tensors[name][0]))
            elif type == "P":
                found += [(Node("member", name=name, index=k), scope.tensors[name][k]) for k in range(2)]
        return found

    def pick(self, scope, good):
        found = self.tensors(scope)
        fine = [entry for entry in found if good(entry[1])]
        if self.chance(self.careful):
            found = fine
        if not found:
            return None
        return self.r.choice(found[-6:] if self.chance(0.6) else found)

    def reading(self, scope):
        """A tensor to read."""
        entry = self.pick(scope, lambda t: t not in scope.gone)
        return entry[0] if entry else Node("zeros")

    def consuming(self, scope):
        """A tensor to give away: mostly one that may be, else a copy or something new."""
        entry = self.pick(scope, lambda t: t not in scope.gone and t not in scope.lent and scope.levels[t] >= scope.level)
        if not entry or self.chance(0.25):
            return Node("copy", args=[self.reading(scope)]) if self.chance(0.6) else self.tensor(scope, 1)
        scope.gone.add(entry[1])
        return entry[0]

    # Expressions.

    def scalar(self, scope, depth=2):
        r = self.r
        floats = [n for n, t in scope.types.items() if t == "F"]
        roll = r.random()
        if depth <= 0 or roll < 0.3:
            return name_of(r.choice(floats)) if floats and self.chance(0.5) else Node("literal", value=r.choice([0.5, 1.0, 2.0, -1.0, 0.0]))
        if roll < 0.5:
            return Node("sum", args=[self.tensor(scope, depth - 2)])
        if roll < 0.75:
            return Node("element", args=[self.reading(scope)], index=self.index(scope))
        if roll < 0.85:
            return Node("dot", args=[self.reading(scope), self.reading(scope)])
        if any("Weigh" in ops for ops in self.handled) and self.chance(0.6):
            return self.perform(scope, "Weigh")
        callees = [f for f in self.helpers if f.result == "F"]
        if callees and self.chance(0.8):
            return self.call(scope, r.choice(callees))
        return Node("binary", op=r.choice("+-"), args=[self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)])

    def index(self, scope):
        integers = [n for n, t in scope.types.items() if t == "I"]
        if integers and self.chance(0.6):
            return f"{self.r.choice(integers)} % {SIZE}"
        return str(self.r.randrange(SIZE))

    def condition(self, scope, small=False):
        r = self.r
        roll = r.random()
        flags = [n for n, t in scope.types.items() if t == "B"]
        integers = [n for n, t in scope.types.items() if t == "I"]
        if roll < 0.4 and not small and self.tensors(scope):
            return Node("compare", op=r.choice("<>"), args=[self.scalar(scope, 2), Node("literal", value=r.choice([0.5, 2.0, -1.0]))])
        if roll < 0.7 and integers:
            name = r.choice(integers)
            return Node("text", text=r.choice([f"{name} % 2 == 0", f"{name} > 2", f"{name} < 1"]))
        if flags:
            return name_of(r.choice(flags))
        return Node("text", text=f"{r.choice(integers)} > 1") if integers else Node("text", text="true")

    def tensor(self, scope, depth=2):
        """An expression of one line that is a tensor of its own, or a name."""
        r = self.r
        roll = r.random()
        if scope.functions and self.chance(0.2):
            return Node("apply", name=r.choice(list(scope.functions)), args=[self.tensor(scope, min(depth - 1, 0))])
        if depth <= 0 or roll < 0.12:
            return self.reading(scope)
        if roll < 0.3:
            return Node("binary", op=r.choice("+-"), args=[self.tensor(scope, depth - 1), self.tensor(scope, depth - 1)])
        if roll < 0.42:
            return Node("scale", args=[self.tensor(scope, depth - 1), Node("literal", value=r.choice([0.5, -1.0, 2.0]))])
        if roll < 0.47:
            return Node("copy", args=[self.reading(scope)])
        if roll < 0.52:
            return Node("masked", args=[self.reading(scope), self.reading(scope)])
        if roll < 0.54:
            return Node("product", args=[self.reading(scope), self.reading(scope)])
        if roll < 0.56:
            return Node("zeros")
        if roll < 0.78:
            if self.chance(0.3):
                first, second = r.choice([(0, 1), (1, 0)])
                return Node("update_part", args=[self.tensor(scope, depth - 1), self.reading(scope)], at=first, of=second)
            return Node("update", args=[self.tensor(scope, depth - 1), self.scalar(scope, depth - 1)], index=self.index(scope))
        if roll < 0.9 and any("Like" in ops for ops in self.handled):
            return self.perform(scope, "Like")
        callees = [f for f in self.helpers if f.result == "V"]
        if callees:
            return self.call(scope, r.choice(callees))
        return Node("scale", args=[self.reading(scope), Node("literal", value=0.5)])

    def perform(self, scope, operation):
        return Node("perform", op=operation, args=[self.consuming(scope) if self.chance(0.7) else self.tensor(scope, 1)])

    def call(self, scope, callee):
        args = []
        consumed = [(k, leaf) for k, leaf in sorted(callee.consumes)]
        for k, (_, type, lent) in enumerate(callee.parameters):
            if type == "V":
                args.append(self.consuming(scope) if (k, 0) in consumed else self.tensor(scope, 1))
            elif type == "P":
                args.append(self.pair(scope, any(i == k for i, _ in consumed)))
            elif type == "F":
                args.append(self.scalar(scope, 1))
            else:
                args.append(Node("text", text=str(self.r.randrange(3))))
        return Node("call", callee=callee, args=args)

    def pair(self, scope, consumed):
        pairs = [n for n, t in scope.types.items() if t == "P" and
                 not any(x in scope.gone or (consumed and (x in scope.lent or scope.levels[x] < scope.level)) for x in scope.tensors[n])]
        if pairs and self.chance(0.6):
            name = self.r.choice(pairs)
            if consumed:
                scope.gone.update(scope.tensors[name])
            return name_of(name)
        take = self.consuming if consumed else self.reading
        return Node("tuple", args=[take(scope), take(scope)])

    # Statements.

    def block(self, scope, types, depth, yields=True, few=False):
        """Statements and results; `yields` says whether the results are given away."""
        statements = []
        for _ in range(self.r.choice([0, 0, 1] if few else [0, 0, 1, 1, 2, 3])):
            statements += self.statement(scope, depth)
        return Node("block", statements=statements, results=self.results(scope, types, yields))

    def results(self, scope, types, yields=True):
        results = []
        for type in types:
            if type == "V":
                simple = self.chance(0.5)
                results.append(self.consuming(scope) if yields and simple else self.tensor(scope, 2))
            elif type == "P":
                results.append(self.pair(scope, True))
            elif type == "F":
                results.append(self.scalar(scope, 1))
            else:
                raise AssertionError(type)
        return results

    def statement(self, scope, depth):
        r = self.r
        roll = r.random()
        if roll < 0.16 or depth <= 0 and roll < 0.6:
            name, value = self.fresh(scope, "v"), self.tensor(scope, 2)
            self.bind(scope, name, "V", value)
            return [Node("let", names=[name], value=value)]
        if roll < 0.22:
            # Another name.
            found = self.pick(scope, lambda t: t not in scope.gone)
            if not found:
                return []
            name = self.name("w")
            scope.add(name, "V", [found[1]])
            return [Node("let", names=[name], value=found[0])]
        if roll < 0.27:
            name = self.name("t")
            entries = [self.pick(scope, lambda t: t not in scope.gone) for _ in range(2)]
            values = [e[0] if e and self.chance(0.7) else Node("copy", args=[self.reading(scope)]) for e in entries]
            scope.add(name, "P", [e[1] if e and v is e[0] else object() for e, v in zip(entries, values)])
            return [Node("let", names=[name], value=Node("tuple", args=values))]
        if roll < 0.33:
            name = self.name("f")
            value = self.scalar(scope, 2)
            scope.add(name, "F")
            return [Node("let", names=[name], value=value)]
        if roll < 0.4:
            found = self.pick(scope, lambda t: t not in scope.gone and t not in scope.lent and scope.levels[t] >= scope.level)
            if not found:
                return []
            scope.gone.add(found[1])
            return [Node("drop", value=found[0])]
        if roll < 0.46:
            name, own = self.name("g"), self.name("q")
            inner = Scope(scope)
            inner.add(own, "V")
            # It may give away what it is given, and borrows what it sees.
            inner.lent |= {t for n, ts in scope.tensors.items() for t in ts}
            body = self.block(inner, ["V"], 0, yields=False, few=True)
            seen = self.pick(scope, lambda t: t not in scope.gone)
            if seen and self.chance(0.5 if self.careful < 1 else 0):
                body.statements.append(Node("drop", value=seen[0]))
            scope.functions[name] = True
            return [Node("function", name=name, parameter=own, body=body)]
        pairs = [f for f in self.helpers if f.result == "P"]
        if roll < 0.52 and pairs:
            value = self.call(scope, r.choice(pairs))
            names = [self.name("c"), self.name("c")] if self.chance(0.6) else [self.name("c")]
            for name in names:
                scope.add(name, "V" if len(names) == 2 else "P")
            return [Node("let", names=names, value=value)]
        if depth <= 0:
            return []
        if roll < 0.6:
            arms = []
            condition = self.condition(scope)
            scopes = [Scope(scope), Scope(scope)]
            for inner in scopes:
                statements = []
                for _ in range(r.choice([1, 1, 2])):
                    statements += self.statement(inner, depth - 1)
                arms.append(Node("block", statements=statements, results=[]))
            if self.chance(0.5):
                arms[1] = None
                scopes[1] = scope
            if any(arm and not arm.statements for arm in arms):
                return []
            for inner in scopes:
                scope.gone |= inner.gone
            return [Node("branch", condition=condition, arms=arms)]
        if roll < 0.63 and any("Stop" in ops for ops in self.handled):
            condition = self.condition(scope)
            inner = Scope(scope)
            # What a case that does not resume is given is gone with the path.
            inner.level = 0
            return [Node("branch", condition=condition, arms=[Node("block", statements=[
                Node("effect", value=Node("perform", op="Stop", args=[self.consuming(inner)]))], results=[]), None])]
        types = [r.choice("VVVVFP") for _ in range(r.choice([1, 1, 2]))]
        names = [self.name("y") for _ in types]
        if roll < 0.76:
            condition = self.condition(scope)
            scopes = [Scope(scope), Scope(scope)]
            arms = [self.block(inner, types, depth - 1) for inner in scopes]
            for inner in scopes:
                scope.gone |= inner.gone
            value = Node("if", condition=condition, arms=arms, types=types)
        elif roll < 0.93 or len(self.handled) >= 2:
            value, types, names = self.loop(scope, depth)
        else:
            types, names = ["V"], names[:1]
            value = self.handle(scope, depth)
        for name, type in zip(names, types):
            if name != "_":
                scope.add(name, type)
        return [Node("let", names=names, value=value)]

    def fresh(self, scope, prefix):
        """Mostly a new name, at times one that hides another."""
        names = [n for n, t in scope.types.items() if t == "V"]
        return self.r.choice(names) if names and self.chance(0.12) else self.name(prefix)

    def bind(self, scope, name, type, value):
        entry = None
        if value.kind == "name":
            entry = list(scope.tensors[value.name])
        elif value.kind == "member":
            entry = [scope.tensors[value.name][value.index]]
        scope.add(name, type, entry)

    def loop(self, scope, depth):
        r = self.r
        types = [r.choice("VVVVVFP") for _ in range(r.choice([1, 1, 2, 2, 3]))]
        if not any(t in "VP" for t in types):
            types[0] = "V"
        states = [self.name("s") if self.chance(0.9) or not scope.types else self.fresh(scope, "s") for _ in types]
        states = [s if states.index(s) == k else self.name("s") for k, s in enumerate(states)]
        inits = []
        for type in types:
            inits.append(self.consuming(scope) if type == "V" else self.pair(scope, True) if type == "P" else self.scalar(scope, 1))
        inner = Scope(scope, scope.level + 1)
        for name, type in zip(states, types):
            inner.add(name, type)
        counter = self.name("i")
        form = r.choice(["for", "for", "while"])
        condition = None
        if form == "while":
            tensors = [n for n, t in zip(states, types) if t == "V"]
            condition = Node("text", text=f"{counter} < {self.limit(scope)}")
            if tensors and self.chance(0.4):
                read = Scope(inner)
                extra = Node("compare", op="<", args=[self.scalar(read, 2), Node("literal", value=64.0)])
                condition = Node("and", args=[condition, extra])
        inner.add(counter, "I")
        statements = []
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            statements += self.statement(inner, depth - 1)
        results = []
        order = list(range(len(types)))
        if self.chance(0.25):
            r.shuffle(order)
        for k in range(len(types)):
            source = order[k]
            tensor = inner.tensors.get(states[source], [None])[0]
            if types[source] == types[k] == "V" and self.chance(0.3 if source == k else 0.8) and (tensor not in inner.gone or not self.chance(self.careful)):
                inner.gone.add(tensor)
                results.append(name_of(states[source]))
            else:
                results += self.results(inner, [types[k]])
        # What was given away in the body was the loop's own, or it is an error.
        names = [self.name("y") if self.chance(0.9) else "_" for _ in types]
        node = Node("loop", form=form, states=states, types=types, inits=inits, counter=counter, condition=condition,
                    limit=self.limit(scope), body=Node("block", statements=statements, results=results))
        if form == "while":
            names = names + ["_"]
        return node, types + ["I"] * (form == "while"), names

    def limit(self, scope):
        return "n" if self.chance(0.5) and scope.types.get("n") == "I" else str(self.r.randrange(4))

    def handle(self, scope, depth):
        r = self.r
        operations = r.choice([["Like"], ["Like"], ["Stop"], ["Like", "Stop"], ["Weigh"], ["Weigh", "Stop"]])
        self.handled.append(operations)
        inner = Scope(scope)
        body = self.block(inner, ["V"], depth - 1)
        self.handled.pop()
        cases = []
        own = self.name("h")
        returned = Scope(inner)
        returned.types = dict(scope.types)
        returned.tensors = dict(scope.tensors)
        returned.functions = dict(scope.functions)
        returned.add(own, "V")
        result = self.block(returned, ["V"], 0, few=True)
        for operation in operations:
            within = Scope(scope)
            payload = self.name("l")
            within.add(payload, "V")
            within.gone = set(scope.gone)
            if operation == "Stop":
                within.gone |= inner.gone if self.chance(0.5) else set()
                case = self.block(within, ["V"], 0, few=True)
            else:
                # A case that resumes may not give away what comes from outside.
                within.level += 1
                within.levels[within.tensors[payload][0]] = within.level
                case = self.resuming(within, operation, inner)
            cases.append(Node("case", op=operation, payload=payload, body=case))
        scope.gone |= inner.gone | returned.gone
        return Node("handle", body=body, returned=own, result=result, cases=cases)

    def resuming(self, scope, operation, body):
        r = self.r
        statements = []
        for _ in range(r.choice([0, 0, 0, 1])):
            statements += self.statement(scope, 0)
        given = self.scalar(scope, 1) if operation == "Weigh" else self.consuming(scope) if self.chance(0.5) else self.tensor(scope, 1)
        resume = Node("resume", args=[given])
        roll = r.random()
        if roll < 0.6:
            return Node("block", statements=statements, results=[resume])
        if roll < 0.85:
            name = self.name("r")
            after = Scope(scope)
            after.gone |= body.gone
            after.add(name, "V")
            return Node("block", statements=statements + [Node("let", names=[name], value=resume)], results=self.results(after, ["V"]))
        arms = [Node("block", statements=[], results=[resume]), self.block(Scope(scope), ["V"], 0, few=True)]
        name = self.name("r")
        return Node("block", statements=statements + [Node("let", names=[name], value=Node("if", condition=self.condition(scope), arms=arms, types=["V"]))],
                    results=[name_of(name)])

    # Functions.

    def function(self, name, exported):
        r = self.r
        parameters = [("x", "V", exported and self.chance(0.25) or not exported and self.chance(0.1))]
        for parameter, type in [("z", "V"), ("p", "P"), ("a", "F")]:
            if self.chance(0.4 if type != "P" else 0.15):
                parameters.append((parameter, type, type in "VP" and self.chance(0.2)))
        parameters += [("n", "I", False)] if exported or self.chance(0.7) else []
        if exported:
            parameters.append(("c", "B", False))
        scope = Scope()
        for parameter, type, lent in parameters:
            scope.add(parameter, type, lent=lent)
        for shared in self.globals:
            scope.add(shared, "V", lent=True)
        result = r.choice("VVVVPF") if not exported else None
        types = [result] if result else [r.choice("VVVFP") for _ in range(r.choice([1, 1, 2]))]
        statements = []
        depth = 1 if not exported else r.choice([1, 2, 2, 3])
        for _ in range(r.choice([0, 1, 1, 2] if not exported else [1, 2, 3, 4, 5])):
            statements += self.statement(scope, depth)
        body = Node("block", statements=statements, results=self.results(scope, types))
        return Node("fn", name=name, parameters=parameters, body=body, types=types, result=result, exported=exported, consumes=set())

    def program(self):
        r = self.r
        if self.chance(0.25):
            self.globals = [f"shared{self.number}"]
        for k in range(r.choice([0, 1, 1, 2, 3])):
            helper = self.function(f"h{self.number}_{k}", False)
            helper.consumes = Model(helper, self.globals).summary()
            self.helpers.append(helper)
        main = self.function(f"m{self.number}", True)
        numbers = np.random.RandomState(r.randrange(2 ** 31))
        tensor = lambda: (numbers.randint(-4, 5, SIZE) * 0.5).tolist()
        runs = [{"x": tensor(), "z": tensor(), "p": [tensor(), tensor()], "a": float(numbers.randint(-4, 5)) * 0.5,
                 "n": int(numbers.randint(0, 5)), "c": bool(numbers.randint(2))} for _ in range(3)]
        return Program(self.number, self.helpers + [main], self.globals, r.choice([str(SIZE), "N"]), runs)


class Program:
    def __init__(self, number, functions, shared, size, runs):
        self.number, self.functions, self.globals, self.size, self.runs = number, functions, shared, size, runs


# Printing.

class Printer:
    """Text of programs, one construct a line; notes the line of each."""

    def __init__(self):
        self.lines, self.order = [], 0

    def put(self, indent, text):
        self.lines.append("  " * indent + text)
        return len(self.lines)

    def follow(self, n):
        """`n` is what comes next in the order in which things happen."""
        self.order = n.order = self.order + 1

    def e(self, n):
        n.line = len(self.lines) + 1
        k = n.kind
        args = [self.e(a) for a in getattr(n, "args", [])]
        self.follow(n)
        if k == "name":
            return n.name
        if k == "member":
            return f"{n.name}.{n.index}"
        if k == "literal":
            return repr(n.value) if n.value >= 0 else f"({n.value!r})"
        if k == "text":
            return n.text
        if k in ("binary", "compare"):
            return f"({args[0]} {n.op} {args[1]})"
        if k == "and":
            return f"{args[0]} and {args[1]}"
        if k in ("scale", "product"):
            return f"({args[0]} * {args[1]})"
        if k == "zeros":
            return f"zeros<F64>([{self.size}])"
        if k in ("copy", "sum", "dot"):
            return f"{k}({', '.join(args)})"
        if k == "element":
            return f"{args[0]}[{n.index}]"
        if k == "masked":
            return f"(if ({args[0]} > 0.0) {{ {args[0]} }} else {{ {args[1]} }})"
        if k == "update":
            return f"update({args[0]}, [{n.index}], {args[1]})"
        if k == "update_part":
            inner = args[1]
            return f"update({args[0]}, [{n.at}:{n.at + 2}], {inner}[{n.of}:{n.of + 2}])" if n.args[1].kind != "zeros" else \
                f"update({args[0]}, [{n.at}:{n.at + 2}], zeros<F64>([2]))"
        if k == "tuple":
            return f"({', '.join(args)})"
        if k == "call":
            return f"{n.callee.name}({', '.join(args)})"
        if k == "apply":
            return f"{n.name}({args[0]})"
        if k == "perform":
            return f"perform {n.op}({args[0]})"
        if k == "resume":
            return f"k({args[0]})"
        raise AssertionError(k)

    def type(self, t, lent=False):
        tensor = f"tensor<F64, [{self.size}]>"
        return "&" * lent + {"V": tensor, "P": f"({tensor}, {tensor})", "F": "F64", "I": "I32", "B": "Bool"}[t]

    def results(self, block, indent):
        if block.results:
            texts = [self.e(r) for r in block.results]
            self.follow(block)
            block.line = self.put(indent, texts[0] if len(texts) == 1 else f"({', '.join(texts)})")
        block.end = len(self.lines)

    def block(self, block, indent):
        for s in block.statements:
            self.statement(s, indent)
        self.results(block, indent)

    def pattern(self, names):
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def statement(self, s, indent):
        s.line = len(self.lines) + 1
        if s.kind == "let":
            self.value(f"let {self.pattern(s.names)} = ", s.value, indent)
        elif s.kind == "drop":
            self.put(indent, f"drop({self.e(s.value)});")
            self.follow(s)
        elif s.kind == "effect":
            self.put(indent, f"{self.e(s.value)};")
        elif s.kind == "function":
            self.put(indent, f"let {s.name} = fn({s.parameter}: {self.type('V')}) {{")
            self.block(s.body, indent + 1)
            self.put(indent, "};")
        elif s.kind == "branch":
            self.put(indent, f"if ({self.e(s.condition)}) {{")
            self.block(s.arms[0], indent + 1)
            if s.arms[1]:
                self.put(indent, "} else {")
                self.block(s.arms[1], indent + 1)
            self.put(indent, "};")
        else:
            raise AssertionError(s.kind)

    def value(self, head, v, indent):
        v.line = len(self.lines) + 1
        if v.kind == "if":
            self.put(indent, f"{head}if ({self.e(v.condition)}) {{")
            self.block(v.arms[0], indent + 1)
            self.put(indent, "} else {")
            self.block(v.arms[1], indent + 1)
            self.put(indent, "};")
        elif v.kind == "loop":
            inits = [f"{n} = {self.e(i)}" for n, i in zip(v.states, v.inits)]
            self.follow(v)
            if v.form == "while":
                inits.append(f"{v.counter} = 0")
                start = f"while ({self.e(v.condition)})"
            else:
                start = f"for ({v.counter} in 0..{v.limit})"
            self.put(indent, f"{head}{start} [{', '.join(inits)}] {{")
            for s in v.body.statements:
                self.statement(s, indent + 1)
            texts = [self.e(r) for r in v.body.results]
            self.follow(v.body)
            texts += [f"{v.counter} + 1"] if v.form == "while" else []
            v.body.line = v.body.end = self.put(indent + 1, texts[0] if len(texts) == 1 else f"({', '.join(texts)})")
            self.put(indent, "};")
        elif v.kind == "handle":
            self.put(indent, f"{head}handle {{")
            self.block(v.body, indent + 1)
            self.put(indent, "} with {")
            self.put(indent + 1, f"return({v.returned}) => {{")
            self.block(v.result, indent + 2)
            self.put(indent + 1, "}" + ("," if v.cases else ""))
            for k, case in enumerate(v.cases):
                self.put(indent + 1, f"{case.op}({case.payload}), k => {{")
                self.block(case.body, indent + 2)
                self.put(indent + 1, "}" + ("," if k + 1 < len(v.cases) else ""))
            self.put(indent, "};")
        else:
            self.put(indent, f"{head}{self.e(v)};")

    def function(self, f, size):
        self.size = size
        parameters = ", ".join(f"{n}: {self.type(t, lent)}" for n, t, lent in f.parameters)
        types = [self.type(t) for t in f.types]
        result = types[0] if len(types) == 1 else f"({', '.join(types)})"
        clause = " requires N >= 3" if size == "N" else ""
        f.line = self.put(0, f"{'@export ' if f.exported else ''}fn {f.name}({parameters}) -> {result}{clause} {{")
        self.block(f.body, 1)
        self.put(0, "}")
        f.end = len(self.lines)

    def program(self, p):
        for name in p.globals:
            self.put(0, f"let {name}: tensor<F64, [{SIZE}]> = [1.0, -0.5, 2.0];")
        for f in p.functions:
            self.function(f, SIZE if p.globals else p.size)

    def text(self, programs):
        self.put(0, "effect Fuzz:")
        for operation, result in [("Like", f"tensor<F64, [{SIZE}]>"), ("Weigh", "F64"), ("Stop", "unit")]:
            self.put(1, f"| {operation}: tensor<F64, [N]> -> {result.replace(str(SIZE) + ']', 'N]')}")
        for p in programs:
            self.program(p)
        return "\n".join(self.lines) + "\n"


# The interpreter, of paths and tensors with owners or of numbers and tensors that are values.

class Tensor:
    """`key` is where it is made, `place` in what; `why` it may not be taken, if so."""
    __slots__ = ("key", "name", "why", "taken", "place", "array")

    def __init__(self, key, name=None, why=None, place=(), array=None):
        self.key = key if isinstance(key, tuple) else (key,)
        self.name, self.why, self.place, self.array = name, why, place, array
        self.taken = None             # (line, place) of what took it

    @property
    def state(self):
        """What a state of a loop is in its condition and its body."""
        return (self.key[0][0] if isinstance(self.key[0], tuple) else self.key[0], self.name)


class Run:
    """An execution of a case, or of a function value with what it is given and where it is called."""

    def __init__(self, given=None, call=None):
        self.given, self.call, self.resumed, self.taken = given, call, False, []


class Perform:
    def __init__(self, op, tensor):
        self.op, self.tensor = op, tensor


class Walk:
    """Executes a function; subclasses say how choices are made and what becomes of tensors. A place is what
    runs around something, from the outside in: (loop, number of its execution, iteration) or (Run, 0, 0)."""

    def leaves(self, value):
        if isinstance(value, Tensor):
            return [value]
        return [t for v in value for t in self.leaves(v)] if isinstance(value, tuple) else []

    def named(self, value, name):
        if isinstance(value, Tensor):
            value.name = value.name or name
        elif isinstance(value, tuple):
            for k, v in enumerate(value):
                self.named(v, f"{name}.{k}")
        return value

    def fresh(self, type, key, place, value):
        """A value of `type` of its own that holds what `value` does."""
        if type == "V":
            return Tensor(key, place=place, array=value.array if value is not None else None)
        if type == "P":
            return tuple(self.fresh("V", (key, k), place, value[k] if value is not None else None) for k in range(2))
        return value

    def e(self, n, env, place):
        k = n.kind
        if k == "name":
            return env[n.name]
        if k == "member":
            return env[n.name][n.index]
        if k == "literal":
            return n.value
        if k == "text":
            return self.text(n.text, env)
        if k == "and":
            left = yield from self.e(n.args[0], env, place)
            return self.choose(left) and (yield from self.e(n.args[1], env, place))
        args = []
        for a in getattr(n, "args", []):
            args.append((yield from self.e(a, env, place)))
        leaves = [self.leaves(a) for a in args]
        if k == "tuple":
            return tuple(args)
        if k == "apply":
            parameter, body, scope = env[n.name]
            inner = {**scope, "handlers": env["handlers"], parameter: self.named(args[0], parameter)}
            return (yield from self.block(body, inner, place + ((Run(leaves[0], (n.line, n.order)), 0, 0),)))[0]
        if k == "perform":
            case = next(cases[n.op] for cases in reversed(env["handlers"]) if n.op in cases)
            self.op(n, place, *([[], args] if case in self.takes else [args, []]))
            given = yield Perform(n.op, args[0])
            return self.fresh("V", n, place, given) if n.op == "Like" else given
        if k == "resume":
            self.op(n, place, [], leaves[0])
            return (yield from env["k"](n, args[0], place))
        if k == "call":
            roles = [[], []]
            for i, tensors in enumerate(leaves):
                for j, tensor in enumerate(tensors):
                    roles[(i, j) in n.callee.consumes].append(tensor)
            self.op(n, place, *roles)
            return self.fresh(n.callee.result, n, place, self.call(n.callee, args))
        self.op(n, place, sum(leaves, []), [])
        value = self.compute(n, args, env)
        return value if k in ("sum", "element", "dot", "compare") or k == "binary" and not leaves[0] else \
            Tensor(n, place=place, array=value)

    def block(self, block, env, place):
        env = dict(env)
        for s in block.statements:
            yield from self.statement(s, env, place)
        results = []
        for r in block.results:
            results.append((yield from self.e(r, env, place)))
        return results

    def given(self, block, env, place):
        """The results of a block that gives them away."""
        results = yield from self.block(block, env, place)
        self.op(block, place, [], [t for r in results for t in self.leaves(r)])
        return results

    def statement(self, s, env, place):
        if s.kind == "let":
            values = yield from self.value(s.value, env, place)
            if len(s.names) > len(values):
                values = values[0]
            for name, value in zip(s.names, values):
                if name != "_":
                    env[name] = self.named(value, name)
        elif s.kind == "drop":
            self.op(s, place, [], [(yield from self.e(s.value, env, place))])
        elif s.kind == "effect":
            yield from self.e(s.value, env, place)
        elif s.kind == "function":
            env[s.name] = (s.parameter, s.body, dict(env))
        else:
            arm = s.arms[0 if self.choose((yield from self.e(s.condition, env, place))) else 1]
            if arm:
                yield from self.block(arm, env, place)

    def value(self, v, env, place):
        """A list of values."""
        if v.kind == "if":
            arm = v.arms[0 if self.choose((yield from self.e(v.condition, env, place))) else 1]
            results = yield from self.given(arm, env, place)
            return [self.fresh(t, (v, k), place, r) for k, (t, r) in enumerate(zip(v.types, results))]
        if v.kind == "loop":
            return (yield from self.loop(v, env, place))
        if v.kind == "handle":
            inner = {**env, "handlers": env["handlers"] + [{case.op: case for case in v.cases}]}
            return [self.fresh("V", v, place, (yield from self.drive(v, env, place, self.given(v.body, inner, place), None)))]
        return [(yield from self.e(v, env, place))]

    def loop(self, v, env, place):
        values = []
        for init in v.inits:
            values.append((yield from self.e(init, env, place)))
        self.op(v, place, [], [t for value in values for t in self.leaves(value)])
        self.executions += 1
        number, execution = 0, self.executions
        while True:
            inside = place + ((v, execution, number),)
            states = lambda what: {n: self.named(self.fresh(t, (v, n, what), inside, value), n)
                                   for n, t, value in zip(v.states, v.types, values)}
            if v.form == "while":
                tested = states("tested")
                for tensor in self.leaves(tuple(tested.values())):
                    tensor.why = "tested"
                going = yield from self.e(v.condition, {**env, **tested, v.counter: number}, inside)
            else:
                going = self.text(f"{number} < {v.limit}", env)
            if not self.choose(going, number):
                break
            carried = states("carried")
            for tensor in self.leaves(tuple(carried.values())):
                self.carries(tensor, v)
            values = yield from self.given(v.body, {**env, **carried, v.counter: number}, inside)
            number += 1
        return [self.fresh(t, (v, k), place, value) for k, (t, value) in enumerate(zip(v.types, values))] + \
            [number] * (v.form == "while")

    def drive(self, v, env, place, body, given):
        """Runs the handled expression up to its end or the next perform; gives the value of the handle."""
        while True:
            try:
                request = body.send(given)
            except StopIteration as stop:
                value = self.named(self.fresh("V", (v, "returned"), place, stop.value[0]), v.returned)
                return (yield from self.given(v.result, {**env, v.returned: value}, place))[0]
            case = next((c for c in v.cases if c.op == request.op), None)
            if not case:
                given = yield request
                continue
            run = Run()
            inside = place + ((run, 0, 0),)
            payload = Tensor((case, "payload"), case.payload, place=inside, array=request.tensor.array)

            def resume(n, value, at):
                self.resumed(run, n)
                return self.fresh("V", n, at, (yield from self.drive(v, env, place, body, value)))
            return (yield from self.given(case.body, {**env, case.payload: payload, "k": resume}, inside))[0]

    def start(self, function, arguments):
        self.executions = 0
        generator = self.given(function.body, {"handlers": [], **arguments}, ())
        try:
            next(generator)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("a perform without a handler")


class Model(Walk):
    """Every path of a function, and what each does to tensors."""

    def __init__(self, function, shared, plant=None):
        self.function, self.shared, self.plant = function, shared, plant
        self.takes = set()            # the cases that take what they are given

    def explore(self):
        self.errors = {}              # key of a tensor: (where it is found, code, line, name)
        self.carried, self.touched, self.consumed = {}, set(), set()
        self.choices = []
        for _ in range(PATHS):
            self.next = 0
            arguments = {name: Tensor(("global", name), name, "shared") for name in self.shared}
            for k, (name, type, lent) in enumerate(self.function.parameters):
                arguments[name] = value = self.named(self.fresh(type, None, (), None), name)
                for leaf, tensor in enumerate(self.leaves(value)):
                    tensor.key, tensor.why = ("parameter", k, leaf), "lent" if lent else None
            self.start(self.function, arguments)
            del self.choices[self.next:]
            while self.choices and self.choices[-1]:
                self.choices.pop()
            if not self.choices:
                return
            self.choices[-1] = 1
        raise LeftOut("paths")

    def settle(self):
        """Explores until it is known which cases take what they are given."""
        while True:
            before = set(self.takes)
            self.explore()
            if self.takes == before:
                return self

    def summary(self):
        """The (parameter, member) that the function takes on some path."""
        return {key[1:] for key in self.settle().consumed if key[0] == "parameter"}

    def found(self):
        """The errors: {(line, code, name)}."""
        self.settle()
        unread = {(line, "K0503", name) for key, (line, name) in self.carried.items() if key not in self.touched}
        return unread | {entry[1:] for entry in self.errors.values()}

    def choose(self, value, iteration=None):
        if iteration is not None and iteration >= (1 if self.plant == "loops-once" else 2):
            return False
        if self.next == len(self.choices):
            self.choices.append(0)
        self.next += 1
        return not self.choices[self.next - 1]

    def report(self, tensor, code, line, place, found):
        """The errors of a tensor are many, and the first that is found is told: `found` is the line and what
        of it, in the calls of function values around it."""
        found = [run.call for run, _, _ in place if isinstance(run, Run) and run.given is not None] + [found]
        if tensor.key not in self.errors or found < self.errors[tensor.key][0]:
            self.errors[tensor.key] = (found, line, code, tensor.name)

    def there(self, tensor, n, place):
        """Whether nothing has taken the tensor; says so if not."""
        self.touched.add(tensor.state)
        if not tensor.taken:
            return True
        at, then = tensor.taken
        for k, ((loop, execution, number), (other, again, later)) in enumerate(zip(then, place)):
            if loop is not other or execution != again:
                break
            if number != later:
                self.report(tensor, "K0502", at, place[:k], (loop.body.end, float("inf")))
                return False
        self.report(tensor, "K0501", n.line, place, (n.line, n.order))
        return False

    def op(self, n, place, reads, taken):
        """`n` reads tensors and takes others."""
        if n.kind == "drop" and self.plant == "drop-borrows" or n.kind == "loop" and self.plant == "states-borrow":
            reads, taken = reads + taken, []
        for tensor in reads:
            self.there(tensor, n, place)
        for tensor in taken:
            around = [run for run, _, _ in place if isinstance(run, Run) and run not in [r for r, _, _ in tensor.place]]
            lent = self.plant != "values-take" and any(run.given is not None and tensor not in run.given for run in around)
            if not (lent or tensor.why):
                self.consumed.add(tensor.key)
                if tensor.key[-1] == "payload":
                    self.takes.add(tensor.key[0])
            if not self.there(tensor, n, place):
                continue
            code = "K0501" if any(tensor is t for t in reads) else "K0505" if tensor.why or lent else \
                "K0502" if any(run.resumed for run in around) else None
            if code:
                self.report(tensor, code, n.line, place, (n.line, n.order))
                continue
            tensor.taken = (n.line, place)
            if self.plant != "cases-once":
                for run in around:
                    run.taken.append((tensor, n.line))

    def resumed(self, run, n):
        run.resumed = self.plant != "cases-once"
        for tensor, line in run.taken:
            if tensor.taken:
                self.report(tensor, "K0502", line, (), (n.line, n.order))
                tensor.taken = None   # what follows from it is no error of its own

    def carries(self, tensor, loop):
        self.carried[tensor.state] = (loop.line, tensor.name)

    def text(self, text, env):
        return None

    def compute(self, n, args, env):
        return None

    def call(self, callee, args):
        return None


class Values(Walk):
    """What a function computes when tensors are values."""

    def __init__(self, shared, plant=None):
        self.shared, self.plant, self.takes, self.steps = shared, plant, set(), 0

    def run(self, function, arguments):
        environment = dict(self.shared)
        for name, type, _ in function.parameters:
            value = arguments[name]
            environment[name] = Tensor(None, array=np.array(value)) if type == "V" else \
                tuple(Tensor(None, array=np.array(v)) for v in value) if type == "P" else value
        return self.start(function, environment)

    def choose(self, value, iteration=None):
        self.steps += 1
        if self.steps > STEPS:
            raise LeftOut("long")
        return bool(value)

    def op(self, n, place, reads, taken):
        pass

    def resumed(self, run, n):
        pass

    def carries(self, tensor, loop):
        pass

    def text(self, text, env):
        return eval(text, {"true": True}, {n: v for n, v in env.items() if isinstance(v, (int, bool))})

    def call(self, callee, args):
        environment = {**self.shared, **{name: a for (name, _, _), a in zip(callee.parameters, args)}}
        return self.start(callee, environment)[0]

    def compute(self, n, args, env):
        k, a = n.kind, [x.array if isinstance(x, Tensor) else x for x in args]
        position = self.text(n.index, env) if hasattr(n, "index") else None
        if k == "binary":
            value = a[0] + a[1] if n.op == "+" else a[0] - a[1]
        elif k == "compare":
            return a[0] < a[1] if n.op == "<" else a[0] > a[1]
        elif k in ("scale", "product"):
            value = a[0] * a[1]
        elif k == "zeros":
            value = np.zeros(SIZE)
        elif k == "copy":
            value = a[0].copy()
        elif k == "sum":
            value = float(np.sum(a[0]))
        elif k == "dot":
            value = float(np.dot(a[0], a[1]))
        elif k == "element":
            value = float(a[0][position])
        elif k == "masked":
            value = np.where(a[0] > 0, a[0], a[1])
        elif k in ("update", "update_part"):
            value = a[0] if self.plant == "in-place" else a[0].copy()
            if k == "update":
                value[position] = a[1]
            else:
                value[n.at:n.at + 2] = a[1][n.of:n.of + 2]
        else:
            raise AssertionError(k)
        if np.any(np.abs(value) > LARGEST):
            raise LeftOut("huge")
        return value


# Running Kina.

class Kina:
    """The tools, with a folder of their own for files."""

    def __init__(self, build, work):
        self.bin, self.work = pathlib.Path(build) / "bin", work
        # Rubbish in memory that is freed: what reads it shows.
        self.environment = {**os.environ, "MALLOC_PERTURB_": "170"}
        work.mkdir(parents=True, exist_ok=True)

    def tool(self, *command):
        try:
            return subprocess.run([self.bin / command[0], *command[1:]], capture_output=True, text=True, timeout=240,
                                  env=self.environment)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", "it took more than four minutes")

    def check(self, programs):
        """{program number: {(line, code, name)} of its errors}, or text of what went wrong."""
        path = self.work / "check.kina"
        path.write_text(Printer().text(programs))
        step = self.tool("kinac", "check", "--error-format=json", path)
        if step.returncode not in (0, 1):
            return f"status {step.returncode}: {step.stderr[-1500:]}"
        errors = {p.number: set() for p in programs}
        spans = [(p.functions[0].line, p.functions[-1].end, p.number) for p in programs]
        for line in step.stderr.splitlines():
            diagnostic = json.loads(line)
            if diagnostic["severity"] != "error":
                continue
            number = next((n for first, last, n in spans if first <= (diagnostic.get("line") or 0) <= last), None)
            if number is None:
                return f"an error nowhere: {line}"
            quoted = re.search(r"'([^']*)'", diagnostic["message"].split(":")[0])
            errors[number].add((diagnostic["line"], diagnostic["code"], quoted[1] if quoted else None))
        return errors

    def run(self, programs):
        """{program number: [results of each run] or what went wrong}."""
        path = self.work / "run.kina"
        path.write_text(Printer().text(programs))
        calls, keys = [], []
        for p in programs:
            for k, run in enumerate(p.runs):
                arguments = {}
                for name, type, _ in p.functions[-1].parameters:
                    members = [(f"{name}.{i}", v) for i, v in enumerate(run[name])] if type == "P" else [(name, run[name])]
                    arguments.update((n, json.dumps(v)) for n, v in members)
                count = sum(2 if t == "P" else 1 for t in p.functions[-1].types)
                calls.append({"function": p.functions[-1].name, "arguments": arguments,
                              "out": [str(self.work / f"{p.number}.{k}.{i}.npy") for i in range(count)]})
                keys.append((p, k))
        batch = self.work / "run.json"
        batch.write_text(json.dumps(calls))
        step = self.tool("kinac", "run", path, "--batch", batch, "--max-steps", "1000000", "-O0")
        lines = [json.loads(line) for line in step.stdout.splitlines() if line.startswith("{")]
        if len(lines) != len(calls):
            if len(programs) == 1:
                return {programs[0].number: f"compile: {(step.stderr.strip() or f'status {step.returncode}')[:1500]}"}
            half = len(programs) // 2
            return {**self.run(programs[:half]), **self.run(programs[half:])}
        answers = {p.number: [] for p in programs}
        for (p, k), call, line in zip(keys, calls, lines):
            if line["status"]:
                answers[p.number] = f"call: {line.get('message', line['status'])}"
            elif isinstance(answers[p.number], list):
                answers[p.number].append([np.load(out) for out in call["out"]])
        return answers


def spell(errors):
    return ", ".join(f"line {line} {code} {name}" for line, code, name in sorted(errors, key=str)) or "accepted"


def judge(kina, programs, plant, tally=collections.Counter()):
    """[(program, what is wrong or None)]."""
    wrong = {p.number: None for p in programs}
    answers = kina.check(programs)
    if isinstance(answers, str):
        if len(programs) == 1:
            return [(programs[0], answers)]
        half = len(programs) // 2
        return judge(kina, programs[:half], plant, tally) + judge(kina, programs[half:], plant, tally)
    accepted = []
    for p in programs:
        expected = set()
        for f in p.functions:
            expected |= Model(f, p.globals, plant).found()
        got = answers[p.number]
        tally.update(code for code in {code for _, code, _ in expected})
        if expected != got:
            wrong[p.number] = f"rules: the model says {spell(expected)}; kinac says {spell(got)}"
        elif not got:
            accepted.append(p)
            tally["accepted"] += 1
    runnable = []
    for p in accepted if plant in (None, "in-place") else []:
        runs, p.references = p.runs, []
        p.runs = []
        for run in runs:
            try:
                shared = {name: Tensor(None, name, array=np.array([1.0, -0.5, 2.0])) for name in p.globals}
                p.references.append(Values(shared, plant).run(p.functions[-1], run))
                p.runs.append(run)
            except LeftOut as reason:
                tally[f"skipped: {reason}"] += 1
        if p.runs:
            runnable.append(p)
            tally["runs"] += len(p.runs)
    for number, answer in (kina.run(runnable) if runnable else {}).items():
        p = next(p for p in runnable if p.number == number)
        if isinstance(answer, str):
            if "K0115" in answer:
                tally["not built"] += 1
            else:
                wrong[number] = answer
            continue
        for run, reference, got in zip(p.runs, p.references, answer):
            flat = []
            for value in reference:
                flat += list(value) if isinstance(value, tuple) else [value]
            for k, (r, g) in enumerate(zip(flat, got)):
                r = r.array if isinstance(r, Tensor) else np.asarray(r)
                if not (g.shape == r.shape and np.allclose(g, r, rtol=1e-9, atol=1e-9)):
                    wrong[number] = f"value: with {run} result {k} is {g.tolist()}, and {r.tolist()} with values"
    return [(p, wrong[p.number]) for p in programs]


# Shrinking.

def edits(program):
    """Copies of the program with one thing less."""
    count = sum(1 for f in program.functions for n in f.walk())
    for k in range(len(program.functions) - 1):
        new = copy.deepcopy(program)
        del new.functions[k]
        yield new
    for position in range(count):
        new = copy.deepcopy(program)
        nodes = [n for f in new.functions for n in f.walk()]
        node = nodes[position]
        if node.kind == "block":
            for k in range(len(node.statements)):
                new = copy.deepcopy(program)
                nodes = [n for f in new.functions for n in f.walk()]
                del nodes[position].statements[k]
                yield new
        elif node.kind == "loop" and len(node.states) > 1 or node.kind in ("update", "binary", "scale", "copy"):
            if node.kind != "loop":
                inner = node.args[0]
                node.__dict__.clear()
                node.__dict__.update(inner.__dict__)
                yield new


def kind_of(what):
    """What stays the same while a program shrinks."""
    head, _, text = what.partition(":")
    return (head, "model says accepted" in text, "kinac says accepted" in text)


def shrink(kina, program, kind, plant, tries=60):
    for _ in range(tries):
        before = len(Printer().text([program]))
        for new in edits(program):
            if len(Printer().text([new])) >= before:
                continue
            try:
                for f in new.functions[:-1]:
                    f.consumes = Model(f, new.globals).summary()
                (_, what), = judge(kina, [new], plant)
            except (KeyError, TypeError, AttributeError, IndexError, ValueError, LeftOut, StopIteration):
                continue
            if what and kind_of(what) == kind and not re.search(r"K0[1-46]", what):
                program = new
                break
        else:
            return program
    return program


def run_batch(options, work, numbers):
    """Makes programs and compares. Returns a tally, and the text of what failed."""
    tally, lines, programs = collections.Counter(), [], []
    for number in numbers:
        try:
            program = Maker(options.seed, number).program()
            for f in program.functions:
                Model(f, program.globals, options.plant).settle()
            programs.append(program)
        except LeftOut as reason:
            tally[f"left out: {reason}"] += 1
    tally["programs"] = len(programs)
    kina = Kina(options.build, work)
    for program, what in judge(kina, programs, options.plant, tally) if programs else []:
        if not what:
            continue
        tally["failed"] += 1
        if options.plant:
            tally["found"] += what.split(":")[0] == ("value" if options.plant == "in-place" else "rules")
            continue
        lines.append(f"FAIL seed {options.seed}, program {program.number}: {what}")
        if not options.no_shrink:
            program = shrink(kina, program, kind_of(what), options.plant)
            (_, what), = judge(kina, [program], options.plant)
        text = Printer().text([program]).splitlines()
        lines += [f"--- {what}"] + [f"{k + 1:3} {line}" for k, line in enumerate(text)]
    if not options.work:
        shutil.rmtree(work)
    return tally, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="batches at a time")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--only", type=int, help="the number of one program")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--plant", choices=PLANTS)
    parser.add_argument("--failures", type=int, default=5, help="stop after so many")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the programs and do nothing")
    options = parser.parse_args()
    start = time.monotonic()
    numbers = range(options.programs) if options.only is None else [options.only]
    if options.print:
        print(Printer().text([Maker(options.seed, number).program() for number in numbers]))
        return
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="kina-fuzz-"))
    tally = collections.Counter()

    def run(first):
        if tally["failed"] < options.failures or options.plant:
            return run_batch(options, work / str(first), numbers[first:first + options.batch])
        return collections.Counter(), []

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for counts, lines in pool.map(run, range(0, len(numbers), options.batch)):
            tally.update(counts)
            print(*lines, sep="\n", end="\n" if lines else "", flush=True)
    if not options.work:
        shutil.rmtree(work)
    codes = ", ".join(f"{tally[code]} with {code}" for code in ("K0501", "K0502", "K0503", "K0505"))
    rest = {k: n for k, n in sorted(tally.items()) if k.startswith(("skipped", "left out", "not built"))}
    print(f"fuzz-ownership: seed {options.seed}: {tally['programs']} programs, {tally['accepted']} accepted, {codes}; "
          f"{tally['runs']} runs compared {rest}, {tally['failed']} failed, {time.monotonic() - start:.1f} s")
    if options.plant:
        print(f"planted {options.plant}: found in {tally['found']} of {tally['programs']} programs")
        sys.exit(0 if tally["found"] else 1)
    sys.exit(1 if tally["failed"] or not tally["accepted"] else 0)


if __name__ == "__main__":
    main()
