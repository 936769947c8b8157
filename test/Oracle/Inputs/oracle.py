#!/usr/bin/env python3
"""Compares a family of operations, values and derivatives, with JAX.

  oracle.py FAMILY --work DIR [--only SUBSTRING] [--grid | --control wrong-rule]

Every signature of every operation becomes exported functions of one .kina file: the
operation and its vjp, for F64 and for F32; for F64 its jvp too, and for the first
signature the jvp of the vjp, its second derivative. kinac compiles the file once and runs all calls. JAX computes in f64
from the same inputs, so that an F32 error is the true one. For a smooth operation in F64 the vjp is also held against central
differences of Kina's own values, which needs no oracle:
<ct, J t> = <J^T ct, t> for a random direction t.

With --grid every operation is compiled once for each float type and each class of shapes of
grid.py instead, to one function of its value, vjp, jvp and second derivative.

The error of an array is the largest of |got - wanted| / max(|wanted|, largest |wanted| / 100),
in the 16-bit floats |got - wanted| / max(|wanted|, largest |wanted| / 4, 1/10).
A derivative that is zero everywhere fails, unless the table says so: it would prove
nothing. Each array is also compared after Kina's side, and after JAX's side, was falsified by 100 tolerances; a
comparison that does not see that is MISSED and fails. With --control wrong-rule derivatives are those of a slightly
different function, and every run of one has to be reported.
"""

import argparse
import collections
import dataclasses
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib

import ml_dtypes
import numpy as np

# What XLA compiles runs once: fast code is not worth its time.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
                      "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1")
import grid
import operations
from operations import FAMILIES, jax

jax.config.update("jax_enable_x64", True)

NUMPY = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "I8": np.int8, "U8": np.uint8,
         "Bool": np.bool_, "F16": np.float16, "BF16": ml_dtypes.bfloat16}
FLOATS = grid.FLOATS
TOLERANCE = {"F64": 1e-12, "F32": 1e-5, "F16": 2.0**-9, "BF16": 2.0**-6}    # two units in the last place of a 16-bit float
# Of derivatives, by which a tolerance is multiplied: every operation of a rule rounds in the 16-bit floats.
DERIVED = {"F64": {"second": 100}, "F32": {"second": 100}, "F16": {"vjp": 4, "jvp": 4, "second": 16},
           "BF16": {"vjp": 4, "jvp": 4, "second": 16}}
STEP = 1e-5                       # of the central differences
DIFFERENCE_TOLERANCE = 2e-6
PARAMETER = re.compile(r"(\w+)\s*:\s*(\w+)\s*(?:\[(.*)\])?$")

Parameter = collections.namedtuple("Parameter", "name element dims")    # dims: None for a scalar


def parse_signature(text):
    head, *runs = (part.strip() for part in text.split("|"))
    parameters, result = (part.strip() for part in head.split("->"))
    parameters = [Parameter(*PARAMETER.match(p.strip()).groups()) for p in parameters.split(";")]
    result = Parameter(*PARAMETER.match(f"result: {result}").groups())
    sizes = [{k: int(v) for k, v in (pair.split("=") for pair in run.split())} for run in runs] or [{}]
    return parameters, result, sizes


def is_float(kind):
    return kind.kind == "f" or kind == ml_dtypes.bfloat16


def load(path):
    value = np.load(path)
    return value.view(ml_dtypes.bfloat16) if value.dtype == "V2" else value


def concrete(parameter, float_type):
    return parameter._replace(element=float_type if parameter.element == "T" else parameter.element)


def type_of(parameter):
    return parameter.element if parameter.dims is None else f"tensor<{parameter.element}, [{parameter.dims}]>"


def shape_of(parameter, sizes):
    if not parameter.dims:
        return ()
    # Dimensions of the table: + - * floordiv.
    return tuple(eval(dim.replace("floordiv", "//"), {}, sizes) for dim in parameter.dims.split(","))


class Function:
    """An operation with one signature and one float type: the functions of the file that are its."""

    def __init__(self, operation, row, signature, float_type, number):
        self.operation, self.float_type = operation, float_type
        parameters, result, self.sizes = parse_signature(signature)
        self.parameters = [concrete(p, float_type) for p in parameters]
        self.result = concrete(result, float_type)
        self.name = f"{re.sub(r'[^a-z0-9]+', '_', operation.name.lower()).strip('_')}_{row}_{float_type.lower()}_{number}"
        self.label = f"{operation.name} [{signature.split('|')[0].strip()}] {float_type}"
        self.active = [k for k, p in enumerate(self.parameters) if p.element in FLOATS]
        self.derivative = operation.derivative and self.result.element in FLOATS and bool(self.active)
        self.forward = self.derivative and float_type == operation.types[0]
        self.reference_second = self.derivative and operation.second and number == 0
        self.second = self.forward and self.reference_second

    def text(self, control):
        def borrowed(parameter):
            return f"{'&' if parameter.dims is not None else ''}{type_of(parameter)}"

        declare = ", ".join(f"{p.name}: {borrowed(p)}" for p in self.parameters)
        names = ", ".join(p.name for p in self.parameters)
        expression = re.sub(r"\bT\b", self.float_type, self.operation.kina)
        result = type_of(self.result)
        text = f"@export\nfn {self.name}({declare}) -> {result} {{ {expression} }}\n"
        if not self.derivative:
            return text
        differentiated = self.name
        if control == "wrong-rule":
            differentiated = f"{self.name}_wrong"
            text += f"fn {differentiated}({declare}) -> {result} {{ 1.001 * ({expression}) }}\n"
        gradients = [type_of(self.parameters[k]) for k in self.active]
        gradients = gradients[0] if len(gradients) == 1 else f"({', '.join(gradients)})"
        ct = f"ct: {borrowed(self.result)}"
        along = ", ".join(f"t{k}: {borrowed(self.parameters[k])}" for k in self.active)
        tangents = ", ".join(f"t{k}" for k in self.active)
        text += f"@export\nfn {self.name}_vjp({declare}, {ct}) -> {gradients} {{ vjp({differentiated}, {names})(ct) }}\n"
        if self.forward:
            text += f"@export\nfn {self.name}_jvp({declare}, {along}) -> {result} {{ jvp({differentiated}, {names})({tangents}) }}\n"
        if self.second:
            untyped = declare.replace("&", "")
            text += (f"@export\nfn {self.name}_second({declare}, {ct}, {along}) -> {gradients} {{\n"
                     f"  jvp(fn({untyped}) {{ vjp({differentiated}, {names})(ct) }}, {names})({tangents})\n}}\n")
        return text


class GridFunction(Function):
    """An operation with one class of shapes and one float type: everything of it in one function."""

    def __init__(self, operation, row, signature, float_type, number, group, shape):
        super().__init__(operation, row, signature, float_type, number)
        self.group, self.shapes = group, [shape]
        self.label = f"{group}, {shape} [{signature}] {float_type}"
        self.forward = self.derivative
        self.second = self.reference_second = self.derivative and operation.second

    def text(self, control):
        # A size is at least 1 unless it is declared.
        least = f"<{', '.join(f'{name} >= 0' for name in self.sizes[0])}>" if self.sizes[0] and "size 0" in self.shapes else ""
        text = super().text(control).split("@export\n")[1].replace(f"fn {self.name}(", f"fn {self.name}{least}(")
        if not self.derivative:
            return f"@export\n{text}"
        declare = ", ".join(f"{p.name}: {'&' if p.dims is not None else ''}{type_of(p)}"
                            for p in [*self.parameters, self.result._replace(name="ct"),
                                      *(self.parameters[k]._replace(name=f"t{k}") for k in self.active)])
        untyped = ", ".join(f"{p.name}: {type_of(p)}" for p in self.parameters)
        names, tangents = ", ".join(p.name for p in self.parameters), ", ".join(f"t{k}" for k in self.active)
        gradients = [type_of(self.parameters[k]) for k in self.active]

        def bind(prefix, value):
            pattern = ", ".join(f"{prefix}{k}" for k in self.active)
            return f"  let {pattern if len(self.active) == 1 else f'({pattern})'} = {value};\n"
        body = bind("g", f"vjp({self.name}, {names})(ct)")
        parts = [f"{self.name}({names})", *(f"g{k}" for k in self.active), f"jvp({self.name}, {names})({tangents})"]
        types = [type_of(self.result), *gradients, type_of(self.result)]
        if self.second:
            body += bind("s", f"jvp(fn({untyped}) {{ vjp({self.name}, {names})(ct) }}, {names})({tangents})")
            parts += [f"s{k}" for k in self.active]
            types += gradients
        return (f"{text}@export\nfn {self.name}_grid{least}({declare}) -> ({', '.join(types)}) {{\n"
                f"{body}  ({', '.join(parts)})\n}}\n")


class Run:
    """One function at one set of sizes: inputs, what kinac answered, and what JAX says."""

    def __init__(self, function, sizes, number):
        self.function, self.sizes, self.number = function, sizes, number
        self.name = f"{function.name}.{number}"
        operation = function.operation
        random = np.random.RandomState(zlib.crc32(self.name.replace("_f32", "").replace("_f64", "").replace("_bf16", "").replace("_f16", "").encode()))
        self.inputs = []
        for p in function.parameters:
            shape, kind = shape_of(p, sizes), NUMPY[p.element]
            if p.name in operation.data:
                value = np.broadcast_to(np.asarray(operation.data[p.name]), shape).astype(kind)
            elif p.element in FLOATS:
                value = random.uniform(*operation.domain.get(p.name, (-2.0, 2.0)), size=shape).astype(kind)
            elif p.element == "Bool":
                value = random.randint(0, 2, size=shape).astype(kind)
            else:
                value = random.randint(*operation.domain.get(p.name, (-9, 10)), size=shape).astype(kind)
            if operation.domain.get(p.name) and isinstance(function, GridFunction) and function.shapes[number] == "size 1" and value.dtype.kind == "i" and p.name in "ij":
                value = np.zeros(shape, kind)      # the one index there is
            self.inputs.append(np.asarray(value))
        shape, kind = shape_of(function.result, sizes), NUMPY[function.result.element]
        self.ct = np.asarray(random.uniform(0.5, 1.5, size=shape) * random.choice([-1, 1], size=shape)).astype(kind) \
            if function.derivative else None
        self.directions = [random.uniform(-1, 1, size=self.inputs[k].shape) for k in function.active]
        self.tangents = [np.asarray(d).astype(self.inputs[k].dtype) for k, d in zip(function.active, self.directions)]
        self.differences = (function.derivative and operation.smooth and not isinstance(function, GridFunction) and function.float_type == "F64"
                            and all(function.parameters[k].element == "F64" for k in function.active)
                            and function.result.element == "F64")

    def calls(self, work):
        """The calls of kinac: key, function, arguments, number of results."""
        active = len(self.function.active)
        if isinstance(self.function, GridFunction) and self.function.derivative:
            yield ("grid", f"{self.function.name}_grid", [*self.inputs, self.ct, *self.tangents],
                   2 + active * (1 + self.function.second))
            return
        yield "value", self.function.name, self.inputs, 1
        if self.function.derivative:
            yield "vjp", f"{self.function.name}_vjp", [*self.inputs, self.ct], len(self.function.active)
        if self.function.forward:
            yield "jvp", f"{self.function.name}_jvp", [*self.inputs, *self.tangents], 1
        if self.function.second:
            yield ("second", f"{self.function.name}_second", [*self.inputs, self.ct, *self.tangents],
                   len(self.function.active))
        if self.differences:
            for key, sign in (("plus", 1), ("minus", -1)):
                moved = list(self.inputs)
                for k, direction in zip(self.function.active, self.directions):
                    moved[k] = np.asarray(moved[k] + sign * STEP * direction)
                yield key, self.function.name, moved, 1

    def reference(self, cache):
        """A function of JAX that gives value, cotangents, tangents and second derivatives in f64, one for all runs of
        the same shapes and for both float types, and this run's arguments of it."""
        function = self.function

        def widen(values):
            return [np.asarray(value, np.float64) if is_float(value.dtype) else value for value in values]
        wide = widen(self.inputs)
        key = (id(function.operation), tuple((value.shape, str(value.dtype)) for value in wide))
        if key not in cache:
            active = function.active

            def evaluate(ct, along, *arguments):
                def of_active(*values):
                    full = list(arguments)
                    for k, value in zip(active, values):
                        full[k] = value
                    return function.operation.jax(*full)
                if not function.derivative:
                    return function.operation.jax(*arguments), (), (), ()
                point = tuple(arguments[k] for k in active)
                if not function.reference_second:
                    (value, pull), (tangent,) = jax.vjp(of_active, *point), jax.jvp(of_active, point, along)[1:]
                    return value, pull(ct), (tangent,), ()
                value, tangent = jax.jvp(of_active, point, along)
                cotangents, second = jax.jvp(lambda *values: jax.vjp(of_active, *values)[1](ct), point, along)
                return value, cotangents, (tangent,), second
            cache[key] = evaluate
        ct = np.zeros(()) if self.ct is None else np.asarray(self.ct, np.float64)
        return cache[key], (ct, tuple(widen(self.tangents)), *wide)


def references(runs, together=32):
    """{run: value, cotangents, tangents and second derivatives by JAX}. Many functions are compiled as one, which
    takes XLA less than half the time."""
    cache, of_function, answers = {}, collections.defaultdict(list), {}
    for run in runs:
        evaluate, arguments = run.reference(cache)
        of_function[evaluate].append((run, arguments))
    functions = list(of_function)
    for first in range(0, len(functions), together):
        chunk = functions[first:first + together]
        compiled = jax.jit(lambda arguments, chunk=chunk: [evaluate(*a) for evaluate, a in zip(chunk, arguments)])
        for turn in range(max(len(of_function[evaluate]) for evaluate in chunk)):
            calls = [of_function[evaluate][min(turn, len(of_function[evaluate]) - 1)] for evaluate in chunk]
            results = compiled([arguments for _, arguments in calls])
            for (run, _), (value, *derivatives) in zip(calls, results):
                answers[run] = np.asarray(value), *([np.asarray(d) for d in kind] for kind in derivatives)
    return answers


class Kinac:
    """Compiles a file and runs calls of it in as few processes as it takes."""

    def __init__(self, work, control):
        self.work, self.control = work, control

    def run(self, functions, calls, tag):
        """Returns {call number: status text or None for success} and the diagnostics of a failed compilation."""
        source = self.work / f"{tag}.kina"
        # Rules and lowerings are looked at here, and LLVM need not work hard for that; the
        # element functions are compiled as users get them in element-functions.test.
        level = "-O1" if tag == "unary" and not self.control else "-O0"
        source.write_text("\n".join(function.text(self.control) for function in functions))
        answers, pending = {}, list(calls)
        while pending:
            batch = self.work / f"{tag}.json"
            batch.write_text(json.dumps([call for _, call in pending]))
            result = subprocess.run(["kinac", "run", level, source, "--batch", batch], capture_output=True, text=True)
            lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
            if not lines:
                return {}, result.stderr or f"kinac ended with status {result.returncode} and said nothing"
            for (number, _), line in zip(pending, lines):
                answers[number] = None if line["status"] == 0 else f"status {line['status']}: {line.get('message', '')}"
            pending = pending[len(lines):]
            if pending:                      # the process died in the first call without an answer
                answers[pending[0][0]] = f"kinac died (status {result.returncode}): {result.stderr.strip()[-300:]}"
                pending = pending[1:]
        return answers, None


def error(got, wanted):
    """The error of `got`, infinite where shape, NaNs or infinities differ."""
    if got.shape != wanted.shape:
        return np.inf, f"shape {got.shape}, wanted {wanted.shape}"
    if not is_float(got.dtype):
        if got.dtype.kind != wanted.dtype.kind and {got.dtype.kind, wanted.dtype.kind} != {"i", "u"}:
            return np.inf, f"type {got.dtype}, wanted {wanted.dtype}"
        return (0.0, "") if np.array_equal(got, wanted) else (np.inf, f"got {got.tolist()}, wanted {wanted.tolist()}")
    with np.errstate(over="ignore"):
        narrow = wanted.astype(got.dtype)    # what overflows in the narrow type is an infinity there
    special = ~np.isfinite(narrow)
    if not np.array_equal(got[special].astype(float), narrow[special].astype(float), equal_nan=True) or not np.isfinite(got[~special]).all():
        return np.inf, f"got {got.tolist()}, wanted {narrow.tolist()}"
    got, wanted = got[~special].astype(np.float64), wanted[~special].astype(np.float64)
    if not got.size:
        return 0.0, ""
    largest = np.abs(wanted).max()
    # Every operation of a sum rounds in the 16-bit floats, so that terms which cancel leave what they are exact to.
    scale = np.maximum(np.abs(wanted), max(largest / 4, 0.1) if narrow.dtype.itemsize == 2 else largest / 100)
    errors = np.abs(got - wanted) / np.where(scale == 0, 1.0, scale)
    k = errors.argmax()
    return float(errors.flat[k]), f"got {got.flat[k]!r}, wanted {wanted.flat[k]!r}"


def falsified(values, kind, tolerance):
    """`values` off by 100 tolerances, as the element type `kind` shows them; by 1 where they are zero or exact."""
    if values.dtype.kind == "b":
        return np.logical_not(values)
    if not is_float(kind):
        return values + values.dtype.type(1)
    with np.errstate(over="ignore"):
        finite = np.isfinite(values.astype(kind))
        if values[finite].any():
            return values * values.dtype.type(1 + 100 * tolerance)
    return np.where(finite, values + values.dtype.type(1), values.dtype.type(0))


def grid_functions(options):
    """The functions of every cell, and {(group, kind, float type, class): reason} of those without."""
    functions, without, number = [], {}, 0
    for group, rows in grid.groups(options.family, FAMILIES[options.family]).items():
        variants = grid.variants(group, rows)
        for float_type in FLOATS:
            made = {}
            for shape in grid.CLASSES:
                reasons = {kind: grid.meaningless(group, rows, kind, float_type, shape) for kind in grid.KINDS}
                without.update({(group, kind, float_type, shape): reason for kind, reason in reasons.items() if reason})
                if reasons["value"] or shape not in variants or options.only not in group:
                    continue
                row, signature, expression = variants[shape]
                head, _, sizes = signature.partition("|")
                if (head, expression) in made:      # one function, another run
                    function = made[head, expression]
                    function.sizes.append(parse_signature(signature)[2][0])
                    function.shapes.append(shape)
                    continue
                number += 1
                function = GridFunction(dataclasses.replace(row, kina=expression), number, signature, float_type, number, group, shape)
                made[head, expression] = function
                functions.append(function)
    return functions, without


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("family", choices=sorted(FAMILIES))
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--control", choices=("wrong-rule",))
    options = parser.parse_args()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)

    functions, runs = [], []
    for row, operation in enumerate(FAMILIES[options.family]):
        if options.grid or options.only not in operation.name:
            continue
        for float_type in operation.types:
            for k, signature in enumerate(operation.signatures):
                function = Function(operation, row, signature, float_type, k)
                functions.append(function)
                runs += [Run(function, sizes, n) for n, sizes in enumerate(function.sizes)]

    cells = {}
    if options.grid:
        functions, cells = grid_functions(options)
        runs = [Run(function, sizes, n) for function in functions for n, sizes in enumerate(function.sizes)]

    calls, of_function = [], collections.defaultdict(list)
    for run in runs:
        run.keys = {}
        for key, name, arguments, results in run.calls(work):
            number = len(calls)
            inputs = []
            for k, value in enumerate(arguments):
                path = work / f"{number}.{k}.npy"
                np.save(path, value)
                inputs.append(str(path))
            parameters = [p.name for p in run.function.parameters]
            parameters += ["ct"] * (key in ("vjp", "second", "grid"))
            parameters += [f"t{k}" for k in run.function.active] * (key in ("jvp", "second", "grid"))
            outputs = [str(work / f"{number}.out{k}.npy") for k in range(results)]
            for path in outputs:
                pathlib.Path(path).unlink(missing_ok=True)
            call = {"function": name, "arguments": dict(zip(parameters, inputs)), "out": outputs}
            calls.append((number, call))
            of_function[run.function].append((number, call))
            run.keys[key] = (number, outputs)

    kinac, failures = Kinac(work, options.control), []
    answers, diagnostics = kinac.run(functions, calls, options.family)
    if diagnostics is not None:
        # One bad function must not hide the others: find it.
        print("the file of all functions does not compile; trying them one by one")
        answers, ignored = {}, set()
        for function in functions:
            alone, text = kinac.run([function], of_function[function], function.name)
            answers.update(alone)
            if text is not None:
                ignored.add(function)
                failures.append((function, "compile", text.strip().splitlines()[0] if text.strip() else "no message"))
        runs = [run for run in runs if run.function not in ignored]

    oracle = references(runs)
    largest, tested, compared = collections.defaultdict(float), {}, 0
    detected, missed, alive, witness = set(), [], collections.defaultdict(bool), {}

    def compare(run, what, got, wanted, tolerance):
        nonlocal compared
        compared += 1
        value, text = error(got, wanted)
        function = run.function
        if options.grid:
            cell = (function.group, what, function.float_type, function.shapes[run.number])
            tested[cell] = max(tested.get(cell, 0.0), value)
        else:
            kind = f"F{got.dtype.itemsize * 8}" if got.dtype.kind == "f" else "exact"
            entry = (function.operation.name, kind, what)
            largest[entry] = max(largest[entry], value)
        if not value <= tolerance:
            failures.append((run.function, what, f"sizes {run.sizes}: error {value:.2e} > {tolerance:.0e}: {text}"))
            detected.add(run)
        elif got.size and not (options.grid or options.control):
            for side, pair in (("Kina's", (falsified(got, got.dtype, tolerance), wanted)),
                               ("JAX's", (got, falsified(wanted, got.dtype, tolerance)))):
                if error(*pair)[0] <= tolerance:
                    missed.append(f"MISSED {function.label}: {what}: sizes {run.sizes}: {side} side was falsified, and nobody saw it")

    for run in runs:
        function, operation = run.function, run.function.operation
        results, broken = {}, False
        for key, (number, outputs) in run.keys.items():
            answer = answers.get(number, "was not run")
            if answer is None:
                try:
                    results[key] = [load(path) for path in outputs]
                except (OSError, ValueError) as problem:
                    answer = f"unreadable result: {problem}"
            if answer is not None:
                failures.append((function, key, answer))
                broken = True
        if broken:
            continue
        value, cotangents, tangent, second = oracle[run]
        elements = [function.result.element, *(p.element for p in function.parameters)]
        narrowest = next(element for element in ("BF16", "F16", "F32", "F64", *elements) if element in (*elements, "F64"))
        derived = DERIVED[narrowest]
        tolerance = operation.tolerance.get(narrowest, TOLERANCE[narrowest])
        if "grid" in results:
            parts, many = results["grid"], len(function.active)
            results = {"value": parts[:1], "vjp": parts[1:1 + many], "jvp": parts[1 + many:2 + many], "second": parts[2 + many:]}
        got = results["value"][0]
        if got.dtype != NUMPY[function.result.element]:
            failures.append((function, "value", f"type {got.dtype}, wanted {function.result.element}"))
            continue
        compare(run, "value", got, value, tolerance)
        if not function.derivative:
            continue
        gradients = results["vjp"]
        for k, gradient, wanted in zip(function.active, gradients, cotangents):
            compare(run, "vjp", gradient, wanted, derived.get("vjp", 1) * tolerance)
        for got, wanted in zip(results.get("jvp", ()), tangent):
            compare(run, "jvp", got, wanted, derived.get("jvp", 1) * tolerance)
        for gradient, wanted in zip(results.get("second", ()), second):
            compare(run, "second", gradient, wanted, derived["second"] * tolerance)
        if not operation.zero:
            alive[operation.name, function.float_type] |= any(g.any() for g in gradients)
            witness.setdefault((operation.name, function.float_type), function)
        if run.differences:
            change = (results["plus"][0] - results["minus"][0]) / (2 * STEP)
            forward, backward = np.sum(run.ct * change), sum(np.sum(g * t) for g, t in zip(gradients, run.directions))
            scale = max(np.sum(np.abs(run.ct * change)), sum(np.sum(np.abs(g * t)) for g, t in zip(gradients, run.directions)), 1e-3)
            if not abs(forward - backward) <= DIFFERENCE_TOLERANCE * scale:
                failures.append((function, "differences", f"sizes {run.sizes}: <ct, J t> = {forward!r}, <J^T ct, t> = {backward!r}"))

    failures += [(witness[key], "vjp", "zero everywhere") for key, is_alive in alive.items() if not is_alive]
    for function, what, text in failures:
        print(f"FAIL {function.label}: {what}: {text}")

    if options.control:
        must = [run for run in runs if run.function.derivative and not run.function.operation.zero]
        unseen = [run for run in must if run not in detected]
        for run in unseen:
            print(f"MISSED {run.function.label} {run.sizes}")
        print(f"control {options.control}: {len(must) - len(unseen)} of {len(must)} falsified runs were reported")
        sys.exit(0 if must and not unseen else 1)
    print(*missed, sep="\n", end="\n" if missed else "")

    table = collections.defaultdict(dict)
    for (name, kind, what), value in sorted(largest.items()):
        table[name][f"{kind} {what}"] = value
    if options.grid:
        (work / "grid.json").write_text(json.dumps({"family": options.family, "cells": grid.report(
            grid.groups(options.family, FAMILIES[options.family]), tested, cells)}, indent=1))
    else:
        (work / "accuracy.json").write_text(json.dumps({"family": options.family, "errors": table}, indent=1))
    bad = {function for function, _, _ in failures}
    print(f"{options.family}: {len(FAMILIES[options.family])} operations, {len(functions)} functions, {len(runs)} runs, "
          f"{compared} arrays compared, {len(bad)} functions failed, {len(missed)} falsified arrays missed")
    sys.exit(1 if failures or missed or not runs else 0)


if __name__ == "__main__":
    main()
