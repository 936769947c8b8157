#!/usr/bin/env python3
"""Random Kina source against the compiler, from the text to LLVM.

  fuzz-source.py [--programs N] [--seed S] [--build DIR] [--only K] [--growth N]
  fuzz-source.py --libfuzzer SECONDS [--build DIR]

Makes programs that are nearly right: shapes that fit, calls, branches, loops, derivatives and
effects, and in some of them one thing that does not fit. kina-replay-source takes all of them,
and changed ones, through every stage: no crash, every error with a code and a place in the text,
both printers read back, no invalid form in between. A sample goes through the tools: `kinac check`
and kina-opt agree, exit codes are 0 and 1, neither time nor memory is excessive. Then programs of
one kind of part, repeated n, 2n and 4n times, show that time grows little faster than the text.

--libfuzzer runs kina-fuzz-source of a build of the preset `fuzz`, from the programs of the tests.
"""

import argparse
import hashlib
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = ["test/Fuzz/Inputs", "test/Inputs", "test/Target/Surface", "test/Transforms/Elaborate", "examples"]
SECONDS, MEBIBYTES, EXPONENT = 5, 1024, 1.6


class Maker:
    """One program. A type is the text of an element type and a tuple of sizes, in normal form."""

    def __init__(self, seed, number):
        self.r = random.Random(f"{seed}/{number}")
        self.float = self.r.choice(["F64", "F64", "F32", "BF16", "F16"])
        self.names = 0
        self.functions = []
        self.wrong = self.r.random() < 0.4
        self.effect = False

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def chance(self, probability):
        return self.r.random() < probability

    def size(self):
        return self.r.choice(["N", "M", "N", "M", "K", "2", "3", "1", "N + 1", "2 * M", "N * M"])

    def shape(self, rank=None):
        return tuple(self.size() for _ in range(self.r.choice([0, 1, 1, 2, 2, 3]) if rank is None else rank))

    def spell(self, shape, element=None):
        element = element or self.float
        return element if not shape else f"tensor<{element}, [{', '.join(shape)}]>"

    def literal(self):
        return self.r.choice(["0.5", "2.0", "1.0", "-1.5", "3.0"])

    def expression(self, scope, shape, depth):
        """Of the element type of this program."""
        r = self.r
        if self.wrong and self.chance(0.04):
            shape = self.shape()
            if self.chance(0.2):
                return r.choice(["nowhere", '"text"', "()", "(1, 2)", "x[", "1 2", "@host", "9" * 30, "true", "fn(a) { a }"])
        fitting = [n for n, s in scope.items() if s == shape]
        if depth <= 0 or self.chance(0.15):
            if fitting and self.chance(0.9):
                return r.choice(fitting)
            return self.literal() if not shape else f"{r.choice(['zeros', 'ones'])}<{self.float}>([{', '.join(shape)}])"
        sub = lambda s: self.expression(scope, s, depth - 1 - (r.random() < 0.4))
        kinds = ["binary", "binary", "unary", "scaled", "if", "block"]
        kinds += ["loop", "call", "call", "grad", "handle"] if depth > 1 else []
        if not shape:
            kinds += ["sum", "sum", "dot", "element", "size"]
        else:
            kinds += ["reduce", "broadcast", "mask", "reshape", "update", "cast"]
            kinds += ["transpose", "matmul", "row"] if len(shape) >= 2 else ["outer"]
            kinds += ["concat", "slice"]
        kind = r.choice(kinds)
        if kind == "binary":
            return f"({sub(shape)} {r.choice(['+', '-', '*', '/', '+', '*'])} {sub(shape)})"
        if kind == "unary":
            function = r.choice(["sin", "exp", "tanh", "abs", "sqrt", "relu", "neg", "sigmoid"])
            return f"{function}({sub(shape)})" if self.chance(0.7) else f"({sub(shape)}).{function}()"
        if kind == "scaled":
            return f"({sub(shape)} * {sub(())})" if self.chance(0.5) else f"max({sub(shape)}, {sub(shape)})"
        if kind == "if":
            return f"(if ({self.condition(scope, depth)}) {{ {sub(shape)} }} else {{ {sub(shape)} }})"
        if kind == "block":
            return f"({{ {self.body(scope, shape, depth - 1)} }})"
        if kind == "loop":
            return f"({self.loop(scope, shape, depth - 1)})"
        if kind == "call":
            return self.call(scope, shape, depth - 1) or sub(shape)
        if kind == "grad":
            return self.derivative(scope, shape, depth - 1) or sub(shape)
        if kind == "handle":
            self.effect = True
            payload, v, k = sub(()), self.name("v"), self.name("k")
            case = f"{k}({v} + 1.0)" if self.chance(0.7) else sub(shape)
            inner = dict(scope)
            bound = self.name("p")
            inner[bound] = ()
            return (f"(handle {{ let {bound} = perform Ask({payload}); {self.expression(inner, shape, depth - 1)} }} "
                    f"with {{ return(q) => q, Ask({v}), {k} => {case} }})")
        if kind == "sum":
            return f"{r.choice(['sum', 'mean', 'max', 'norm'])}({sub(self.shape(r.choice([1, 2])))})"
        if kind == "dot":
            size = (self.size(),)
            return f"dot({sub(size)}, {sub(size)})"
        if kind == "element":
            return f"({sub((self.size(),))})[0]"
        if kind == "size":
            return f"cast({r.choice(['N', 'M', 'N + M', 'N * M'])}, {self.float})"
        axis = r.randrange(len(shape)) if shape else 0
        if kind == "reduce":
            axis = r.randrange(len(shape) + 1)
            return f"sum({sub(shape[:axis] + (self.size(),) + shape[axis:])}, axis={axis})"
        if kind == "broadcast":
            return f"broadcast({sub(shape[r.randrange(len(shape)):])}, [{', '.join(shape)}])"
        if kind == "mask":
            return f"select({sub(shape)} {r.choice(['<', '>', '==', '>='])} {sub(shape)}, {sub(shape)}, {sub(shape)})"
        if kind == "reshape":
            return f"reshape({sub(tuple(reversed(shape)))}, [{', '.join(shape)}])"
        if kind == "update":
            index = ", ".join("0" if i == axis else ":" for i in range(len(shape)))
            return f"update({sub(shape)}, [{index}], {sub(shape[:axis] + shape[axis + 1:])})"
        if kind == "cast":
            return f"cast(cast({sub(shape)}, {r.choice(['F64', 'F32', 'I32'])}), {self.float})"
        if kind == "transpose":
            order = list(range(len(shape)))
            r.shuffle(order)
            source = [None] * len(shape)
            for to, at in enumerate(order):
                source[at] = shape[to]
            return f"transpose({sub(tuple(source))}, [{', '.join(map(str, order))}])"
        if kind == "matmul":
            size = self.size()
            return f"({sub(shape[:-1] + (size,))} @ {sub((size, shape[-1]))})"
        if kind == "row":
            return f"expand_dims({sub(shape[:axis] + shape[axis + 1:])}, {axis})" if shape[axis] == "1" else sub(shape)
        if kind == "outer":
            return f"({sub((shape[0], '2'))} @ {sub(('2',))})"
        if kind == "concat" and shape[axis] == "N + 1":
            ends = [shape[:axis] + (part,) + shape[axis + 1:] for part in ("N", "1")]
            return f"concat([{sub(ends[0])}, {sub(ends[1])}], axis={axis})"
        bounds = {"N": ("N + 1", "1:N + 1"), "M": ("2 * M", "M:2 * M"), "2": ("3", "0:2")}.get(shape[axis])
        if kind == "slice" and bounds:
            index = ", ".join(bounds[1] if i == axis else ":" for i in range(len(shape)))
            return f"({sub(shape[:axis] + (bounds[0],) + shape[axis + 1:])})[{index}]"
        return sub(shape)

    def condition(self, scope, depth):
        left = self.expression(scope, (), depth - 2)
        text = f"{left} {self.r.choice(['<', '>', '<=', '!='])} {self.expression(scope, (), 0)}"
        return f"{text} {self.r.choice(['and', 'or'])} N > {self.r.randrange(4)}" if self.chance(0.2) else text

    def loop(self, scope, shape, depth):
        a, b, i = self.name("a"), self.name("b"), self.name("i")
        other = self.shape()
        inner = {**scope, a: shape, b: other}
        inits = f"[{a} = {self.expression(scope, shape, depth - 1)}, {b} = {self.expression(scope, other, 0)}]"
        body = f"({self.expression(inner, shape, depth - 1)}, {self.expression(inner, other, depth - 2)})"
        mark = self.r.choice(["", "", "@checkpoint ", "@checkpoint(k=2) "])
        head = f"for ({i} in 0..{self.r.choice(['3', 'N', 'M'])}) {inits}" if self.chance(0.6) else \
            f"while ({self.condition(inner, 1)}) {inits}"
        return f"{{ {mark}let ({a}, _) = {head} {{ {body} }}; {a} }}"

    def call(self, scope, shape, depth):
        fitting = [f for f in self.functions if f[2] == shape]
        if not fitting:
            return None
        name, params, _ = self.r.choice(fitting)
        return f"{name}({', '.join(self.expression(scope, s, depth - 1) for s in params)})"

    def derivative(self, scope, shape, depth):
        fitting = [(f, i) for f in self.functions if f[2] == () for i, s in enumerate(f[1]) if s == shape]
        if not fitting:
            return None
        (name, params, _), index = self.r.choice(fitting)
        args = [self.expression(scope, s, depth - 2) for s in params]
        wrt = f"wrt=p{index}"
        form = self.r.randrange(4)
        if form == 0:
            return f"value_and_grad({name}, {wrt})({', '.join(args)}).1"
        if form == 1:
            return f"vjp({name}, {', '.join(args)}, {wrt})({self.literal()})"
        if form == 2 and shape == ():
            return f"jvp({name}, {', '.join(args)}, {wrt})({self.literal()})"
        return f"grad({name}, {wrt})({', '.join(args)})"

    def body(self, scope, shape, depth):
        scope, text = dict(scope), ""
        for _ in range(self.r.randrange(4)):
            roll = self.r.random()
            if roll < 0.08:
                text += f"check {self.r.choice(['N >= 1', 'M <= M + N', 'N * M >= N'])}; "
            elif roll < 0.12:
                text += f"assume {self.r.choice(['N <= M', '2 | M', 'N = 3'])}; "
            elif roll < 0.25:
                name, argument = self.name("g"), self.name("y")
                inner = self.shape()
                text += f"let {name} = fn({argument}: {self.spell(inner)}) {{ {self.expression({**scope, argument: inner}, (), depth - 1)} }}; "
                value = self.name("x")
                text += f"let {value} = {name}({self.expression(scope, inner, depth - 1)}); "
                scope[value] = ()
            else:
                name, inner = self.name("x"), self.shape()
                mark = f": {self.spell(inner)}" if self.chance(0.3) else ""
                text += f"let {name}{mark} = {self.expression(scope, inner, depth)}; "
                scope[name] = inner
        return text + self.expression(scope, shape, depth)

    def program(self):
        items = []
        for index in range(self.r.choice([1, 2, 2, 3, 4])):
            params = [self.shape() for _ in range(self.r.choice([1, 2, 2, 3]))]
            # Sizes that are no names are solved from these two.
            scope = {f"p{i}": s for i, s in enumerate(params)}
            result = () if self.chance(0.5) else self.shape()
            scope.update({"u": ("N",), "w": ("M",), "z": ("K",)})
            params += [("N",), ("M",), ("K",)]
            depth = self.r.choice([2, 3, 3, 4])
            text = ", ".join(f"{n}: {self.spell(s)}" for n, s in scope.items())
            clause = self.r.choice(["", "", " requires N >= 2", " requires N <= M, M <= 100", " requires 2 | N requires M = N + 1"])
            name = f"f{index}"
            items.append(f"fn {name}({text}) -> {self.spell(result)}{clause} {{\n  {self.body(scope, result, depth)}\n}}\n")
            self.functions.append((name, params, result))
        if self.effect:
            items.insert(0, f"effect Ask_: | Ask: {self.float} -> {self.float}\n")
        return "".join(items)


def growing(n):
    """Programs of n parts of one kind."""
    vectors = ", ".join(f"x{i}: tensor<F64, [N{i}]>" for i in range(n))
    body = lambda text: "fn f(x: tensor<F64, [N]>, y: tensor<F64, [M]>) -> F64 {\n" + text + "  sum(x)\n}\n"
    each = lambda text: "".join("  " + text.replace("#", str(i)) + "\n" for i in range(n))
    return {
        "functions": "".join(f"fn f{i}(x: tensor<F64, [N, M]>) -> tensor<F64, [N, M]> {{ x * 2.0 + sin(x) }}\n" for i in range(n)),
        "calls": "fn g(x) { x + 1.0 }\n" + body(each("let x = g(x);")),
        "statements": body(each("let z# = x + x;")),
        "open literals": body(each("let z# = # + 1;")),
        "branches": body(each("let x = if (N > #) { x + 1.0 } else { x };")),
        "loops": body(each("let x = for (i in 0..3) [x = x] { x + 1.0 };")),
        "reshapes": body(each("let z# = reshape(x + 1.0, [1, N]);")),
        "slices": body(each("let z# = x[0:1];")),
        "checks": body(each("check N <= M + #;")),
        "sizes": body(each("let dim D# = N + #;")),
        "errors": body(each("let z# = x + y;")),
        "unknown": body(each("let z# = nowhere#;")),
        "wrong text": each("fn f# ( -> { x )"),
        "parameters": f"fn f({vectors}) -> F64 {{ sum(x0) }}\n",
        "concat": f"fn f({vectors}) -> F64 {{ sum(concat([{', '.join(f'x{i}' for i in range(n))}], axis=0)) }}\n",
        "members": "fn f(x: F64) -> F64 { let t = (" + "x, " * n + f"x); t.{n} }}\n",
        "elements": "fn f(x: F64) -> F64 { sum([" + "x, " * n + "x]) }\n",
        "globals": "".join(f"let a{i}: F64 = {f'a{i - 1}' if i else '1.0'} + 1.0;\n" for i in range(n)) + f"fn f() -> F64 {{ a{n - 1} }}\n",
        "performs": "effect E: | Op: F64 -> F64\nfn g(x: F64) -> F64 !{E} {\n" + each("let x = perform Op(x);")
                    + "  x\n}\nfn f(x: F64) -> F64 { handle g(x) with { return(y) => y, Op(v), k => k(v + 1.0) } }\n",
        "brackets": "fn f() -> F64 { " + "(" * n, "strings": '"' * n, "decorators": "@a " * n, "comparisons": "fn f() { " + "a < b > " * n,
    }


def run(command):
    """Exit status, processor seconds, MiB, and what was written."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10, out.read().decode("utf-8", "replace")


class Tools:
    def __init__(self, build):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.failures = 0

    def fail(self, what):
        self.failures += 1
        print(what, flush=True)

    def checked(self, path, command):
        command = [str(part) for part in command]
        status, seconds, memory, text = run(["timeout", "60", *command])
        if status not in (0, 1) or "K0900" in text or "K0901" in text:
            self.fail(f"{path}: {' '.join(command)} ends with {status}\n{text[-2000:]}")
        if seconds > SECONDS or memory > MEBIBYTES:
            self.fail(f"{path}: {' '.join(command)} takes {seconds:.1f} s and {memory} MiB")
        return status, text

    def compare(self, path):
        """What kinac says of a program, and what the passes say."""
        status, text = self.checked(path, [self.bin / "kinac", "check", path])
        surface = path.with_suffix(".mlir")
        elaborated, also = self.checked(path, [self.bin / "kina-translate", "--import-kina", path, "-o", surface])
        if elaborated == 0:
            elaborated, also = self.checked(path, [self.bin / "kina-opt", "--kina-elaborate", "--kina-check-ownership", "--kina-verify-refinements",
                                                                 surface, "-o", os.devnull])
        codes = [sorted(re.findall(r"error(?:\[|: )(K\d{4})", t)) for t in (text, also)]
        # kinac goes on with what has no error, so it may say more.
        if status != elaborated or not set(codes[1]) <= set(codes[0]):
            self.fail(f"{path}: kinac check ends with {status} {codes[0]}, the passes with {elaborated} {codes[1]}")
        if status == 0:
            self.checked(path, [self.bin / "kinac", "--emit=llvm", path, "-o", os.devnull])
        return status == 0


def fuzz(args):
    tools = Tools(args.build)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        numbers = [args.only] if args.only is not None else range(args.programs)
        paths = []
        for number in numbers:
            paths.append(folder / f"{number:06}.kina")
            paths[-1].write_text(Maker(args.seed, number).program())
            if args.only is not None:
                print(paths[-1].read_text())
        for stage, mutations in (("llvm", 0), ("ad", len(paths))):
            status, _, memory, text = run([str(tools.bin / "kina-replay-source"), f"--stage={stage}", f"--mutations={mutations}",
                                           f"--seed={args.seed}", "--keep-going", "--slow=5", str(folder)])
            print(text[-6000:].strip().replace(str(folder), "program"))
            if status != 0:
                tools.fail(f"kina-replay-source --stage={stage} ends with {status}")
        sample = paths[::max(1, len(paths) // 40)]
        accepted = sum(tools.compare(path) for path in sample)
        print(f"{len(sample)} programs through the tools, {accepted} accepted")
        if args.growth:
            grow(tools, folder, args.growth)
    print(f"{tools.failures} failures")
    return 1 if tools.failures else 0


def grow(tools, folder, n):
    path = folder / "growing.kina"

    def seconds(text, command):
        path.write_text(text)
        return min(run([str(tools.bin / "kinac"), *command, str(path)])[1] for _ in range(2))

    base = seconds("fn f() -> F64 { 1.0 }", ["check"])
    for kind in growing(1):
        # MLIR's bufferization compares all reads and writes of one buffer, each with each.
        last = "linalg" if kind in ("loops", "concat") else "llvm"
        for command in (["check"], [f"--emit={last}", "-o", os.devnull]):
            times = [max(seconds(growing(m)[kind], command) - base, 0.001) for m in (n, 2 * n, 4 * n)]
            exponent = math.log2(times[2] / times[1])
            if exponent > EXPONENT and times[2] > 0.5:
                tools.fail(f"{n}, {2 * n}, {4 * n} {kind}, {command[0]}: {', '.join(f'{t:.2f} s' for t in times)}, exponent {exponent:.1f}")


def libfuzzer(args):
    work = pathlib.Path(args.build) / "source"
    seeds, found, corpus = work / "seeds", work / "found", work / "corpus"
    for folder in (seeds, found, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    for folder in SEEDS:
        for path in sorted((ROOT / folder).rglob("*.kina")):
            for part in path.read_text(errors="replace").split("// -----\n"):
                (seeds / hashlib.sha256(part.encode()).hexdigest()[:16]).write_text(part)
    command = [str(pathlib.Path(args.build) / "bin" / "kina-fuzz-source"), f"-max_total_time={args.libfuzzer}", "-timeout=10",
               "-rss_limit_mb=2048", "-max_len=8192", "-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={found}/",
               str(corpus), str(seeds)]
    status = subprocess.run(command).returncode
    print(f"corpus in {corpus}; what fails lies in {found}")
    return 1 if status else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default=str(ROOT / "build" / "dev"))
    parser.add_argument("--only", type=int, help="the program of this number, which is printed")
    parser.add_argument("--growth", type=int, default=0, metavar="N", help="also time programs of N, 2 N and 4 N parts")
    parser.add_argument("--libfuzzer", type=int, metavar="SECONDS")
    args = parser.parse_args()
    return libfuzzer(args) if args.libfuzzer else fuzz(args)


if __name__ == "__main__":
    sys.exit(main())
