"""The same method in NumPy, and its derivative by the complex step: f(p + i e) holds e f'(p) in its
imaginary part, without any difference. Decisions look at real parts."""

import numpy as np

A = [[], [1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656], [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


def slope(y, p):
    return np.array([y[1], -p[0] * np.sin(y[0]) - p[1] * y[1]])


def simulate(start, p, times, tol, counts=None):
    y, t, step, angles = start.astype(p.dtype), 0.0, 0.01, []
    for end in times:
        while np.real(t) < end:
            h = step if np.real(step) < np.real(end - t) else end - t
            k = []
            for row in A:
                z = y + h * sum((a * s for a, s in zip(row, k)), np.zeros(2))
                k.append(slope(z, p))
            wrong = h * sum(e * s for e, s in zip(E, k)) / (tol + tol * z * np.sign(z.real))
            error = np.sqrt(np.mean(wrong * wrong))
            grow = 0.9 * (error + 1e-30) ** -0.2
            step = h * (0.2 if grow.real < 0.2 else 5.0 if grow.real > 5 else grow)
            if accepted := error.real <= 1:
                y, t = z, (t + h if np.real(h) < np.real(end - t) else end)
            if counts is not None:
                counts[not accepted] += 1
        angles.append(y[0])
    return np.array(angles)


def fine(start, p, times):
    """The classical method of Runge and Kutta with a small fixed step."""
    y, t, angles = start, 0.0, []
    for end in times:
        h = (end - t) / 400
        for _ in range(400):
            k1 = slope(y, p)
            k2 = slope(y + h / 2 * k1, p)
            k3 = slope(y + h / 2 * k2, p)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3, p))
        t = end
        angles.append(y[0])
    return np.array(angles)


def check(example):
    start, p, truth, tol = np.array([1.2, 0.0]), np.array([3.0, 0.1]), np.array([4.0, 0.3]), 1e-7
    times = np.linspace(0.4, 3.2, 8)
    angles = fine(start, truth, times)
    named = dict(start=start, p=p, times=times, tol=tol)
    [simulated], [value, change], [found, misfits] = example.run(
        ("simulate", named, 1), ("misfit", dict(angles=angles, **named), 2),
        ("fit", dict(angles=angles, rounds=80, rate=1.2, **named), 2))

    counts = [0, 0]
    example.compare("same method in NumPy", simulated, simulate(start, p, times, tol, counts), 1e-12)
    example.judge(f"steps were rejected: {counts[1]} of {sum(counts)}", counts[1] > 0)
    example.compare("fine steps", simulated, fine(start, p, times), 1e-5)
    step = 1e-30
    shifted = [np.mean((simulate(start, p + 1j * step * np.eye(2)[k], times, tol) - angles) ** 2) for k in range(2)]
    example.compare("misfit", value, shifted[0].real, 1e-12)
    example.compare("gradient by the complex step", change, [s.imag / step for s in shifted], 1e-9)
    example.judge(f"misfit falls from {misfits[0]:.1e} to {misfits[-1]:.1e} (at most 1e-08)", bool(misfits[-1] <= 1e-8))
    example.compare("parameters", found, truth, 1e-3)
