"""A chamber as inline SVG: seats on arcs of a half circle, numbered from the left.

A seat is told apart by its number, which the roll beside the picture explains; colour only
repeats what the roll says in words.
"""

from fractions import Fraction
from math import ceil, cos, pi, sin
from typing import Final

from moot.pages.markup import Markup, tag
from moot.pages.model import Chamber, ChamberSeat
from moot.pages.text import one_line, shorten

_WIDTH, _HEIGHT = 400, 222
_OUTER: Final = 180.0
_INNER: Final = 78.0
_MOST_IN_ONE_ROW: Final = 11
_FEW_SEATS: Final = 5


def seats_drawing(chamber: Chamber, name: str) -> Markup:
    """The half circle; `name` makes the ids of this picture unique on the page."""
    places = seat_places(len(chamber.seats))
    outer, radius = _outer_radius(len(chamber.seats)), _seat_radius(len(chamber.seats))
    drawn = zip(chamber.seats, places, range(1, len(places) + 1), strict=True)
    return tag(
        "svg",
        {
            "viewBox": f"0 {_OUTER - outer:.0f} {_WIDTH} {_HEIGHT - _OUTER + outer:.0f}",
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
        },
        tag("title", {"id": f"{name}-title"}, one_line(chamber.title) or "Chamber"),
        tag("desc", {"id": f"{name}-desc"}, describe_chamber(chamber)),
        *(_seat(seat, place, number, radius) for seat, place, number in drawn),
        tag(
            "text",
            {"class": "centre", "x": _WIDTH // 2, "y": _HEIGHT - 14, "text-anchor": "middle"},
            shorten(chamber.centre, 24),
        ),
    )


def describe_chamber(chamber: Chamber) -> str:
    """The picture in words, for those who do not see it."""
    return "; ".join(
        f"{number}: {one_line(seat.name)} {one_line(seat.stance)}".strip()
        for number, seat in enumerate(chamber.seats, 1)
    )


def seat_places(count: int) -> list[tuple[float, float]]:
    """Where each seat's middle lies: row by row from the outside, each from left to right."""
    rows = _row_count(count)
    outer = _outer_radius(count)
    lengths = _seats_per_row(count, [_row_radius(row, rows, outer) for row in range(rows)])
    return [
        _seat_place(_row_radius(row, rows, outer), number, length)
        for row, length in enumerate(lengths)
        for number in range(length)
    ]


def _outer_radius(count: int) -> float:
    """A few seats sit closer together."""
    return min(_OUTER, 40.0 + 20 * count)


def _row_count(count: int) -> int:
    rows = 1
    while count > _MOST_IN_ONE_ROW * rows * (rows + 1) // 2 + (rows - 1) * _MOST_IN_ONE_ROW // 2:
        rows += 1
    return rows


def _row_radius(row: int, rows: int, outer: float) -> float:
    return outer - (outer - _INNER) * row / max(rows - 1, 1)


def _seats_per_row(count: int, arcs: list[float]) -> list[int]:
    """Seats for each row, by its length; what rounding leaves over goes to the outside."""
    whole = sum(Fraction(arc) for arc in arcs)
    shares = [int(count * Fraction(arc) / whole) for arc in arcs]
    for row in range(count - sum(shares)):
        shares[row % len(shares)] += 1
    return shares


def _seat_place(arc: float, number: int, length: int) -> tuple[float, float]:
    # A few seats take a part of the half circle: at its ends there would be nobody between them.
    part = (length + 1) / (length + 3) if length <= _FEW_SEATS else 1.0
    angle = pi / 2 if length == 1 else pi * ((1 - part) / 2 + part * number / (length - 1))
    return _WIDTH / 2 - arc * cos(angle), _HEIGHT - 24 - arc * sin(angle)


def _seat_radius(count: int) -> float:
    """As large as the fullest row allows."""
    rows, outer = _row_count(count), _outer_radius(count)
    most = ceil(count * outer / sum(_row_radius(row, rows, outer) for row in range(rows)))
    return min(17.0, pi * outer / max(most, 2) / 2.4)


def _seat(seat: ChamberSeat, place: tuple[float, float], number: int, radius: float) -> Markup:
    x, y = place
    r = f"{radius:.2f}"
    words = f"{number}: {one_line(seat.name)} {one_line(seat.stance)}".strip()
    return tag(
        "g",
        {"class": f"s-{seat.tone}", "transform": f"translate({x:.2f} {y:.2f})"},
        tag("title", None, words),
        tag("path", {"d": f"M-{r},0A{r},{r} 0 1 1 {r},0A{r},{r} 0 1 1 -{r},0Z"}),
        tag("text", {"x": 0, "y": "4.2", "text-anchor": "middle"}, str(number)),
    )
