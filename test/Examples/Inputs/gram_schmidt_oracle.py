"""numpy.linalg.qr, and closed forms of the gradients."""

import numpy as np


def check(example):
    random = np.random.RandomState(6)
    N, M = 9, 6
    X, W = random.randn(N, M), random.randn(N, M)
    [Q, lengths], [value, slope], [pulled] = example.run(
        ("orthogonal", dict(X=X), 2), ("volume", dict(X=X), 2), ("pull", dict(X=X, W=W), 1))
    q, r = np.linalg.qr(X)
    signs = np.sign(np.diag(r))
    q, r = q * signs, signs[:, None] * r
    example.compare("Q", Q, q, 1e-13)
    example.compare("lengths", lengths, np.diag(r), 1e-13)
    example.compare("volume", value, 0.5 * np.linalg.slogdet(X.T @ X)[1], 1e-13)
    example.compare("gradient of the volume", slope, np.linalg.pinv(X).T, 1e-12)
    # Of X = Q R follows dQ = Q skew(Q' dX R^-1) + (1 - Q Q') dX R^-1; this is its transpose.
    lower = np.tril(q.T @ W - W.T @ q, -1)
    closed = (q @ lower + W - q @ (q.T @ W)) @ np.linalg.inv(r).T
    example.compare("gradient of sum(W * Q)", pulled, closed, 1e-11)
