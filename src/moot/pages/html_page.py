"""The one template: a report as a single HTML file that needs nothing else.

No script and no network: the browser is told to allow only the page's own stylesheet. Decision and
dissent come first, then the blocks, then the other pages in the folder and where the proof is.
"""

from moot.pages.blocks import (
    block_section,
    fact_list,
    fold,
    optional_line,
    quote_figure,
    text_paragraphs,
)
from moot.pages.markup import (
    Markup,
    code_element,
    document,
    join_markup,
    stylesheet,
    tag,
    with_tone_sign,
)
from moot.pages.model import DecisionCard, Dissent, PageLink, ProofFile, Report, VerdictBadge
from moot.pages.style import CSS, POLICY
from moot.pages.text import UNTITLED, dissent_note, no_proof_sentence, one_line, proof_sentence


def to_html(report: Report) -> str:
    """The report as one self-contained HTML document."""
    return document(_head(report), _body(report))


def _head(report: Report) -> Markup:
    title = f"{one_line(report.title) or UNTITLED} · {one_line(report.kind)}"
    return tag(
        "head",
        None,
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("meta", {"name": "color-scheme", "content": "light dark"}),
        tag("meta", {"name": "referrer", "content": "no-referrer"}),
        tag("title", None, title),
        stylesheet(CSS),
    )


def _body(report: Report) -> Markup:
    blocks = (block_section(block, f"b{index}") for index, block in enumerate(report.blocks, 1))
    main = tag(
        "main",
        None,
        _decision(report.decision),
        _dissent(report.dissent) if report.dissent else None,
        *blocks,
    )
    return tag("body", None, _header(report), main, _footer(report))


def _header(report: Report) -> Markup:
    return tag(
        "header",
        None,
        tag(
            "div",
            {"class": "kicker"},
            tag("span", {"class": "kind sans"}, "Moot · ", tag("bdi", None, one_line(report.kind))),
            _verdict(report.verdict),
        ),
        tag("h1", {"dir": "auto"}, one_line(report.title) or UNTITLED),
        optional_line("subtitle", report.subtitle),
        _other_pages(report.links),
    )


def _verdict(verdict: VerdictBadge) -> Markup:
    note = one_line(verdict.note)
    return tag(
        "div",
        {"class": "verdict"},
        tag(
            "strong",
            {"class": f"badge {verdict.tone}"},
            *with_tone_sign(verdict.tone, verdict.label),
        ),
        tag("span", {"class": "note", "dir": "auto"}, note) if note else None,
    )


def _decision(decision: DecisionCard) -> Markup:
    return tag(
        "section",
        {"class": "card decision"},
        tag("h2", {"class": "sans"}, one_line(decision.heading)),
        *text_paragraphs(decision.statement, "statement text", decision.markdown),
        _reasons(decision) if decision.reasons else None,
        fact_list(decision.facts) if decision.facts else None,
        fold("Ids and hashes", fact_list(decision.details)) if decision.details else None,
    )


def _reasons(decision: DecisionCard) -> Markup:
    """Why, in full, by those who stand behind it."""
    heading = tag("h2", {"class": "sans"}, one_line(decision.reasons_heading))
    voices = (quote_figure(voice) for voice in decision.reasons)
    return tag("div", {"class": "reasons"}, heading, *voices)


def _other_pages(links: tuple[PageLink, ...]) -> Markup | None:
    """The pages beside this one that tell more about the same."""
    if not links:
        return None
    items = [
        tag("li", None, tag("a", {"href": link.file_name}, one_line(link.label))) for link in links
    ]
    return tag("nav", {"class": "sans", "aria-label": "Other pages"}, tag("ul", None, *items))


def _dissent(dissent: Dissent) -> Markup:
    return tag(
        "section",
        {"class": "card dissent"},
        tag("h2", {"class": "sans"}, one_line(dissent.heading)),
        optional_line("caption" if dissent.voices else "empty", dissent_note(dissent)),
        *(quote_figure(voice) for voice in dissent.voices),
    )


def _footer(report: Report) -> Markup:
    if report.proof is None:
        return tag("footer", None, tag("div", {"class": "inner"}, *_unproven(report)))
    return tag("footer", None, tag("div", {"class": "inner"}, *_proven(report.proof)))


def _unproven(report: Report) -> list[Markup]:
    """What stands between backticks is a command."""
    parts = no_proof_sentence(report).split("`")
    words = [tag("code", None, part) if at % 2 else part for at, part in enumerate(parts)]
    return [tag("p", None, *words)]


def _proven(proof: ProofFile) -> list[Markup]:
    rows = (
        ("File", code_element(proof.file_name)),
        ("Check it", tag("pre", None, proof.command)),
    )
    listed = [join_markup(tag("dt", None, name), tag("dd", None, value)) for name, value in rows]
    digest = fold("SHA-256 of the file", tag("p", None, code_element(proof.sha256)))
    return [tag("p", None, proof_sentence(proof)), tag("dl", None, *listed), digest]
