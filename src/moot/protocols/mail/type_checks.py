"""The checks of single types: the question of a KICKOFF, the version of a COMPILED, names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from moot.core.findings import Breach
from moot.protocols.mail.body import is_unfilled
from moot.protocols.mail.checks import IN_SUBJECT, Check, describe_absence
from moot.protocols.mail.message_draft import MessageDraft

# KICKOFF ------------------------------------------------------------------------------------------

_CITATION = re.compile(r"§\s?[0-9]+")
_SENTENCE = re.compile(r"[.?!…](?=\s|\Z)")


def no_research_question(draft: MessageDraft) -> Iterator[Breach]:
    """MB-002: a title or the section; text of the template is neither."""
    title = draft.body.title
    if draft.body.text_of("Research Question") or (title and not is_unfilled(title.value)):
        return
    words, where, line = describe_absence(draft, "Research Question")
    yield f"{words}, and no title (`# ...`) says it either", where, line


def no_citation(draft: MessageDraft) -> Iterator[Breach]:
    part = draft.body.find_section("Excerpt")
    if part is None or not part.filled_text:
        yield describe_absence(draft, "Excerpt", "Transcript Excerpt")
    elif not _CITATION.search(part.text):
        yield "`## Excerpt` cites nothing", "## Excerpt", part.line


def unusual_length(draft: MessageDraft) -> Iterator[Breach]:
    for name, low, high in (("Research Question", 1, 1), ("Context", 2, 4)):
        part = draft.body.find_section(name)
        if part is None or not part.filled_text:
            continue
        count = max(1, len(_SENTENCE.findall(part.filled_text)))
        if not low <= count <= high:
            usual = "one sentence" if high == 1 else f"{low} to {high} sentences"
            yield f"`## {name}` has {count} sentences, {usual} are usual", f"## {name}", part.line


# COMPILED -----------------------------------------------------------------------------------------

_VERSION = re.compile(r"\bv[0-9]+(?:\.[0-9]+)*\b")


def no_version(draft: MessageDraft) -> Iterator[Breach]:
    """D-18: in the title or the summary; the subject alone is not enough."""
    title = draft.body.title
    if (title and _VERSION.search(title.value)) or _VERSION.search(draft.body.text_of("Summary")):
        return
    only = " (only the subject has one)" if _VERSION.search(draft.subject_line) else ""
    line = title.number if title else None
    yield f"neither the title nor `## Summary` names a version{only}", "# title", line


def no_counts(draft: MessageDraft) -> Iterator[Breach]:
    part = draft.body.find_section("Statistics")
    if part is None or not part.filled_text:
        yield describe_absence(draft, "Statistics")
    elif not re.search(r"[0-9]", part.text):
        yield "`## Statistics` counts nothing", "## Statistics", part.line


# Names and items ----------------------------------------------------------------------------------


def no_handoff_agents(draft: MessageDraft) -> Iterator[Breach]:
    """MB-008 with D-17: each of From and To is one word."""
    for name in ("From", "To"):
        part = draft.body.find_section(name)
        if part is None or not part.filled_text:
            yield describe_absence(draft, name)
        elif not part.plain_value or " " in part.plain_value:
            yield f"`## {name}` is not one agent's name", f"## {name}", part.line


def no_receiver_in_subject(draft: MessageDraft) -> Iterator[Breach]:
    if draft.subject and draft.subject.description.strip() and not draft.subject.handoff_parts:
        yield "", IN_SUBJECT


def receiver_differs(draft: MessageDraft) -> Iterator[Breach]:
    """D-16: the subject and `## To` name the same agent."""
    named = draft.subject.handoff_parts if draft.subject else None
    part = draft.body.find_section("To")
    if named and part and part.plain_value and part.plain_value.casefold() != named[1].casefold():
        words = f"the subject names {named[1][:48]!r}, `## To` {part.plain_value[:48]!r}"
        yield words, "## To", part.line


def sender_differs(received: bool) -> Check:
    """D-16: nobody hands over in another's name."""

    def check(draft: MessageDraft) -> Iterator[Breach]:
        part = draft.body.find_section("From")
        if draft.received is not received or not draft.sender or not part or not part.plain_value:
            return
        if part.plain_value.casefold() != draft.sender.casefold():
            words = f"`## From` says {part.plain_value[:48]!r}, the sender is {draft.sender!r}"
            yield words, "## From", part.line

    return check


def unknown_agent(*names: str) -> Check:
    """BRN-079: who is named is known here."""

    def check(draft: MessageDraft) -> Iterator[Breach]:
        for name in names if draft.agents is not None else ():
            part = draft.body.find_section(name)
            if part and part.plain_value and part.plain_value not in (draft.agents or ()):
                yield f"nobody here is called {part.plain_value[:48]!r}", f"## {name}", part.line

    return check


def unknown_item(draft: MessageDraft) -> Iterator[Breach]:
    """BRN-079: a work id is known here; a task in words is not looked up."""
    part = draft.body.find_section("Item")
    if draft.items is None or part is None or not _WORK_ID.fullmatch(part.plain_value):
        return
    if part.plain_value not in draft.items:
        yield f"no work item here is called {part.plain_value[:48]!r}", "## Item", part.line


_WORK_ID = re.compile(r"[A-Za-z0-9_]+-[A-Za-z0-9._-]+")
