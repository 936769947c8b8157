#!/usr/bin/env python3
"""Checks verdicts and counterexamples of shape obligations against brute force.

  cases.py WORK    writes the cases as Kina source into WORK and runs kinac on them

Each case is a goal under facts, in the words of the source. Python evaluates the same words
for all small values: that no values refute a proved goal, that all refute one that can never hold, and
that the counterexample is the one with the smallest sum, then the first in the order of the
names (those of the goal first).
"""

import itertools
import pathlib
import re
import subprocess
import sys

BOX = 14  # values from the least one; enough for every case here

# What comes of a goal under the facts: facts, goal, verdict, counterexample. Sizes are at least 1,
# unless a first entry says otherwise (`N>=0`). `proved?` is true, and may come back
# undecided.
PREDICATES = [
    # Equal sizes.
    ("", "S = T", "may fail", "S = 1, T = 2 -> left = 1, right = 2"),
    ("S = T", "S = T", "proved"),
    ("S = T", "T = S", "proved"),
    ("S = T, T = U", "S = U", "proved"),
    ("S = 4", "S = 5", "never", "S = 4 -> left = 4, right = 5"),
    ("S = T + 1", "S = T", "never", "S = 2, T = 1 -> left = 2, right = 1"),
    ("S <= T, T <= S", "S = T", "proved"),
    ("S <= T", "S = T", "may fail", "S = 1, T = 2 -> left = 1, right = 2"),
    ("", "D = D + 1", "never", "D = 1 -> left = 1, right = 2"),
    ("", "2*D = D + 1", "may fail", "D = 2 -> left = 4, right = 3"),
    ("", "2*D = D", "never", "D = 1 -> left = 2, right = 1"),
    ("", "2*D = 2*E + 1", "never", "D = 1, E = 1 -> left = 2, right = 3"),
    ("S != T", "S = T", "never", "S = 1, T = 2 -> left = 1, right = 2"),
    ("S = 1 or S = 2", "S <= 2", "proved"),
    ("S = 1 or S = 3", "S <= 2", "may fail", "S = 3"),
    ("not (S = T)", "S < T or T < S", "proved"),
    ("S != 1", "S >= 2", "proved"),
    # Products.
    ("", "B*(H*D) = (B*H)*D", "proved"),
    ("D = H*K", "B*S*D = B*S*H*K", "proved"),
    ("", "s0*s1 = 16", "may fail", "s0 = 1, s1 = 1 -> left = 1, right = 16"),
    ("s0*s1 = 16", "s0*s1 = 16", "proved"),
    ("s0*s1 = 16, s0 = 4", "s1 = 4", "proved"),
    ("", "M*N = N*M + 1", "never", "M = 1, N = 1 -> left = 1, right = 2"),
    ("", "N*N = N", "may fail", "N = 2 -> left = 4, right = 2"),
    ("", "N*M >= N", "proved"),
    ("", "N < M*N", "may fail", "N = 1, M = 1 -> M*N = 1"),
    ("", "(N + 1)*(N - 1) + 1 = N*N", "proved"),
    ("", "A*B = A + B", "may fail", "A = 1, B = 1 -> left = 1, right = 2"),
    # Divisibility.
    ("D mod 8 = 0", "(4*D) mod 32 = 0", "proved"),
    ("", "D mod 8 = 0", "may fail", "D = 1 -> left = 1, right = 0"),
    ("D mod 8 = 0", "D mod 4 = 0", "proved"),
    ("D mod 4 = 0", "D mod 8 = 0", "may fail", "D = 4 -> left = 4, right = 0"),
    ("D mod 4 = 0, D mod 6 = 0", "D mod 12 = 0", "proved"),
    ("N mod 2 = 1", "N mod 2 = 0", "never", "N = 1 -> left = 1, right = 0"),
    ("", "(2*N) mod 2 = 0", "proved"),
    ("", "(N*(N + 1)) mod 2 = 0", "proved?"),
    ("D mod 8 = 0", "D >= 8", "proved"),
    ("n mod 3 = 0", "n - 2*(n ceildiv 3) >= 1", "proved"),
    ("N mod B = 0", "B*(N floordiv B) = N", "proved"),
    ("N mod B = 0", "N >= B", "proved"),
    ("N mod 4 = 3", "N >= 3", "proved"),
    ("N mod 4 = 3", "N >= 4", "may fail", "N = 3"),
    # Quotients.
    ("", "N floordiv 2 <= N", "proved"),
    ("", "N floordiv 2 < N", "proved"),
    ("", "N floordiv 2 >= 1", "may fail", "N = 1 -> N floordiv 2 = 0"),
    ("N >= 2", "N floordiv 2 >= 1", "proved"),
    ("", "(N ceildiv 128)*128 >= N", "proved"),
    ("", "2*(N floordiv 2) = N", "may fail", "N = 1 -> left = 0, right = 1"),
    ("", "N floordiv 2 + N ceildiv 2 = N", "proved"),
    ("", "(N + 3) floordiv 4 = N ceildiv 4", "proved"),
    ("", "(N + B - 1) floordiv B = N ceildiv B", "proved"),
    ("", "(N - 1) floordiv B + 1 = N ceildiv B", "proved"),
    ("", "(N + 2*B) ceildiv B = (N - 1) floordiv B + 3", "proved"),
    ("", "(N + 2) floordiv N = 1 ceildiv N", "may fail", "N = 1 -> left = 3, right = 1"),
    ("", "(N - M) floordiv B + (M - N) ceildiv B = 0", "proved"),
    ("", "((w + h)*65) floordiv (w + h) = 65", "proved"),
    ("N = 4*M", "N floordiv 4 = M", "proved"),
    ("N = 4*M + 3", "N floordiv 4 = M", "proved"),
    ("N = 4*M + 4", "N floordiv 4 = M", "never", "N = 8, M = 1 -> left = 2, right = 1"),
    # Bounds.
    ("", "N >= 1", "proved"),
    ("", "N >= 2", "may fail", "N = 1"),
    ("W <= N", "N - W + 1 >= 1", "proved"),
    ("", "N - W + 1 >= 1", "may fail", "N = 1, W = 2 -> N - W + 1 = 0"),
    ("A <= B, B < C", "A < C", "proved"),
    ("A < B, B < C", "A + 2 <= C", "proved"),
    ("A < B, B < C", "A + 3 <= C", "may fail", "A = 1, C = 3, B = 2 -> A + 3 = 4"),
    ("2*A <= B", "A < B", "proved"),
    ("3*A <= 10", "A <= 3", "proved"),
    ("3*A <= 10", "A <= 2", "may fail", "A = 3"),
    ("b = 5", "b >= 0", "proved"),
    ("N>=0", "", "N >= 1", "may fail", "N = 0"),
    ("N>=0", "", "N >= 0", "proved"),
    ("N>=3", "", "N >= 3", "proved"),
    ("N>=3", "", "N >= 4", "may fail", "N = 3"),
    ("N>=0", "", "2*N >= N", "proved"),
    ("N>=0", "", "N*M >= N", "proved"),
    # min and max.
    ("", "min(N, M) <= N", "proved"),
    ("", "max(N, M) >= M", "proved"),
    ("", "min(M, N) = M", "may fail", "M = 2, N = 1 -> left = 1, right = 2"),
    ("N <= M", "min(N, M) = N", "proved"),
    ("M <= N", "max(M, N) = M", "may fail", "M = 1, N = 2 -> left = 2, right = 1"),
    ("", "min(N, M) + max(N, M) = N + M", "proved"),
    ("", "max(N, 4) >= 4", "proved"),
    ("", "min(N, 4) >= 4", "may fail", "N = 1 -> min(N, 4) = 1"),
]

# What comes of operations: function, names with least values, facts, goal, verdict, code, counterexample.
PROGRAMS = [
    # The cases of shapes that public tools got wrong.
    ("fn f(x: tensor<F64, [5*b]>, y: tensor<F64, [b]>) -> tensor<F64, [5, b]> { reshape(x, [5, b]) + y }",
     "", "5*b = 5*b", "proved"),
    ("fn f(x: tensor<F64, [s0, s1]>) -> tensor<F64, [4, 4]> { reshape(x, [4, 4]) }",
     "", "s0*s1 = 16", "may fail", "K0303", "s0 = 1, s1 = 1 -> left = 1, right = 16"),
    ("fn f(x: tensor<F64, [s0, s1]>) -> tensor<F64, [4, 4]> requires s0*s1 = 16 { reshape(x, [4, 4]) }",
     "s0*s1 = 16", "s0*s1 = 16", "proved"),
    ("fn f(x: tensor<F64, [p + 2*q]>, y: tensor<F64, [p]>, z: tensor<F64, [k]>) -> tensor<F64, [k, (p + 2*q) floordiv k]>\n"
     "    requires (p + 2*q) mod k = 0 { reshape(x, [k, (p + 2*q) floordiv k]) }",
     "(p + 2*q) mod k = 0", "k*((p + 2*q) floordiv k) = p + 2*q", "proved"),
    ("fn f(x: tensor<F64, [w]>, y: tensor<F64, [N]>) -> F64 { sum(zeros<F64>([N / ((w - 2) floordiv 32 * 12 + 12)])) }",
     "", "(w - 2) floordiv 32 * 12 + 12 >= 1", "may fail", "K0306",
     "w = 1 -> ((w - 2) floordiv 32)*12 + 12 = 0"),
    ("fn f(x: tensor<F64, [w]>, y: tensor<F64, [N]>) -> F64 requires w >= 2 "
     "{ sum(zeros<F64>([N / ((w - 2) floordiv 32 * 12 + 12)])) }",
     "w >= 2", "(w - 2) floordiv 32 * 12 + 12 >= 1", "proved"),
    ("fn f(x: tensor<F64, [w, h]>, y: tensor<F64, [65]>) -> tensor<F64, [((w + h)*65) floordiv (w + h)]> { y }",
     "", "((w + h)*65) floordiv (w + h) = 65", "proved"),
    ("fn g(x: tensor<F64, [n, m, n*m]>) -> F64 { sum(x) }\n"
     "fn f(x: tensor<F64, [16, 16, 256]>) -> F64 { g(x) }", "", "16*16 = 256", "proved"),
    ("fn f(x: tensor<F64, [n]>) -> F64 requires n mod 3 = 0 { let c = n ceildiv 3; check n - 2*c >= 1; sum(x[2*c:n]) }",
     "n mod 3 = 0", "n - 2*(n ceildiv 3) >= 1", "proved"),
    ("fn f(x: tensor<F64, [n]>) -> F64 { let c = n ceildiv 3; check n - 2*c >= 1; sum(x) }",
     "", "n - 2*(n ceildiv 3) >= 1", "may fail", "K0311", "n = 1 -> n - 2*(n ceildiv 3) = -1"),
    ("fn f(x: tensor<F64, [T + 1]>, y: tensor<F64, [T]>) -> tensor<F64, [T]> { x[1:] + y }",
     "", "T + 1 - 1 = T", "proved"),
    ("fn f(x: tensor<F64, [T]>, y: tensor<F64, [T + 1]>) -> tensor<F64, [T]> { x + y[1:] }",
     "", "T + 1 - 1 = T", "proved"),
    # Operations.
    ("fn f(x: tensor<F64, [S]>, y: tensor<F64, [T]>) -> tensor<F64, [S]> { x + y }",
     "", "S = T", "may fail", "K0301", "S = 1, T = 2 -> left = 1, right = 2"),
    ("fn f(x: tensor<F64, [M, K]>, y: tensor<F64, [L, N]>) -> tensor<F64, [M, N]> { x @ y }",
     "", "K = L", "may fail", "K0302", "K = 1, L = 2 -> left = 1, right = 2"),
    ("fn f(x: tensor<F64, [N]>) -> tensor<F64, [5]> { x[0:5] }",
     "", "5 <= N", "may fail", "K0307", "N = 1"),
    ("fn f(x: tensor<F64, [N]>) -> tensor<F64, [5]> requires N > 5 { x[0:5] }",
     "N > 5", "5 <= N", "proved"),
    ("fn f(x: tensor<F64, [N]>, y: tensor<F64, [W]>) -> F64 { sum(x[0:N - W]) }",
     "", "0 <= N - W", "may fail", "K0307", "N = 1, W = 2 -> N - W = -1"),
    ("fn f(x: tensor<F64, [N]>) -> F64 { sum(zeros<F64>([N - 5])) }",
     "", "0 <= N - 5", "may fail", "K0307", "N = 1 -> N - 5 = -4"),
    ("fn f<N >= 0>(x: tensor<F64, [N]>) -> F64 { mean(x) }",
     "", "0 < N", "may fail", "K0307", "N = 0"),
    # Calls.
    ("fn g(x: tensor<F64, [N]>) -> F64 requires N > 5 { sum(x) }\n"
     "fn f(x: tensor<F64, [M]>) -> F64 { g(x) }", "", "M > 5", "may fail", "K0304", "M = 1"),
    ("fn g(x: tensor<F64, [N]>) -> F64 requires N > 5 { sum(x) }\n"
     "fn f(x: tensor<F64, [M]>) -> F64 requires M mod 7 = 0 { g(x) }", "M mod 7 = 0", "M > 5", "proved"),
    ("fn g(x: tensor<F64, [8*q]>) -> F64 { sum(x) }\n"
     "fn f(x: tensor<F64, [M]>) -> F64 requires M mod 8 = 0 { g(x) }", "M mod 8 = 0", "M mod 8 = 0", "proved"),
    # Paths.
    ("fn f(x: tensor<F64, [N]>) -> F64 { if (N > 5) { sum(x[0:5]) } else { sum(x) } }",
     "N > 5", "5 <= N", "proved"),
    ("fn f(x: tensor<F64, [N]>) -> F64 { if (N > 3) { sum(x[0:5]) } else { sum(x) } }",
     "N > 3", "5 <= N", "may fail", "K0307", "N = 4"),
    ("fn f(x: tensor<F64, [N]>) -> F64 { if (N < 5) { sum(x) } else { sum(x[0:5]) } }",
     "N >= 5", "5 <= N", "proved"),
    ("fn f(x: tensor<F64, [N]>) -> F64 { for (i in 0..N) [s = 0.0] { let dim K = i + 1; s + sum(x[0:K]) } }",
     "K <= N", "K <= N", "proved"),
    ("fn f(x: tensor<F64, [N]>, n: I32) -> F64 { let dim K = n; sum(x[0:K]) }",
     "", "K <= N", "may fail", "K0307", "K = 2, N = 1"),
    ("fn f(x: tensor<F64, [N]>, n: I32) -> F64 { let dim K = n; if (n <= N) { sum(x[0:K]) } else { 0.0 } }",
     "K <= N", "K <= N", "proved"),
]


def names_of(text):
    words = re.findall(r"[A-Za-z_]\w*", text)
    return [w for w in dict.fromkeys(words) if w not in ("mod", "floordiv", "ceildiv", "min", "max", "and", "or", "not")]


def to_python(text):
    text = re.sub(r"\bceildiv\b", "/CEIL/", text)
    # a ceildiv b binds as a product does; only simple operands occur.
    text = re.sub(r"([\w]+|\([^()]*\))\s*/CEIL/\s*([\w]+)", r"(-((-\1) // \2))", text)
    text = text.replace("floordiv", "//").replace("mod", "%")
    return re.sub(r"(?<![<>!=])=(?!=)", "==", text)


def brute_force(least, facts, goal):
    """The verdict, and the smallest counterexample as a dictionary."""
    parts = [f for f in facts.split(",") if f.strip()]
    if "min" in facts or "max" in facts:
        raise ValueError("a fact with a comma")
    names = names_of(goal)
    for fact in parts:
        names += [n for n in names_of(fact) if n not in names]
    conditions = [compile(to_python(f.strip()), f, "eval") for f in parts]
    wanted = compile(to_python(goal), goal, "eval")
    held, best = False, None
    ranges = [range(least.get(n, 1), least.get(n, 1) + (BOX if len(names) < 4 else 8)) for n in names]
    for values in itertools.product(*ranges):
        env = dict(zip(names, values))
        if not all(eval(c, {}, env) for c in conditions):
            continue
        if eval(wanted, {}, env):
            held = True
        elif best is None or (sum(values), values) < best:
            best = (sum(values), values)
    if best is None:
        return "proved", None
    return ("may fail" if held else "never"), dict(zip(names, best[1]))


def spelled_values(values):
    return ", ".join(f"{n} = {v}" for n, v in values.items())


def main(work):
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    cases = []
    for number, case in enumerate(PREDICATES):
        least = {}
        if re.fullmatch(r"\w+>=\d+", case[0]):
            name, low = case[0].split(">=")
            least[name] = int(low)
            case = case[1:]
        facts, goal, verdict, *counterexample = case
        names = names_of(goal)
        names += [n for n in names_of(facts) if n not in names]
        declared = ", ".join(f"{n} >= {least[n]}" if n in least else n for n in names)
        clauses = f" requires {facts}" if facts else ""
        callee = f"fn goal{number}<{declared}>(x: tensor<F64, [{', '.join(names)}]>) -> F64 requires {goal} {{ sum(x) }}"
        caller = f"fn facts{number}<{declared}>(x: tensor<F64, [{', '.join(names)}]>) -> F64{clauses} {{ goal{number}(x) }}"
        cases.append((callee + "\n" + caller, least, facts, goal, verdict, "K0304", counterexample))
    for number, case in enumerate(PROGRAMS):
        text, facts, goal, verdict, *rest = case
        least = {"N": 0} if "<N >= 0>" in text else {}
        text = re.sub(r"\b([fg])(?=\()|\b([fg])(?=<N)", lambda m: f"{m[1] or m[2]}p{number}", text)
        cases.append((text, least, facts, goal, verdict, rest[0] if rest else "", rest[1:]))

    bad = []
    for kind in ("never", "others"):
        source, lines = "", {}
        chosen = [c for c in cases if (c[4] == "never") == (kind == "never")]
        for case in chosen:
            for line in range(source.count("\n") + 1, source.count("\n") + 2 + case[0].count("\n")):
                lines[line] = case
            source += case[0] + "\n"
        path = work / f"{kind}.kina"
        path.write_text(source)
        run = subprocess.run(["kinac", "check", str(path), "--color=never"], capture_output=True, text=True)
        found = {}
        for block in re.split(r"\n(?=error|warning)", run.stderr):
            head = re.match(r"(error|warning)(?:\[(K\d+)\])?: (.*)", block)
            at = re.search(re.escape(str(path)) + r":(\d+)", block)
            if not head or not at:
                bad.append(f"unexpected output: {block!r}")
                continue
            # As a clause of its own, a goal that can never hold is another error.
            if head[2] == "K0305" and kind == "never":
                continue
            values = re.search(r"counterexample: (.*)", block)
            never = "can never hold" in block
            found.setdefault(id(lines[int(at[1])]), []).append(
                (head[2], "never" if never else "may fail" if values else "undecided", values and values[1]))
        for case in chosen:
            text, least, facts, goal, verdict, code, counterexample = case
            weak, verdict = verdict.endswith("?"), verdict.rstrip("?")
            label = f"{goal!r} under {facts!r} in {text!r}"
            computed, values = brute_force(least, facts, goal)
            if computed != verdict or (values and not counterexample[0].startswith(spelled_values(values))):
                bad.append(f"{label}: the table says {verdict} {counterexample}, brute force {computed} {values}")
            got = found.pop(id(case), [])
            want = [] if verdict == "proved" else [(code, verdict, counterexample[0])]
            if weak and got and all(g[1] == "undecided" for g in got):
                continue
            if got != want:
                bad.append(f"{label}: expected {want}, kinac says {got}")
    print(f"{len(cases)} cases, {len(bad)} wrong")
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
