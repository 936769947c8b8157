"""Dual numbers over NumPy arrays: values and derivatives in all inputs at once, by forward
accumulation. What runs on them is a Python function of the program, so nothing of Kina
takes part. The tangent of a value has a leading axis of directions, or none; tangents and
values may be dual numbers themselves, as far as scalars go."""

import numpy as np


class Dual:
    __slots__ = ("v", "d")
    __array_ufunc__ = None

    def __init__(self, v, d):
        self.v, self.d = v, d

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.v + other.v, aligned(self, other.v) + aligned(other, self.v))
        return Dual(self.v + other, spread(aligned(self, other), other))

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.v * other.v, aligned(self, other.v) * other.v + aligned(other, self.v) * self.v)
        return Dual(self.v * other, aligned(self, other) * other)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __neg__(self):
        return Dual(-self.v, -self.d)

    def __truediv__(self, other):
        if isinstance(other, Dual):
            q = self.v / other.v
            return Dual(q, (aligned(self, other.v) - aligned(other, self.v) * q) / other.v)
        return Dual(self.v / other, aligned(self, other) / other)

    def __rtruediv__(self, other):
        q = other / self.v
        return Dual(q, -aligned(self, other) * q / self.v)

    __radd__ = __add__
    __rmul__ = __mul__

    def __lt__(self, other): return primal(self) < primal(other)
    def __gt__(self, other): return primal(self) > primal(other)
    def __le__(self, other): return primal(self) <= primal(other)
    def __ge__(self, other): return primal(self) >= primal(other)


def aligned(x, other):
    """The tangent, with axes between its direction and the value for a tensor of higher rank."""
    missing = np.ndim(primal(other)) - np.ndim(primal(x))
    if isinstance(x.d, Dual) or missing <= 0:
        return x.d
    lead = x.d.ndim - x.v.ndim
    return x.d.reshape(x.d.shape[:lead] + (1,) * missing + x.d.shape[lead:])


def spread(d, other):
    """The tangent of a sum with a constant, which may be larger."""
    return d if isinstance(d, Dual) else d + np.zeros(np.shape(primal(other)))


def primal(x):
    while isinstance(x, Dual):
        x = x.v
    return x


def lift(function, derivative):
    def lifted(x):
        if isinstance(x, Dual):
            return Dual(lifted(x.v), x.d * derivative(x.v))
        return function(x)
    return lifted


sin = lift(np.sin, lambda v: cos(v))
cos = lift(np.cos, lambda v: -sin(v))
exp = lift(np.exp, lambda v: exp(v))
log = lift(np.log, lambda v: 1.0 / v)
sqrt = lift(np.sqrt, lambda v: 0.5 / sqrt(v))
tanh = lift(np.tanh, lambda v: 1.0 - tanh(v) * tanh(v))
absolute = lift(np.abs, lambda v: np.sign(primal(v)))


def maximum(x, y, sign=1.0):
    """Ties share the derivative."""
    a, b = primal(x), primal(y)
    weight = np.where(sign * (a - b) > 0, 1.0, np.where(a == b, 0.5, 0.0))
    return x * weight + y * (1.0 - weight)


def minimum(x, y):
    return maximum(x, y, -1.0)


def inputs(*arrays):
    """The arrays as dual numbers whose directions are all their elements, in order."""
    arrays = [np.asarray(a, np.float64) for a in arrays]
    total, offset, duals = sum(a.size for a in arrays), 0, []
    for a in arrays:
        d = np.zeros((total, a.size))
        d[offset + np.arange(a.size), np.arange(a.size)] = 1.0
        duals.append(Dual(a, d.reshape((total,) + a.shape)))
        offset += a.size
    return duals


def split(gradient, arrays):
    """A tangent in the directions of `inputs` as the gradients of the arrays."""
    offset, parts = 0, []
    for a in arrays:
        size = np.size(a)
        parts.append(np.asarray(gradient[offset:offset + size]).reshape(np.shape(a)))
        offset += size
    return parts


# Tensors of one level of dual numbers; axes are counted from the end.

def take(x, index):
    """An element of a vector, or a row of a matrix; `index` is an integer or a slice."""
    if not isinstance(x, Dual):
        return x[index]
    return Dual(x.v[index], x.d[..., index] if x.v.ndim == 1 else x.d[..., index, :])


def put(x, index, value):
    """The vector or matrix with element or row `index` replaced."""
    x, value = full(x, value), full(value, x)
    if not isinstance(x, Dual):
        new = np.array(x)
        new[index] = value
        return new
    v, d = np.array(x.v), np.array(x.d)
    v[index] = value.v
    if v.ndim == 1:
        d[..., index] = value.d
    else:
        d[..., index, :] = value.d
    return Dual(v, d)


def full(x, like):
    """`x` with a tangent of zeros where only `like` has one."""
    if isinstance(x, Dual) or not isinstance(like, Dual):
        return x
    lead = like.d.shape[:like.d.ndim - np.ndim(like.v)]
    return Dual(np.asarray(x, np.float64), np.zeros(lead + np.shape(x)))


def total(x):
    if not isinstance(x, Dual):
        return np.sum(x)
    return Dual(np.sum(x.v), np.sum(x.d, axis=tuple(range(-x.v.ndim, 0))))


def einsum(spec, x, y):
    """`spec` without ellipses, of two operands: 'ij,j->i'."""
    operands, result = spec.split("->")
    a, b = operands.split(",")
    if not isinstance(x, Dual) and not isinstance(y, Dual):
        return np.einsum(spec, x, y)
    xv, yv = primal(x), primal(y)
    d = 0.0
    if isinstance(x, Dual):
        d = d + np.einsum(f"...{a},{b}->...{result}", x.d, yv)
    if isinstance(y, Dual):
        d = d + np.einsum(f"{a},...{b}->...{result}", xv, y.d)
    return Dual(np.einsum(spec, xv, yv), d)


def scale(s, x):
    """A scalar times a tensor."""
    letters = "ij"[:np.ndim(primal(x))]
    return einsum(f",{letters}->{letters}", s, x)


def transpose(x):
    if not isinstance(x, Dual):
        return np.transpose(x)
    return Dual(x.v.T, np.swapaxes(x.d, -1, -2))
