"""Waiting for something to be due: it ends when there is something, or when the caller says so."""

from __future__ import annotations

from moot.api.presence.agenda import agenda
from moot.api.session import Session
from moot.protocols.example.model import Ask
from tests.project import LIST


def test_waiting_ends_when_the_caller_says_so(session: Session) -> None:
    answers = iter([False, False, True, True])
    assert agenda(session, wait_seconds=3600, stop=lambda: next(answers)).due == ()


def test_something_due_is_given_without_asking_whether_to_stop(session: Session) -> None:
    session.workspace.engine.execute(LIST, Ask(title="look", of="teal-crane"), "amber-otter")

    def never_asked() -> bool:
        raise AssertionError("nobody waits")

    (item,) = agenda(session, "teal-crane", wait_seconds=3600, stop=never_asked).due
    assert (item.subject, item.hint) == ("e1: look", "")


def test_what_comes_while_one_waits_is_given(session: Session) -> None:
    """The caller is asked while it waits; whatever is written then ends the waiting."""

    def write() -> bool:
        session.workspace.engine.execute(LIST, Ask(title="now", of="teal-crane"), "amber-otter")
        return False

    (item, *_) = agenda(session, "teal-crane", wait_seconds=3600, stop=write).due
    assert item.subject == "e1: now"
