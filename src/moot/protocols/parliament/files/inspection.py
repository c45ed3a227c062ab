"""Are the four files sound? Answered from their bytes alone: first the shape of each, then each
against the others, with every tally and record counted again from the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from moot.core.errors import Malformed
from moot.core.findings import Finding, Severity, select_errors
from moot.protocols.parliament.files import file_checks
from moot.protocols.parliament.files.file_checks import (
    FilesCheck,
    FourFiles,
    PlacedMessage,
    read_satisfaction,
    recount_ballots,
)
from moot.protocols.parliament.files.file_shapes import (
    BILL_FILE,
    FILES,
    LEDGER_FILE,
    SESSION_FILE,
    SHAPES,
    SUMMARIES_FILE,
)
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import PRIME_MINISTER, SPEAKER, Kind, RulingAction
from moot.protocols.parliament.messages.limits import is_majority, possible_budgets, possible_caps
from moot.protocols.parliament.messages.shapes import make_finding, read_json

# Each message against those before it, and against the session file.
#
# Every check reads the book and yields findings. Messages whose shape is wrong are left out: the
# finding about their shape is enough.

Findings = Iterator[Finding]
WARNING: Final = Severity.WARNING


def check_numbering(book: FourFiles) -> Findings:
    """PAR-006 and PAR-090: ids only grow, and the session knows the next one."""
    for before, entry in pairwise(book.entries):
        if _message_number(entry) <= _message_number(before):
            why = f"{entry.message['id']} follows {before.message['id']}"
            yield make_finding(
                "PAR-006", "bad_order", why, f"{entry.where}.id", "ids only ever grow"
            )
    if book.session is None or not book.entries:
        return
    due = _message_number(book.entries[-1]) + 1
    if book.session["next_message_id"] != due:
        why = f"{book.session['next_message_id']} does not follow the last message"
        where = f"{SESSION_FILE}#next_message_id"
        yield make_finding("PAR-090", "files_differ", why, where, f"it is {due}")


def _message_number(entry: PlacedMessage) -> int:
    return int(entry.message["id"].removeprefix("msg-"))


def check_order(book: FourFiles) -> Findings:
    """Time and rounds go forward, and no further than the session."""
    for before, entry in pairwise(book.entries):
        if entry.message["round"] < before.message["round"]:
            why = f"round {entry.message['round']} after round {before.message['round']}"
            yield make_finding(
                "PAR-007", "bad_order", why, f"{entry.where}.round", "rounds only grow"
            )
        if _moment(entry) < _moment(before):
            why = "it is earlier than the message before it"
            where, hint = f"{entry.where}.timestamp", "check the clock of its author"
            yield make_finding("PAR-008", "earlier_than_before", why, where, hint, WARNING)
    if book.session is not None and book.entries:
        last, now = book.entries[-1], book.session["current_round"]
        if last.message["round"] > now:
            why, where = f"the session is in round {now} only", f"{last.where}.round"
            yield make_finding("PAR-007", "files_differ", why, where, "check current_round")


def _moment(entry: PlacedMessage) -> str:
    """The time of a message in a form that sorts, however its UTC and its fraction are written."""
    moment = entry.message["timestamp"].removesuffix("Z").removesuffix("+00:00")
    second, _, fraction = moment.partition(".")
    return f"{second}.{fraction:0<6}"


def check_senders(book: FourFiles) -> Findings:
    """PAR-009 and PAR-024: every sender and every receiver has a seat."""
    if book.session is None:
        return
    for entry in book.entries:
        named = [("from", entry.sender)] if entry.sender not in (SPEAKER, PRIME_MINISTER) else []
        named += [("to", entry.message["to"])] if entry.message.get("to") else []
        if entry.kind == Kind.SPEAKER_RULING and entry.content["target"] is not None:
            named.append(("content.target", entry.content["target"]))
        for name, seat in named:
            if seat not in book.seats:
                hint = f"seats: {', '.join(book.seats)}"
                where = f"{entry.where}.{name}"
                yield make_finding("PAR-009", "unknown_seat", f"{seat} has no seat", where, hint)


def check_statements(book: FourFiles) -> Findings:
    """PAR-019, PAR-022 and PAR-023."""
    heard: set[str] = set()
    for entry in book.messages_of_kind(Kind.OPENING_STATEMENT):
        if entry.message["round"] != 0:
            where, hint = f"{entry.where}.round", "opening statements belong to round 0"
            yield make_finding("PAR-019", "wrong_round", "this is not round 0", where, hint)
        if entry.sender in heard:
            where, hint = f"{entry.where}.from", "one opening statement a seat"
            yield make_finding("PAR-023", "said_twice", f"{entry.sender} spoke before", where, hint)
        heard.add(entry.sender)
        yield from _length_findings(entry)


def _length_findings(entry: PlacedMessage) -> Findings:
    for name, low, high in (("approach", 3, 5), ("principle", 1, 1)):
        count = limits.count(entry.content["direction"][name])
        if not low <= count <= high:
            due = f"{low} to {high} sentences" if high > low else "one sentence"
            where = f"{entry.where}.content.direction.{name}"
            why = f"{name} has {count} sentences"
            yield make_finding("PAR-022", "unusual_length", why, where, f"write {due}", WARNING)


def check_answers(book: FourFiles) -> Findings:
    """PAR-027: every answer has its question, once."""
    asked = {entry.message["id"]: entry for entry in book.messages_of_kind(Kind.QUESTION)}
    done: set[str] = set()
    for entry in book.messages_of_kind(Kind.ANSWER):
        reply, where = entry.message["in_reply_to"], f"{entry.where}.in_reply_to"
        question = asked.get(reply)
        if question is None or question.place > entry.place:
            why = f"{reply} is no question before this"
            yield make_finding("PAR-027", "no_question", why, where, "name the question's id")
            continue
        if reply in done:
            why = f"{reply} was answered before"
            yield make_finding("PAR-027", "answered_twice", why, where, "answer each question once")
        done.add(reply)
        if (entry.sender, entry.message["to"]) != (question.message["to"], question.sender):
            why = f"{reply} was put to {question.message['to']} by {question.sender}"
            hint = "only who was asked answers, to who asked"
            yield make_finding("PAR-027", "wrong_sender", why, f"{entry.where}.from", hint)


def check_exchanges(book: FourFiles) -> Findings:
    """PAR-099: no round has more exchanges than its clock allows."""
    if book.session is None:
        return
    counted: dict[int, int] = {}
    for entry in book.messages_of_kind(Kind.ANSWER):
        number = entry.message["round"]
        counted[number] = counted.get(number, 0) + 1
        cap = _cap_of_round(book.session, len(book.seats), number)
        if counted[number] == cap + 1:
            why = f"round {number} has {cap} exchanges"
            hint = "after the last exchange the speaker calls a vote or ends the round"
            yield make_finding("PAR-099", "over_the_cap", why, entry.where, hint)
    yield from _clock_findings(book.session, len(book.seats), counted)


def _cap_of_round(session: dict[str, Any], seats: int, number: int) -> int:
    """The file shows the cap of its current round; of any other we know the highest possible."""
    possible, shown = possible_caps(seats, number), session["debate_clock"]
    cap: int = shown["max_exchanges_per_round"]
    return cap if number == session["current_round"] and cap in possible else possible[-1]


def _clock_findings(session: dict[str, Any], seats: int, counted: dict[int, int]) -> Findings:
    """PAR-098 to PAR-104: the clock shows what the round has."""
    number, in_file = session["current_round"], session["debate_clock"]
    exchanges = counted.get(number, 0)
    due = {
        "max_exchanges_per_round": ("PAR-099", possible_caps(seats, number)),
        "response_budget": ("PAR-103", possible_budgets(number)),
        "exchanges_this_round": ("PAR-104", range(exchanges, exchanges + 1)),
    }
    for name, (rule, possible) in due.items():
        if in_file[name] not in possible:
            low, high = possible[0], possible[-1]
            expected = f"{low}" if low == high else f"{low} to {high}"
            why = f"{name} is {in_file[name]}, not {expected}"
            where, hint = (
                f"{SESSION_FILE}#debate_clock.{name}",
                f"it is {expected} in round {number}",
            )
            yield make_finding(
                rule, "wrong_clock", why, where, hint, _clock_severity(name, session)
            )


def _clock_severity(name: str, session: dict[str, Any]) -> Severity:
    """C-06: only warn of fewer than three sentences in a late round; scripts write two."""
    is_stricter = name == "response_budget" and session["debate_clock"][name] in (1, 2)
    return WARNING if is_stricter and session["current_round"] >= 4 else Severity.ERROR


def check_motions(book: FourFiles) -> Findings:
    """PAR-041: a motion that was taken from a message names it, and has the same mover."""
    carriers = {
        entry.message["id"]: entry for entry in book.messages_of_kind(Kind.QUESTION, Kind.ANSWER)
    }
    for entry in book.messages_of_kind(Kind.MOTION):
        reply = entry.message.get("in_reply_to")
        if reply is None:
            continue
        source = carriers.get(reply)
        if source is None or source.place > entry.place or source.sender != entry.sender:
            why = f"{reply} is no question or answer of {entry.sender} before this"
            where, hint = f"{entry.where}.in_reply_to", "name the message it came with"
            yield make_finding("PAR-041", "no_message", why, where, hint)


def check_scores(book: FourFiles) -> Findings:
    """PAR-032, PAR-034 and PAR-095: scores are about one's own motives and are kept."""
    latest: dict[str, dict[str, int]] = {}
    for entry in book.messages_of_kind(Kind.ANSWER, Kind.VOTE):
        seat = book.seats.get(entry.sender)
        if seat is None:
            continue
        for motive in entry.content["motive_scores"]:
            if motive not in seat["motives"]:
                where = f"{entry.where}.content.motive_scores.{motive}"
                why, hint = f"{motive} is not a motive of {entry.sender}", _list_motives(seat)
                yield make_finding("PAR-032", "foreign_motive", why, where, hint)
        latest.setdefault(entry.sender, {}).update(entry.content["motive_scores"])
    for place, seat in enumerate(book.seats.values()):
        where = f"{SESSION_FILE}#representatives[{place}].motive_satisfaction"
        satisfaction = read_satisfaction(seat)
        if set(satisfaction) != set(seat["motives"]):
            why = "a key is not one of its motives"
            yield make_finding("PAR-095", "bad_motives", why, where, _list_motives(seat))
        for motive, score in latest.get(seat["agent_id"], {}).items():
            if satisfaction.get(motive, score) != score:
                why = f"{motive} was last scored {score}"
                yield make_finding(
                    "PAR-034", "files_differ", why, f"{where}.{motive}", f"it is {score}"
                )


def _list_motives(seat: dict[str, Any]) -> str:
    return f"motives of {seat['agent_id']}: {', '.join(seat['motives'])}"


def check_votes(book: FourFiles) -> Findings:
    """PAR-056 and PAR-071: one vote a seat, and every tally counted again."""
    voted: set[str] = set()
    for entry in book.messages_of_kind(Kind.VOTE, Kind.VOTE_TALLY):
        if entry.kind == Kind.VOTE_TALLY:
            voted.clear()
        elif entry.sender in voted:
            where, hint = f"{entry.where}.from", "one vote a seat on each ballot"
            yield make_finding(
                "PAR-056", "voted_twice", f"{entry.sender} voted before", where, hint
            )
        else:
            voted.add(entry.sender)
    for count in recount_ballots(book):
        if count.tally is not None:
            yield from _recount_findings(book, count.votes, count.tally)


def _recount_findings(book: FourFiles, cast: dict[str, str], tally: PlacedMessage) -> Findings:
    announced = tally.content
    for name, word in (("yes_votes", "YES"), ("no_votes", "NO")):
        due = {seat for seat, vote in cast.items() if vote == word}
        if set(announced[name]) != due:
            why = f"the ballots say {', '.join(sorted(due)) or 'nobody'}"
            where = f"{tally.where}.content.{name}"
            yield make_finding("PAR-071", "wrong_tally", why, where, "count the ballots again")
    if book.session is None:
        return
    seats, yes = len(book.seats), sum(vote == "YES" for vote in cast.values())
    if announced["tally"]["total"] != seats:
        why, where = f"there are {seats} seats", f"{tally.where}.content.tally.total"
        yield make_finding("PAR-071", "wrong_tally", why, where, "the total is the number of seats")
    elif announced["passed"] != is_majority(yes, seats):
        why, where = f"{yes} of {seats} voted YES", f"{tally.where}.content.passed"
        yield make_finding(
            "PAR-071", "wrong_tally", why, where, "more than half of all seats pass it"
        )


CHECKS: Final[tuple[FilesCheck, ...]] = (
    file_checks.check_same_session,
    check_numbering,
    check_order,
    file_checks.check_seats,
    check_senders,
    check_statements,
    check_answers,
    check_exchanges,
    check_motions,
    check_scores,
    file_checks.check_bill_versions,
    file_checks.check_drafter,
    file_checks.check_amendments,
    file_checks.check_positions,
    check_votes,
    file_checks.check_vote_records,
    file_checks.check_summaries,
)
MISSING_RULES: Final = {
    LEDGER_FILE: "PAR-003",
    SESSION_FILE: "PAR-085",
    BILL_FILE: "PAR-109",
    SUMMARIES_FILE: "PAR-120",
}
_FROM_RECORD: Final = "`moot parliament export DIR` writes it where the session is on record; "
_ASK: Final = "if you have only the files, ask the person who ran the session for it"
_MISSING_HINTS: Final = {
    LEDGER_FILE: f"{_FROM_RECORD}{_ASK}: nothing else holds the messages",
    SESSION_FILE: f"{_FROM_RECORD}{_ASK}: nothing else names the seats and their motives",
    BILL_FILE: f"{_FROM_RECORD}{_ASK}: nothing else holds what became of the amendments",
    SUMMARIES_FILE: f"{_FROM_RECORD}with only the files at hand, write `[]` into it: no message "
    "depends on a summary",
}


def inspect_files(files: Mapping[str, bytes | None]) -> tuple[Finding, ...]:
    """Return everything that is wrong with the files (PAR-130); None is a missing file."""
    documents: dict[str, Any] = {}
    findings: list[Finding] = []
    for name in FILES:
        said = tuple(_read_file(name, files.get(name), documents))
        findings += said
    findings += compare_files(documents, tuple(findings))
    return tuple(findings)


def compare_files(
    documents: Mapping[str, Any], wrong: tuple[Finding, ...] = ()
) -> Iterator[Finding]:
    """Yield where the files disagree; messages with an error in `wrong` are left out."""
    book = FourFiles.from_documents(documents, wrong)
    for check in CHECKS:
        yield from check(book)


def _read_file(name: str, data: bytes | None, documents: dict[str, Any]) -> Iterator[Finding]:
    if data is None:
        if name == SUMMARIES_FILE and not _has_ended_round(documents):
            documents[name] = []  # PAR-119: the first round to end makes it
            return
        why, hint = f"{name} is missing", _MISSING_HINTS[name]
        yield make_finding(MISSING_RULES[name], "missing_file", why, name, hint)
        return
    try:
        document = read_json(data)
    except Malformed as error:
        where = f"{name}#{error.where}" if error.where else name
        yield make_finding(MISSING_RULES[name], error.code, str(error), where, error.hint)
        return
    findings = tuple(SHAPES[name](document, f"{name}#"))
    yield from findings
    if name == LEDGER_FILE and _has_messages(document):
        documents[name] = document  # its sound messages are looked at one by one
    elif not select_errors(findings):
        documents[name] = document


def _has_ended_round(documents: Mapping[str, Any]) -> bool:
    """True if a round must have ended; without a ledger it is unknown, and taken as true."""
    if LEDGER_FILE not in documents:
        return True
    return any(map(_follows_a_round, documents[LEDGER_FILE]["messages"]))


def _follows_a_round(message: Any) -> bool:
    """True for a message that ends a round, or that comes only after one."""
    if not isinstance(message, dict):
        return False
    content, number = message.get("content"), message.get("round")
    action = content.get("action") if isinstance(content, dict) else None
    return (
        message.get("type") in (Kind.VOTE, Kind.VOTE_TALLY)
        or action in (RulingAction.ROUND_END, RulingAction.CALL_VOTE)
        or (isinstance(number, int) and number > 1)
    )


def _has_messages(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("messages"), list)


def find_lost_messages(before: bytes, now: bytes) -> tuple[Finding, ...]:
    """PAR-012: every earlier message is still in its place, with the same data."""
    old = _messages_in(before)
    try:
        new = _messages_in(now)
    except Malformed:  # `inspect_files` says why; for this comparison all its messages are gone
        new = []
    findings = []
    for place, message in enumerate(old):
        where = f"{LEDGER_FILE}#messages[{place}]"
        if place >= len(new):
            findings.append(_not_append_only(f"{_message_name(message)} is gone", where))
        elif new[place] != message:
            findings.append(_not_append_only(f"{_message_name(message)} was changed", where))
    return tuple(findings)


def _messages_in(data: bytes) -> list[Any]:
    document = read_json(data)
    return list(document["messages"]) if _has_messages(document) else []


def _message_name(message: Any) -> str:
    return str(message.get("id", "a message")) if isinstance(message, dict) else "a message"


def _not_append_only(message: str, where: str) -> Finding:
    hint = "messages are only ever added: take the earlier file as the true one"
    return make_finding("PAR-012", "not_append_only", message, where, hint, Severity.ERROR)
