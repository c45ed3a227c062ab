"""Debate: do we agree, and how surely (Bounce Protocol v0.1).

    checker.py           bytes or a document -> findings: every rule asked, every breach with
                         its line and a hint
    commands.py          the commands of a session's record
    compare.py           two versions of a file: did it only grow (R1 to R3)?
    consensus.py         do they agree, and how surely?
    course.py            how a session went: its rounds, when each was over, who spoke out of
                         turn, how it ended
    dialogue.py          the dialogue, entry by entry (section 4): marks, status line, fields,
                         body, whatever is missing
    drafts.py            an entry before it is written: what its author gives, and what may not
                         stand in it (A-65)
    entry_checks.py      the checks on one entry by itself: identity, place, status line,
                         fields, body, marker
    entry_order.py       entries in their order: doubles left out (R7), numbers and times that
                         go back noted (R8, A-60)
    escalation.py        when time is up or somebody failed: what the policy writes, and how an
                         operator lets a session go on (3.3, A-59)
    events.py            the events of a session: the pieces of its file, in their order
    file_checks.py       the checks on a file's own parts: bytes, header, title, sections,
                         settings
    file_rules.py        the rules of a session file, one row each: R1 to R20 and the sections
                         that say more
    machine.py           the record of a session: its pieces in the ledger, and what they lead
                         to
    model.py             the nouns of a debate: what a session file says, as it stands, with its
                         line numbers
    phases.py            the automaton of a session (R16 to R18): what happened moves it from
                         one phase to another
    reader.py            bytes -> `SessionDocument`: every part of a session file with its line
                         numbers, and nothing judged
    report.py            A session as a page: the verdict, the dissent in full, and how everyone
                         came to stand there
    rules.py             the rules of a session's record: which piece may come next, and under
                         whose key
    session_follower.py  A session while it grows: bytes in, entries out, without reading the
                         file again
    settings.py          the nine settings of a session: what section 5 allows for each, and
                         their values from text
    state.py             what a session's record remembers: enough to say whose turn it is, and
                         none of the file's bytes
    turns.py             whose turn it is, where the next entry stands, and until when (R13 to
                         R15, A-17 to A-23)
    views.py             what people and programs read of a session: its check, status and
                         consensus, and its entries
    writer.py            session text and entry text: strict when writing, and always read back
                         before it is given out

One markdown file is one session: a header, a title, the rules, the context, and the dialogue,
which only grows. Each entry states a stance and a confidence and ends with a yield marker. Whose
turn it is, whether a round is over and whether consensus was reached all follow from the file
alone; no workspace is needed. In a workspace its pieces are also events, each signed by its author:
the file alone cannot prove that no entry was changed; file and record together can.

Unlike in other protocols, the file is the session, and the record only says who wrote which bytes
of it. `course.py` finds out from the entries what happened, whether they come from a file or from
events. Files, locks, clocks and ids are outside (`api/debates/`): bytes, times and ids arrive as
arguments. BNC-009: the document does not say how text is transported, how an agent works or how
things are shown to people; nothing here depends on it.
"""

from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.settings import rules_from_runtime, vote_from_runtime

__all__ = [
    "CheckedSession",
    "check_session",
    "read_document",
    "rules_from_runtime",
    "vote_from_runtime",
]
