"""The report without a browser: markdown for people and pull requests, JSON for programs.

Markdown has no safe container for foreign text, so every text is escaped character by character;
it can neither open a heading, list, link or fence nor leave the block it stands in. JSON carries
the data exactly; characters that could harm a page or a terminal it is pasted into are escaped.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, assert_never

import msgspec

from moot.pages.charts import describe_interval
from moot.pages.model import (
    BarChart,
    Block,
    Cell,
    Chamber,
    ChartThreshold,
    DecisionCard,
    Dissent,
    Fact,
    Facts,
    FindingRow,
    Findings,
    Flow,
    FlowStep,
    Fold,
    Graph,
    Interval,
    IntervalChart,
    LineChart,
    PageLink,
    Prose,
    Quote,
    Report,
    Table,
    Timeline,
    TimelineEntry,
    Tone,
)
from moot.pages.text import (
    HIDDEN,
    NO_FINDINGS,
    NO_TEXT,
    NO_VALUES,
    NOT_YET,
    NOTHING_RECORDED,
    SIGNS,
    UNTITLED,
    dissent_note,
    format_number,
    graph_table,
    human_time,
    no_proof_sentence,
    one_line,
    proof_sentence,
    rounds_with_points,
    show_hidden_characters,
    split_paragraphs,
    values_table,
)

# Entities where even an escaped character would still mean something to a table or to HTML.
_ENTITIES: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"}
_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]#~$@!^]|[<>&|]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_LINE_START: Final = re.compile(r"^([-+:](?=[-\s]|$)|=)|^([0-9]+)([.)])(?=\s|$)")
_CODE_SAFE: Final = re.compile(r"[^`|<>\[\]]+")
_UNSAFE_JSON: Final = re.compile(f"[<>&]|{HIDDEN.pattern}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def to_markdown(report: Report) -> str:
    """The report as CommonMark with tables."""
    parts = [
        f"# {markdown_line(report.title) or UNTITLED}",
        _joined(markdown_line(report.kind), markdown_line(report.subtitle)),
        _verdict(report),
        _links(report.links),
        *_section(report.decision.heading, _quoted(report.decision.statement)),
        *_reasons(report.decision),
        _facts((*report.decision.facts, *report.decision.details)),
        *(_dissent(report.dissent) if report.dissent else ()),
        *(part for block in report.blocks for part in _section(block.title, *_content(block))),
        "---",
        *_footer(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def to_json(report: Report) -> bytes:
    """The report's data, as indented UTF-8 JSON."""
    encoder = msgspec.json.Encoder(decimal_format="number")
    plain = _without_halves(msgspec.to_builtins(report, builtin_types=(Decimal,)))
    text = msgspec.json.format(encoder.encode(plain), indent=2).decode()
    return (_UNSAFE_JSON.sub(_json_escape, text) + "\n").encode()


def _without_halves(value: object) -> object:
    # JSON in UTF-8 has no form for half a surrogate pair; such text is shown, not lost.
    match value:
        case str():
            return _SURROGATE.sub(lambda half: show_hidden_characters(half[0]), value)
        case dict():
            return {key: _without_halves(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_halves(item) for item in value]
        case _:
            return value


def _json_escape(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\n":
        return character
    units = character.encode("utf-16-be")
    return "".join(
        f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)
    )


def _escape(line: str) -> str:
    """One line of text that markdown shows as it is."""
    safe = _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], "\\" + found[0]), line)
    return _LINE_START.sub(
        lambda found: rf"\{found[1]}" if found[1] else rf"{found[2]}\{found[3]}", safe
    )


def markdown_line(text: str) -> str:
    return _escape(one_line(text))


def _code(text: str) -> str:
    line = one_line(text)
    return f"`{line}`" if _CODE_SAFE.fullmatch(line) else _escape(line)


def _bold(text: str) -> str:
    line = markdown_line(text)
    return f"**{line}**" if line else ""


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _mark(tone: Tone, text: str) -> str:
    return f"{SIGNS[tone]} {markdown_line(text)}".strip()


def markdown_paragraphs(text: str) -> str:
    """Paragraphs with their line breaks and indentation."""
    return "\n\n".join(_lines(part) for part in split_paragraphs(text)) or f"*{NO_TEXT}*"


def _lines(paragraph: str) -> str:
    return "\\\n".join(_with_visible_indent(line) for line in paragraph.split("\n"))


def _with_visible_indent(line: str) -> str:
    # Real leading spaces would make a code block; and a line must never become empty.
    flat = line.expandtabs(4).rstrip(" ")
    words = flat.lstrip(" ")
    return "&nbsp;" * (len(flat) - len(words)) + _escape(words) or "&nbsp;"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip(" ") for line in markdown_paragraphs(text).split("\n"))


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _section(title: str, *parts: str) -> list[str]:
    heading = markdown_line(title)
    return [f"## {heading}" if heading else "", *parts]


def _verdict(report: Report) -> str:
    badge = _mark(report.verdict.tone, report.verdict.label)
    return _joined(f"**Verdict: {badge}**", markdown_line(report.verdict.note))


def _dissent(dissent: Dissent) -> list[str]:
    note = markdown_line(dissent_note(dissent))
    voices = (part for voice in dissent.voices for part in _quote(voice))
    return [*_section(dissent.heading, note), *voices]


def _reasons(decision: DecisionCard) -> list[str]:
    voices = [part for voice in decision.reasons for part in _quote(voice)]
    return [_bold(f"{one_line(decision.reasons_heading)}:"), *voices] if voices else []


def _links(links: tuple[PageLink, ...]) -> str:
    return _bullets(f"{markdown_line(link.label)}: {_code(link.file_name)}" for link in links)


def _footer(report: Report) -> list[str]:
    proof = report.proof
    if proof is None:
        parts = no_proof_sentence(report).split("`")
        return ["".join(_code(part) if at % 2 else _escape(part) for at, part in enumerate(parts))]
    rows = {"File": proof.file_name, "SHA-256": proof.sha256, "Check it": proof.command}
    details = _bullets(f"{name}: {_code(text)}" for name, text in rows.items())
    return [proof_sentence(proof), details]


def _content(block: Block) -> list[str]:
    match block:
        case Prose():
            return [markdown_paragraphs(block.text)]
        case Facts():
            return [_facts(block.items) or _remark(NOTHING_RECORDED)]
        case Table():
            return [markdown_line(block.caption), _table(block.columns, block.rows)]
        case Timeline():
            moments = _bullets(_moment(moment) for moment in block.moments)
            return [moments or _remark(NOTHING_RECORDED)]
        case Quote():
            return _quote(block)
        case LineChart() | BarChart() | Chamber() | Flow() | Graph() | IntervalChart():
            return [markdown_line(block.caption), *_picture(block)]
        case Fold():
            return [
                part
                for inner in block.blocks
                for part in (_bold(inner.title), *_content(inner))
                if part
            ]
        case Findings():
            findings = _bullets(_finding(item) for item in block.items)
            return [findings or _remark(NO_FINDINGS)]
        case _:
            assert_never(block)


def _picture(block: LineChart | BarChart | Chamber | Flow | Graph | IntervalChart) -> list[str]:
    match block:
        case LineChart():
            return _line_chart(block)
        case BarChart():
            return _bar_chart(block)
        case Chamber():
            return [markdown_line(block.centre), _chamber(block)]
        case Flow():
            return [_flow(block.steps) or _remark(NOTHING_RECORDED)]
        case Graph():
            shown = graph_table(block)
            empty = _remark(NOTHING_RECORDED)
            return [_table(shown.columns, shown.rows) if shown.rows else empty]
        case IntervalChart():
            return [_intervals(block.intervals), _threshold_line(block.mark)]


def _facts(facts: tuple[Fact, ...]) -> str:
    return _bullets(_fact(fact) for fact in facts)


def _fact(fact: Fact) -> str:
    value = _code(fact.value) if fact.code else markdown_line(fact.value)
    return f"{_bold(one_line(fact.label) + ':')} {value}"


def _quote(quote: Quote) -> list[str]:
    stance = _mark(quote.tone, quote.stance) if quote.stance else ""
    refs = _bullets(f"Evidence: {_code(ref)}" for ref in quote.refs)
    return [
        _joined(_bold(quote.author), markdown_line(quote.tool), stance, markdown_line(quote.note)),
        markdown_line(quote.title),
        _quoted(quote.text),
        refs,
    ]


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str | Cell, ...]]) -> str:
    head = [_row(markdown_line(name) for name in columns), _row("---" for _ in columns)]
    body = [_row(_cell(cell) for cell in row) for row in rows]
    return "\n".join(head + body) if body else _remark(NOTHING_RECORDED)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return markdown_line(cell)
    text = _code(cell.text) if cell.code else _mark(cell.tone, cell.text)
    return _joined(text, markdown_line(cell.note))


def _moment(moment: TimelineEntry) -> str:
    ref = _code(moment.ref) if moment.ref else ""
    about = _joined(
        markdown_line(human_time(moment.at)),
        _bold(moment.who),
        _mark(moment.tone, moment.what),
        ref,
    )
    return about + (f": {markdown_line(moment.detail)}" if moment.detail else "")


def _line_chart(chart: LineChart) -> list[str]:
    if not rounds_with_points(chart):
        return [_remark(NO_VALUES)]
    table = values_table(chart)
    return [_table(table.columns, table.rows), _threshold_line(chart.threshold)]


def _threshold_line(mark: ChartThreshold | None) -> str:
    return f"{markdown_line(mark.label)}: {format_number(mark.value)}" if mark else ""


def _intervals(intervals: tuple[Interval, ...]) -> str:
    rows = [(each.label, describe_interval(each), each.note) for each in intervals]
    return _table(("Name", "Value", "Note"), rows)


def _bar_chart(chart: BarChart) -> list[str]:
    rows = [(Cell(bar.label, bar.tone), format_number(bar.value), bar.note) for bar in chart.bars]
    table = _table(("Name", f"Of {format_number(chart.full)}", "Note"), rows)
    return [table, _threshold_line(chart.needed)]


def _chamber(chamber: Chamber) -> str:
    rows = [
        (str(place), seat.name, Cell(seat.stance, seat.tone), seat.note)
        for place, seat in enumerate(chamber.seats, 1)
    ]
    return _table(("Seat", "Name", "Stance", "Note"), rows)


def _flow(steps: tuple[FlowStep, ...]) -> str:
    return "\n".join(f"{place}. {_step(step)}" for place, step in enumerate(steps, 1))


def _step(step: FlowStep) -> str:
    ref = _code(step.ref) if step.ref else ""
    ahead = "" if step.done else NOT_YET
    return _joined(_bold(step.label), _mark(step.tone, step.text), ref, ahead)


def _finding(item: FindingRow) -> str:
    hint = f"What to do: {markdown_line(item.hint)}" if item.hint else ""
    where = _joined(markdown_line(item.rule), markdown_line(item.where))
    return _joined(_bold(item.severity), where, markdown_line(item.message), hint)


def _remark(words: str) -> str:
    return f"*{words}*"
