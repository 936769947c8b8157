"""The cells of the accuracy table: an operation, what is computed of it, a float type, a class of shapes.

An operation is a group of rows of the table in operations.py. Each class of shapes has a signature
(`variants`); what has none is meaningless for a stated reason or missing.
"""

import collections
import dataclasses
import re

import jax.numpy as jnp

FLOATS = ("F64", "F32", "BF16", "F16")
KINDS = ("value", "vjp", "jvp", "second")
CLASSES = {"static": "s", "dynamic": "d", "size 0": "0", "size 1": "1", "batch": "b", "broadcast": "r"}

# Rows that combine operations, or are syntax.
COMBINATIONS = ("a", "attention", "cross", "same", "the", "literal", "if", "constants", "inf", "vector", "matrix")

# Operations that need an element to choose or divide by.
NEEDS_ELEMENT = ("mean", "var", "max of an axis", "min of an axis", "argmax", "argmin", "logsumexp", "softmax", "log_softmax", "layernorm", "update")
# Operands have one shape, or shapes that the operation relates to each other itself.
BROADCASTING = ("add", "sub", "mul", "div", "mod", "pow", "min", "max", "atan2", "compare", "and", "or", "bit_and", "bit_or",
                "bit_xor", "shift_left", "shift_right", "select", "where", "clamp", "matmul")
# Of vectors, matrices or images by definition, or without an operand that could have more axes.
FIXED_RANK = ("dot", "outer", "diag", "eye", "one_hot", "conv2d", "broadcast", "zeros", "ones", "fill", "iota")
# What no row of the table has, as a signature of the operation's first row.
EXTRA = {
    ("argmax", "batch"): "x: T[A, M, N] -> I32[M, N] | A=2 M=3 N=4",
    ("argmin", "batch"): "x: T[A, M, N] -> I32[M, N] | A=2 M=3 N=4",
    ("cumsum", "batch"): "x: T[A, M, N] -> T[A, M, N] | A=4 M=2 N=3",
    ("any", "batch"): "x: Bool[A, M, N] -> Bool | A=2 M=1 N=2",
    ("all", "batch"): "x: Bool[A, M, N] -> Bool | A=2 M=1 N=2",
    ("split", "batch"): "x: T[N + 2, A, B] -> T[2, A, B] | N=1 A=2 B=3",
    ("repeat_interleave", "batch"): "x: T[M, A, B] -> T[3 * M, A, B] | M=2 A=2 B=3",
    ("x[...]", "batch"): "x: T[3, M, N] -> T[M, N] | M=2 N=3",
    ("take_along", "batch"): "x: T[M, N, A]; i: I32[M, K, A] -> T[M, K, A] | M=2 N=4 K=2 A=3",
    ("scatter_add", "batch"): "x: T[V, A, B]; i: I32[N]; v: T[N, A, B] -> T[V, A, B] | V=4 N=3 A=2 B=2",
    ("full_like", "batch"): "x: T[A, M, N]; v: T -> T[A, M, N] | A=2 M=1 N=3",
    ("pad", "batch"): ("x: T[A, M, N] -> T[A, M + 1, N + 2] | A=2 M=2 N=3", "pad(x, low=[0, 1, 0], high=[0, 0, 2])",
                       lambda x: jnp.pad(x, ((0, 0), (1, 0), (0, 2)))),
    ("update", "batch"): ("x: T[A, M, N]; i: I32; v: T[A, N] -> T[A, M, N] | A=3 M=2 N=3", "update(x, [:, i, :], v)",
                          lambda x, i, v: x.at[:, i].set(v)),
    # Channels, kernel and stride of a convolution are at least 1.
    ("conv2d", "size 0"): "x: T[0, 2, 4, 4]; w: T[3, 2, 3, 3] -> T[0, 3, 2, 2]",
    ("tril", "batch"): "x: T[B, M, N] -> T[B, M, N] | B=2 M=3 N=4",
}


def group_of(family, name):
    """The operation a row belongs to, or None for a combination."""
    word = re.match(r"\w+", name)[0]
    if word in COMBINATIONS or " in a loop" in name:
        return None
    if name.startswith("x["):
        return "x[...]"
    if family == "reduction" and word in ("max", "min"):
        return f"{word} of an axis"
    return word


def groups(family, rows):
    result = collections.OrderedDict()
    for operation in rows:
        name = group_of(family, operation.name)
        if name:
            result.setdefault(name, []).append(operation)
    return result


def parse(signature):
    head, *runs = (part.strip() for part in signature.split("|"))
    sizes = [dict(pair.split("=") for pair in run.split()) for run in runs]
    parameters = [re.match(r"(\w+)\s*:\s*(\w+)\s*(?:\[(.*)\])?$", p.strip()).groups() for p in head.split("->")[0].split(";")]
    return head, sizes, parameters, head.split("->")[1].strip()


def rank(dims):
    return len(dims.split(",")) if dims else 0


def with_sizes(text, sizes):
    return re.sub(r"\b[A-Z]\b", lambda m: str(sizes.get(m[0], m[0])), text)


def with_runs(head, sizes):
    return f"{head} | " + " ".join(f"{name}={value}" for name, value in sizes.items())


def static(head, sizes):
    return re.sub(r"\[([^\]]*)\]", lambda m: "[" + ", ".join(
        str(eval(with_sizes(dim, sizes).replace("floordiv", "//"))) for dim in m[1].split(",")) + "]", head)


def variants(name, rows):
    """{class: (row, signature, its expression)}; the first row and signature that fit."""
    found = {}
    candidates = [(row, signature, *parse(signature)) for row in rows for signature in row.signatures]
    candidates = [c for c in candidates if re.search(r"\bT\b", c[1])] or candidates
    plain = [candidate for candidate in candidates if not candidate[0].data]
    # Rows of special values, whose number is fixed, serve where there is no other.
    has_data = not plain
    candidates = plain or candidates
    for row, signature, head, runs, parameters, result in candidates:
        sizes = {name: int(value) for name, value in runs[0].items()} if runs else {}
        shapes = [dims for *_, dims in parameters]
        ranks = [rank(dims) for dims in shapes] + [rank(m[1]) if (m := re.search(r"\[(.*)\]", result)) else 0]

        def add(kind, text, expression=row.kina):
            found.setdefault(kind, (dataclasses.replace(row, data={} if has_data else row.data, second=True), text, expression))

        if sizes:
            add("dynamic", with_runs(head, sizes))
            if name not in NEEDS_ELEMENT and (name, "size 0") not in EXTRA:
                add("size 0", with_runs(head, dict.fromkeys(sizes, 0)))
            add("size 1", with_runs(head, dict.fromkeys(sizes, 1)))
            add("static", static(head, sizes), with_sizes(row.kina, sizes))
        elif max(ranks):
            add("static", head)
        if max(ranks) >= 3 and sizes:
            add("batch", with_runs(head, sizes))
        if name in BROADCASTING and len(set(shapes)) > 1 and sizes:
            if name != "matmul" or len(set(map(rank, shapes))) > 1 and min(map(rank, shapes)) > 1:
                add("broadcast", with_runs(head, sizes))
    first = candidates[0]
    for (extra, kind), text in EXTRA.items():
        if extra == name:
            row = first[0]
            if not isinstance(text, str):
                text, expression, function = text
                row = dataclasses.replace(row, kina=expression, jax=function, domain={"i": (0, 2)})
            found.setdefault(kind, (row, text, row.kina))
    # An element-wise operation of vectors takes boxes as well.
    row, signature, expression = found["dynamic"] if "dynamic" in found else (None, "", "")
    if re.fullmatch(r"(\w+: \w+(\[N\])?(; | -> ))+\w+\[N\] \| N=\d+", signature) and not re.search(r"\[|axis|iota", expression):
        found.setdefault("batch", (row, signature.replace("[N]", "[A, 2, N]").replace("| N=", "| A=2 N="), expression))
        if name in BROADCASTING:
            text = signature.replace("[N]", "[M, 1]", 1).rsplit("[N]", 1)
            found.setdefault("broadcast", (row, "[M, N]".join(text).replace("| N=", "| M=2 N="), expression))
    return found


def meaningless(name, rows, kind, float_type, shape):
    """Why a cell can have no test, or None."""
    typed = any(re.search(r"\bT\b", signature) for row in rows for signature in row.signatures)
    if not typed and (float_type != "F64" or kind != "value"):
        return "no float operand or result"
    found = variants(name, rows)
    row, signature, _ = found.get(shape) or next(iter(found.values()))
    if kind != "value" and not (row.derivative and re.search(r"->\s*(T|F64)\b", signature) and re.search(r"\bT\b", signature.split("->")[0])):
        return "no derivative by nature"
    return shape_meaningless(name, shape)


def shape_meaningless(name, shape):
    if shape == "size 0" and name in NEEDS_ELEMENT:
        return "needs an element"
    if shape == "broadcast" and name not in BROADCASTING:
        return "nothing to broadcast"
    if shape == "batch" and name in FIXED_RANK:
        return "fixed rank"
    return None


def report(groups, tested, without):
    """[[group, kind, float type, class, largest error, or the reason why there is none]] of all cells; a missing one
    has the reason null."""
    return [[name, kind, float_type, shape, tested.get(cell), without.get(cell)]
            for name in groups for kind in KINDS for float_type in FLOATS for shape in CLASSES
            for cell in [(name, kind, float_type, shape)]]
