#!/usr/bin/env python3
"""Random structured programs: gradients by Kina against dual numbers.

  fuzz-ad.py [--programs N] [--seed S] [--size mixed|tiny|small|large] [--forms 1|2]
             [--jobs J] [--batch B] [--build DIR] [--work DIR] [--plant] [--only K] [--print]

A program is a nest of `if`, `while` and `for` over scalars and small tensors, with calls,
functions as values, checkpoints and early exits. It is printed as Kina, and interpreted
here, with dual numbers, from the same tree. Compiling takes nearly all of the time, and
grows with the text: most programs of the default mix are tiny, a few are large, and a batch
of them is one file. A batch is compiled in one or two random forms: options of --kina-ad,
and checkpoint decorators. Values and gradients of the first are compared with the
interpreter, those of the second, bit by bit, with the first. Runs are skipped, and counted,
whose numbers are huge, or whose branches hang on a rounding error. What fails is shrunk and
printed with the seed that made it.

--plant changes one operation in the differentiated IR: then the comparison must fail.
"""

import argparse
import collections
import concurrent.futures
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
sys.path.insert(0, str(ROOT / "test" / "ControlFlow" / "Inputs"))
import dual as D

TAPES = ["tape=auto", "tape=auto", "tape=bounded", "tape=replay", "tape=growable", "tape=stride slots=2",
         "tape=stride slots=4", "tape=stride slots=64"]
SIZES = ["tiny"] * 34 + ["small"] * 5 + ["large"]
CHECKPOINTS = ["", "", "", "@checkpoint", "@checkpoint(sqrt)", "@checkpoint(k=1)", "@checkpoint(k=2)", "@checkpoint(k=3)",
               "@checkpoint(k=100)", "@checkpoint(levels=2)", "@checkpoint(levels=3)", "@checkpoint(slots=1)",
               "@checkpoint(slots=2)", "@checkpoint(slots=5)"]
TOLERANCE = {"F64": 1e-9, "F32": 2e-3}
LARGEST = {"F64": 1e8, "F32": 1e4}
STEPS = 4000                  # executed operations; what takes more is left out
SIZE = 3


class LeftOut(Exception):
    """The numbers of this program prove nothing."""


# The tree. Types are F (float), V (vector), M (matrix), I (I32) and B (Bool).

class Node:
    """An expression: `kind` says what, `data` what is not an expression in it."""
    __slots__ = ("kind", "type", "args", "data")

    def __init__(self, kind, type, args=(), data=None):
        self.kind, self.type, self.args, self.data = kind, type, list(args), data


class Block:
    __slots__ = ("statements", "results")

    def __init__(self, statements, results):
        self.statements, self.results = statements, results


class Let:
    __slots__ = ("name", "value")

    def __init__(self, name, value):
        self.name, self.value = name, value


class If:
    __slots__ = ("names", "condition", "then", "otherwise")

    def __init__(self, names, condition, then, otherwise):
        self.names, self.condition, self.then, self.otherwise = names, condition, then, otherwise


class Loop:
    """`form` is "for" (with `first`, `end`, and a counter) or "while" (with a condition)."""
    __slots__ = ("form", "names", "states", "inits", "counter", "first", "end", "condition", "body", "checkpoints")

    def __init__(self, form, names, states, inits, body, counter=None, first=None, end=None, condition=None, checkpoints=("", "")):
        self.form, self.names, self.states, self.inits, self.body = form, names, states, inits, body
        self.counter, self.first, self.end, self.condition, self.checkpoints = counter, first, end, condition, checkpoints


class Call:
    __slots__ = ("names", "callee", "args", "types")

    def __init__(self, names, callee, args, types):
        self.names, self.callee, self.args, self.types = names, callee, args, types


class Function:
    def __init__(self, name, parameters, body, types, checkpoints=("", ""), function_parameter=None):
        self.name, self.parameters, self.body, self.types = name, parameters, body, types
        self.checkpoints, self.function_parameter = checkpoints, function_parameter


class Program:
    def __init__(self, number, seed, float_type, size, functions, runs):
        self.number, self.seed, self.float_type, self.size = number, seed, float_type, size
        self.functions, self.runs = functions, runs


# Making programs.

BINARY = {"F": ["+", "+", "-", "*", "*", "/", "min", "max"], "V": ["+", "-", "*", "/", "max"], "M": ["+", "-", "*"]}
UNARY = {"F": ["sin", "cos", "tanh", "neg", "sqrt", "exp", "abs", "square"], "V": ["sin", "tanh", "neg"], "M": ["tanh", "neg", "transpose"]}


class Maker:
    def __init__(self, seed, number, size="mixed"):
        self.r = random.Random(f"{seed}/{number}")
        self.size = self.r.choice(SIZES) if size == "mixed" else size
        self.count = 0
        self.seed, self.number = seed, number
        self.helpers = []

    def sized(self, tiny, small, large):
        """One of the values that are listed for the size of this program."""
        return self.r.choice({"tiny": tiny, "small": small, "large": large}[self.size])

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, scope, type):
        names = [n for n, t in scope.items() if t == type]
        # What was made last is what should matter.
        if not names:
            return None
        return Node("name", type, data=self.r.choice(names[-4:] if self.r.random() < 0.6 else names))

    def checkpoints(self):
        """Of each form. A loop in segments is several loops to the compiler."""
        decorated = self.r.random() < self.sized([0.4], [0.8], [1])
        return (self.r.choice(CHECKPOINTS), self.r.choice(CHECKPOINTS)) if decorated else ("", "")

    def leaf(self, scope, type):
        named = self.pick(scope, type)
        if named and (type in "VMB" or self.r.random() < 0.85):
            return named
        if type == "F":
            return Node("literal", "F", data=self.r.choice([0.5, 0.25, 1.0, -0.5, 1.5, 2.0, -1.25, 0.0]))
        if type == "I":
            return Node("literal", "I", data=self.r.choice([0, 1, 2, 3]))
        if type == "B":
            return Node("literal", "B", data=self.r.random() < 0.5)
        return Node("zeros", type) if type == "V" or self.r.random() < 0.3 else Node("outer", "M", [self.leaf(scope, "V"), self.leaf(scope, "V")])

    def expression(self, scope, type, depth):
        r = self.r
        if depth <= 0 or r.random() < (0.4 if self.size == "tiny" and depth < 2 else 0.15):
            return self.leaf(scope, type)
        sub = lambda t, d=1: self.expression(scope, t, depth - d)
        if type == "B":
            roll = r.random()
            if roll < 0.55:
                left = self.pick(scope, "F")
                return Node("compare", "B", [Node("+", "F", [left, sub("F", 2)]) if r.random() < 0.4 else left, sub("F", 2)],
                            r.choice(["<", ">", "<=", ">="]))
            if roll < 0.8:
                return Node("compare", "B", [sub("I"), sub("I", 2)], r.choice(["<", ">", "<=", ">=", "==", "!="]))
            if roll < 0.9:
                return Node("not", "B", [sub("B")])
            return Node(r.choice(["and", "or"]), "B", [sub("B"), sub("B")])
        if type == "I":
            roll = r.random()
            if roll < 0.6:
                return Node(r.choice(["+", "-", "*"]), "I", [sub("I"), sub("I", 2)])
            if roll < 0.8:
                return Node("mod", "I", [sub("I")], r.choice([2, 3, 5]))
            return Node("if", "I", [self.expression(scope, "B", 1), sub("I", 2), sub("I", 2)])
        roll = r.random()
        if roll < 0.45:
            kind = r.choice(BINARY[type])
            return Node(kind, type, [sub(type), sub(type)])
        if roll < 0.65:
            return Node(r.choice(UNARY[type]), type, [sub(type)])
        if roll < 0.72:
            return Node("if", type, [self.expression(scope, "B", 2), sub(type), sub(type)])
        if type == "F":
            options = ["sum", "dot", "element", "element", "cast", "sum_row", "part"]
            if any(f.function_parameter for f in self.helpers):
                options += ["higher"]
            if any(f.types == ["F"] and not f.function_parameter for f in self.helpers):
                options += ["call", "call"]
            kind = r.choice(options)
            if kind == "sum":
                return Node("sum", "F", [sub(r.choice("VVM"))])
            if kind == "dot":
                return Node("dot", "F", [sub("V"), sub("V")])
            if kind == "element":
                return Node("element", "F", [sub("V"), sub("I", 2)])
            if kind == "cast":
                return Node("cast", "F", [sub("I", 2)])
            if kind == "sum_row":
                return Node("dot", "F", [Node("row", "V", [sub("M", 2), sub("I", 2)]), sub("V")])
            if kind == "part":
                return Node("part", "F", [sub("V"), sub("V"), self.leaf(scope, "I")])
            if kind == "higher":
                callee = r.choice([f for f in self.helpers if f.function_parameter])
                own = self.name("t")
                body = self.expression({**scope, own: "F"}, "F", depth - 2)
                return Node("higher", "F", [body] + [self.expression(scope, t, depth - 2) for _, t in callee.parameters],
                            (callee, own))
            callee = r.choice([f for f in self.helpers if f.types == ["F"] and not f.function_parameter])
            return Node("call", "F", [self.expression(scope, t, depth - 2) for _, t in callee.parameters], callee)
        if type == "V":
            kind = r.choice(["scale", "scale", "update", "update", "matvec", "row", "reverse", "masked", "update_part"])
            if kind == "scale":
                return Node("scale", "V", [sub("F"), sub("V")])
            if kind == "update":
                return Node("update", "V", [sub("V"), sub("I", 2), sub("F")])
            if kind == "matvec":
                return Node("matvec", "V", [sub("M"), sub("V")])
            if kind == "row":
                return Node("row", "V", [sub("M"), sub("I", 2)])
            if kind == "masked":
                return Node("masked", "V", [sub("V"), sub("V")])
            if kind == "update_part":
                return Node("update_part", "V", [sub("V"), self.leaf(scope, "I"), sub("V"), self.leaf(scope, "I")])
            return Node("neg", "V", [sub("V")])
        kind = r.choice(["scale", "outer", "update_row", "matmul"])
        if kind == "scale":
            return Node("scale", "M", [sub("F"), sub("M")])
        if kind == "outer":
            return Node("outer", "M", [sub("V"), sub("V")])
        if kind == "update_row":
            return Node("update_row", "M", [sub("M"), sub("I", 2), sub("V")])
        return Node("matmul", "M", [sub("M"), sub("M")])

    def damped(self, scope, type, depth):
        """What a loop yields: mostly something that stays small."""
        e = self.expression(scope, type, depth)
        if type in "FVM" and e.kind != "name" and self.r.random() < 0.75:
            return Node("tanh", type, [e]) if type != "F" or self.r.random() < 0.5 else Node("sin", "F", [e])
        if type == "I" and e.kind not in ("name", "mod", "literal"):
            return Node("mod", "I", [e], 7)
        return e

    def block(self, scope, types, depth, loops, pin=()):
        """`pin`: results that are given."""
        scope = dict(scope)
        statements = []
        for _ in range(self.sized([0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1] if depth <= 0 else [0, 0, 1, 1, 1, 2])):
            statements += self.statement(scope, depth, loops)
        results = [pin[i] if i < len(pin) and pin[i] else self.damped(scope, t, 2) for i, t in enumerate(types)]
        return Block(statements, results)

    def states(self, scope):
        types = [self.r.choice("FFFFVVMIB") for _ in range(self.sized([1, 1, 1, 2], [1, 1, 2], [1, 1, 2, 2, 2, 3]))]
        if not any(t in "FVM" for t in types):
            types[0] = "F"
        # The same value in two states, and what several loops carry.
        inits = [self.pick(scope, t) or self.leaf(scope, t) if self.r.random() < 0.6 else self.damped(scope, t, 2) for t in types]
        return types, inits

    def statement(self, scope, depth, loops):
        r = self.r
        roll = r.random()
        if depth <= 0 or roll < 0.25:
            type = r.choice("FFFVVMIB")
            name = self.name("a")
            node = Let((name, type), self.expression(scope, type, 2))
            scope[name] = type
            return [node]
        if roll < 0.45:
            types = [r.choice("FFFVVMIB") for _ in range(r.choice([1, 1, 2]))]
            node = If([(self.name("b"), t) for t in types], self.expression(scope, "B", 2),
                      self.block(scope, types, depth - 1, loops), self.block(scope, types, depth - 1, loops))
            scope.update(node.names)
            return [node]
        multiple = [f for f in self.helpers if not f.function_parameter]
        if roll < 0.55 and multiple:
            callee = r.choice(multiple)
            node = Call([(self.name("c"), t) for t in callee.types], callee, [self.expression(scope, t, 2) for _, t in callee.parameters],
                        callee.types)
            scope.update(node.names)
            return [node]
        if loops <= 0:
            return []
        return [self.loop(scope, depth, loops)]

    def loop(self, scope, depth, loops):
        r = self.r
        types, inits = self.states(scope)
        form = r.choice(["for", "for", "up", "up", "down", "flag", "float", "both", "grow", "not_equal"])
        limit = Node("mod", "I", [self.expression(scope, "I", 2)], r.choice([3, 4, 6])) if r.random() < 0.7 else \
            Node("literal", "I", data=r.choice([0, 1, 2, 3, 4, 5, 9] if loops >= 2 else [0, 1, 2, 3, 4]))
        counter = self.name("i")
        states = [(self.name("s"), t) for t in types]
        inner = {**scope, **dict(states)}
        name = lambda n, t: Node("name", t, data=n)
        integer = lambda v: Node("literal", "I", data=v)
        if form == "for":
            first = self.leaf(scope, "I") if r.random() < 0.3 else integer(r.choice([0, 0, 1, -2]))
            first = Node("mod", "I", [first], 3) if first.kind == "name" else first
            body = self.block({**inner, counter: "I"}, types, depth - 1, loops - 1)
            self.rotate(body, states, types)
            node = Loop("for", [(self.name("r"), t) for t in types], states, inits, body, counter, first, limit, None, self.checkpoints())
            scope.update(node.names)
            return node
        types, states, inits = types + ["I"], states + [(counter, "I")], list(inits)
        inner[counter] = "I"
        step = r.choice([1, 1, 2, 3])
        at = name(counter, "I")
        if form == "down":
            inits.append(limit)
            condition = Node("compare", "B", [at, integer(0)], r.choice([">", ">"] if step > 1 else [">", ">", ">="]))
            advance = Node("-", "I", [at, integer(step)])
        else:
            inits.append(integer(0 if form == "grow" or form == "not_equal" else r.choice([0, 0, 1, -1])))
            condition = Node("compare", "B", [at, limit], "!=" if form == "not_equal" else r.choice(["<", "<", "<="]))
            if r.random() < 0.2 and form != "not_equal":
                flip = {"<": ">", "<=": ">="}[condition.data]
                condition = Node("compare", "B", [limit, at], flip)
            advance = Node("+", "I", [at, integer(1 if form == "not_equal" else step)] if r.random() < 0.7 else [integer(1 if form == "not_equal" else step), at])
            if form == "grow":
                advance = Node("+", "I", [Node("*", "I", [at, integer(2)]), integer(1)])
        pins = [None] * (len(types) - 1) + [advance]
        if form == "flag":
            flag = self.name("go")
            types, states = types + ["B"], states + [(flag, "B")]
            inner[flag] = "B"
            inits.append(Node("literal", "B", data=True) if r.random() < 0.7 else self.expression(scope, "B", 2))
            condition = Node("and", "B", [name(flag, "B"), condition] if r.random() < 0.5 else [condition, name(flag, "B")])
            pins.append(None)
        elif form == "both":
            extra = self.expression(inner, "B", 2)
            condition = Node("and", "B", [extra, condition] if r.random() < 0.5 else [condition, extra])
        elif form == "float":
            clock = self.name("h")
            types, states = types + ["F"], states + [(clock, "F")]
            inner[clock] = "F"
            inits.append(Node("literal", "F", data=0.0) if r.random() < 0.5 else self.damped(scope, "F", 2))
            condition = Node("compare", "B", [name(clock, "F"), Node("literal", "F", data=r.choice([0.75, 1.0, 2.0]))], "<")
            size = Node("literal", "F", data=0.375) if r.random() < 0.4 else \
                Node("+", "F", [Node("literal", "F", data=0.3125), Node("square", "F", [self.damped(inner, "F", 2)])])
            pins.append(Node("+", "F", [name(clock, "F"), size]))
        body = self.block(inner, types, depth - 1, loops - 1, pins)
        self.rotate(body, states, types, len(types) - sum(p is not None for p in pins[:-1] + pins[-1:]) if form != "flag" else len(types) - 2)
        node = Loop("while", [(self.name("r"), t) for t in types], states, inits, body, condition=condition, checkpoints=self.checkpoints())
        scope.update(node.names)
        return node

    def rotate(self, body, states, types, free=None):
        """Some loops swap their states."""
        free = len(types) if free is None else free
        for i in range(free):
            for j in range(i):
                if types[i] == types[j] and self.r.random() < 0.25:
                    body.results[i] = Node("name", types[j], data=states[j][0])
                    if self.r.random() < 0.5:
                        body.results[j] = Node("name", types[i], data=states[i][0])

    def helper(self, k):
        r = self.r
        prefix = f"p{self.number}_h{k}"
        if r.random() < 0.3:
            scope = {"x": "F", "y": "F", "v": "V", "n": "I"}
            body = self.block({**scope}, ["F"], 1, 1)
            own = self.name("q")
            # The function is called in a loop.
            states = [(self.name("s"), "F")]
            loop = Loop("for", [(own, "F")], states, [body.results[0]],
                        Block([], [Node("tanh", "F", [Node("apply", "F", [Node("name", "F", data=states[0][0])])])]),
                        self.name("i"), Node("literal", "I", data=0), Node("mod", "I", [Node("name", "I", data="n")], 4), None, self.checkpoints())
            tail = Node(r.choice(["+", "*"]), "F", [Node("name", "F", data=own), Node("apply", "F", [Node("name", "F", data="y")])])
            return Function(prefix, list(scope.items()), Block(body.statements + [loop], [tail]), ["F"], ("", ""), "f")
        # A tensor among them says what the size is.
        parameters = [("x", "F"), ("v", "V")] + [(n, t) for n, t in [("y", "F"), ("m", "M"), ("n", "I"), ("c", "B")] if r.random() < 0.6]
        if "n" not in dict(parameters):
            parameters.append(("n", "I"))
        types = r.choice([["F"], ["F"], ["V"], ["F", "V"], ["M", "F"], ["F", "I"]])
        body = self.block(dict(parameters), types, 1, 1)
        return Function(prefix, parameters, body, types, ("@checkpoint" if r.random() < 0.15 else "", "@checkpoint" if r.random() < 0.15 else ""))

    def program(self):
        r = self.r
        float_type = "F32" if r.random() < 0.1 else "F64"
        size = SIZE if r.random() < 0.5 else "N"
        for k in range(self.sized([0] * 9 + [1], [0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 2])):
            self.helpers.append(self.helper(k))
        parameters = [("x", "F"), ("y", "F"), ("v", "V"), ("m", "M"), ("n", "I"), ("c", "B")]
        scope = dict(parameters)
        statements = []
        deep = self.sized([1, 1, 1, 1, 1, 2], [1, 1, 1, 2], [2, 2, 2, 2, 2, 3])
        for _ in range(self.sized([0, 0, 0, 0, 1], [0, 0, 1], [0, 1, 1, 2])):
            statements += self.statement(scope, deep, deep)
        if not any(isinstance(s, Loop) for s in statements):
            statements.append(self.loop(scope, deep, deep))
        # Everything that was made counts.
        total = None
        for name, type in list(scope.items()):
            if type in "FVM" and (name not in ("x", "y", "v", "m") or r.random() < 0.3):
                term = Node("name", type, data=name)
                term = term if type == "F" else Node("sum", "F", [term])
                if r.random() < 0.4:
                    term = Node("*", "F", [term, self.pick(scope, "F")])
                total = term if total is None else Node("+", "F", [total, term])
        main = Function(f"p{self.number}", parameters, Block(statements, [total]), ["F"])
        numbers = np.random.RandomState(r.randrange(2**31))
        runs = []
        for _ in range(3):
            n = SIZE if size == SIZE else r.choice([1, 2, 3, 3])
            runs.append(dict(x=float(numbers.uniform(-1.5, 1.5)), y=float(numbers.uniform(-1.5, 1.5)),
                             v=numbers.uniform(-1.5, 1.5, n), m=numbers.uniform(-1, 1, (n, n)),
                             n=int(numbers.randint(0, 8)), c=bool(numbers.randint(2))))
        return Program(self.number, self.seed, float_type, size, self.helpers + [main], runs)


# Printing.

class Printer:
    def __init__(self, program, form):
        self.program, self.form = program, form
        size = program.size
        self.types = {"F": program.float_type, "V": f"tensor<{program.float_type}, [{size}]>",
                      "M": f"tensor<{program.float_type}, [{size}, {size}]>", "I": "I32", "B": "Bool"}

    def literal(self, value):
        return f"{value!r}" if value >= 0 else f"({value!r})"

    def e(self, n):
        k, a = n.kind, n.args
        if k == "name":
            return n.data
        if k == "literal":
            return {"F": lambda: self.literal(n.data), "I": lambda: self.literal(n.data), "B": lambda: str(n.data).lower()}[n.type]()
        if k == "zeros":
            return f"zeros({self.types[n.type][len('tensor<F64, '):-1]})"
        if k in ("+", "-", "*", "and", "or"):
            return f"({self.e(a[0])} {k} {self.e(a[1])})"
        if k == "/":
            return f"({self.e(a[0])} / (1.0 + {self.e(a[1])} * {self.e(a[1])}))"
        if k in ("min", "max"):
            return f"{k}({self.e(a[0])}, {self.e(a[1])})"
        if k in ("sin", "cos", "tanh", "transpose", "sum", "abs"):
            return f"{k}({self.e(a[0])})"
        if k == "sqrt":
            return f"sqrt(1.0 + {self.e(a[0])} * {self.e(a[0])})"
        if k == "exp":
            return f"exp(-({self.e(a[0])} * {self.e(a[0])}))"
        if k == "square":
            return f"({self.e(a[0])} ** 2)"
        if k == "neg":
            return f"(-{self.e(a[0])})"
        if k == "not":
            return f"(not {self.e(a[0])})"
        if k == "compare":
            left, right = (self.e(x) for x in a)
            if a[0].type == "F" and not (names_of(a[0]) or names_of(a[1])):
                left = f"cast({left}, {self.program.float_type})"
            return f"({left} {n.data} {right})"
        if k == "mod":
            return f"({self.e(a[0])} % {n.data})"
        if k == "if":
            return f"(if ({self.e(a[0])}) {{ {self.e(a[1])} }} else {{ {self.e(a[2])} }})"
        if k == "dot":
            return f"sum({self.e(a[0])} * {self.e(a[1])})"
        if k == "element":
            return f"{self.of(a[0])}[{self.index(a[1])}]"
        if k == "row":
            return f"{self.of(a[0])}[{self.index(a[1])}]"
        if k == "cast":
            return f"cast({self.e(a[0])}, {self.program.float_type})"
        if k == "part":
            i = self.index(a[2])
            return f"sum({self.of(a[0])}[{i} : {i} + 1] * {self.of(a[1])}[0:1])"
        if k == "scale":
            return f"({self.e(a[0])} * {self.e(a[1])})"
        if k == "update":
            return f"update({self.e(a[0])}, [{self.index(a[1])}], {self.e(a[2])})"
        if k == "update_row":
            return f"update({self.e(a[0])}, [{self.index(a[1])}, :], {self.e(a[2])})"
        if k == "update_part":
            i, j = self.index(a[1]), self.index(a[3])
            return f"update({self.e(a[0])}, [{i} : {i} + 1], {self.of(a[2])}[{j} : {j} + 1])"
        if k in ("matvec", "matmul"):
            return f"({self.e(a[0])} @ {self.e(a[1])})"
        if k == "outer":
            return f"(expand_dims({self.e(a[0])}, axis=1) * expand_dims({self.e(a[1])}, axis=0))"
        if k == "masked":
            left = self.e(a[0])
            return f"(if ({left} > 0.0) {{ {left} * {self.e(a[1])} }} else {{ {self.e(a[1])} }})"
        if k == "apply":
            return f"f({self.e(a[0])})"
        if k == "higher":
            callee, own = n.data
            return f"{callee.name}(fn({own}: {self.types['F']}) -> {self.types['F']} {{ {self.e(a[0])} }}, {', '.join(map(self.e, a[1:]))})"
        if k == "call":
            return f"{n.data.name}({', '.join(map(self.e, a))})"
        raise AssertionError(k)

    def of(self, n):
        return self.e(n) if n.kind == "name" else f"({self.e(n)})"

    def index(self, n):
        return f"({self.e(n)} % {self.program.size})"

    def names(self, names):
        if len(names) == 1:
            return f"let {names[0][0]}: {self.types[names[0][1]]}"
        return f"let ({', '.join(n for n, _ in names)})"

    def results(self, results):
        text = ", ".join(map(self.e, results))
        return text if len(results) == 1 else f"({text})"

    def block(self, block, indent):
        pad = "  " * indent
        lines = [pad + self.statement(s, indent) for s in block.statements] + [pad + self.results(block.results)]
        return "\n".join(lines)

    def statement(self, s, indent):
        pad = "  " * indent
        if isinstance(s, Let):
            return f"let {s.name[0]}: {self.types[s.name[1]]} = {self.e(s.value)};"
        if isinstance(s, If):
            return (f"{self.names(s.names)} = if ({self.e(s.condition)}) {{\n{self.block(s.then, indent + 1)}\n{pad}}} else {{\n"
                    f"{self.block(s.otherwise, indent + 1)}\n{pad}}};")
        if isinstance(s, Call):
            return f"{self.names(s.names)} = {s.callee.name}({', '.join(map(self.e, s.args))});"
        states = ", ".join(f"{n}: {self.types[t]} = {self.e(i)}" for (n, t), i in zip(s.states, s.inits))
        head = f"for ({s.counter} in {self.e(s.first)}..{self.e(s.end)})" if s.form == "for" else f"while ({self.e(s.condition)})"
        decorator = s.checkpoints[self.form]
        return (f"{decorator + ' ' if decorator else ''}{self.names(s.names)} = {head} [{states}] {{\n"
                f"{self.block(s.body, indent + 1)}\n{pad}}};")

    def function(self, f):
        own = [f"{f.function_parameter}: fn({self.types['F']}) -> {self.types['F']}"] if f.function_parameter else []
        parameters = ", ".join(own + [f"{n}: {self.types[t]}" for n, t in f.parameters])
        result = ", ".join(self.types[t] for t in f.types)
        decorator = f.checkpoints[self.form]
        return (f"{decorator + ' ' if decorator else ''}fn {f.name}({parameters}) -> {result if len(f.types) == 1 else f'({result})'} {{\n"
                f"{self.block(f.body, 1)}\n}}\n")

    def text(self):
        main = self.program.functions[-1]
        names = ", ".join(n for n, _ in main.parameters)
        passed = ", ".join(f"{n}: {'&' if t in 'VM' else ''}{self.types[t]}" for n, t in main.parameters)
        f, v, m = self.types["F"], self.types["V"], self.types["M"]
        return ("".join(self.function(f) for f in self.program.functions) +
                f"@export fn {main.name}_g({passed}) -> ({f}, {f}, {f}, {v}, {m}) {{\n"
                f"  value_and_grad({main.name}, wrt=(x, y, v, m))({names})\n}}\n")


def names_of(node):
    return node.kind in ("name", "apply", "call", "higher", "element", "sum", "dot", "cast", "part") or any(map(names_of, node.args))


# The interpreter.

def wrap(i):
    return (i + 2**31) % 2**32 - 2**31


class Interpreter:
    def __init__(self, program):
        self.program = program
        self.margin = 1e-9 if program.float_type == "F64" else 1e-3
        self.steps = 0

    def run(self, arguments):
        active = [arguments[n] for n in ("x", "y", "v", "m")]
        duals = D.inputs(*active)
        env = dict(arguments, **dict(zip(("x", "y", "v", "m"), duals)))
        self.size = len(arguments["v"])
        with np.errstate(all="ignore"):
            value = self.block(self.program.functions[-1].body, env)[0]
        if not isinstance(value, D.Dual):
            value = D.full(value, duals[0])
        limit = LARGEST[self.program.float_type]
        if not (np.isfinite(value.v) and np.all(np.isfinite(value.d)) and abs(value.v) < limit and np.max(np.abs(value.d)) < limit):
            raise LeftOut("huge")
        return [value.v, *D.split(value.d, active)]

    def tick(self):
        self.steps += 1
        if self.steps > STEPS:
            raise LeftOut("long")

    def order(self, a, b):
        """A comparison that a rounding error would decide proves nothing."""
        a, b = D.primal(a), D.primal(b)
        gap = np.abs(a - b)
        if np.any((gap > 0) & (gap < self.margin * np.maximum(1, np.abs(a)))) or not np.all(np.isfinite(gap)):
            raise LeftOut("fragile")

    def small(self, value):
        v = D.primal(value)
        if not np.all(np.abs(v) < LARGEST[self.program.float_type]):
            raise LeftOut("huge")
        return value

    def e(self, n, env):
        self.tick()
        k = n.kind
        if k == "name":
            return env[n.data]
        if k == "literal":
            return n.data
        if k == "if":
            return self.e(n.args[1 if self.e(n.args[0], env) else 2], env)
        if k == "and":
            return self.e(n.args[0], env) and self.e(n.args[1], env)
        if k == "or":
            return self.e(n.args[0], env) or self.e(n.args[1], env)
        if k == "zeros":
            return np.zeros((self.size,) * (1 if n.type == "V" else 2))
        if k == "higher":
            callee, own = n.data
            values = [self.e(x, env) for x in n.args[1:]]
            inner = dict(zip((p for p, _ in callee.parameters), values))
            inner["f"] = lambda t: self.e(n.args[0], {**env, own: t})
            return self.block(callee.body, inner)[0]
        a = [self.e(x, env) for x in n.args]
        if n.type == "I":
            if k == "mod":
                return a[0] % n.data
            return wrap({"+": lambda: a[0] + a[1], "-": lambda: a[0] - a[1], "*": lambda: a[0] * a[1]}[k]())
        if k == "+":
            return self.small(a[0] + a[1])
        if k == "-":
            return a[0] - a[1]
        if k == "*":
            return self.small(a[0] * a[1])
        if k == "/":
            return a[0] / (a[1] * a[1] + 1.0)
        if k in ("min", "max"):
            self.order(a[0], a[1])
            return (D.minimum if k == "min" else D.maximum)(a[0], a[1])
        if k in ("sin", "cos", "tanh"):
            return getattr(D, k)(a[0])
        if k == "abs":
            self.order(a[0], 0.0)
            return D.absolute(a[0])
        if k == "sqrt":
            return D.sqrt(a[0] * a[0] + 1.0)
        if k == "exp":
            return D.exp(-(a[0] * a[0]))
        if k == "square":
            return self.small(a[0] * a[0])
        if k == "neg":
            return -a[0]
        if k == "not":
            return not a[0]
        if k == "compare":
            if n.args[0].type == "F":
                self.order(a[0], a[1])
                a = [D.primal(x) for x in a]
            return bool({"<": a[0] < a[1], ">": a[0] > a[1], "<=": a[0] <= a[1], ">=": a[0] >= a[1], "==": a[0] == a[1],
                         "!=": a[0] != a[1]}[n.data])
        if k == "cast":
            return float(a[0])
        if k == "sum":
            return self.small(D.total(a[0]))
        if k == "dot":
            return self.small(D.total(a[0] * a[1]))
        if k in ("element", "row"):
            return D.take(a[0], a[1] % self.size)
        if k == "part":
            return D.take(a[0], a[2] % self.size) * D.take(a[1], 0)
        if k == "scale":
            return self.small(D.scale(a[0], a[1]))
        if k == "update":
            return D.put(a[0], a[1] % self.size, a[2])
        if k == "update_row":
            return D.put(a[0], a[1] % self.size, a[2])
        if k == "update_part":
            return D.put(a[0], a[1] % self.size, D.take(a[2], a[3] % self.size))
        if k == "matvec":
            return self.small(D.einsum("ij,j->i", a[0], a[1]))
        if k == "matmul":
            return self.small(D.einsum("ij,jk->ik", a[0], a[1]))
        if k == "outer":
            return self.small(D.einsum("i,j->ij", a[0], a[1]))
        if k == "transpose":
            return D.transpose(a[0])
        if k == "masked":
            self.order(a[0], 0.0)
            chosen = D.primal(a[0]) > 0
            return a[0] * a[1] * np.where(chosen, 1.0, 0.0) + a[1] * np.where(chosen, 0.0, 1.0)
        if k == "apply":
            return env["f"](a[0])
        if k == "call":
            return self.block(n.data.body, dict(zip((p for p, _ in n.data.parameters), a)))[0]
        raise AssertionError(k)

    def block(self, block, env):
        env = dict(env)
        for s in block.statements:
            self.statement(s, env)
        return [self.e(r, env) for r in block.results]

    def statement(self, s, env):
        if isinstance(s, Let):
            env[s.name[0]] = self.e(s.value, env)
            return
        if isinstance(s, If):
            values = self.block(s.then if self.e(s.condition, env) else s.otherwise, env)
        elif isinstance(s, Call):
            values = self.block(s.callee.body, dict(zip((p for p, _ in s.callee.parameters), [self.e(a, env) for a in s.args])))
        else:
            values = [self.e(i, env) for i in s.inits]
            names = [n for n, _ in s.states]
            if s.form == "for":
                for i in range(self.e(s.first, env), self.e(s.end, env)):
                    values = self.block(s.body, {**env, **dict(zip(names, values)), s.counter: i})
            else:
                while self.e(s.condition, {**env, **dict(zip(names, values))}):
                    self.tick()
                    values = self.block(s.body, {**env, **dict(zip(names, values))})
        for (name, _), value in zip(s.names, values):
            env[name] = value


# Running Kina.

class Kina:
    """The tools, with a folder of their own for files."""

    def __init__(self, build, work):
        self.bin, self.work = pathlib.Path(build) / "bin", work
        # Rubbish in new memory: what reads before it writes shows.
        self.environment = {**os.environ, "MALLOC_PERTURB_": "170"}
        work.mkdir(parents=True, exist_ok=True)

    def tool(self, *command, timeout=240):
        try:
            return subprocess.run([self.bin / command[0], *command[1:]], capture_output=True, text=True, timeout=timeout,
                                  env=self.environment)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", "it took more than four minutes")

    def run(self, programs, form, tape, plant=False):
        """{program number: [results of each run] or what went wrong}."""
        path = lambda suffix: self.work / f"f{form}{suffix}"
        path(".kina").write_text("\n".join(Printer(p, form).text() for p in programs))
        # Differentiation takes values, however many names use them: ownership is not asked for.
        step = self.tool("kina-translate", "--import-kina", path(".kina"), "-o", path(".surface.mlir"))
        if not step.returncode:
            step = self.tool("kina-opt", "--kina-elaborate", "--kina-verify-refinements", path(".surface.mlir"), "-o", path(".typed.mlir"))
        if step.returncode == 0:
            step = self.tool("kina-opt", f"--kina-ad={tape}", path(".typed.mlir"), "-o", path(".ad.mlir"))
        calls, keys = [], []
        if step.returncode == 0:
            if plant:
                path(".ad.mlir").write_text(plant(path(".ad.mlir").read_text()))
            for p in programs:
                kind = np.float64 if p.float_type == "F64" else np.float32
                for k, run in enumerate(p.runs):
                    arguments = {n: json.dumps(np.asarray(v, kind).astype(np.float64).tolist() if n in "xyvm" else v) for n, v in run.items()}
                    calls.append({"function": f"p{p.number}_g", "arguments": arguments,
                                  "out": [str(self.work / f"{form}.{p.number}.{k}.{i}.npy") for i in range(5)]})
                    keys.append((p, k))
            path(".json").write_text(json.dumps(calls))
            step = self.tool("kinac", "run", path(".ad.mlir"), "--batch", path(".json"), "--max-steps", "1000000", "-O0")
            lines = [json.loads(line) for line in step.stdout.splitlines() if line.startswith("{")]
        if not calls or len(lines) != len(calls):
            if len(programs) == 1:
                return {programs[0].number: f"compile: {(step.stderr.strip() or f'status {step.returncode}')[:1500]}"}
            half = len(programs) // 2
            return {**self.run(programs[:half], form, tape, plant), **self.run(programs[half:], form, tape, plant)}
        answers = {p.number: [] for p in programs}
        for (p, k), call, line in zip(keys, calls, lines):
            if line["status"]:
                answers[p.number] = f"call: {line.get('message', line['status'])}"
            elif isinstance(answers[p.number], list):
                answers[p.number].append([np.load(out) for out in call["out"]])
        return answers


def compare(program, references, first, second=None):
    """What is wrong: (kind, text), or None."""
    for form, answer in (("first", first), ("second", second)):
        if isinstance(answer, str):
            return answer.split(":")[0], f"{form} form: {answer}"
    tolerance = TOLERANCE[program.float_type]
    for k, (reference, got, again) in enumerate(zip(references, first, second or first)):
        gradients = np.concatenate([np.ravel(r) for r in reference[1:]])
        for what, g, r in zip(("value", "x", "y", "v", "m"), got, reference):
            scale = max(1.0, abs(float(reference[0])), float(np.max(np.abs(gradients))))
            if g.shape != np.shape(r) or not np.all(np.abs(g - r) <= tolerance * scale):
                return ("value" if what == "value" else "gradient",
                        f"run {k}, {what}: Kina {g.tolist()}, dual numbers {np.asarray(r).tolist()}")
        if any(a.tobytes() != b.tobytes() for a, b in zip(got, again)):
            return "bits", f"run {k}: {[a.tolist() for a in got]} in the first form, {[b.tolist() for b in again]} in the second"
    return None


# Shrinking.

def children(node):
    """The places of a tree where something smaller may stand: (get, candidates, set)."""
    if isinstance(node, Function):
        yield from children(node.body)
    elif isinstance(node, Block):
        for i, s in enumerate(node.statements):
            yield ("statement", node, i)
            yield from children(s)
        for i in range(len(node.results)):
            yield ("expression", node.results, i)
            yield from children(node.results[i])
    elif isinstance(node, Node):
        for i in range(len(node.args)):
            yield ("expression", node.args, i)
            yield from children(node.args[i])
    elif isinstance(node, Let):
        yield ("attribute", node, "value")
        yield from children(node.value)
    elif isinstance(node, If):
        yield ("attribute", node, "condition")
        yield from children(node.then)
        yield from children(node.otherwise)
    elif isinstance(node, Call):
        for i in range(len(node.args)):
            yield ("expression", node.args, i)
            yield from children(node.args[i])
    elif isinstance(node, Loop):
        yield ("loop", node, None)
        for i in range(len(node.inits)):
            yield ("expression", node.inits, i)
            yield from children(node.inits[i])
        for field in ("first", "end"):
            if getattr(node, field):
                yield ("attribute", node, field)
        yield from children(node.body)


def smaller(e):
    """Expressions of the same type that are simpler than `e`."""
    def inside(n, depth):
        for a in n.args:
            if a.type == e.type and n.kind != "higher":
                yield a
            elif depth < 3 and n.kind != "higher":
                yield from inside(a, depth + 1)
    if e.kind not in ("name", "literal"):
        if e.type == "F":
            yield Node("literal", "F", data=0.5)
        if e.type == "I":
            yield Node("literal", "I", data=1)
        if e.type == "B":
            yield Node("literal", "B", data=True)
            yield Node("literal", "B", data=False)
        if e.type in "FVMI":
            yield Node("name", e.type, data={"F": "x", "V": "v", "M": "m", "I": "n"}[e.type])
        yield from inside(e, 0)


def edits(program):
    """Functions that make a copy of the program smaller, one step each."""
    for k, f in enumerate(program.functions):
        yield lambda p, k=k: setattr(p.functions[k], "checkpoints", ("", "")) if p.functions[k].checkpoints != ("", "") else False
        for index, (kind, holder, key) in enumerate(children(f)):
            def at(p, k=k, index=index):
                return list(children(p.functions[k]))[index]
            if kind == "statement":
                s = holder.statements[key]

                def delete(p, at=at):
                    _, h, i = at(p)
                    del h.statements[i]
                yield delete

                def plain(p, at=at):
                    _, h, i = at(p)
                    s = h.statements[i]
                    defaults = {"F": Node("name", "F", data="x"), "V": Node("name", "V", data="v"), "M": Node("name", "M", data="m"),
                                "I": Node("name", "I", data="n"), "B": Node("literal", "B", data=True)}
                    if isinstance(s, Let):
                        return False
                    h.statements[i:i + 1] = [Let(n, defaults[n[1]]) for n in s.names]
                if not isinstance(s, Let):
                    yield plain
                if isinstance(s, If):
                    for arm in ("then", "otherwise"):
                        def choose(p, at=at, arm=arm):
                            _, h, i = at(p)
                            s = h.statements[i]
                            block = getattr(s, arm)
                            h.statements[i:i + 1] = block.statements + [Let(n, r) for n, r in zip(s.names, block.results)]
                        yield choose
            elif kind == "loop":
                def bare(p, at=at):
                    loop = at(p)[1]
                    if loop.checkpoints == ("", ""):
                        return False
                    loop.checkpoints = ("", "")
                yield bare
                for j in range(len(holder.states)):
                    if len(holder.states) > 1:
                        def drop(p, at=at, j=j):
                            loop = at(p)[1]
                            for field in ("names", "states", "inits"):
                                values = list(getattr(loop, field))
                                del values[j]
                                setattr(loop, field, values)
                            del loop.body.results[j]
                        yield drop
                if holder.form == "while":
                    def halve(p, at=at):
                        loop = at(p)[1]
                        if loop.condition.kind != "and":
                            return False
                        loop.condition = loop.condition.args[1]
                    yield halve
            else:
                e = holder[key] if kind == "expression" else getattr(holder, key)
                for number, _ in enumerate(smaller(e)):
                    def replace(p, at=at, number=number):
                        kind, h, i = at(p)
                        e = h[i] if kind == "expression" else getattr(h, i)
                        new = list(smaller(e))[number]
                        if kind == "expression":
                            h[i] = new
                        else:
                            setattr(h, i, new)
                    yield replace
    for k in range(len(program.functions) - 1):
        def remove(p, k=k):
            del p.functions[k]
        yield remove
    if len(program.runs) > 1:
        for k in range(len(program.runs)):
            yield lambda p, k=k: p.runs.__delitem__(slice(0, len(p.runs))) or p.runs.append(program.runs[k])


def size_of(program):
    return len(Printer(program, 0).text()) + len(Printer(program, 1).text()) + 100 * len(program.runs)


def shrink(kina, program, kind, forms, tries=40):
    import copy
    for _ in range(tries):
        candidates = []
        for edit in edits(program):
            new = copy.deepcopy(program)
            try:
                if edit(new) is not False and size_of(new) < size_of(program):
                    candidates.append(new)
            except (KeyError, IndexError):
                pass
        candidates.sort(key=size_of)
        for start in range(0, len(candidates), 24):
            some = candidates[start:start + 24]
            good = []
            for number, c in enumerate(some):
                try:
                    c.references = [Interpreter(c).run(run) for run in c.runs]
                except (LeftOut, KeyError, TypeError, AttributeError, IndexError, ZeroDivisionError, ValueError):
                    continue
                c.number = 100000 + number
                main = c.functions[-1]
                rename(c, f"p{c.number}")
                good.append(c)
            found = [c for c, what in judge(kina, good, forms) if what and what[0] == kind and
                     (kind != "compile" or "K0" not in what[1].split("\n")[0])]
            if found:
                program = found[0]
                break
        else:
            return program
    return program


def rename(program, prefix):
    for f in program.functions:
        f.name = re.sub(r"^p\d+", prefix, f.name)


def judge(kina, programs, forms, plant=None):
    if not programs:
        return []
    answers = [kina.run(programs, number, form, plant) for number, form in enumerate(forms)]
    return [(p, compare(p, p.references, *(a[p.number] for a in answers))) for p in programs]


def plant_wrong_rule(text):
    """Turns the last product of every reverse half into a sum: a rule that is wrong."""
    halves = re.split(r"(?=\n  kina\.func )", text)
    for k, half in enumerate(halves):
        if re.match(r"\n  kina\.func private @p\d+\.rev", half):
            at = half.rfind("= kina.mul ")
            if at >= 0:
                halves[k] = half[:at] + half[at:].replace("= kina.mul ", "= kina.add ", 1)
    return "".join(halves)


def make(seed, number, size, tally):
    """A program with the references of the runs that prove something."""
    program = Maker(seed, number, size).program()
    kind = np.float64 if program.float_type == "F64" else np.float32
    runs, program.references = program.runs, []
    program.runs = []
    for run in runs:
        try:
            rounded = {n: np.asarray(v, kind).astype(np.float64) if n in "xyvm" else v for n, v in run.items()}
            program.references.append(Interpreter(program).run(rounded))
            program.runs.append(run)
        except LeftOut as reason:
            tally[f"skipped: {reason}"] += 1
    return program


def run_batch(options, work, numbers):
    """Makes, compiles and compares programs. Returns a tally, and the text of what failed."""
    tally, lines = collections.Counter(), []
    r = random.Random(f"{options.seed}/forms/{numbers[0] // options.batch}")
    forms = r.sample(TAPES, options.forms or r.choice([1, 1, 2]))
    programs = [make(options.seed, number, options.size, tally) for number in numbers]
    tally["programs"] = len(programs)
    programs = [p for p in programs if p.runs]
    tally["compared"] = len(programs)
    tally["runs"] = sum(len(p.runs) for p in programs) * len(forms)
    kina = Kina(options.build, work)
    for program, what in judge(kina, programs, forms, plant_wrong_rule if options.plant else None):
        if not what:
            continue
        tally["failed"] += 1
        if options.plant:
            tally["found"] += what[0] == "gradient"
            continue
        lines.append(f"FAIL seed {options.seed}, program {program.number}, forms {forms}: {what[1]}")
        if options.no_shrink:
            continue
        number = program.number
        program = shrink(kina, program, what[0], forms)
        (_, what), = judge(kina, [program], forms)
        texts = dict.fromkeys(Printer(program, number).text() for number in range(len(forms)))
        lines.append(f"--- shrunk, of program {number}: {what[1] if what else 'no longer fails'}")
        lines += [f"--- in one form\n{text}" for text in texts]
        lines.append(f"--- runs {program.runs}")
    if not options.work:
        shutil.rmtree(work)
    return tally, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=("mixed", "tiny", "small", "large"), default="mixed")
    parser.add_argument("--forms", type=int, choices=(1, 2), help="of each batch (default: one or two)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="batches at a time")
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--only", type=int, help="the number of one program")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--failures", type=int, default=5, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no batch after so many")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the programs and do nothing")
    options = parser.parse_args()
    start = time.monotonic()
    numbers = range(options.programs) if options.only is None else [options.only]
    if options.print:
        for number in numbers:
            print(Printer(Maker(options.seed, number, options.size).program(), 0).text())
        return
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="kina-fuzz-"))
    tally = collections.Counter()

    def run(first):
        if tally["failed"] < options.failures or options.plant:
            if time.monotonic() - start < options.seconds:
                return run_batch(options, work / str(first), numbers[first:first + options.batch])
        return collections.Counter(), []

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for counts, lines in pool.map(run, range(0, len(numbers), options.batch)):
            before = tally["programs"]
            tally.update(counts)
            print(*lines, sep="\n", end="\n" if lines else "", flush=True)
            if before // 1000 != tally["programs"] // 1000:
                print(f"{tally['programs']} programs, {tally['failed']} failed, {time.monotonic() - start:.0f} s", flush=True)
    if not options.work:
        shutil.rmtree(work)
    skipped = {k: n for k, n in sorted(tally.items()) if k.startswith("skipped")}
    print(f"fuzz-ad: seed {options.seed}: {tally['programs']} programs, {tally['compared']} compared in {tally['runs']} runs, "
          f"{sum(skipped.values())} runs skipped {skipped}, {tally['failed']} failed, {time.monotonic() - start:.1f} s")
    if options.plant:
        print(f"planted a wrong rule: found in {tally['found']} of {tally['compared']} programs")
        sys.exit(0 if 2 * tally["found"] > tally["compared"] else 1)
    sys.exit(1 if tally["failed"] or not tally["compared"] else 0)


if __name__ == "__main__":
    main()
