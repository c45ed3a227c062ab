"""What the files owe each other, and what each message owes those before it.

Every check reads the book and yields findings; the order of CHECKS is the order of the report.
Only messages whose shape is sound are looked at, and only files that could be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final

from moot.core.findings import Finding, Severity
from moot.parliament import clock, sentences
from moot.parliament.book import Book, Entry, ballots
from moot.parliament.fileshapes import BILL_FILE, SESSION_FILE, SUMMARIES_FILE
from moot.parliament.shapes import breach, shown
from moot.parliament.votes import passes
from moot.parliament.words import PRIME_MINISTER, SPEAKER, Kind, Position, Word

Findings = Iterator[Finding]
WARNING: Final = Severity.WARNING


def same_head(book: Book) -> Findings:
    """C-39: both files speak of the same parliament and the same problem."""
    if book.ledger is None or book.session is None:
        return
    for name, rule in (("parliament_id", "PAR-004"), ("problem_statement", "PAR-086")):
        if book.ledger.get(name) != book.session[name]:
            why = f"{name} is not the one of the ledger"
            hint = "the ledger is the one that counts"
            yield breach(rule, "files_differ", why, f"{SESSION_FILE}#{name}", hint)


def numbering(book: Book) -> Findings:
    """PAR-006 and PAR-090: ids only grow, and the session knows the next one."""
    for before, entry in pairwise(book.entries):
        if _number(entry) <= _number(before):
            why = f"{entry.message['id']} follows {before.message['id']}"
            yield breach("PAR-006", "bad_order", why, f"{entry.where}.id", "ids only ever grow")
    if book.session is None or not book.entries:
        return
    due = _number(book.entries[-1]) + 1
    if book.session["next_message_id"] != due:
        why = f"{book.session['next_message_id']} does not follow the last message"
        where = f"{SESSION_FILE}#next_message_id"
        yield breach("PAR-090", "files_differ", why, where, f"it is {due}")


def _number(entry: Entry) -> int:
    return int(entry.message["id"].removeprefix("msg-"))


def moments(book: Book) -> Findings:
    """Time and rounds go forward, and no further than the session."""
    for before, entry in pairwise(book.entries):
        if entry.message["round"] < before.message["round"]:
            why = f"round {entry.message['round']} after round {before.message['round']}"
            yield breach("PAR-007", "bad_order", why, f"{entry.where}.round", "rounds only grow")
        if entry.message["timestamp"] < before.message["timestamp"]:
            why = "it is earlier than the message before it"
            where, hint = f"{entry.where}.timestamp", "check the clock of whoever wrote it"
            yield breach("PAR-008", "earlier_than_before", why, where, hint, WARNING)
    if book.session is not None and book.entries:
        last, now = book.entries[-1], book.session["current_round"]
        if last.message["round"] > now:
            why, where = f"the session is in round {now} only", f"{last.where}.round"
            yield breach("PAR-007", "files_differ", why, where, "check current_round")


def senders(book: Book) -> Findings:
    """PAR-009 and PAR-024: whoever speaks or is spoken to has a seat."""
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
                yield breach("PAR-009", "unknown_seat", f"{seat} has no seat", where, hint)


def statements(book: Book) -> Findings:
    """PAR-019, PAR-022 and PAR-023."""
    heard: set[str] = set()
    for entry in book.of_kind(Kind.OPENING_STATEMENT):
        if entry.message["round"] != 0:
            where, hint = f"{entry.where}.round", "opening statements belong to round 0"
            yield breach("PAR-019", "wrong_round", "this is not round 0", where, hint)
        if entry.sender in heard:
            where, hint = f"{entry.where}.from", "one opening statement a seat"
            yield breach("PAR-023", "said_twice", f"{entry.sender} spoke before", where, hint)
        heard.add(entry.sender)
        yield from _lengths(entry)


def _lengths(entry: Entry) -> Findings:
    for name, low, high in (("approach", 3, 5), ("principle", 1, 1)):
        count = sentences.count(entry.content["direction"][name])
        if not low <= count <= high:
            due = f"{low} to {high} sentences" if high > low else "one sentence"
            where = f"{entry.where}.content.direction.{name}"
            why = f"{name} has {count} sentences"
            yield breach("PAR-022", "unusual_length", why, where, f"write {due}", WARNING)


def answers(book: Book) -> Findings:
    """PAR-027: every answer has its question, once."""
    asked = {entry.message["id"]: entry for entry in book.of_kind(Kind.QUESTION)}
    done: set[str] = set()
    for entry in book.of_kind(Kind.ANSWER):
        reply, where = entry.message["in_reply_to"], f"{entry.where}.in_reply_to"
        question = asked.get(reply)
        if question is None or question.place > entry.place:
            why = f"{reply} is no question before this"
            yield breach("PAR-027", "no_question", why, where, "name the question's id")
            continue
        if reply in done:
            why = f"{reply} was answered before"
            yield breach("PAR-027", "answered_twice", why, where, "answer each question once")
        done.add(reply)
        if (entry.sender, entry.message["to"]) != (question.message["to"], question.sender):
            why = f"{reply} was put to {question.message['to']} by {question.sender}"
            hint = "only who was asked answers, to who asked"
            yield breach("PAR-027", "wrong_sender", why, f"{entry.where}.from", hint)


def exchanges(book: Book) -> Findings:
    """PAR-099: no round has more exchanges than its clock allows."""
    if book.session is None:
        return
    counted: dict[int, int] = {}
    for entry in book.of_kind(Kind.ANSWER):
        number = entry.message["round"]
        counted[number] = counted.get(number, 0) + 1
        cap = clock.max_exchanges(len(book.seats), number)
        if counted[number] == cap + 1:
            why = f"round {number} has {cap} exchanges"
            hint = "after the last exchange the speaker calls a vote or ends the round"
            yield breach("PAR-099", "over_the_cap", why, entry.where, hint)
    yield from _clock(book.session, len(book.seats), counted)


def _clock(session: dict[str, Any], seats: int, counted: dict[int, int]) -> Findings:
    """PAR-098 to PAR-104: the clock shows what the round has."""
    number, shown_clock = session["current_round"], session["debate_clock"]
    due = {
        "max_exchanges_per_round": ("PAR-099", clock.max_exchanges(seats, number)),
        "response_budget": ("PAR-103", clock.response_budget(number)),
        "exchanges_this_round": ("PAR-104", counted.get(number, 0)),
    }
    for name, (rule, value) in due.items():
        if shown_clock[name] != value:
            why = f"{name} is {shown_clock[name]}, not {value}"
            where = f"{SESSION_FILE}#debate_clock.{name}"
            yield breach(rule, "wrong_clock", why, where, f"it is {value} in round {number}")


def scores(book: Book) -> Findings:
    """PAR-032, PAR-034 and PAR-095: scores are about one's own motives and are kept."""
    latest: dict[str, dict[str, int]] = {}
    for entry in book.of_kind(Kind.ANSWER, Kind.VOTE):
        seat = book.seats.get(entry.sender)
        if seat is None:
            continue
        for motive in entry.content["motive_scores"]:
            if motive not in seat["motives"]:
                where = f"{entry.where}.content.motive_scores.{motive}"
                why, hint = f"{motive} is not a motive of {entry.sender}", _own(seat)
                yield breach("PAR-032", "foreign_motive", why, where, hint)
        latest.setdefault(entry.sender, {}).update(entry.content["motive_scores"])
    for place, seat in enumerate(book.seats.values()):
        where = f"{SESSION_FILE}#representatives[{place}].motive_satisfaction"
        kept = seat["motive_satisfaction"]
        if set(kept) != set(seat["motives"]):
            hint = "one entry a motive; null where nothing was scored yet"
            yield breach("PAR-095", "bad_motives", "its keys are not the motives", where, hint)
        for motive, score in latest.get(seat["agent_id"], {}).items():
            if kept.get(motive, score) != score:
                why = f"{motive} was last scored {score}"
                yield breach("PAR-034", "files_differ", why, f"{where}.{motive}", f"it is {score}")


def _own(seat: dict[str, Any]) -> str:
    return f"motives of {seat['agent_id']}: {', '.join(seat['motives'])}"


def drafts(book: Book) -> Findings:
    """PAR-017, PAR-018 and PAR-031: versions count from 1, and all files know the last."""
    version = 0
    for entry in book.of_kind(Kind.BILL_DRAFT, Kind.PM_DECISION):
        if entry.kind == Kind.PM_DECISION:
            version += entry.content["decision"] == Word.AMEND_AND_APPROVE
            continue
        due, said = version + 1, entry.content["bill_version"]
        if said != due:
            where, rule = f"{entry.where}.content.bill_version", "PAR-018" if version else "PAR-017"
            yield breach(rule, "wrong_version", f"{said} follows {version}", where, f"it is {due}")
        version = max(said, version)
    for name, document, key in (
        (SESSION_FILE, book.session, "bill_version"),
        (BILL_FILE, book.bill, "version"),
    ):
        if document is not None and book.ledger is not None and document[key] != version:
            why, where = f"the ledger has version {version}", f"{name}#{key}"
            yield breach("PAR-017", "files_differ", why, where, f"it is {version}")


def bill_head(book: Book) -> Findings:
    """PAR-089: the drafter has a seat, and both files name the same one."""
    if book.session is None:
        return
    drafter = book.session["drafter"]
    if drafter is not None and drafter not in book.seats:
        why, where = f"{drafter} has no seat", f"{SESSION_FILE}#drafter"
        yield breach("PAR-089", "unknown_seat", why, where, "name a seat")
    if book.bill is not None and book.bill["version"] and book.bill["drafter"] != drafter:
        why, where = f"the session says {drafter}", f"{BILL_FILE}#drafter"
        yield breach("PAR-109", "files_differ", why, where, "both files name one drafter")


def amendments(book: Book) -> Findings:
    """PAR-044 and PAR-047: each amendment is new, and stands in the bill file as proposed."""
    proposed: dict[str, Entry] = {}
    for entry in book.of_kind(Kind.AMENDMENT):
        name = entry.content["amendment_id"]
        if name in proposed:
            where, hint = f"{entry.where}.content.amendment_id", "use the next free number"
            yield breach("PAR-044", "taken", f"{name} exists already", where, hint)
        proposed.setdefault(name, entry)
    if book.bill is None or book.ledger is None:
        return
    rows = {row["amendment_id"]: row for row in book.bill["amendments"]}
    if len(rows) != len(book.bill["amendments"]):
        why, where = "an amendment stands there twice", f"{BILL_FILE}#amendments"
        yield breach("PAR-044", "taken", why, where, "one row an amendment")
    for name in proposed.keys() - rows.keys():
        why, where = f"{name} is missing", f"{BILL_FILE}#amendments"
        yield breach("PAR-047", "files_differ", why, where, "every amendment has its row")
    for place, row in enumerate(book.bill["amendments"]):
        where = f"{BILL_FILE}#amendments[{place}]"
        yield from _row(row, proposed.get(row["amendment_id"]), where)


def _row(row: dict[str, Any], entry: Entry | None, where: str) -> Findings:
    if entry is None:
        why = f"{row['amendment_id']} was never proposed"
        yield breach("PAR-047", "files_differ", why, where, "only proposed ones have a row")
        return
    due = {
        "proposed_by": entry.sender,
        "round": entry.message["round"],
        **{name: entry.content[name] for name in ("target_section", "action", "description")},
    }
    for name, value in due.items():
        if row[name] != value:
            why = f"{name} was {shown(value)}"
            yield breach("PAR-047", "files_differ", why, f"{where}.{name}", "keep what was said")


def positions(book: Book) -> Findings:
    """PAR-037, PAR-039 and PAR-114: positions are on known amendments, kept, and decisive."""
    known: set[str] = set()
    latest: dict[str, dict[str, tuple[str, int]]] = {}
    for entry in book.of_kind(Kind.AMENDMENT, Kind.ANSWER):
        if entry.kind == Kind.AMENDMENT:
            known.add(entry.content["amendment_id"])
            continue
        taken = entry.content.get("amendment_position")
        if taken is None:
            continue
        name = taken["amendment_id"]
        if name not in known:
            where = f"{entry.where}.content.amendment_position.amendment_id"
            why, hint = f"{name} was not proposed before", "name a pending amendment"
            yield breach("PAR-037", "unknown_amendment", why, where, hint)
        latest.setdefault(name, {})[entry.sender] = (taken["position"], entry.message["round"])
    if book.bill is None or book.ledger is None:
        return
    for place, row in enumerate(book.bill["amendments"]):
        where = f"{BILL_FILE}#amendments[{place}]"
        kept = {one["agent_id"]: (one["position"], one["round"]) for one in row["endorsements"]}
        if kept != latest.get(row["amendment_id"], {}):
            why, hint = "these are not the positions taken", "each seat's latest position"
            yield breach("PAR-039", "files_differ", why, f"{where}.endorsements", hint)
        yield from _standing(row, book.bill["drafter"], where)


def _standing(row: dict[str, Any], drafter: str | None, where: str) -> Findings:
    """PAR-116: what is in the bill was carried."""
    stands = {one["agent_id"]: one["position"] for one in row["endorsements"]}
    endorsers = {seat for seat, position in stands.items() if position == Position.ENDORSE}
    carried = drafter in endorsers or bool(endorsers - {row["proposed_by"]})
    if row["status"] == "incorporated" and not carried:
        why = "nobody but its proposer was for it"
        hint = "the proposer and one other endorse it, or the drafter does"
        yield breach("PAR-116", "not_carried", why, f"{where}.status", hint)


def votes(book: Book) -> Findings:
    """PAR-056 and PAR-071: one vote a seat, and every tally counted again."""
    voted: set[str] = set()
    for entry in book.of_kind(Kind.VOTE, Kind.VOTE_TALLY):
        if entry.kind == Kind.VOTE_TALLY:
            voted.clear()
        elif entry.sender in voted:
            where, hint = f"{entry.where}.from", "one vote a seat on each ballot"
            yield breach("PAR-056", "voted_twice", f"{entry.sender} voted before", where, hint)
        else:
            voted.add(entry.sender)
    for count in ballots(book):
        if count.tally is not None:
            yield from _recount(book, count.votes, count.tally)


def _recount(book: Book, cast: dict[str, str], tally: Entry) -> Findings:
    said = tally.content
    for name, word in (("yes_votes", "YES"), ("no_votes", "NO")):
        due = {seat for seat, vote in cast.items() if vote == word}
        if set(said[name]) != due:
            why = f"the ballots say {', '.join(sorted(due)) or 'nobody'}"
            where = f"{tally.where}.content.{name}"
            yield breach("PAR-071", "wrong_tally", why, where, "count the ballots again")
    if book.session is None:
        return
    seats, yes = len(book.seats), sum(vote == "YES" for vote in cast.values())
    if said["tally"]["total"] != seats:
        why, where = f"there are {seats} seats", f"{tally.where}.content.tally.total"
        yield breach("PAR-071", "wrong_tally", why, where, "the total is the number of seats")
    elif said["passed"] != passes(yes, seats):
        why, where = f"{yes} of {seats} voted YES", f"{tally.where}.content.passed"
        yield breach("PAR-071", "wrong_tally", why, where, "more than half of all seats pass it")


def records(book: Book) -> Findings:
    """PAR-057 and PAR-073: the session keeps every tally, and each seat its votes."""
    if book.session is None or book.ledger is None:
        return
    counted = [count for count in ballots(book) if count.tally is not None]
    due = [_tally_row(count.tally) for count in counted if count.tally is not None]
    kept = [
        {name: row[name] for name in ("round", "bill_version", "yes", "no", "total", "passed")}
        for row in book.session["vote_history"]
    ]
    if kept != due:
        why, where = "these are not the tallies of the ledger", f"{SESSION_FILE}#vote_history"
        yield breach("PAR-073", "files_differ", why, where, "one row a tally, in order")
    for place, seat in enumerate(book.seats.values()):
        cast = [c.votes[seat["agent_id"]] for c in ballots(book) if seat["agent_id"] in c.votes]
        if [row["vote"] for row in seat["voting_record"]] != cast:
            where = f"{SESSION_FILE}#representatives[{place}].voting_record"
            why = f"{seat['agent_id']} voted {', '.join(cast) or 'never'}"
            yield breach("PAR-057", "files_differ", why, where, "one row a vote, in order")


def _tally_row(tally: Entry | None) -> dict[str, Any]:
    assert tally is not None
    content = tally.content
    count = content["tally"]
    return {
        "round": tally.message["round"],
        "bill_version": content["bill_version"],
        "yes": count["yes"],
        "no": count["no"],
        "total": count["total"],
        "passed": content["passed"],
    }


def seating(book: Book) -> Findings:
    """PAR-093, PAR-094, PAR-096: seats are unique, quiet has an end, heat has a history."""
    if book.session is None:
        return
    reps = book.session["representatives"]
    if len(book.seats) != len(reps):
        why, where = "two have one id", f"{SESSION_FILE}#representatives"
        yield breach("PAR-093", "taken", why, where, "every seat has an id of its own")
    for place, seat in enumerate(reps):
        where = f"{SESSION_FILE}#representatives[{place}]"
        if seat["is_quiet"] != (seat["quiet_until_round"] is not None):
            why, hint = "is_quiet and quiet_until_round disagree", "quiet has a round it ends with"
            yield breach("PAR-096", "bad_quiet", why, f"{where}.quiet_until_round", hint)
        history = seat["temperature_history"]
        if not history or history[0]["round"] != 0:
            why, hint = "the history does not begin with round 0", "add the row of round 0"
            yield breach("PAR-094", "bad_history", why, f"{where}.temperature_history", hint)
        elif history[-1]["temperature"] != seat["temperature"]:
            why = f"the history ends with {history[-1]['temperature']}"
            hint = "the last row is the temperature"
            yield breach("PAR-094", "bad_history", why, f"{where}.temperature", hint)


def summaries(book: Book) -> Findings:
    """PAR-119 to PAR-126: one row a round, about seats and amendments that exist."""
    if book.summaries is None:
        return
    rounds: set[int] = set()
    for place, row in enumerate(book.summaries):
        where = f"{SUMMARIES_FILE}#[{place}]"
        if row["round"] in rounds:
            why, hint = f"round {row['round']} stands there twice", "one row a round"
            yield breach("PAR-119", "taken", why, f"{where}.round", hint)
        rounds.add(row["round"])
        count = sentences.count(row["summary"])
        if not 2 <= count <= 3:
            why, hint = f"the summary has {count} sentences", "write 2 to 3 sentences"
            yield breach("PAR-122", "unusual_length", why, f"{where}.summary", hint, WARNING)
        if book.session is not None:
            yield from _within(row, book, where)


def _within(row: dict[str, Any], book: Book, where: str) -> Findings:
    assert book.session is not None
    if row["round"] > book.session["current_round"]:
        why, hint = "this round has not come yet", "a summary is written when a round ends"
        yield breach("PAR-119", "files_differ", why, f"{where}.round", hint)
    for seat in row["positions"]:
        if seat not in book.seats:
            at = f"{where}.positions.{seat}"
            yield breach("PAR-123", "unknown_seat", f"{seat} has no seat", at, "name a seat")
    known = {one["amendment_id"] for one in book.bill["amendments"]} if book.bill else set()
    for place, one in enumerate(row["amendments_actioned"]):
        if book.bill is not None and one["amendment_id"] not in known:
            at = f"{where}.amendments_actioned[{place}]"
            why, hint = f"{one['amendment_id']} is unknown", "name an amendment of the bill"
            yield breach("PAR-124", "unknown_amendment", why, at, hint)


def motions(book: Book) -> Findings:
    """PAR-041: a motion that was taken from a message names it, and has the same mover."""
    known = {entry.message["id"]: entry for entry in book.of_kind(Kind.QUESTION, Kind.ANSWER)}
    for entry in book.of_kind(Kind.MOTION):
        reply = entry.message.get("in_reply_to")
        if reply is None:
            continue
        source = known.get(reply)
        if source is None or source.place > entry.place or source.sender != entry.sender:
            why = f"{reply} is no question or answer of {entry.sender} before this"
            where, hint = f"{entry.where}.in_reply_to", "name the message it came with"
            yield breach("PAR-041", "no_message", why, where, hint)


CHECKS: Final[tuple[Callable[[Book], Findings], ...]] = (
    same_head,
    numbering,
    moments,
    seating,
    senders,
    statements,
    answers,
    exchanges,
    motions,
    scores,
    drafts,
    bill_head,
    amendments,
    positions,
    votes,
    records,
    summaries,
)
