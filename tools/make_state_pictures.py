"""Writes docs/pictures/states-*.svg: each machine's TRANSITIONS table as a picture.

States stand side by side, a line down from each; every event that leads from one to another is an
arrow between two lines. So nothing can overlap, however many transitions a protocol has. A test
compares the files with the tables, so that picture and code cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.machine import to_snake_case

FOLDER: Final = Path(__file__).parents[1] / "docs" / "pictures"
SVG: Final = "http:" + "//www.w3.org/2000/svg"  # a name, not an address
# Where each table stands, and what moves along it.
TABLES: Final = {
    "presence": ("moot.protocols.presence.machine", "a reservation"),
    "mail": ("moot.protocols.mail.machine", "a message that owes an answer"),
    "debate": ("moot.protocols.debate.phases", "a debate"),
    "parliament": ("moot.protocols.parliament.phases", "a session of a parliament"),
    "trace": ("moot.protocols.trace.lifecycle", "a trace"),
    "decision": ("moot.protocols.decision.machine", "a decision"),
    "path": ("moot.protocols.path.machine", "a step of a path"),
    "plan": ("moot.protocols.plan.machine", "a plan"),
    "observed": ("moot.protocols.observed.machine", "watched work"),
    "example": ("moot.protocols.example.machine", "an errand"),
}
COLUMN: Final = 180
ROW: Final = 30
TOP: Final = 64
STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#1b1f24}.s{font-weight:600}"
    ".b{fill:#f6f8fa;stroke:#57606a}.l{stroke:#d0d7de}.a{stroke:#0969da;stroke-width:1.5;fill:none}"
    ".h{fill:#0969da}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#161b22;"
    "stroke:#8b949e}.l{stroke:#30363d}.a{stroke:#58a6ff}.h{fill:#58a6ff}}"
)


class Arrow(NamedTuple):
    """From one state to another, with the event that leads there."""

    start: str
    end: str
    label: str


def table_of(protocol: str) -> Mapping[Any, Mapping[Any, Any]]:
    table: Mapping[Any, Mapping[Any, Any]] = import_module(TABLES[protocol][0]).TRANSITIONS
    return table


def arrows_of(table: Mapping[Any, Mapping[Any, Any]]) -> Iterator[Arrow]:
    """One for each event; an event may lead to one of several states."""
    for state, row in table.items():
        for event, ends in row.items():
            for end in sorted(ends) if isinstance(ends, frozenset) else [ends]:
                yield Arrow(_name(state), _name(end), _event(event))


def _name(state: Any) -> str:
    return str(getattr(state, "value", state))


def _event(event: Any) -> str:
    return to_snake_case(event.__name__) if isinstance(event, type) else _name(event)


def draw(protocol: str) -> str:
    """The picture of one protocol's table."""
    table = table_of(protocol)
    states = [_name(state) for state in table]
    rows = list(arrows_of(table))
    loops = any(row.start == row.end == states[-1] for row in rows)
    width, height = COLUMN * len(states) + (120 if loops else 20), TOP + ROW * len(rows) + 24
    title = f"The states of {TABLES[protocol][1]}, and which event leads from one to another"
    parts = [
        f'<svg xmlns="{SVG}" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">',
        f"<title>{title}</title><style>{STYLE}</style>",
        *_heads(states, table, height),
        *_lines(rows, states),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _center(place: int) -> int:
    return COLUMN * place + COLUMN // 2 + 10


def _heads(states: list[str], table: Mapping[Any, Mapping[Any, Any]], height: int) -> Iterator[str]:
    final = {_name(state) for state, row in table.items() if not row}
    for place, state in enumerate(states):
        middle = _center(place)
        yield f'<line class="l" x1="{middle}" x2="{middle}" y1="40" y2="{height - 8}"/>'
        half = COLUMN // 2 - 8
        yield f'<rect class="b" x="{middle - half}" y="12" width="{2 * half}" height="28" rx="6"/>'
        if state in final:  # drawn with a second frame: nothing leads on from here
            inner = 2 * half - 6
            yield (
                f'<rect class="b" x="{middle - half + 3}" y="15" width="{inner}" height="22"'
                ' rx="4"/>'
            )
        name = escape(state.replace("_", " "))
        yield f'<text class="s" x="{middle}" y="31" text-anchor="middle">{name}</text>'


def _lines(rows: Iterable[Arrow], states: list[str]) -> Iterator[str]:
    for number, arrow in enumerate(rows):
        y = TOP + ROW * number + 14
        start, end = (_center(states.index(name)) for name in (arrow.start, arrow.end))
        label = escape(arrow.label.replace("_", " "))
        if start == end:
            yield f'<path class="a" d="M{start} {y} h26 v10 h-22"/>'
            yield f'<path class="h" d="M{start} {y + 10} l8 -4 v8 z"/>'
            yield f'<text x="{start + 32}" y="{y + 9}">{label}</text>'
            continue
        tip = -8 if end > start else 8
        yield f'<line class="a" x1="{start}" x2="{end + tip}" y1="{y}" y2="{y}"/>'
        yield f'<path class="h" d="M{end} {y} l{tip} -4 v8 z"/>'
        yield f'<text x="{min(start, end) + 10}" y="{y - 4}">{label}</text>'


def pictures() -> dict[Path, str]:
    return {FOLDER / f"states-{protocol}.svg": draw(protocol) for protocol in TABLES}


def main() -> None:
    for file, text in pictures().items():
        file.write_text(text, "utf-8")
        print(f"wrote {file.name}")


if __name__ == "__main__":
    main()
