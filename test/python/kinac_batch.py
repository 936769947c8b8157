"""Calls functions of a file with `kinac run --batch`: one compilation, many calls."""

import json
import os
import pathlib
import subprocess

import numpy as np


class CallError(Exception):
    pass


def run(source, calls, scratch, level="-O2"):
    """`calls` are (function, arguments by name, number of results). Returns for each call the list of its
    results, or a CallError. A file that does not compile raises one. Numbers of Python become what the
    parameter takes, arrays have to fit. At `level` LLVM optimises."""
    scratch = pathlib.Path(scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    stem, batch = os.path.basename(source), []
    for number, (function, arguments, count) in enumerate(calls):
        paths = {}
        for name, value in arguments.items():
            if type(value) in (int, float):
                paths[name] = repr(value)
                continue
            paths[name] = str(scratch / f"{stem}.{number}.{name}.npy")
            np.save(paths[name], value)
        out = [str(scratch / f"{stem}.{number}.out{k}.npy") for k in range(count)]
        batch.append({"function": function, "arguments": paths, "out": out})
    file = scratch / f"{stem}.json"
    file.write_text(json.dumps(batch))
    result = subprocess.run(["kinac", "run", level, source, "--batch", file], capture_output=True, text=True)
    answers = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    if len(answers) != len(calls):
        raise CallError(result.stdout + result.stderr)
    return [CallError(f"{answer}\n{result.stderr}") if answer["status"] else [np.load(path) for path in call["out"]]
            for call, answer in zip(batch, answers)]
