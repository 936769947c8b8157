"""Random programs with effects, against Python's generators.

usage: effects.py SCRATCH COUNT [SEED] [--wrong]

Each program is written down twice as it is made up: as Kina, and as Python in which
`perform` is `yield` and a handler is a loop over a generator, which knows nothing of how
Kina lowers. The programs have state, logging and exits in nests of branches, loops,
functions and handlers. Values and derivatives are compared, the derivatives with dual
numbers. With --wrong one value is changed, which must be found.
"""

import json
import os
import random
import subprocess
import sys

import numpy as np

PRELUDE = '''
def handle(body, ret, cases):
    """Deep: the rest of the body runs under the handler again, its cases do not."""
    def go(value):
        try:
            operation, payload = body.send(value)
        except StopIteration as stop:
            return (yield from ret(stop.value))
        if operation in cases:
            return (yield from cases[operation](go, *payload))
        return (yield from go((yield operation, payload)))
    return (yield from go(None))

def perform(operation, *payload):
    return (yield operation, payload)
'''

EFFECTS = '''effect State:
  | Get: unit -> F64
  | Put: F64 -> unit
effect Exit:
  | Stop: F64 -> unit
  | Fail: (F64, F64) -> F64
effect Log:
  | Tell: F64 -> F64
'''
OPERATIONS = {"Get": 0, "Put": 1, "Stop": 1, "Fail": 2, "Tell": 1}


class Dual:
    """A number and its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other):
        other = dual(other)
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other):
        other = dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __lt__(self, other):
        return self.value < dual(other).value

    def __gt__(self, other):
        return self.value > dual(other).value

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return dual(other) - self


def dual(value):
    return value if isinstance(value, Dual) else Dual(value)


class Writer:
    """The two texts of a block, line by line."""

    def __init__(self, indent):
        self.kina, self.python, self.indent = [], [], indent

    def add(self, kina, python):
        self.kina.append("  " * self.indent + kina)
        self.python.append("  " * self.indent + python)


class Program:
    def __init__(self, seed, loops=False):
        self.random, self.loops = random.Random(seed), loops
        self.names = 0
        self.functions = []
        self.kina, self.python = [], []
        self.budget = 60

    def name(self, letter="v"):
        self.names += 1
        return f"{letter}{self.names}"

    # An expression is a pair of texts. `can` says where each operation may be performed:
    # "any", or "straight" where something may follow its resumption. What follows the
    # resumptions in nests of loops has no reverse mode, but tangents: with `loops` it is
    # there.

    def expr(self, scope, can, depth=2):
        pick = self.random.random()
        if depth and pick < 0.45:
            a, b = self.expr(scope, can, depth - 1), self.expr(scope, can, depth - 1)
            form = self.random.choice(["({} + {}) * 0.5", "{} - 0.5 * {}", "0.25 * {} * {} + 0.125"])
            return form.format(a[0], b[0]), form.format(a[1], b[1])
        performable = [op for op in can if op not in ("Put", "Stop")]
        if depth and pick < 0.65 and performable:
            op = self.random.choice(performable)
            args = [self.expr(scope, can, depth - 1) for _ in range(OPERATIONS[op])]
            return ("(perform {}({}))".format(op, ", ".join(a[0] for a in args)),
                    "(yield from perform({}))".format(", ".join([f"'{op}'"] + [a[1] for a in args])))
        callees = [name for name, effects in self.functions if all(can.get(op) == "any" for op in effects)]
        if depth and pick < 0.75 and callees:
            f, a = self.random.choice(callees), self.expr(scope, can, depth - 1)
            return f"{f}({a[0]})", f"(yield from {f}({a[1]}))"
        if scope and pick < 0.93:
            v = self.random.choice(scope)
            return v, v
        number = f"{self.random.uniform(0.1, 1.9):.3f}"
        return number, number

    def condition(self, scope, can):
        a = self.expr(scope, can, 1)
        bound = f"{self.random.uniform(0.2, 1.2):.4f}"
        sign = self.random.choice("<>")
        return f"{a[0]} {sign} {bound}", f"{a[1]} {sign} {bound}"

    def block(self, scope, can, indent, statements, kinds=("let", "if", "while", "handle", "do")):
        """Statements and then a value."""
        out, scope = Writer(indent), list(scope)
        for _ in range(statements):
            if self.budget <= 0:
                break
            self.budget -= 1
            kind = self.random.choice(kinds)
            if kind == "do":
                op = self.random.choice(["Put", "Stop"])
                if op not in can:
                    continue
                a = self.expr(scope, can, 1)
                if op == "Stop" and self.random.random() < 0.8:
                    c = self.condition(scope, can)
                    out.add(f"if ({c[0]}) {{ perform {op}({a[0]}) }};", f"if {c[1]}: yield from perform('{op}', {a[1]})")
                else:
                    out.add(f"perform {op}({a[0]});", f"yield from perform('{op}', {a[1]})")
                continue
            v = self.name()
            if kind == "let":
                e = self.expr(scope, can)
                out.add(f"let {v} = {e[0]};", f"{v} = {e[1]}")
            elif kind == "if":
                c = self.condition(scope, can)
                out.add(f"let {v} = if ({c[0]}) {{", f"if {c[1]}:")
                self.arm(out, scope, can, v)
                out.add("} else {", "else:")
                self.arm(out, scope, can, v)
                out.kina.append("  " * indent + "};")
            elif kind == "while":
                i, start = self.name("i"), self.expr(scope, can, 1)
                trips = self.random.randint(0, 4)
                inner = {op: how for op, how in can.items() if how == "any" or self.loops}
                out.add(f"let {v} = while ({i} < {trips}) [{v} = {start[0]}, {i} = 0] {{",
                        f"{v} = {start[1]}; {i} = 0")
                body, value = self.block(scope + [v], inner, indent + 1, self.random.randint(1, 3))
                out.python.append("  " * indent + f"while {i} < {trips}:")
                out.kina += body.kina
                out.python += body.python
                out.kina.append("  " * (indent + 1) + f"({value[0]}, {i} + 1)")
                out.python.append("  " * (indent + 1) + f"{v} = {value[1]}; {i} = {i} + 1")
                out.kina.append("  " * indent + "};")
            else:
                self.handle(out, scope, can, v, indent)
            scope.append(v)
        return out, self.expr(scope, can, 1)

    def arm(self, out, scope, can, v):
        body, value = self.block(scope, can, out.indent + 1, self.random.randint(0, 2))
        out.kina += body.kina + ["  " * (out.indent + 1) + value[0]]
        out.python += body.python + ["  " * (out.indent + 1) + f"{v} = {value[1]}"]

    def handle(self, out, scope, can, v, indent):
        """One handler of one or two effects, with the state in a variable."""
        r, body = self.name("r"), self.name("body")
        start = self.expr(scope, can, 1)
        out.add(f"let {r} = ref ({start[0]});", f"{r} = [{start[1]}]")
        cell = (f"!{r}", f"{r}[0]")
        inner, cases = dict(can), []
        chosen = self.random.sample(["State", "Exit", "Log"], self.random.randint(1, 2))
        # Cases see what is around the handler, and the variable; they run wherever the
        # operation is performed.
        outer, around = scope, {op: how for op, how in can.items() if how == "any"}

        def case(op, names, kina, python):
            cases.append((op, names, kina, python))

        def value(names, depth=1):
            a = self.expr(outer + names, around, depth)
            return a if self.random.random() < 0.6 else (f"({a[0]} + 0.5 * {cell[0]})", f"({a[1]} + 0.5 * {cell[1]})")

        def store(names):
            a = value(names)
            return f"{r} := {a[0]};", f"{r}[0] = {a[1]}"

        if "State" in chosen:
            inner["Get"] = inner["Put"] = "any"
            case("Get", [], f"k({cell[0]})", [f"return (yield from k({cell[1]}))"])
            if self.random.random() < 0.3:
                inner["Put"] = "straight"
                e = value(["a"])
                case("Put", ["a"], f"{{ {r} := a; let y = k(()); y * 0.5 + {e[0]} }}",
                     [f"{r}[0] = a", "y = yield from k(None)", f"return y * 0.5 + {e[1]}"])
            else:
                case("Put", ["a"], f"{{ {r} := a; k(()) }}", [f"{r}[0] = a", "return (yield from k(None))"])
        if "Exit" in chosen:
            inner["Stop"] = inner["Fail"] = "any"
            e, s = value(["a"]), store(["a"])
            if self.random.random() < 0.5:
                case("Stop", ["a"], f"{{ {s[0]} {e[0]} }}", [s[1], f"return {e[1]}"])
            else:
                c = self.condition(outer + ["a"], {})
                case("Stop", ["a"], f"if ({c[0]}) {{ {s[0]} {e[0]} }} else {{ k(()) }}",
                     [f"if {c[1]}:", f"  {s[1]}", f"  return {e[1]}", "else: return (yield from k(None))"])
            e, c = value(["a", "b"]), self.condition(outer + ["a", "b"], {})
            case("Fail", ["a", "b"], f"{{ let z = {e[0]}; if ({c[0]}) {{ k(z + a) }} else {{ z - b }} }}",
                 [f"z = {e[1]}", f"if {c[1]}: return (yield from k(z + a))", "return z - b"])
        if "Log" in chosen:
            e, s = value(["a"]), store(["a"])
            style = self.random.choice(["tail", "post", "branch"])
            inner["Tell"] = "any" if style == "tail" else "straight"
            if style == "tail":
                case("Tell", ["a"], f"{{ {s[0]} k({e[0]}) }}", [s[1], f"return (yield from k({e[1]}))"])
            elif style == "post":
                f = value(["a", "y"])
                case("Tell", ["a"], f"{{ let y = k({e[0]}); {s[0]} 0.5 * y + {f[0]} }}",
                     [f"y = yield from k({e[1]})", s[1], f"return 0.5 * y + {f[1]}"])
            else:
                c = self.condition(outer + ["a"], {})
                case("Tell", ["a"], f"{{ let y = if ({c[0]}) {{ k({e[0]}) }} else {{ k(a) + 1.0 }}; {s[0]} y * 0.5 }}",
                     [f"if {c[1]}: y = yield from k({e[1]})", "else: y = (yield from k(a)) + 1.0", s[1],
                      "return y * 0.5"])
        text, result = self.block(scope, inner, indent + 1, self.random.randint(1, 3))
        end = value(["x"])
        out.kina.append("  " * indent + f"let {v} = handle {{")
        out.kina += text.kina + ["  " * (indent + 1) + result[0], "  " * indent + "} with {",
                                 "  " * (indent + 1) + f"return(x) => {end[0]},"]
        pad = "  " * indent
        out.python += [pad + f"def {body}():"]
        out.python += text.python + [pad + f"  return {result[1]}", pad + "  yield",
                                     pad + f"def {body}_return(x):", pad + f"  return {end[1]}", pad + "  yield"]
        for op, names, kina, python in cases:
            out.kina.append("  " * (indent + 1) + f"{op}({', '.join(names)}), k => {kina},")
            out.python += [pad + f"def {body}_{op}({', '.join(['k'] + names)}):"]
            out.python += [pad + "  " + line for line in python] + [pad + "  yield"]
        out.kina.append("  " * indent + "};")
        table = ", ".join(f"'{op}': {body}_{op}" for op, *_ in cases)
        out.python.append(pad + f"{v} = yield from handle({body}(), {body}_return, {{{table}}})")

    def function(self, name, can, statements, kinds, exported=False):
        text, value = self.block(["x"], can, 1, statements, kinds)
        self.kina += [f"{'@export ' if exported else ''}fn {name}(x: F64) -> F64 {{"] + text.kina + [f"  {value[0]}", "}"]
        self.python += [f"def {name}(x):"] + text.python + [f"  return {value[1]}", "  yield"]

    def write(self, tag):
        kinds = ["let", "if", "while", "handle", "do"]
        for index in range(self.random.randint(0, 2)):
            self.budget = 8
            effects = self.random.sample(list(OPERATIONS), self.random.randint(0, 3))
            self.function(f"f{tag}_{index}", dict.fromkeys(effects, "any"), self.random.randint(1, 3), kinds)
            self.functions.append((f"f{tag}_{index}", effects))
        self.budget = 25
        self.main = f"main{tag}"
        self.function(self.main, {}, self.random.randint(2, 4), ["handle", "handle", "if", "let", "while"])


def evaluate(program, x):
    scope = {}
    exec(PRELUDE + "\n".join(program.python), scope)
    generator = scope[program.main](Dual(x, 1.0))
    try:
        operation, _ = next(generator)
    except StopIteration as stop:
        return dual(stop.value)
    raise RuntimeError(f"{operation} is not handled")


def main():
    scratch, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3].isdigit() else 1
    wrong = "--wrong" in sys.argv
    os.makedirs(scratch, exist_ok=True)
    bad = 0
    # Modules of some programs each, so that one compilation serves many.
    points = (0.3, 0.9, 1.7)
    for first in range(0, count, 25):
        programs, loops = [], first // 25 % 2 == 1
        for index in range(first, min(first + 25, count)):
            programs.append(Program(seed * 1000003 + index, loops))
            programs[-1].write(index)
        path = os.path.join(scratch, f"programs{first}.kina")
        lines = [line for program in programs for line in program.kina]
        names = [program.main for program in programs]
        lines += [f"@export fn all(x: F64) -> tensor<F64, [2, {len(programs)}]> {{",
                  "  [[" + ", ".join(f"{name}(x)" for name in names) + "],",
                  "   [" + ", ".join(f"jvp({name}, x)(1.0)" if loops else f"grad({name})(x)" for name in names) + "]]", "}"]
        with open(path, "w") as file:
            file.write(EFFECTS + "\n".join(lines) + "\n")
        outs = [os.path.join(scratch, f"out{first}.{k}.npy") for k in range(len(points))]
        batch = os.path.join(scratch, f"calls{first}.json")
        with open(batch, "w") as file:
            json.dump([{"function": "all", "arguments": {"x": str(x)}, "out": [out]} for x, out in zip(points, outs)], file)
        result = subprocess.run(["kinac", "run", path, "--batch", batch], capture_output=True, text=True)
        if result.returncode:
            print(f"{path}: does not run\n{result.stderr[:4000]}")
            bad += 1
            continue
        for x, out in zip(points, outs):
            answers = [evaluate(program, x) for program in programs]
            got, want = np.load(out), np.array([[a.value for a in answers], [a.slope for a in answers]])
            if wrong and first == 0 and x == points[0]:
                want[:, 0] += 1e-6
            for row, k in np.argwhere(~(np.abs(got - want) <= 1e-11 * np.maximum(1, np.abs(want)))):
                what = f"{names[k]}({x})" if row == 0 else f"grad({names[k]})({x})"
                print(f"{path}: {what} is {got[row, k]}, not {want[row, k]}")
                bad += 1
    print(f"{count} programs, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
