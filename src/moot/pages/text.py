"""Text and numbers as a reader sees them, whatever form the page takes.

Text from an agent may carry control characters, direction overrides or invisible letters that
make a page say something other than its bytes. Every renderer shows them as ⟨U+202E⟩. Joiners
(U+200C, U+200D) and variation selectors are left alone where real scripts and emoji need them:
between letters beyond ASCII, and one selector a letter. The list is written out, not taken from
`unicodedata`, so that every Python version gives the same bytes.
"""

import re
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Final

from moot.core.clock import MONTHS
from moot.core.text import BLANK_LETTERS
from moot.pages.model import (
    Cell,
    Dissent,
    Graph,
    LineChart,
    ProofFile,
    Report,
    Severity,
    Table,
    Tone,
)

_SHOWN_DECIMALS: Final = 3
# A context of our own: the caller's precision must not change the bytes of a page.
EXACT_DECIMALS: Final = Context(prec=120, rounding=ROUND_FLOOR)

_HIDDEN_RANGES: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but not tab and newline
    "\u00ad\u061c\u180e\u200b\u200e\u200f"  # soft hyphen, marks of direction, zero width
    "\u2028-\u202e\u2060-\u206f"  # separators, embeddings, overrides, isolates
    "\ufeff\ufff9-\ufffb\ufdd0-\ufdef"
    f"{BLANK_LETTERS}"
    "\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f"  # tag letters: an invisible copy of ASCII
    "\ud800-\udfff"  # half a character; has no UTF-8 form
) + "".join(chr(plane * 0x10000 + 0xFFFE) + chr(plane * 0x10000 + 0xFFFF) for plane in range(17))

_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
HIDDEN: Final = re.compile(
    f"[{_HIDDEN_RANGES}]"
    f"|(?<![^\x00-\x7f])[{_JOINERS}]|[{_JOINERS}](?![^\x00-\x7f])"
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]|(?<![^\x00-\x7f])[\U000e0100-\U000e01ef]"
)

_RECORDED_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")


def show_hidden_characters(text: str) -> str:
    """The same text with one kind of line ending and nothing hidden in it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", lines)


def one_line(text: str) -> str:
    """Visible text for a place that holds a single line."""
    return " ".join(show_hidden_characters(text).split())


def human_time(text: str) -> str:
    """`16 Nov 2026, 00:24 UTC` of a time as recorded; anything else stays as it is."""
    line = one_line(text)
    if not _RECORDED_TIME.fullmatch(line):
        return line
    try:
        moment = datetime.fromisoformat(line).astimezone(UTC)
    except (ValueError, OverflowError):
        return line
    month = MONTHS[moment.month - 1]
    return f"{moment.day} {month} {moment.year}, {moment.hour:02}:{moment.minute:02} UTC"


def split_paragraphs(text: str) -> list[str]:
    """Visible text cut at blank lines; indentation inside a paragraph stays."""
    blocks = re.split(r"\n[ \t]*\n", show_hidden_characters(text))
    return [block.strip("\n") for block in blocks if block.strip()]


def shorten(text: str, width: int) -> str:
    """At most `width` columns of one line."""
    line, used = one_line(text), 0
    for index, character in enumerate(line):
        used += _columns(character)
        if used > width:
            return line[:index].rstrip() + "…"
    return line


def display_width(text: str) -> int:
    """How many columns a text takes in one line."""
    return sum(map(_columns, one_line(text)))


def _columns(character: str) -> int:
    """An East Asian or emoji character takes two."""
    return 2 if character >= "\u1100" else 1


def format_number(value: Decimal) -> str:
    """As written, cut after three decimals.

    Cut, not rounded: a score just below its threshold must not look as if it had met it.
    """
    exponent = value.as_tuple().exponent
    long = isinstance(exponent, int) and -exponent > _SHOWN_DECIMALS
    shown = (
        value.quantize(Decimal(1).scaleb(-_SHOWN_DECIMALS), context=EXACT_DECIMALS)
        if long
        else value
    )
    # Rounding towards the floor makes -1 + 1 a negative zero, which is no number to a reader.
    return format(shown if shown else shown.copy_abs(), "f")


# The page's own sentences, said once for every form of the report.

UNTITLED: Final = "Untitled"
NO_DISSENT: Final = "No dissent was recorded."
NO_TEXT: Final = "No text was given."
NO_VALUES: Final = "No values have been recorded yet."
NOTHING_RECORDED: Final = "Nothing was recorded."
NO_FINDINGS: Final = "Checked; nothing to report."
NO_PROOF: Final = "This page is a rendering. No proof was written beside it."
PROVE_BY_EXPORT: Final = (
    "The record proves it: `moot ledger export -o record.moot` writes it, and anyone can check "
    "that file with `moot verify record.moot`."
)
SCROLL_HINT: Final = "Wider than the page: scroll it sideways."
NOT_YET: Final = "not yet"
MISSING_VALUE: Final = "—"
SIGNS: Final[dict[Tone, str]] = {
    "plain": "",
    "good": "✓",
    "bad": "✕",
    "caution": "!",
    "neutral": "○",
}
SEVERITY_TONES: Final[dict[Severity, Tone]] = {
    "error": "bad",
    "warning": "caution",
    "info": "neutral",
}


def proof_sentence(proof: ProofFile) -> str:
    """What the reader must know about every page we render."""
    kind = "JSON" if proof.file_name.endswith(".json") else "file"
    return f"This page is a rendering; the proof is the {kind} beside it."


def no_proof_sentence(report: Report) -> str:
    """That nothing here is proved, and what to do about it."""
    return f"{NO_PROOF} {one_line(report.how_to_prove) or PROVE_BY_EXPORT}"


def dissent_note(dissent: Dissent) -> str:
    """What stands under the heading besides the voices; never nothing."""
    return one_line(dissent.note) or ("" if dissent.voices else NO_DISSENT)


def rounds_with_points(chart: LineChart) -> list[int]:
    """Every round that has a point, ascending."""
    return sorted({point.x for line in chart.series for point in line.points})


def values_table(chart: LineChart) -> Table:
    """The numbers of a line chart: a row for each series, a column for each round."""
    all_rounds = rounds_with_points(chart)
    columns = ("Name", *(f"{one_line(chart.x_label)} {at}".strip() for at in all_rounds))
    rows: list[tuple[str | Cell, ...]] = []
    for line in chart.series:
        values = {point.x: Cell(format_number(point.y), note=point.note) for point in line.points}
        rows.append((line.name, *(values.get(at, MISSING_VALUE) for at in all_rounds)))
    return Table(columns=columns, rows=tuple(rows))


def graph_table(graph: Graph) -> Table:
    """A graph in words: a row for each box, with what it rests on."""
    rows: list[tuple[str | Cell, ...]] = []
    for place, node in enumerate(graph.nodes):
        rests_on = [graph.nodes[second].label for first, second in graph.edges if first == place]
        kind = graph.columns[node.column]
        label = Cell(node.label, node.tone)
        rows.append((kind, label, node.text, Cell(node.ref, code=True), ", ".join(rests_on)))
    return Table(columns=("What", "Name", "Text", "Reference", "Rests on"), rows=tuple(rows))
