"""The report: hostile text stays text, every block has three forms, same data gives same bytes."""

import ast
import base64
import decimal
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from html.parser import HTMLParser
from itertools import combinations, pairwise
from math import dist
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

import moot.pages as package
from moot.pages import (
    Bar,
    BarChart,
    Block,
    Cell,
    Chamber,
    ChamberSeat,
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
    Node,
    PageLink,
    Point,
    ProofFile,
    Prose,
    Quote,
    Report,
    Series,
    Table,
    Timeline,
    TimelineEntry,
    VerdictBadge,
    to_html,
    to_json,
    to_markdown,
)
from moot.pages.charts import (
    BOX_HEIGHT_REM,
    COLUMN_GAP_PERCENT,
    HEADING_HEIGHT_REM,
    ROW_GAP_REM,
    seat_places,
)
from moot.pages.line_chart import DASHES, MARKERS, spread_apart
from moot.pages.markup import join_markup, stylesheet, tag
from moot.pages.style import CSS, DARK, LIGHT
from moot.pages.text import (
    HIDDEN,
    display_width,
    format_number,
    human_time,
    one_line,
    shorten,
    show_hidden_characters,
    split_paragraphs,
)

SHA = hashlib.sha256(b"proof").hexdigest()
SOURCES = sorted(Path(package.__file__).parent.glob("*.py"))

HOSTILE = [
    "<script>alert(1)</script>",
    "</style></title></svg><img src=x onerror=alert(1)>",
    "\"><a href='javascript:alert(1)'>x</a>",
    "' onmouseover='alert(1)",
    "]]> <!-- --> <![CDATA[ &lt;b&gt; &amp;",
    "[click me](https://evil.example) ![i](https://evil.example/i.png)",
    "<https://evil.example> https://evil.example www.evil.example [a]: https://evil.example",
    "# forged heading",
    "Setext\n===\nand\n---\nmore",
    "```\nfence\n```\n~~~\nother\n~~~",
    "a | b\n--- | ---\nc | d",
    "- item\n+ item\n* item\n1. item\n2) item\n> quote",
    "    indented code\n\ttabbed code",
    "para\n\n\n# heading after a blank line\n\n---\n\n**bold** `code` $math$ ~~gone~~",
    "trailing backslash \\",
    "\u202eright to left\u202c \u2066isolate\u2069 \u200bzero \ufeff",
    "nul \x00 bell \x07 escape \x1b[31m delete \x7f next \x85 line \u2028 para \u2029",
    "tags \U000e0041\U000e0042 half \ud800 nonchar \ufffe",
    "carriage\rreturn\r\nboth",
    "W" * 500,
    "👩‍👩‍👧 שלום עולم 漢字 é",
    "",
    " \n\t ",
]

anything = st.text(st.characters(exclude_categories=()), max_size=60)
markdownish = st.text("#>-+=*_`~[]()<>!|\\&;:/.1w@$ \n\tax{}^\"'", max_size=60)
foreign = st.one_of(anything, markdownish, st.sampled_from(HOSTILE))


def line_chart(text: str, points: tuple[Point, ...]) -> LineChart:
    return LineChart(
        series=(Series(text, points), Series(text, (), strong=True)),
        threshold=ChartThreshold(Decimal("0.7"), text),
        x_label=text,
        y_label=text,
        hollow_means=text,
        title=text,
        caption=text,
    )


def every_block(text: str) -> tuple[Block, ...]:
    """Every kind of block, with the text in every field that takes one."""
    points = (Point(1, Decimal("0.5"), text), Point(2, Decimal("0.90"), text, hollow=True))
    bars = (Bar(text, Decimal(3), "good", text), Bar(text, Decimal(0), "bad"))
    steps = (FlowStep(text, text, text, "good"), FlowStep(text, done=False))
    return (
        Prose(text, title=text),
        Facts((Fact(text, text), Fact(text, text, code=True)), title=text),
        Table(
            (text, text),
            ((text, Cell(text, "bad", text)), (text, Cell(text, code=True))),
            title=text,
            caption=text,
        ),
        Timeline((TimelineEntry(text, text, text, text, text, "caution"),), title=text),
        Quote(text, text, text, "bad", text, (text,), title=text),
        line_chart(text, points),
        BarChart(bars, Decimal(5), ChartThreshold(Decimal(3), text), title=text, caption=text),
        Chamber(
            (ChamberSeat(text, "good", text, text), ChamberSeat(text)),
            text,
            title=text,
            caption=text,
        ),
        Flow(steps, title=text, caption=text),
        Graph(
            (text, text),
            (Node(0, text, text, text, "good"), Node(1, text, text, text, "bad")),
            ((0, 1),),
            title=text,
            caption=text,
        ),
        Findings((FindingRow("error", text, text, text, text),), title=text),
        IntervalChart(
            (Interval(text, Decimal("0.2"), Decimal("0.1"), Decimal("0.4"), text),),
            mark=ChartThreshold(Decimal("0.25"), text),
            title=text,
            caption=text,
        ),
        Fold((Prose(text, title=text),), title=text),
    )


def page(text: str, blocks: tuple[Block, ...] | None = None) -> Report:
    return Report(
        kind=text,
        title=text,
        subtitle=text,
        verdict=VerdictBadge(text, "good", text),
        decision=DecisionCard(text, (Fact(text, text),), heading=text),
        dissent=Dissent((Quote(text, text, text, "bad", text, (text,)),), text, heading=text),
        blocks=every_block(text) if blocks is None else blocks,
        proof=ProofFile(text, SHA, text),
    )


BLOCK_KINDS = {type(block).__name__: block for block in every_block("kestrel")}


class Page(HTMLParser):
    """Reads HTML strictly: every element must close, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment on the page: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration on the page: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction on the page: {data}")

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def text_of(self, name: str) -> str:
        return "".join(text for tag, text in self.texts if tag == name)

    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]


FORBIDDEN_ELEMENTS = {"script", "a", "img", "iframe", "object", "link", "base", "form", "use"}
FORBIDDEN_ATTRIBUTES = {"style", "src", "href", "xlink:href", "srcset", "action", "xmlns"}


def assert_harmless(parsed: Page) -> None:
    assert not FORBIDDEN_ELEMENTS & {tag for tag, _ in parsed.elements}
    names = {name for _, attributes in parsed.elements for name in attributes}
    assert not FORBIDDEN_ATTRIBUTES & names
    assert not [name for name in names if name.startswith("on")]


def tokens(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(markdown)


def inline_text(token: Token) -> str:
    return "".join(
        "\n" if child.type == "hardbreak" else child.content for child in token.children or ()
    )


def headings(markdown: str) -> list[str]:
    found = tokens(markdown)
    return [
        inline_text(found[index + 1])
        for index, token in enumerate(found)
        if token.type == "heading_open"
    ]


def assert_markdown_harmless(markdown: str, expected_headings: int) -> None:
    found = tokens(markdown)
    inner = [child for token in found for child in token.children or ()]
    kinds = {token.type for token in found + inner}
    assert not kinds & {"link_open", "image", "html_block", "html_inline", "fence", "code_block"}
    assert len(headings(markdown)) == expected_headings
    assert sum(token.type == "hr" for token in found) == 1


# --- hostile text ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_on_the_page(text: str) -> None:
    html = to_html(page(text))
    parsed = Page(html)
    assert_harmless(parsed)
    if set(text) & set("<>\"'"):
        body = html.split("</style>")[1]
        assert text not in body
    assert not HIDDEN.search(html)
    assert parsed.text_of("h1") == (one_line(text) or "Untitled")


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip() and "\n" not in text])
def test_hostile_text_does_not_change_the_structure(text: str) -> None:
    if "\r" in text:
        text = text.replace("\r", "")
    # An id that is long is folded, whatever it says; a table breaks between words.
    harmless = " ".join("k" * display_width(word) for word in text.split(" "))
    assert Page(to_html(page(text))).skeleton() == Page(to_html(page(harmless))).skeleton()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_markdown(text: str) -> None:
    markdown = to_markdown(page(text))
    named = 1 + (2 + len(BLOCK_KINDS) if text.strip() else 0)
    assert_markdown_harmless(markdown, named)
    assert not HIDDEN.search(markdown)
    assert "<" not in markdown
    assert not re.search(r"(?<!\\)[\[\]]", markdown)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_json(text: str) -> None:
    raw = to_json(page(text))
    shown = raw.decode("utf-8")
    assert not re.search("[<>&]", shown)
    assert not HIDDEN.search(shown)
    assert json.loads(raw)["title"] == re.sub(
        "[\ud800-\udfff]", lambda half: show_hidden_characters(half[0]), text
    )


def test_what_cannot_be_seen_is_shown_by_its_number() -> None:
    assert show_hidden_characters("a\u202eb\x00\ud800") == "a⟨U+202E⟩b⟨U+0000⟩⟨U+D800⟩"
    assert show_hidden_characters("👩‍👩‍👧 ❤️ می‌خواهم") == "👩‍👩‍👧 ❤️ می‌خواهم"
    assert show_hidden_characters("one\r\ntwo\rthree") == "one\ntwo\nthree"


def test_bare_addresses_are_not_turned_into_links() -> None:
    markdown = to_markdown(page("https://evil.example WWW.evil.example"))
    assert "https://" not in markdown.replace("`https://evil.example WWW.evil.example`", "")
    assert "WWW\\.evil" in markdown


def test_markdown_keeps_lines_and_indentation_of_a_quote() -> None:
    said = Quote("otter", "first\n  - second\n\n# third")
    markdown = to_markdown(page("kestrel", (said,)))
    assert "> first\\\n> &nbsp;&nbsp;\\- second\n>\n> \\# third\n" in markdown


@given(foreign)
@settings(deadline=None)
def test_any_text_leaves_the_page_whole(text: str) -> None:
    html = to_html(page(text))
    parsed = Page(html)
    assert_harmless(parsed)
    assert parsed.text_of("h1") == (one_line(text) or "Untitled")
    html.encode("utf-8")


@given(foreign)
@settings(deadline=None)
def test_any_markdown_stays_inside_its_frame_of_the_page(text: str) -> None:
    said = Quote("otter", text, markdown=True)
    moment = TimelineEntry("now", "otter", "spoke", text, markdown=True)
    report = msgspec.structs.replace(
        page("kestrel", (Prose(text, markdown=True), said, Timeline((moment,)), Fold((said,)))),
        decision=DecisionCard(text, reasons=(said,), markdown=True),
        dissent=Dissent((said,)),
    )
    parsed = Page(to_html(report))
    outside = {tag for tag, _ in parsed.elements} & (FORBIDDEN_ELEMENTS - {"a"})
    assert not outside
    for tag_name, attributes in parsed.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        if "href" in attributes:
            assert tag_name == "a"
            assert str(attributes["href"]).startswith(("https://", "http://"))
    assert parsed.text_of("h1") == "kestrel"
    assert_markdown_harmless(to_markdown(report), 3)


@given(foreign)
@settings(deadline=None)
def test_any_text_can_be_read_back_from_the_page(text: str) -> None:
    parsed = Page(to_html(page("kestrel", (Prose(text),))))
    prose = [data for tag, data in parsed.texts if tag == "p"]
    wanted = split_paragraphs(text) or ["No text was given."]
    assert prose[-len(wanted) - 1 : -1] == wanted


@given(foreign)
@settings(deadline=None)
def test_any_text_leaves_markdown_whole(text: str) -> None:
    markdown = to_markdown(page(text))
    named = 1 + (2 + len(BLOCK_KINDS) if one_line(text) else 0)
    assert_markdown_harmless(markdown, named)
    assert headings(markdown)[0] == (one_line(text) or "Untitled")
    markdown.encode("utf-8")


@given(foreign)
@settings(deadline=None)
def test_any_text_can_be_read_back_from_a_markdown_quote(text: str) -> None:
    found = tokens(to_markdown(page("kestrel", (Quote("otter", text),))))
    depth, said = 0, []
    for token in found:
        depth += token.nesting if token.type.startswith("blockquote") else 0
        if depth and token.type == "inline":
            said.append(inline_text(token).replace("\xa0", " "))
    wanted = [
        [line.expandtabs(4).rstrip(" ").replace("\xa0", " ") for line in part.split("\n")]
        for part in split_paragraphs(text)
    ]
    expected = ["\n".join(line or " " for line in part) for part in wanted]
    # The reader drops exotic spaces at a paragraph's edges; nothing else may get lost.
    shown = [part.strip() for part in said[2:]]
    assert shown == ([part.strip() for part in expected] or ["No text was given."])


@given(foreign)
@settings(deadline=None)
def test_any_identifier_can_be_read_back_from_markdown(text: str) -> None:
    found = tokens(to_markdown(page("kestrel", (Facts((Fact("id", text, code=True),)),))))
    [said] = [inline_text(token) for token in found if inline_text(token).startswith("id:")]
    assert said == f"id: {one_line(text)}".strip()


@given(foreign)
@settings(deadline=None)
def test_any_text_keeps_markdown_tables_rectangular(text: str) -> None:
    table = Table((text, text, text), ((text, Cell(text, "bad", text), Cell(text, code=True)),))
    kinds = [token.type for token in tokens(to_markdown(page("kestrel", (table,))))]
    assert (kinds.count("th_open"), kinds.count("td_open"), kinds.count("tr_open")) == (3, 3, 2)


@given(st.text(max_size=60))
@settings(deadline=None)
def test_json_carries_the_data_exactly(text: str) -> None:
    report = page(text)
    assert msgspec.json.decode(to_json(report), type=Report) == report


# --- the template ---------------------------------------------------------------------------


def test_the_page_allows_its_own_stylesheet_and_nothing_else() -> None:
    html = to_html(page("kestrel"))
    parsed = Page(html)
    policy = [one["content"] for one in parsed.of("meta") if "http-equiv" in one]
    style = html.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == [
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    ]
    assert not re.search(r"url\(|@import|@font-face|https?:|expression", CSS)
    assert html.count("<style>") == 1


def test_the_page_names_its_language_and_its_headings() -> None:
    parsed = Page(to_html(page("kestrel")))
    assert parsed.of("html") == [{"lang": "en"}]
    assert {head.get("scope") for head in parsed.of("th")} == {"col", "row"}
    assert len(parsed.of("h1")) == 1
    assert {one["name"] for one in parsed.of("meta") if "name" in one} >= {"viewport"}
    identifiers = [one["id"] for _, one in parsed.elements if "id" in one]
    assert len(identifiers) == len(set(identifiers))


def test_decision_and_dissent_come_before_everything_else() -> None:
    report = Report(
        kind="Debate",
        title="T",
        verdict=VerdictBadge("Consensus"),
        decision=DecisionCard("we-decided"),
        dissent=Dissent((Quote("heron", "i-disagree"),)),
        blocks=(Prose("and-more"),),
        proof=None,
    )
    for text in (to_html(report), to_markdown(report)):
        assert text.index("we-decided") < text.index("i-disagree") < text.index("and-more")


@pytest.mark.parametrize("render", [to_html, to_markdown])
def test_a_page_without_dissent_says_so(render: Callable[[Report], str]) -> None:
    page_with = partial(
        Report,
        kind="D",
        title="T",
        verdict=VerdictBadge("V"),
        decision=DecisionCard("S"),
        proof=None,
    )
    assert "No dissent was recorded." in render(page_with(dissent=Dissent()))
    assert "issent" not in render(page_with(dissent=None)).split("</style>")[-1]


@pytest.mark.parametrize("render", [to_html, to_markdown])
def test_the_footer_says_what_the_page_is_and_where_the_proof_is(
    render: Callable[[Report], str],
) -> None:
    proof = ProofFile("debate-7.json", SHA, "moot verify debate-7.json")
    shown = render(msgspec.structs.replace(page("kestrel"), proof=proof))
    assert "This page is a rendering; the proof is the JSON beside it." in shown
    for fact in ("debate-7.json", SHA, "moot verify debate-7.json"):
        assert fact in shown
    bare = render(msgspec.structs.replace(page("kestrel"), proof=None))
    assert "No proof was written beside it." in bare


def test_our_own_words_stay_out_of_the_page() -> None:
    report = page("kestrel")
    shown = "".join(text for _, text in Page(to_html(report)).texts if text != CSS)
    for text in (shown, to_markdown(report)):
        assert not re.search(r"\b(stream|registry|origin|epoch)", text, re.IGNORECASE)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_have_enough_contrast(palette: dict[str, str]) -> None:
    for ground in ("paper", "card"):
        for ink in ("ink", "soft", "good", "bad", "caution", "neutral"):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
        for index in range(8):
            assert contrast(palette[f"s{index}"], palette[ground]) >= 3, index
    for tone in ("good", "bad", "caution", "neutral"):
        assert contrast(palette[tone], palette[f"{tone}-tint"]) >= 4.5, tone


# --- blocks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_every_block_has_three_forms(kind: str) -> None:
    report = page("plover", (BLOCK_KINDS[kind],))
    assert_harmless(Page(to_html(report)))
    assert to_html(report).count("kestrel") >= 2
    assert to_markdown(report).count("kestrel") >= 2
    assert to_json(report).count(b"kestrel") >= 2


def test_no_kind_of_block_is_left_out() -> None:
    assert {kind.__name__ for kind in Block.__args__} == set(BLOCK_KINDS)


EMPTY = [
    (Prose(""), "No text was given."),
    (Facts(()), "Nothing was recorded."),
    (Table(("a",), ()), "Nothing was recorded."),
    (Timeline(()), "Nothing was recorded."),
    (Quote("otter", " "), "No text was given."),
    (LineChart(()), "No values have been recorded yet."),
    (LineChart((Series("otter", ()),)), "No values have been recorded yet."),
    (BarChart((), Decimal(0)), "Nothing"),
    (Chamber(()), "Nothing was recorded."),
    (Flow(()), "Nothing was recorded."),
    (Graph(("a",), ()), "Nothing was recorded."),
    (Findings(()), "Checked; nothing to report."),
    (IntervalChart(()), "Nothing"),
    (Prose(" ", markdown=True), "No text was given."),
]


@pytest.mark.parametrize(("block", "words"), EMPTY)
def test_an_empty_block_says_that_it_is_empty(block: Block, words: str) -> None:
    report = page("plover", (block,))
    assert_harmless(Page(to_html(report)))
    assert words in to_html(report)
    assert words in to_markdown(report)


def test_times_are_written_as_people_write_them() -> None:
    assert human_time("2026-11-16T00:24:18.677Z") == "16 Nov 2026, 00:24 UTC"
    assert human_time("2026-11-16T01:24:18+02:00") == "15 Nov 2026, 23:24 UTC"
    for odd in ("yesterday", "2026-13-16T00:24:18Z", "0001-01-01T00:00:00+14:00", ""):
        assert human_time(odd) == odd
    moment = TimelineEntry("2026-11-16T00:24:18.677Z", "otter", "spoke", ref=SHA)
    report = page("kestrel", (Timeline((moment,)),))
    parsed = Page(to_html(report))
    assert {at["datetime"] for at in parsed.of("time")} == {"2026-11-16T00:24:18.677Z"}
    assert parsed.text_of("time") == "16 Nov 2026, 00:24 UTC"
    assert "Id" in parsed.text_of("summary")
    assert "2026-11-16T00:24:18.677Z" in to_json(report).decode()


def test_pages_in_one_folder_lead_to_each_other() -> None:
    cell = Cell("q-7", file_name="decision-q-7.html")
    links = (PageLink("The debate", "debate-q-7.html"),)
    report = msgspec.structs.replace(page("kestrel", (Table(("Id",), ((cell,),)),)), links=links)
    parsed = Page(to_html(report))
    assert [at["href"] for at in parsed.of("a")] == ["debate-q-7.html", "decision-q-7.html"]
    assert "debate-q-7.html" in to_markdown(report)
    with pytest.raises(ValueError, match="does not lead"):
        to_html(msgspec.structs.replace(report, links=(PageLink("x", "javascript:x.html"),)))


def test_a_page_without_proof_says_what_to_do_about_it() -> None:
    bare = msgspec.structs.replace(page("kestrel"), proof=None)
    assert "moot ledger export" in Page(to_html(bare)).text_of("code")
    how = "`moot receipt q-7 -o q-7.html` writes it again, with its proof."
    told = msgspec.structs.replace(bare, how_to_prove=how)
    assert "moot receipt q-7 -o q-7.html" in Page(to_html(told)).text_of("code")
    assert "`moot receipt q-7 -o q-7.html` writes it again, with its proof." in to_markdown(told)


def test_reasons_stand_with_the_decision_and_ids_are_folded() -> None:
    decision = DecisionCard(
        "we-decided",
        reasons=(Quote("otter", "because-of-this", tool="claude"),),
        details=(Fact("head", SHA, code=True),),
    )
    report = msgspec.structs.replace(page("kestrel"), decision=decision)
    for text in (to_html(report), to_markdown(report)):
        assert text.index("we-decided") < text.index("because-of-this") < text.index("Evidence")
        assert "claude" in text
    assert "Ids and hashes" in Page(to_html(report)).text_of("summary")


def test_a_tone_is_never_shown_by_colour_alone() -> None:
    cells = tuple((Cell(tone, tone),) for tone in ("good", "bad", "caution", "neutral"))
    report = page("kestrel", (Table(("Tone",), cells),))
    signs = [text for _, text in Page(to_html(report)).texts if text in set("✓✕!○")]
    assert {"✓", "✕", "!", "○"} <= set(signs)
    assert all(sign in to_markdown(report) for sign in "✓✕!○")


# --- charts ---------------------------------------------------------------------------------

values = st.decimals(0, 1, places=3)


def drawn(chart: LineChart) -> Page:
    return Page(to_html(page("kestrel", (chart,))))


def places(parsed: Page, height: float) -> None:
    """Every point and line lies inside the plot."""
    for tag_name, at in parsed.elements:
        if tag_name in {"line", "svg"}:
            across = [at[name] for name in ("x", "x1", "x2") if (at.get(name) or "").endswith("%")]
            assert all(0 <= float(str(one)[:-1]) <= 100 for one in across)
        if at.get("class") in {"line", "threshold", "grid"}:
            assert all(0 <= float(str(at[name])) <= height for name in ("y1", "y2"))


@given(st.lists(st.lists(values, max_size=6), max_size=8), values)
@settings(deadline=None)
def test_every_value_is_drawn_inside_the_plot(lines: list[list[Decimal]], mark: Decimal) -> None:
    series = tuple(
        Series(f"a{index}", tuple(Point(at, y) for at, y in enumerate(line, 1)))
        for index, line in enumerate(lines)
    )
    parsed = drawn(LineChart(series, ChartThreshold(mark, "threshold")))
    places(parsed, 220)
    markers = [at for tag_name, at in parsed.elements if at.get("class") == "marker"]
    told_over_rounds = any(len(line) > 1 for line in lines)
    assert len(markers) == (sum(map(len, lines)) + len(lines) if told_over_rounds else 0)


def test_a_higher_value_is_drawn_higher_and_a_threshold_at_its_value() -> None:
    points = (Point(1, Decimal("0.25")), Point(2, Decimal("0.75")))
    parsed = drawn(
        LineChart((Series("otter", points),), ChartThreshold(Decimal("0.5"), "threshold"))
    )
    [segment] = [at for at in parsed.of("line") if at["class"] == "line" and "%" in str(at["x1"])]
    assert (segment["y1"], segment["y2"]) == ("165.00", "55.00")
    assert "110.00" in [at["y1"] for at in parsed.of("line") if at["class"] == "threshold"]


def test_one_round_is_no_picture_but_its_numbers() -> None:
    """A dot in an empty frame tells nobody anything; three of them at one place even less."""
    sure = Decimal("0.8")
    names = ("otter", "heron", "wren")
    series = tuple(Series(name, (Point(7, sure, "approve"),)) for name in names)
    parsed = drawn(LineChart(series, ChartThreshold(Decimal("0.7"), "threshold")))
    assert parsed.of("svg") == []
    assert "The numbers" not in parsed.text_of("summary")
    assert parsed.text_of("th").endswith("NameRound 7otterheronwren")
    assert "threshold: 0.7" in parsed.text_of("p")


def test_marks_that_coincide_stand_side_by_side() -> None:
    half, more = Decimal("0.5"), Decimal("0.75")
    series = tuple(
        Series(name, (Point(1, half), Point(2, end)))
        for name, end in (("otter", half), ("heron", half), ("wren", more))
    )
    parsed = drawn(LineChart(series))
    moved = [at.get("transform") for at in parsed.of("path") if at.get("class") == "marker"]
    in_the_plot = [one for one in moved if one is None or not one.startswith("translate(21 ")]
    beside = ["translate(-9 0)", "translate(0 0)", "translate(9 0)"]
    pair = ["translate(-4.5 0)", "translate(4.5 0)"]
    assert in_the_plot == [beside[0], pair[0], beside[1], pair[1], beside[2], None]


def test_a_silent_round_is_a_gap() -> None:
    half = Decimal("0.5")
    spoke = Series("otter", (Point(1, half), Point(3, half)))
    always = Series("heron", tuple(Point(at, half) for at in (1, 2, 3)))
    segments = [
        at
        for at in drawn(LineChart((spoke, always))).of("line")
        if at["class"] == "line" and "%" in str(at["x1"])
    ]
    assert len(segments) == 2


def test_twenty_agents_can_be_distinguished_without_colour() -> None:
    names = [f"agent-{index}" for index in range(20)]
    points = tuple(Point(at, Decimal("0.8")) for at in (1, 2))
    parsed = drawn(LineChart(tuple(Series(name, points) for name in names)))
    looks = {(MARKERS[index % len(MARKERS)], DASHES[index % len(DASHES)]) for index in range(20)}
    assert len(looks) == 20
    legend = [text for tag_name, text in parsed.texts if tag_name == "bdi" and text in names]
    assert legend == names
    ends = [float(str(at["y"])) for at in parsed.of("text") if at.get("class") == "end"]
    assert len(ends) == 20
    assert min(after - before for before, after in pairwise(ends)) >= 14


def test_a_hollow_marker_is_explained() -> None:
    against = tuple(Point(at, Decimal("0.9"), "reject", hollow=True) for at in (1, 2))
    chart = LineChart((Series("heron", against),), hollow_means="did not approve")
    assert "A hollow marker means: did not approve." in to_html(page("kestrel", (chart,)))


def test_a_chart_is_reported_in_words_too() -> None:
    report = page("kestrel", (BLOCK_KINDS["LineChart"],))
    parsed = Page(to_html(report))
    [figure] = [at for at in parsed.of("svg") if "aria-labelledby" in at]
    identifiers = {at.get("id") for name, at in parsed.elements if name in {"title", "desc"}}
    assert set(str(figure["aria-labelledby"]).split()) <= identifiers
    assert "1: 0.5 kestrel, 2: 0.90 kestrel" in parsed.text_of("desc")
    assert len(parsed.of("table")) == 1


@given(st.lists(st.floats(0, 300), max_size=20))
def test_labels_are_spread_but_stay_in_order_and_in_the_plot(wanted: list[float]) -> None:
    placed = spread_apart(sorted(wanted), 15, 300)
    assert all(-1e-6 <= at <= 300 for at in placed)
    assert all(after - before >= 15 - 1e-6 for before, after in pairwise(placed))


def test_bars_are_as_long_as_their_share() -> None:
    bars = (Bar("Yes", Decimal(3), "good"), Bar("No", Decimal(2), "bad"), Bar("Absent", Decimal(0)))
    chart = BarChart(bars, Decimal(5), ChartThreshold(Decimal(3), "needed"))
    parsed = Page(to_html(page("kestrel", (chart,))))
    widths = [at["width"] for at in parsed.of("rect") if str(at["class"]).startswith("bar")]
    assert widths == ["60.000%", "40.000%"]
    assert {at["x1"] for at in parsed.of("line") if at["class"] == "needed"} == {"60.000%"}


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 11, 12, 30, 60, 200])
def test_seats_never_touch_each_other_and_stay_in_the_picture(count: int) -> None:
    chamber = Chamber(tuple(ChamberSeat(f"otter {place}", "good") for place in range(count)))
    parsed = Page(to_html(page("kestrel", (chamber,))))
    drawn = [str(at["d"]) for at in parsed.of("path") if str(at["d"]).startswith("M-")]
    radius = float(drawn[0].removeprefix("M-").split(",")[0])
    places = seat_places(count)
    assert len(places) == len(drawn) == count
    assert all(0 <= x <= 400 and 0 <= y <= 222 for x, y in places)
    gaps = [dist(a, b) for a, b in combinations(places, 2)]
    assert min(gaps, default=99.0) > 2 * radius


def test_a_score_just_below_its_threshold_does_not_look_as_if_it_met_it() -> None:
    assert format_number(Decimal("0.69999")) == "0.699"
    assert format_number(Decimal("0.70")) == "0.70"
    assert format_number(Decimal("-0.0001")) == "-0.001"
    assert format_number(Decimal(3)) == "3"


def test_long_names_are_shortened_by_width() -> None:
    assert shorten("amber-otter", 17) == "amber-otter"
    assert shorten("a" * 30, 17) == "a" * 17 + "…"
    assert shorten("漢" * 30, 17) == "漢" * 8 + "…"


# --- tables and boxes that hold what stands in them -----------------------------------------


def cells(*columns: tuple[str | Cell, ...]) -> list[tuple[str, str | None]]:
    """The look of each cell of a row of the table that has these columns."""
    table = Table(tuple("ABCDEF"[: len(columns)]), tuple(zip(*columns, strict=True)))
    parsed = Page(to_html(page("kestrel", (table,))))
    return [(name, at["class"]) for name, at in parsed.elements if name in ("th", "td")]


def test_a_column_of_short_texts_never_breaks_and_one_of_long_texts_keeps_its_width() -> None:
    long = "With an append-only file a restart loses one second at most."
    found = cells(("slate-wren", "jade-heron"), (long, "no"), ("1", "2"))
    assert found[:3] == [("th", "short"), ("th", "long"), ("th", "number")]
    assert found[3:6] == [("th", "short"), ("td", "long"), ("td", "number")]
    for rule in (".short,.number{white-space:nowrap}", ".long{min-width:9rem;"):
        assert rule in CSS


def test_a_chip_stands_on_the_line_of_its_row() -> None:
    """An inline block stands on its last line: with two of them it is higher than its row."""
    assert re.search(r"\.chip\{display:inline-flex;", CSS)
    assert cells((Cell("approve 0.75", "good"),)) == [("th", "short"), ("th", "short")]


def test_on_a_phone_every_cell_of_a_wide_table_says_what_it_is() -> None:
    long = "The append-only file answers my objection, and so I give way."
    few, small, wide = (
        Page(to_html(page("kestrel", (Table(tuple("ABCD"[: len(row)]), (row,)),))))
        for row in ((long, long), ("w", "x", "y", "z"), ("w", "x", "y", long))
    )
    looks = [one["class"] for table in (few, small, wide) for one in table.of("table")]
    assert looks == ["narrow", "narrow", "wide"]
    assert [at["data-label"] for at in wide.of("td")] == ["B", "C", "D"]
    assert ".wide [data-label]::before{content:attr(data-label);" in CSS


def test_a_digest_is_cut_into_halves_and_leaves_no_digit_alone() -> None:
    facts = Facts((Fact("head", SHA, code=True), Fact("id", "q-1", code=True)))
    parsed = Page(to_html(page("kestrel", (facts,))))
    evidence, *looks, file, proof = [at["class"] for at in parsed.of("code")]
    assert (evidence, looks, file, proof) == ("id", ["digest", "id"], "id", "digest")
    assert ".digest{display:inline-flex;width:32ch;" in CSS


def test_a_box_of_a_graph_holds_its_text_and_lines_end_at_its_edge() -> None:
    text = "An order was paid in the new sandbox, and the receipt was kept."
    nodes = (Node(0, "c1", text), Node(1, "x1"), Node(2, "x1/stdout", "00" * 8), Node(2, "x1/b"))
    graph = Graph(("Claims", "Runs", "Left"), nodes, ((0, 1), (1, 2), (1, 3)))
    parsed = Page(to_html(page("kestrel", (graph,))))
    assert parsed.of("text") == []
    boxes = [at for at in parsed.of("div") if str(at.get("class")).startswith("node ")]
    assert boxes[0]["title"] == f"c1 {text}"
    lines = [(at["x1"], at["x2"], at["y1"], at["y2"]) for at in parsed.of("line")]
    assert [(x1, x2) for x1, x2, _, _ in lines] == [("28.667%", "35.667%")] + [
        ("64.333%", "71.333%")
    ] * 2
    assert [y2 for *_, y2 in lines] == ["3.750rem", "3.750rem", "8.500rem"]
    assert f".graph{{position:relative;display:flex;gap:{COLUMN_GAP_PERCENT}%;" in CSS
    assert f".column .meta{{height:{HEADING_HEIGHT_REM}rem}}" in CSS
    box = f".node{{height:{BOX_HEIGHT_REM:g}rem;margin-bottom:{ROW_GAP_REM:g}rem;".replace(
        "0.", "."
    )
    assert box in CSS
    assert re.search(r"\.node\{[^}]*overflow:hidden", CSS)


def test_a_folded_table_is_there_for_who_opens_it() -> None:
    table = Table(("Record", "SHA-256"), (("mail/1 #0", SHA),), title="Hashes", folded=True)
    report = page("kestrel", (table,))
    parsed = Page(to_html(report))
    assert parsed.text_of("summary") == "HashesSHA-256 of the file"
    assert "Hashes" not in parsed.text_of("h2")
    assert "## Hashes" in to_markdown(report)


# --- what cannot be built -------------------------------------------------------------------

IMPOSSIBLE = [
    lambda: Table((), ()),
    lambda: Table(("a", "b"), (("only one",),)),
    lambda: Series("otter", (Point(2, Decimal(0)), Point(1, Decimal(0)))),
    lambda: Series("otter", (Point(1, Decimal(0)), Point(1, Decimal(1)))),
    lambda: LineChart((Series("otter", (Point(1, Decimal("1.1")),)),)),
    lambda: LineChart((Series("otter", (Point(1, Decimal("NaN")),)),)),
    lambda: LineChart((Series("otter", (Point(1, Decimal("1E-999999")),)),)),
    lambda: LineChart((), ChartThreshold(Decimal(-1), "threshold")),
    lambda: LineChart((), low=Decimal(1), high=Decimal(1)),
    lambda: LineChart((), high=Decimal("Infinity")),
    lambda: BarChart((Bar("Yes", Decimal(6)),), Decimal(5)),
    lambda: BarChart((), Decimal(5), ChartThreshold(Decimal(6), "needed")),
    lambda: Chamber((ChamberSeat("otter"),) * 201),
    lambda: Graph((), ()),
    lambda: Graph(("a",), (Node(1, "x"),)),
    lambda: Graph(("a", "b"), (Node(0, "x"), Node(1, "y")), ((0, 2),)),
    lambda: Graph(("a", "b"), (Node(0, "x"), Node(1, "y")), ((1, 0),)),
    lambda: ProofFile("f.json", SHA.upper(), "moot verify f.json"),
    lambda: ProofFile("f.json", SHA + "\n", "moot verify f.json"),
    lambda: tag("script"),
    lambda: tag("p", {"onclick": "x"}),
    lambda: tag("p", {"style": "x"}),
    lambda: stylesheet("</style>"),
    lambda: tag("a", {"href": "javascript:alert(1)"}),
    lambda: tag("a", {"href": "data:text/html,x"}),
    lambda: tag("a", {"href": "../elsewhere.html"}),
    lambda: tag("a", {"href": "//evil.example/x.html"}),
    lambda: tag("a", {"href": " https://evil.example"}),
    lambda: IntervalChart((Interval("a", Decimal(1), Decimal(0), Decimal("0.5")),)),
    lambda: IntervalChart((Interval("a", Decimal(2), Decimal(2), Decimal(2)),)),
]


@pytest.mark.parametrize("build", IMPOSSIBLE)
def test_what_cannot_be_shown_honestly_cannot_be_built(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        build()


def test_only_what_was_built_passes_unescaped() -> None:
    inner = tag("bdi", {"class": '"><b>'}, "<i>", None)
    assert inner.html == '<bdi class="&quot;&gt;&lt;b&gt;">&lt;i&gt;</bdi>'
    assert join_markup("&", inner).html == "&amp;" + inner.html


def test_only_one_module_makes_markup() -> None:
    makers = [
        source.name for source in SOURCES if re.search(r"\bMarkup\(", source.read_text("utf-8"))
    ]
    assert makers == ["markup.py"]


def test_the_renderers_touch_neither_clock_nor_disk() -> None:
    allowed = {
        "__future__",
        "base64",
        "collections",
        "dataclasses",
        "datetime",
        "decimal",
        "fractions",
        "functools",
        "hashlib",
        "html",
        "markdown_it",
        "math",
        "moot",
        "msgspec",
        "re",
        "typing",
    }
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= allowed
            elif isinstance(node, ast.ImportFrom):
                assert str(node.module).split(".")[0] in allowed


# --- same data, same bytes ------------------------------------------------------------------

SMALL = Report(
    kind="Debate",
    title="Lock or no lock?",
    subtitle="Two agents",
    verdict=VerdictBadge("Consensus", "good"),
    decision=DecisionCard("Use *one* lock.", (Fact("Score", "0.775"),)),
    dissent=Dissent((Quote("heron", "Too slow.\n# Really", "reject", "bad", "0.80"),)),
    blocks=(
        LineChart(
            (Series("otter", (Point(1, Decimal("0.60"), "approve"),)),),
            ChartThreshold(Decimal("0.7"), "threshold"),
            title="Confidence",
        ),
        BarChart((Bar("Yes", Decimal(1), "good", "otter"),), Decimal(2), title="Votes"),
        Flow((FlowStep("Debate", "Consensus", "d-1"), FlowStep("Bill", done=False)), title="Path"),
    ),
    proof=ProofFile("debate.json", SHA, "moot verify debate.json"),
)

SMALL_MARKDOWN = rf"""# Lock or no lock?

Debate · Two agents

**Verdict: ✓ Consensus**

## Decision

> Use \*one\* lock.

- **Score:** 0.775

## Dissent

**heron** · ✕ reject · 0.80

> Too slow.\
> \# Really

## Confidence

| Name | Round 1 |
| --- | --- |
| otter | 0.60 · approve |

threshold: 0.7

## Votes

| Name | Of 2 | Note |
| --- | --- | --- |
| ✓ Yes | 1 | otter |

## Path

1. **Debate** · Consensus · `d-1`
2. **Bill** · not yet

---

This page is a rendering; the proof is the JSON beside it.

- File: `debate.json`
- SHA-256: `{SHA}`
- Check it: `moot verify debate.json`
"""


def digest() -> str:
    report = page(" ".join(HOSTILE))
    whole = to_html(report) + to_markdown(report) + to_json(report).decode()
    return hashlib.sha256(whole.encode()).hexdigest()


def test_markdown_reads_as_written_here() -> None:
    assert to_markdown(SMALL) == SMALL_MARKDOWN


def test_json_keeps_numbers_as_written() -> None:
    shown = json.loads(to_json(SMALL), parse_float=str)
    assert shown["format"] == "moot-report-1"
    assert [block["kind"] for block in shown["blocks"]] == ["line_chart", "bar_chart", "flow"]
    assert shown["blocks"][0]["series"][0]["points"][0]["y"] == "0.60"


def test_another_process_gives_the_same_bytes() -> None:
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['digest']())"
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = [sys.executable, "-c", code, __file__]
        found = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == digest()


def test_the_callers_decimal_context_does_not_matter() -> None:
    chart = LineChart((Series("otter", (Point(1, Decimal("0.123456789")),)),))
    report = page("kestrel", (chart, *every_block("kestrel")))
    usual = to_html(report), to_markdown(report), to_json(report)
    with decimal.localcontext(decimal.Context(prec=1)):
        assert (to_html(report), to_markdown(report), to_json(report)) == usual


def test_an_axis_through_zero_has_no_negative_zero() -> None:
    points = (Point(1, Decimal("-0.5")), Point(2, Decimal("0.5")))
    chart = LineChart((Series("score", points),), low=Decimal(-1), title="Score")
    report = Report(
        kind="x",
        title="x",
        verdict=VerdictBadge("x", "good"),
        decision=DecisionCard("x"),
        dissent=None,
        blocks=(chart,),
        proof=None,
    )
    page = to_html(report)
    ticks = re.findall(r'text-anchor="end">([^<]*)<', page)
    assert ticks == ["-1", "-0.5", "0", "0.5", "1"]
    assert ">-0<" not in page
