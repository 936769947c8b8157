"""The plate as a matrix: numpy.linalg.solve, and the closed form of the gradient."""

import numpy as np


def differences(H, W):
    """The matrices that give the difference of temperature across each side of the cells, from the cells."""
    cell = lambda i, j: i * W + j if 0 <= i < H and 0 <= j < W else None
    across, down = np.zeros((H * (W + 1), H * W)), np.zeros(((H + 1) * W, H * W))
    for matrix, rows, columns, (di, dj) in ((across, H, W + 1, (0, 1)), (down, H + 1, W, (1, 0))):
        for i in range(rows):
            for j in range(columns):
                for sign, at in ((1, cell(i - di, j - dj)), (-1, cell(i, j))):
                    if at is not None:
                        matrix[i * columns + j, at] = sign
    return across, down


def check(example):
    random = np.random.RandomState(5)
    H, W, tol = 8, 11, 1e-12
    across, down = np.exp(random.randn(H, W + 1)), np.exp(random.randn(H + 1, W))
    sources, measured = random.randn(H, W), random.randn(H, W)
    named = dict(across=across, down=down, sources=sources, tol=tol)
    [u, steps], got = example.run(("temperatures", named, 2), ("step", dict(measured=measured, **named), 3))

    D, E = differences(H, W)
    A = D.T @ (across.reshape(-1, 1) * D) + E.T @ (down.reshape(-1, 1) * E)
    solution = np.linalg.solve(A, sources.ravel())
    example.compare("temperatures", u, solution.reshape(H, W), 1e-11)
    example.judge("more than 40 steps", int(steps) > 40)
    misfit = solution - measured.ravel()
    example.compare("misfit", got[0], misfit @ misfit, 1e-11)
    adjoint = np.linalg.solve(A, 2 * misfit)
    example.compare("gradient in across", got[1], -(D @ adjoint * (D @ solution)).reshape(H, W + 1), 1e-9)
    example.compare("gradient in down", got[2], -(E @ adjoint * (E @ solution)).reshape(H + 1, W), 1e-9)


def memory(example):
    """Nine times as many steps of the solver, and hardly more memory for their gradient."""
    random = np.random.RandomState(5)
    H = W = 64
    named = dict(across=np.exp(2.5 * random.randn(H, W + 1)), down=np.exp(2.5 * random.randn(H + 1, W)),
                 sources=random.randn(H, W))
    steps, peaks = [], []
    for tol in (30, 0.1):
        (_, count), _ = example.peak("temperatures", dict(tol=tol, **named), 2)
        _, peak = example.peak("step", dict(tol=tol, measured=named["sources"], **named), 3)
        steps.append(int(count))
        peaks.append(peak)
    states = (steps[1] - steps[0]) * 3 * H * W * 8 / 2**20
    example.judge(f"steps {steps[0]} and {steps[1]}: a state of each would be {states:.0f} MiB more (at least 150)", states >= 150)
    example.judge(f"memory {peaks[1] - peaks[0]:.0f} MiB more (at most 30)", peaks[1] - peaks[0] <= 30)
