#!/usr/bin/env python3
"""Compares the random numbers of Kina with Philox4x32-10 written here, which is itself held
against the published vectors, and looks at their moments.

  random_numbers.py --work DIR
"""

import argparse
import json
import pathlib
import subprocess

import numpy as np

MASK = (1 << 32) - 1


def philox(counter, key, rounds=10):
    """The words of a block; four counter words and two of the key."""
    c, k = list(counter), list(key)
    for _ in range(rounds):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & MASK, (p >> 32) ^ c[3] ^ k[1], p & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


VECTORS = (([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
           ([MASK] * 4, [MASK] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
           ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]))
for counter, key, words in VECTORS:
    assert philox(counter, key) == words
    assert philox(counter, key, rounds=9) != words


def words(key, counter, count, rounds=10):
    result = []
    for block in range(-(-count // 4)):
        c = (counter + block) % (1 << 64)
        result += philox([c & MASK, c >> 32, 0, 0], [key & MASK, (key >> 32) & MASK], rounds)
    return np.array(result[:count], np.uint64)


def bits(key, counter, shape, width, rounds=10):
    count = int(np.prod(shape))
    if width == 32:
        return words(key, counter, count, rounds).astype(np.uint32).reshape(shape)
    pairs = words(key, counter, 2 * count, rounds)
    return (pairs[0::2] | pairs[1::2] << np.uint64(32)).reshape(shape)


DIGITS = {"F64": 53, "F32": 24, "F16": 11, "BF16": 8}


def uniform(key, counter, shape, element):
    width = 64 if element == "F64" else 32
    return (bits(key, counter, shape, width) >> (width - DIGITS[element])).astype(np.float64) / 2.0**DIGITS[element]


def normal(key, counter, shape, element):
    count = int(np.prod(shape))
    u = uniform(key, counter, (count + count % 2,), "F64" if element == "F64" else "F32")
    radius = np.sqrt(-2 * np.log1p(-u[0::2]))
    pairs = np.stack([radius * np.cos(2 * np.pi * u[1::2]), radius * np.sin(2 * np.pi * u[1::2])], axis=1)
    return pairs.reshape(-1)[:count].reshape(shape)


SHAPES = {"row": (11,), "matrix": (3, 5), "box": (2, 3, 3), "one": (), "none": (0,), "empty": (2, 0)}
SEEDS = ((0, 0), (1, 2), (-1, -1), (0x123456789ABCDEF, (1 << 32) - 1), (-5 << 40, (1 << 63) - 1))
LARGE = 40000


def source():
    text = []
    for name, shape in SHAPES.items():
        dims = ", ".join(map(str, shape))
        declare = lambda element, shape=dims: f"tensor<{element}, [{shape}]>" if shape else element
        for element in ("I32", "I64"):
            text.append(f"@export fn bits_{element}_{name}(key: I64, counter: I64) -> {declare(element)} "
                        f"{{ random_bits(key, counter, [{dims}]) }}")
        for element in DIGITS:
            result, cast = (element, "{}") if element in ("F64", "F32") else ("F32", "cast({}, F32)")
            for draw in ("uniform", "normal"):
                call = cast.format(f"{draw}<{element}>(key, counter, [{dims}])")
                text.append(f"@export fn {draw}_{element}_{name}(key: I64, counter: I64) -> {declare(result)} {{ {call} }}")
    text.append("""
@export fn symbolic(key: I64, counter: I64, like: &tensor<I32, [N, M]>) -> tensor<F64, [M, N]> { uniform(key, counter, [M, N]) }
@export fn many_uniform(key: I64, counter: I64) -> tensor<F64, [LARGE]> { uniform(key, counter, [LARGE]) }
@export fn many_normal(key: I64, counter: I64) -> tensor<F64, [LARGE]> { normal(key, counter, [LARGE]) }
@export fn chain(key: I64, n: I32) -> tensor<F64, [6]> {
  let (q, _, _) = while (i < n) [q = zeros<F64>([6]), counter = cast(7, I64), i = 0] {
    (0.5 * q + uniform(key, counter, [6]), counter + cast(3, I64), i + 1)
  };
  q
}
fn noisy(x: tensor<F64, [N]>, key: I64) -> F64 { sum(x * uniform(key, 0, [N]) * normal(key, 99, [N])) }
@export fn slope(key: I64, x: &tensor<F64, [N]>) -> tensor<F64, [N]> { grad(noisy, wrt=x)(x, key) }
""".replace("LARGE", str(LARGE)))
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    (work / "random.kina").write_text(source())
    calls, expected = [], []

    def call(name, wanted, tolerance=0.0, **arguments):
        for key, value in arguments.items():
            if isinstance(value, np.ndarray):
                np.save(work / f"{len(calls)}.{key}.npy", value)
                arguments[key] = work / f"{len(calls)}.{key}.npy"
        out = work / f"{len(calls)}.npy"
        out.unlink(missing_ok=True)
        calls.append({"function": name, "arguments": {k: str(v) for k, v in arguments.items()}, "out": [str(out)]})
        expected.append((name, out, wanted, tolerance))

    for key, counter in SEEDS:
        for name, shape in SHAPES.items():
            for element in ("I32", "I64"):
                wanted = bits(key, counter, shape, int(element[1:])).astype(f"u{int(element[1:]) // 8}")
                call(f"bits_{element}_{name}", wanted.view(f"i{int(element[1:]) // 8}"), key=key, counter=counter)
            for element in DIGITS:
                wanted = uniform(key, counter, shape, element)
                call(f"uniform_{element}_{name}", wanted, key=key, counter=counter)
                tolerance = {"F64": 1e-14, "F32": 2e-6, "F16": 2e-3, "BF16": 2e-2}[element]
                call(f"normal_{element}_{name}", normal(key, counter, shape, element), tolerance, key=key, counter=counter)
    call("symbolic", uniform(3, 4, (4, 3), "F64"), key=3, counter=4, like=np.zeros((3, 4), np.int32))
    state = np.zeros(6)
    for i in range(4):
        state = 0.5 * state + uniform(8, 7 + 3 * i, (6,), "F64")
    call("chain", state, 1e-15, key=8, n=4)
    call("slope", uniform(8, 0, (5,), "F64") * normal(8, 99, (5,), "F64"), 1e-14, key=8, x=np.ones(5))
    call("many_uniform", None, key=42, counter=0)
    call("many_normal", None, key=42, counter=0)

    (work / "random.json").write_text(json.dumps(calls))
    subprocess.run(["kinac", "run", work / "random.kina", "--batch", work / "random.json"], check=True,
                   stdout=subprocess.DEVNULL)
    failed = 0
    for name, out, wanted, tolerance in expected:
        got = np.load(out)
        if wanted is None:
            continue
        error = np.abs(got.astype(np.float64) - wanted).max(initial=0) if got.shape == wanted.shape else np.inf
        if got.dtype.kind == "i" and not np.array_equal(got, wanted):
            error = np.inf
        if not error <= tolerance:
            failed += 1
            print(f"FAIL {name}: got {got.tolist()}, wanted {wanted.tolist()}")
    # With one round less no draw of any size agrees.
    assert not np.array_equal(bits(1, 2, (11,), 32), bits(1, 2, (11,), 32, rounds=9))

    u, n = np.load(expected[-2][1]), np.load(expected[-1][1])
    spread = 5 / np.sqrt(LARGE)
    moments = {"mean of uniform": (u.mean(), 0.5, spread), "variance of uniform": (u.var(), 1 / 12, spread / 3),
               "neighbours of uniform": (np.corrcoef(u[:-1], u[1:])[0, 1], 0, spread), "mean of normal": (n.mean(), 0, spread),
               "variance of normal": (n.var(), 1, 2 * spread), "skewness of normal": ((n**3).mean(), 0, 4 * spread),
               "kurtosis of normal": ((n**4).mean(), 3, 10 * spread),
               "pairs of normal": (np.corrcoef(n[0::2], n[1::2])[0, 1], 0, 1.5 * spread)}
    for name, (got, wanted, tolerance) in moments.items():
        if not abs(got - wanted) <= tolerance:
            failed += 1
            print(f"FAIL {name}: {got}, wanted {wanted}")
    assert u.min() >= 0 and u.max() < 1 and np.isfinite(n).all()
    print(f"{len(expected)} draws compared, {failed} failed")
    raise SystemExit(failed != 0)


main()
