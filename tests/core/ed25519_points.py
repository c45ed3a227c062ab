"""Points on Ed25519 that no one may register, computed from the curve's equation alone.

Written from RFC 8032, with none of libsodium: an independent opinion for the tests of `signing`.
"""

from __future__ import annotations

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493

Point = tuple[int, int]
IDENTITY: Point = (0, 1)


def add(one: Point, two: Point) -> Point:
    (x1, y1), (x2, y2) = one, two
    shared = D * x1 * x2 * y1 * y2
    x3 = (x1 * y2 + x2 * y1) * pow(1 + shared, -1, P)
    y3 = (y1 * y2 + x1 * x2) * pow(1 - shared, -1, P)
    return x3 % P, y3 % P


def times(factor: int, point: Point) -> Point:
    result = IDENTITY
    while factor:
        if factor & 1:
            result = add(result, point)
        point, factor = add(point, point), factor >> 1
    return result


def x_of(y: int) -> int | None:
    """An x with -x^2 + y^2 = 1 + d x^2 y^2, if there is one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return None if (x * x - square) % P else x


def encode(point: Point) -> bytes:
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(raw: bytes) -> Point:
    number = int.from_bytes(raw, "little")
    y, sign = number % 2**255, number >> 255
    x = x_of(y)
    assert x is not None
    return (x if x & 1 == sign else (P - x) % P), y


def points() -> list[Point]:
    """Some point on the curve for each small y."""
    found = ((x_of(y), y) for y in range(2, 60))
    return [(x, y) for x, y in found if x is not None]


def small_order() -> list[Point]:
    """All eight points whose order divides eight."""
    found: set[Point] = set()
    for point in points():
        torsion = times(ORDER, point)
        found.update(times(k, torsion) for k in range(8))
        if len(found) == 8:
            break
    return sorted(found)


def non_canonical() -> list[bytes]:
    """Every encoding of a point whose y is written as y + p, and the two signs of x = 0."""
    beyond = [
        (y + P | sign << 255).to_bytes(32, "little")
        for y in range(19)
        for sign in (0, 1)
        if x_of(y) is not None
    ]
    minus_zero = [(y | 1 << 255).to_bytes(32, "little") for y in (1, P - 1)]
    return beyond + minus_zero


def off_the_curve() -> list[bytes]:
    return [y.to_bytes(32, "little") for y in range(2, 60) if x_of(y) is None]
