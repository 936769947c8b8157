"""Random nests of loops and branches over tensors, run by kinac and by plain Python.

usage: random_loops.py DIRECTORY COUNT SEED

Writes one module of COUNT functions. Loops swap, duplicate, rotate, overwrite in part, capture and
drop what they carry, start from carried tensors, and run for any number of iterations, zero
included. The values must agree with those of NumPy, and no loop may allocate.
"""

import json
import pathlib
import random
import subprocess
import sys

import numpy as np

import kina_typed

TENSOR = "tensor<F64, [N]>"


class Generator:
    """Writes a function in both languages; an expression is a pair of their texts."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def expression(self, tensors):
        a, b = self.random.choice(tensors), self.random.choice(tensors)
        return self.random.choice([
            (a, a),
            (a, a),
            (f"{a} * 0.5", f"{a} * 0.5"),
            (f"{a} * 0.5 + {b}", f"{a} * 0.5 + {b}"),
            (f"{a} - {b}[1]", f"{a} - {b}[1]"),
            (f"tanh({a})", f"np.tanh({a})"),
            (f"update({a}, [0:1], {b}[1:2])", f"update({a}, {b})"),
            ("zeros<F64>([N])", "np.zeros(len(x))"),
        ])

    def condition(self, tensors, counters):
        if self.random.random() < 0.5:
            return f"{self.random.choice(counters)} % 2 == {self.random.randint(0, 1)}"
        return f"{self.random.choice(tensors)}[0] < {self.random.uniform(-1, 2):.2f}"

    def results(self, tensors, count):
        """What a block yields: often a tensor just made or carried as it is."""
        recent = tensors[-4:]
        return [self.expression(tensors) if self.random.random() < 0.4 else
                (self.random.choice(recent),) * 2 for _ in range(count)]

    def block(self, tensors, counters, depth, count):
        """Lines of both languages and `count` results."""
        tensors = list(tensors)
        kina, python = [], []
        for _ in range(self.random.randint(depth == 0, 3)):
            kind = self.random.random()
            if kind < 0.35 or depth == 3:
                name = self.fresh("t")
                value = self.expression(tensors)
                kina.append(f"let {name} = {value[0]};")
                python.append(f"{name} = {value[1]}")
                names = [name]
            elif kind < 0.75:
                names = self.loop(tensors, counters, depth, kina, python)
            else:
                names = self.branch(tensors, counters, depth, kina, python)
            tensors += names
        return kina, python, self.results(tensors, count)

    def loop(self, tensors, counters, depth, kina, python):
        size = self.random.randint(1, 3)
        states = [self.fresh("s") for _ in range(size)]
        names = [self.fresh("r") for _ in range(size)]
        counter = self.fresh("i")
        limit = self.random.choice(["0", "1", "2", "3"] + counters)
        inits = self.results(tensors, size)
        body, lines, values = self.block(tensors + states, counters + [counter], depth + 1, size)
        carried = ", ".join(f"{s} = {init[0]}" for s, init in zip(states, inits))
        yields = ", ".join(value[0] for value in values)
        if self.random.random() < 0.5:
            pattern = f"({', '.join(names)})" if size > 1 else names[0]
            yields = f"({yields})" if size > 1 else yields
            kina.append(f"let {pattern} = for ({counter} in 0..{limit}) [{carried}] "
                        f"{{ {' '.join(body)} {yields} }};")
        else:
            kina.append(f"let ({', '.join(names)}, _) = while ({counter} < {limit}) "
                        f"[{carried}, {counter} = 0] {{ {' '.join(body)} "
                        f"({yields}, {counter} + 1) }};")
        python.append(f"{', '.join(states)} = {', '.join(init[1] for init in inits)}")
        python.append(f"for {counter} in range({limit}):")
        python += ["  " + line for line in lines]
        python.append(f"  {', '.join(states)} = {', '.join(value[1] for value in values)}")
        python.append(f"{', '.join(names)} = {', '.join(states)}")
        return names

    def branch(self, tensors, counters, depth, kina, python):
        size = self.random.randint(1, 2)
        names = [self.fresh("b") for _ in range(size)]
        condition = self.condition(tensors, counters)
        arms = []
        for head in (f"if {condition}:", "else:"):
            body, lines, values = self.block(tensors, counters, depth + 1, size)
            result = ", ".join(value[0] for value in values)
            arms.append(f"{{ {' '.join(body)} {f'({result})' if size > 1 else result} }}")
            python.append(head)
            python += ["  " + line for line in lines]
            python.append(f"  {', '.join(names)} = {', '.join(value[1] for value in values)}")
        pattern = f"({', '.join(names)})" if size > 1 else names[0]
        kina.append(f"let {pattern} = if ({condition}) {arms[0]} else {arms[1]};")
        return names

    def function(self, name):
        """Kina text, Python text, number of results."""
        count = self.random.randint(1, 3)
        kina, python, values = self.block(["x", "y"], ["n"], 0, count)
        types, results = [TENSOR] * count, [value[0] for value in values]
        wrap = (lambda items: f"({', '.join(items)})" if count > 1 else items[0])
        text = (f"@export fn {name}(x: {TENSOR}, y: {TENSOR}, n: I32) -> {wrap(types)} "
                f"requires N >= 2 {{\n  " + "\n  ".join(kina + [wrap(results)]) + "\n}\n")
        body = python + [f"return [{', '.join(value[1] for value in values)}]"]
        return text, f"def {name}(x, y, n):\n  " + "\n  ".join(body) + "\n", count


def update(a, b):
    a = a.copy()
    a[0] = b[1]
    return a


def find_allocation_in_loop(text):
    """The first allocation inside a loop of a module printed after --emit=loops."""
    regions = []
    for line in text.splitlines():
        code = line.strip()
        if "memref.alloc(" in code and any(regions):
            return code
        if code.startswith("}") and regions:
            regions.pop()
        if code.endswith("{"):
            regions.append("scf.for" in code or "scf.while" in code or code == "} do {")
    return None


def main():
    directory, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    source = directory / "random.kina"
    environment, text, calls, expected = {"np": np, "update": update}, "", [], []
    x, y = [1.5, -2.25, 3.0], [0.5, 4.0, -1.0]
    for index in range(count):
        name = f"f{seed + index}"
        kina, python, results = Generator(seed + index).function(name)
        text += kina
        exec(python, environment)
        for n in (0, 1, 2, 5):
            out = [str(directory / f"{name}.{n}.{i}.npy") for i in range(results)]
            calls.append({"function": name, "out": out,
                          "arguments": {"x": str(x), "y": str(y), "n": str(n)}})
            expected.append(environment[name](np.array(x), np.array(y), n))
    source.write_text(text)
    (directory / "calls.json").write_text(json.dumps(calls))

    typed, module = directory / "random.typed.mlir", directory / "random.mlir"
    kina_typed.write(source, typed).check_returncode()
    subprocess.run(["kina-opt", "--kina-ad", typed, "-o", module], check=True)
    subprocess.run(["kinac", "run", module, "--batch", directory / "calls.json"], check=True,
                   stdout=subprocess.DEVNULL)
    failures = 0
    for call, values in zip(calls, expected):
        for path, value in zip(call["out"], values):
            if not np.allclose(np.load(path), value, rtol=1e-13, atol=1e-13, equal_nan=True):
                print(f"{call['function']}, n = {call['arguments']['n']}: {path} is "
                      f"{np.load(path)}, expected {value}")
                failures += 1
    loops = subprocess.run(["kinac", "--emit=loops", module], check=True, capture_output=True,
                           text=True).stdout
    allocation = find_allocation_in_loop(loops)
    if allocation:
        print("allocated in a loop:", allocation)
    if "scf.while" not in loops:
        print("no loops were generated")
    print(f"{len(calls)} calls, {failures} failures")
    sys.exit(failures != 0 or allocation is not None or "scf.while" not in loops)


main()
