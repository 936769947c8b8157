#!/usr/bin/env python3
"""Differentiates the cases of cases.py in every form in which a loop keeps what its
derivative needs, and compares values and gradients.

  control_flow.py --work DIR [--forms few|each|all] [--only SUBSTRING] [--second]

With a published value of a case, to the digits published; with dual numbers in Python, to
1e-12; and bit by bit with every other form.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys

import numpy as np

import cases
import dual
import kina_typed

TAPES = ["tape=auto", "tape=bounded", "tape=replay", "tape=growable", "tape=stride slots=2",
         "tape=stride slots=4", "tape=stride slots=64"]
CHECKPOINTS = ["", "k=1", "k=2", "k=3", "k=7", "k=100", "levels=2", "levels=3", "slots=1", "slots=2", "slots=3", "sqrt"]


typed_files = {}             # of a program's text, which is typed once for all tapes


def write_typed(work, tag, source, functions):
    """The file of the typed program, with the functions of IR added, or the text of what went wrong."""
    if (source, functions) in typed_files:
        return typed_files[source, functions], None
    tag = f"{tag}.{len(typed_files)}"
    program, typed = work / f"{tag}.kina", work / f"{tag}.typed.mlir"
    program.write_text(source + "@export fn nothing(x: F64) -> F64 { x }\n")
    step = kina_typed.write(program, typed)
    if step.returncode:
        return None, step.stderr
    if functions:
        text = typed.read_text().rstrip()
        typed.write_text(text[:text.rindex("}")] + functions + "}\n")
    typed_files[source, functions] = typed
    return typed, None


def compile_and_run(work, tag, source, functions, tape, calls, plant=None):
    """`source` through kina-ad with the options, then all calls. Returns what kinac says of
    each call (None: it ran), and the text of what went wrong before."""
    path = lambda suffix: work / f"{tag}{suffix}"
    typed, problem = write_typed(work, tag, source, functions)
    if problem is not None:
        return None, problem
    step = subprocess.run(["kina-opt", f"--kina-ad={tape}", typed, "-o", path(".ad.mlir")], capture_output=True, text=True)
    if step.returncode:
        return None, step.stderr
    if plant:
        path(".ad.mlir").write_text(plant(path(".ad.mlir").read_text()))
    path(".json").write_text(json.dumps(calls))
    step = subprocess.run(["kinac", "run", path(".ad.mlir"), "--batch", path(".json"), "--max-steps", "100000", "-O0"],
                          capture_output=True, text=True, timeout=300)
    lines = [json.loads(line) for line in step.stdout.splitlines() if line.startswith("{")]
    if len(lines) != len(calls):
        return None, step.stderr or f"kinac ended with status {step.returncode} after {len(lines)} of {len(calls)} calls"
    return [None if line["status"] == 0 else line.get("message", str(line["status"])) for line in lines], None


def literal(value):
    return json.dumps(np.asarray(value).tolist()).replace("Infinity", "inf")


def source_of(case, checkpoint):
    """The Kina text, and IR that replaces a function of it."""
    decorator = f"@checkpoint({checkpoint})" if checkpoint else ""
    if not case.mlir:
        return case.text(decorator), ""
    names, types = case.names(), {"F64": "f64", "I32": "i32"}
    kinds = [types[t] for t in case.types()]
    wrt = [names.index(w.strip()) for w in case.wrt.split(",")]
    arguments = ", ".join(f'%{n}: {k} {{kina.name = "{n}"}}' for n, k in zip(names, kinds))
    results = ", ".join(["f64"] * (1 + len(wrt)))
    mark = "} {checkpoint = #kina.checkpoint<\"%s\", %s>}\n  kina.return" % tuple(checkpoint.split("=")) if "=" in checkpoint else "}\n  kina.return"
    return "", (case.mlir.replace("}\n  kina.return", mark) + f"kina.func @{case.name}_g({arguments}) -> ({results}) {{\n"
                f"  %r:{1 + len(wrt)} = kina.grad @{case.name}({', '.join('%' + n for n in names)}) subst {{}} wrt {wrt} value : "
                f"({', '.join(kinds)}) -> ({results})\n  kina.return {', '.join(f'%r#{i}' for i in range(1 + len(wrt)))} : {results}\n}}\n")


def close(got, wanted, tolerance):
    got, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    if got.shape != wanted.shape:
        return False
    scale = np.maximum(np.abs(wanted), 1e-2 * np.max(np.abs(wanted), initial=0)) + 1e-300
    return bool(np.all(np.abs(got - wanted) <= tolerance * scale + (1e-15 if not wanted.any() else 0)))


def digits(value):
    """The tolerance that a published value of many digits leaves."""
    decimals = len(repr(value).partition(".")[2]) if isinstance(value, float) else 0
    return 0.6 * 10.0 ** -decimals / abs(value) if 9 <= decimals <= 12 else 1e-12


class Check:
    def __init__(self, options):
        self.work = options.work
        self.options = options
        self.failures = []
        self.first = {}          # bits of each run in the first form
        self.compared = 0

    def fail(self, case, form, text):
        self.failures.append(f"FAIL {case.name} [{form}]: {text}")

    def argument(self, name, value):
        if not isinstance(value, np.ndarray):
            return literal(value)
        np.save(self.work / name, value)
        return str(self.work / f"{name}.npy")

    def calls(self, case, form):
        for k, run in enumerate(case.runs):
            arguments = {n: self.argument(f"{case.name}.{k}.{n}", run[n]) for n in case.names()}
            outs = [str(self.work / f"{case.name}.{k}.{i}.npy") for i in range(1 + len(case.wrt.split(",")))]
            for out in outs:
                pathlib.Path(out).unlink(missing_ok=True)
            yield k, {"function": case.name + "_g", "arguments": arguments, "out": outs}

    def run(self, some, checkpoint, tape):
        form = f"{tape}{'; @checkpoint(' + checkpoint + ')' if checkpoint else ''}"
        pieces = [source_of(case, checkpoint) for case in some]
        keyed = [(case, k, call) for case in some for k, call in self.calls(case, form)]
        answers, text = compile_and_run(self.work, "cases" if len(some) > 1 else some[0].name, "\n".join(p[0] for p in pieces),
                                        "\n".join(p[1] for p in pieces), tape, [call for _, _, call in keyed])
        if text is not None and len(some) > 1:
            half = len(some) // 2
            self.run(some[:half], checkpoint, tape)
            self.run(some[half:], checkpoint, tape)
            return
        if text is not None:
            return self.fail(some[0], form, "does not compile: " + text.strip()[:600])
        for (case, k, call), answer in zip(keyed, answers):
            label = f"run {k}"
            if case.wraps and tape == "tape=bounded" and answer and "runs longer than its bound" in answer:
                continue
            if answer is not None:
                self.fail(case, form, f"{label}: {answer}")
                continue
            results = [np.load(out) for out in call["out"]]
            self.judge(case, form, k, results)

    def judge(self, case, form, k, results):
        run, names, wrt = case.runs[k], case.names(), [w.strip() for w in case.wrt.split(",")]
        self.compared += len(results)
        bits = b"".join(r.tobytes() for r in results)
        if self.first.setdefault((case.name, k), (form, bits))[1] != bits:
            self.fail(case, form, f"run {k}: other bits than [{self.first[case.name, k][0]}]: {[r.tolist() for r in results]}")
        narrow = results[0].dtype == np.float32
        for got, wanted in zip(results, run.get("wanted", ())):
            if not close(got, wanted, digits(wanted)):
                self.fail(case, form, f"run {k}: {got.tolist()}, published {wanted}")
        if case.unsafe:
            return
        arguments = {n: np.asarray(run[n]) if isinstance(run[n], (list, np.ndarray)) else run[n] for n in names}
        duals = dual.inputs(*(arguments[w] for w in wrt))
        arguments.update(zip(wrt, duals))
        value = case.reference(*(arguments[n] for n in names))
        wanted = [value.v, *dual.split(value.d, [d.v for d in duals])]
        for what, got, reference in zip(["value", *wrt], results, wanted):
            if not close(got, reference, 1e-5 if narrow else 1e-12):
                self.fail(case, form, f"run {k}: {what}: {got.tolist()}, dual numbers say {np.asarray(reference).tolist()}")


def second(options):
    """Derivatives of derivatives, to the published digits. A tape of tapes is refused, and
    no other form is."""
    failures, refused = [], 0
    chosen = [entry for entry in cases.SECOND if options.only in entry[0]]

    def judge(some, tape, checkpoint):
        nonlocal refused
        keyed = [(name, wanted, {"function": name, "arguments": {n: literal(v) for n, v in arguments.items()},
                                 "out": [str(options.work / f"{name}.{k}.npy")]})
                 for name, _, runs in some for k, (arguments, wanted) in enumerate(runs)]
        text = "".join(text for _, text, _ in some)
        answers, problem = compile_and_run(options.work, "second", text.replace("CK", f"@checkpoint({checkpoint})" if checkpoint else ""),
                                           "", tape, [call for _, _, call in keyed])
        form = f"{tape} {checkpoint}"
        if problem and len(some) > 1:
            for one in some:
                judge([one], tape, checkpoint)
            return
        if problem and "each iteration would keep a tape" in problem and some[0][0] == "decay_3" and tape != "tape=auto":
            refused += 1
            return
        if problem:
            failures.append(f"FAIL {some[0][0]} [{form}]: {problem.strip()[:500]}")
            return
        for (name, wanted, call), answer in zip(keyed, answers):
            if answer:
                failures.append(f"FAIL {name} [{form}]: {answer.strip()[:500]}")
                continue
            got = np.load(call["out"][0])
            if not close(got, wanted, digits(wanted)):
                failures.append(f"FAIL {name} [{form}]: {got}, published {wanted}")

    for tape, checkpoint in [(t, "") for t in TAPES] + [("tape=auto", c) for c in ("k=2", "k=3", "levels=2", "slots=2")]:
        # Some tapes refuse decay_3.
        apart = [entry for entry in chosen if entry[0] == "decay_3" and tape != "tape=auto"]
        for some in ([entry for entry in chosen if entry not in apart], apart):
            if some:
                judge(some, tape, checkpoint)
    return failures, refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--forms", choices=("few", "each", "all"), default="few")
    parser.add_argument("--only", default="")
    parser.add_argument("--second", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.second:
        failures, refused = second(options)
        print(*failures, sep="\n")
        print(f"second and third derivatives: {len(failures)} failures, {refused} refused")
        sys.exit(1 if failures else 0)
    check = Check(options)
    some = [case for case in cases.CASES if options.only in case.name]
    forms = {"few": [("tape=auto", ""), ("tape=stride slots=2", ""), ("tape=replay", ""), ("tape=growable", ""),
                     ("tape=auto", "k=3"), ("tape=auto", "levels=2")],
             "each": [(tape, "") for tape in TAPES] + [("tape=auto", c) for c in CHECKPOINTS[1:]],
             "all": list(itertools.product(TAPES, CHECKPOINTS))}[options.forms]
    for tape, checkpoint in forms:
        check.run(some, checkpoint, tape)
    for text in dict.fromkeys(check.failures):
        print(text)
    print(f"control flow: {len(some)} cases, {sum(len(c.runs) for c in some)} runs in {len(forms)} forms, "
          f"{check.compared} arrays compared, {len(check.failures)} failures")
    sys.exit(1 if check.failures or not check.compared else 0)


if __name__ == "__main__":
    main()
