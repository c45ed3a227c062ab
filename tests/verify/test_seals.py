"""Section 9: answers are sealed before any is opened, and opened as they were sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.verify.bundle_builder import Json, Ledger, Signer, canon, frame, small
from tests.verify.verdicts import judge, named

STREAM = "decision/tea"
NONCE = "5e" * 32
ANSWER: Json = {"answer": "green", "motives": [], "why": "it is late"}


def commit(author: str, said: Json = ANSWER, nonce: str = NONCE) -> str:
    parts = (STREAM.encode(), author.encode(), bytes.fromhex(nonce), canon(said))
    return hashlib.sha256(frame(b"moot.sealed-answer.v1", *parts)).hexdigest()


class Question:
    """A decision whose answers are sealed; each step can be made otherwise."""

    def __init__(self) -> None:
        self.ledger = small()
        self.ledger.add("bob")
        self.record("asked", self.ledger.root, {})

    def record(self, kind: str, signer: Signer, data: Json) -> None:
        self.ledger.event(STREAM, signer, data, type=f"decision.{kind}")

    def seal(self, name: str, commitment: object = None) -> None:
        made = commit(name) if commitment is None else commitment
        self.record("answer_sealed", self.ledger.current[name], {"commitment": made})

    def close(self, **changes: Any) -> None:
        proof, note = self.ledger.proof(STREAM), self.ledger.note()
        data = {"index": proof["index"], "note": note, "path": proof["path"], **changes}
        self.record("seals_closed", self.ledger.root, data)

    def open(self, name: str, **changes: Any) -> None:
        data = {**ANSWER, "nonce": NONCE, **changes}
        self.record("answer_given", self.ledger.current[name], data)

    def outcome(self) -> tuple[str, str]:
        """The verdict, and the code of what is wrong, which is told at the newest event."""
        bundle = self.ledger.bundle()
        verdict = judge(bundle, self.ledger)
        errors = [found.code for found in verdict.findings if found.severity == "error"]
        if errors:
            newest = len(self.ledger.streams[STREAM]) - 1
            assert named(verdict) == ("tampered", bundle.event(STREAM, newest))
            assert verdict.first_bad is not None
            assert (verdict.first_bad.stream, verdict.first_bad.seq) == (STREAM, newest)
        return verdict.verdict, " ".join(errors)


def begin() -> Question:
    """Two have sealed their answers."""
    question = Question()
    question.seal("ada")
    question.seal("bob")
    return question


def test_answers_that_were_sealed_and_covered_are_opened() -> None:
    question = begin()
    question.close()
    question.open("ada")
    question.open("bob")
    assert question.outcome() == ("valid", "")


def test_a_question_without_seals_is_answered_openly() -> None:
    question = Question()
    question.open("ada", nonce="")
    question.open("bob", nonce=None)
    assert question.outcome() == ("valid", "")


@pytest.mark.parametrize("changed", [{"answer": "black"}, {"why": ""}, {"motives": ["thirst"]}])
def test_another_answer_than_the_sealed_one_is_told(changed: Json) -> None:
    question = begin()
    question.close()
    question.open("ada", **changed)
    assert question.outcome() == ("tampered", "seal_broken")


@pytest.mark.parametrize("nonce", ["6f" * 32, "5E" * 32, "5e" * 31, "", None, 5])
def test_another_nonce_than_the_sealed_one_is_told(nonce: object) -> None:
    question = begin()
    question.close()
    question.open("ada", nonce=nonce)
    code = "seal_broken" if nonce == "6f" * 32 else "opened_early"
    assert question.outcome() == ("tampered", code)


def test_an_answer_that_nobody_sealed_is_not_opened() -> None:
    question = Question()
    question.seal("ada")
    question.close()
    question.open("bob")
    assert question.outcome() == ("tampered", "seal_broken")


def test_one_who_sealed_nothing_but_a_nonce_opens_nothing() -> None:
    question = Question()
    question.open("ada")
    assert question.outcome() == ("tampered", "opened_early")


def test_an_answer_of_another_is_not_opened_as_ones_own() -> None:
    question = Question()
    question.seal("ada", commit("bob"))
    question.close()
    question.open("ada")
    assert question.outcome() == ("tampered", "seal_broken")


def test_no_answer_is_sealed_after_one_was_opened() -> None:
    question = begin()
    question.close()
    question.open("ada")
    question.seal("bob")
    assert question.outcome() == ("tampered", "sealed_late")


def test_a_seal_after_the_checkpoint_needs_another_checkpoint() -> None:
    question = Question()
    question.seal("ada")
    question.close()
    question.seal("bob")
    question.open("ada")
    assert question.outcome() == ("tampered", "opened_early")
    again = Question()
    again.seal("ada")
    again.close()
    again.seal("bob")
    again.close()
    again.open("ada")
    assert again.outcome() == ("valid", "")


Close = Callable[[Ledger], Json]
NOT_COVERING: dict[str, Close] = {
    "no note": lambda _: {"note": None},
    "no index": lambda _: {"index": None},
    "an index that is a truth value": lambda _: {"index": True},
    "no path": lambda _: {"path": None},
    "a path that is no list": lambda _: {"path": {}},
    "a path of something else": lambda led: {"path": [*led.proof(STREAM)["path"][:-1], "0" * 63]},
    "a path to elsewhere": lambda led: {"path": ["0" * 64, *led.proof(STREAM)["path"][1:]]},
    "a longer path": lambda led: {"path": [*led.proof(STREAM)["path"], "0" * 64]},
    "a path that is far too long": lambda _: {"path": ["0" * 64] * 65},
    "another place": lambda led: {"index": led.proof(STREAM)["index"] + 1},
    "a place before the first": lambda _: {"index": -1},
    "a note that is none": lambda _: {"note": "covered"},
    "a note by another key": lambda led: {"note": led.note(key=Signer("stranger"))},
    "a note of another ledger": lambda _: {"note": small().note(origin="moot.ledger/" + "0" * 32)},
    "a note of another root": lambda led: {"note": led.note(root=bytes(32))},
}


@pytest.mark.parametrize("name", NOT_COVERING)
def test_only_a_checkpoint_over_all_seals_lets_them_be_opened(name: str) -> None:
    question = begin()
    question.close(**NOT_COVERING[name](question.ledger))
    question.open("ada")
    assert question.outcome() == ("tampered", "opened_early")


def test_who_closes_in_vain_has_opened_nothing() -> None:
    question = begin()
    question.record("seals_closed", question.ledger.current["ada"], {"note": None})
    question.close()
    question.open("ada")
    assert question.outcome() == ("valid", "")


def test_a_checkpoint_from_before_the_last_seal_does_not_cover_it() -> None:
    question = Question()
    question.seal("ada")
    proof, note = question.ledger.proof(STREAM), question.ledger.note()
    question.seal("bob")
    question.close(index=proof["index"], path=proof["path"], note=note)
    question.open("ada")
    assert question.outcome() == ("tampered", "opened_early")


def test_seals_of_one_question_are_not_those_of_another() -> None:
    question = begin()
    question.close()
    ada = question.ledger.current["ada"]
    question.ledger.event(
        "decision/cake", ada, {**ANSWER, "nonce": NONCE}, type="decision.answer_given"
    )
    assert judge(question.ledger.bundle(), question.ledger).verdict == "tampered"
