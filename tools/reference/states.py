"""The states of every machine, as pictures and as words."""

from __future__ import annotations

from tools.make_state_pictures import TABLES, arrows_of, table_of
from tools.reference.markdown import table


def page() -> str:
    lines = [
        "# States",
        "",
        "Drawn from the tables that decide (`TRANSITIONS`). A state with a double frame is an end.",
        "",
    ]
    for protocol, (_, subject) in TABLES.items():
        arrows = [(arrow.start, arrow.label, arrow.end) for arrow in arrows_of(table_of(protocol))]
        lines += [f"## {protocol}: {subject}", ""]
        lines += [f"![The states of {subject}](../pictures/states-{protocol}.svg)", ""]
        lines += [*table(("from", "by", "to"), arrows), ""]
    return "\n".join(lines)
