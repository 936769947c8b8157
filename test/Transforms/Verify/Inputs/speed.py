"""Times the discharge of obligations: the median over all programs that there are, and the growth with their number."""

import glob
import os
import re
import resource
import subprocess
import sys

source, work = sys.argv[1], sys.argv[2]
failures = []


def check(path, *options):
    """The text that `kinac check` prints, and the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(["kinac", "check", *options, path], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return run.stderr, after.ru_utime - before.ru_utime


# The median: of the medians of all programs, each counted as often as it has queries.
medians = []
for folder in ("test/Transforms", "test/Programs", "test/Examples", "test/Diagnostics", "examples"):
    for path in glob.glob(os.path.join(source, folder, "**", "*.kina"), recursive=True):
        text, _ = check(path, "--smt-stats")
        if found := re.search(r"(\d+) queries.*median ([\d.]+) us", text):
            medians += [float(found[2])] * int(found[1])
medians.sort()
print(f"{len(medians)} queries, median {medians[len(medians) // 2]} us")
if len(medians) < 100 or medians[len(medians) // 2] > 50:
    failures.append("the median")

# The growth: in 4 times the text there is no more than 16 times the work.
os.makedirs(work, exist_ok=True)


def parameters(count, name="A"):
    return ", ".join(f"x{i}: tensor<F64, [{name}{i}]>" for i in range(count))


def slices(ends):
    return " + ".join(f"sum(x{i}[0:{end}])" for i, end in ends)


def clauses(texts):
    return ", ".join(texts)


def independent(n):
    bounds = clauses(f"A{i} >= {i % 7 + 2}" for i in range(n))
    return f"fn f({parameters(n)}) -> F64 requires {bounds} {{ {slices((i, 2) for i in range(n))} }}\n"


def chain(n):
    order = clauses(f"A{i} <= A{i + 1}" for i in range(n - 1))
    return f"fn f({parameters(n)}) -> F64 requires {order} {{ {slices((i + 1, f'A{i}') for i in range(n - 1))} }}\n"


def equal(n):
    order = clauses(f"A{i} = A{i + 1}" for i in range(n - 1))
    sums = " + ".join(f"sum(x{i} + x{i + 1})" for i in range(n - 1))
    return f"fn f({parameters(n)}) -> F64 requires {order} {{ {sums} }}\n"


def one_pair(n):
    bounds = clauses(f"N >= M + {i + 2}" for i in range(n))
    sums = " + ".join(f"sum(x[0:M + {i + 2}])" for i in range(n))
    return f"fn f(x: tensor<F64, [N]>, y: tensor<F64, [M]>) -> F64 requires {bounds} {{ {sums} }}\n"


def functions(n):
    text = "fn f0(x: tensor<F64, [N]>) -> F64 requires N >= 2, N mod 2 = 0 { sum(x[0:2]) }\n"
    for i in range(1, n):
        text += f"fn f{i}(x: tensor<F64, [N]>) -> F64 requires N >= {i + 2}, N mod 2 = 0 {{ f{i - 1}(x) }}\n"
    return text


def rank(n):
    first, second = (", ".join(f"{name}{i}" for i in range(n)) for name in "AB")
    same = clauses(f"A{i} = B{i}" for i in range(n))
    return f"fn f(x: tensor<F64, [{first}]>, y: tensor<F64, [{second}]>) -> F64 requires {same} {{ sum(x + y) }}\n"


def wrong(n):
    """Refuted, each for a cause of its own."""
    order = clauses(f"A{i} <= A{i + 1}" for i in range(n - 1))
    sums = " + ".join(f"sum(x{i}[0:A{i} + {i + 1}])" for i in range(n))
    return f"fn f({parameters(n)}) -> F64 requires {order} {{ {sums} }}\n"


for make, most in ((independent, 400), (chain, 400), (equal, 400), (one_pair, 400), (functions, 400), (rank, 400), (wrong, 40)):
    times = {}
    for count in (most // 4, most):
        path = os.path.join(work, f"{make.__name__}-{count}.kina")
        with open(path, "w") as file:
            file.write(make(count))
        text, times[count] = check(path)
        if (make is wrong) != ("error" in text):
            failures.append(f"{make.__name__} of {count}: {text[:500]}")
    few, many = times.values()
    print(f"{make.__name__}: {few:.2f} s for {most // 4}, {many:.2f} s for {most}")
    # A start takes some hundredths of a second, and below that nothing can be said.
    if many > max(20 * few, 1) or many > 4:
        failures.append(f"{make.__name__} grows")

if failures:
    sys.exit("\n".join(failures))
