"""Debate: do we agree, and how surely (Bounce Protocol v0.1).

One markdown file is one session: a header, a title, the rules, the context, and the dialogue,
which only ever grows. Each entry states a stance and a confidence and ends with a yield marker.
Whose turn it is, whether a round is over and whether consensus was reached all follow from the
file alone; no workspace is needed. In a workspace its pieces are events too, each signed by its
author: the file alone cannot show that nobody changed an entry, the pair can.

    model.py             the nouns: what a file says, with its lines; values from their text
    reader.py            bytes -> document
    dialogue.py          its entries, one after the other
    entry_reader.py      one entry from its lines
    settings_reader.py   the rules block
    schema.py            the nine settings, and what each allows
    norms.py             a row of the tables of rules
    file_rules.py        the document's rules as tables
    file_checks.py       the checks on a file's own parts
    entry_checks.py      the checks on one entry by itself
    speaking_rules.py    who may append an entry now, as a table
    checker.py           document -> findings, every one with its line and a hint
    phases.py            the automaton of a session: TRANSITIONS from one phase to the next
    views.py             status and consensus as data
    summary.py           a session in short, as markdown
    report.py            a session as a page

The pure arithmetic, each idea in its own file:

    consensus.py         majority, weighted, unanimous, exactly
    entry_order.py       entries in their order: doubles, numbers and times that go back
    closing.py           does an entry close its session?
    course.py            how a session went: rounds, who spoke out of turn, how it ended
    turns.py             who speaks next, where, and until when
    position_changes.py  who stood where, and who moved after hearing whom
    drafts.py            an entry before it is written, and what may not stand in it
    writer.py            the text of a session and of an entry
    escalation.py        what is written when time is up
    context_addition.py  a subsection more for the context
    compare.py           did a file only grow?
    runtime.py           a runtime's words, as a file's
    session_follower.py  a file while it grows, each new entry at the cost of its own length
    longer_file.py       a longer file, of which the known part is not checked again

The record, of the shape that all protocols share:

    pieces.py            a file as pieces, each an event; what an entry's bytes say
    commands.py          what may be asked
    events.py            what may stand in the ledger
    case.py              a command under check
    rules.py             which piece may come next, and under whose key
    checks.py            the checks behind that table
    state.py             what is known at the head
    evolution.py         what follows from each event
    machine.py           decide, agenda, timeouts, index, MACHINE

It differs from its siblings in one way: the file is the session, and the record only says who
wrote which bytes of it. `course.py` reads off the entries what happened, whether they come from a
file or from events. Files, locks, clocks and ids are outside (`flows/debate/`): bytes, times and
ids arrive as arguments. BNC-009: how text is carried, what goes on inside an agent and how things
are shown to people is left open by the document, and nothing here knows of it.
"""

from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.runtime import rules_from_runtime, vote_from_runtime

__all__ = [
    "CheckedSession",
    "check_session",
    "read_document",
    "rules_from_runtime",
    "vote_from_runtime",
]
