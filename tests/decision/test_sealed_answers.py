"""Sealed first answers: committed to before any is opened, and opened only as they were sealed."""

from __future__ import annotations

import hashlib

import pytest

from moot.api.decisions.receipt_content import APART, TOGETHER, describe_custody, describe_seal
from moot.core.machine import Command
from moot.core.names import SYSTEM
from moot.protocols.decision import commands as ask
from moot.protocols.decision import events as did
from moot.protocols.decision import stream_of
from moot.protocols.decision.first_answers import commit_to_answer
from moot.protocols.decision.machine import MACHINE
from moot.protocols.decision.model import DecisionSeat, State
from moot.testing import Scenario, World, given

pytestmark = pytest.mark.requirement("DEC-038")

OTTER, CRANE, FINCH = NAMES = ("amber-otter", "teal-crane", "coral-finch")
STREAM = stream_of("q-1")
NONCES = {name: f"{number:064x}" for number, name in enumerate(NAMES, 1)}
CLOSING = ask.CloseSeals(note="a note", number=3, index=1, path=())


def opening(name: str, answer: str = "Postgres") -> ask.GiveAnswer:
    return ask.GiveAnswer(answer=answer, why="simple", nonce=NONCES[name])


def commitment(name: str, answer: str = "Postgres") -> str:
    return commit_to_answer(STREAM, name, NONCES[name], answer, "simple", ())


def asked(*custodians: str) -> Scenario[State]:
    world = World()
    for name in NAMES:
        world.agent(name)
    keepers = custodians or ("c1", "c1", "c1")
    seats = tuple(
        DecisionSeat(name, "cmd", "cmd:x", None, keeper)
        for name, keeper in zip(NAMES, keepers, strict=True)
    )
    scene = given(world, MACHINE, STREAM)
    scene.actor = SYSTEM
    return scene.when(ask.AskQuestion(question="Which?", seats=seats, sealed=True))


def by(scene: Scenario[State], actor: str, *commands: Command) -> Scenario[State]:
    scene.actor = actor
    return scene.when(*commands)


def sealed(scene: Scenario[State]) -> Scenario[State]:
    for name in (OTTER, CRANE):
        by(scene, name, ask.SealAnswer(commitment=commitment(name)))
    return by(scene, SYSTEM, ask.PassAnswer(agent=FINCH, why="silent: nothing"))


def closed(*custodians: str) -> Scenario[State]:
    return by(sealed(asked(*custodians)), SYSTEM, CLOSING)


def test_a_commitment_is_what_the_format_says() -> None:
    text = '{"answer":"Ja","motives":["Käse"],"why":""}'.encode()
    parts = (b"moot.sealed-answer.v1", b"decision/q-1", b"amber-otter", bytes(32), text)
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    made = commit_to_answer("decision/q-1", "amber-otter", "00" * 32, "Ja", "", ("Käse",))
    assert made == hashlib.sha256(framed).hexdigest()


def test_question_author_bytes_and_every_part_of_the_text_are_bound() -> None:
    usual = ("decision/q-1", OTTER, "00" * 32, "a", "b", ("c",))
    others = [
        ("decision/q-2", *usual[1:]),
        (usual[0], CRANE, *usual[2:]),
        (*usual[:2], "01" * 32, *usual[3:]),
        (*usual[:3], "ab", "", ("c",)),
        (*usual[:4], "bc", ()),
        (*usual[:5], ("d",)),
    ]
    assert len({commit_to_answer(*parts) for parts in (usual, *others)}) == 7


def test_nobody_opens_before_all_seals_are_closed() -> None:
    scene = asked()
    by(scene, OTTER, ask.SealAnswer(commitment=commitment(OTTER)))
    scene.refused("still_sealed", opening(OTTER))
    scene.actor = SYSTEM
    scene.refused("seals_missing", CLOSING)
    assert scene.state.seals_checkpoint is None
    assert not scene.state.answers


def test_seals_are_closed_by_the_machine_or_anyone_who_asked() -> None:
    scene = sealed(asked())
    scene.actor = OTTER
    scene.refused("not_allowed", CLOSING)
    assert scene.state.seals_checkpoint is None


@pytest.mark.parametrize("commitment", ["", "abc", "G" * 64, "a" * 63, "A" * 64])
def test_a_commitment_that_is_none_is_refused(commitment: str) -> None:
    scene = asked()
    scene.actor = OTTER
    scene.refused("bad_seal", ask.SealAnswer(commitment=commitment))
    assert not scene.state.seals


def test_an_answer_is_sealed_once_and_never_after_the_seals_are_closed() -> None:
    scene = sealed(asked())
    scene.actor = OTTER
    scene.refused("answered", ask.SealAnswer(commitment=commitment(OTTER, "Kafka")))
    scene.actor = SYSTEM
    scene.refused("answered", ask.PassAnswer(agent=OTTER, why="late"))
    by(scene, SYSTEM, CLOSING)
    scene.actor = OTTER
    scene.refused("bad_seal", ask.SealAnswer(commitment=commitment(OTTER, "Kafka")))
    assert scene.state.seals[OTTER].commitment == commitment(OTTER)


def test_anyone_who_sealed_nothing_opens_nothing() -> None:
    scene = closed()
    scene.actor = FINCH
    scene.refused("answered", opening(FINCH))


def test_a_question_without_seals_takes_none() -> None:
    scene = asked()
    scene = given(scene.world, MACHINE, stream_of("q-2"))
    scene.actor = SYSTEM
    scene.when(ask.AskQuestion(question="Which?", seats=asked().state.seats))
    scene.actor = OTTER
    scene.refused("bad_seal", ask.SealAnswer(commitment="a" * 64))
    scene.when(ask.GiveAnswer(answer="Postgres"))
    assert scene.state.answers[OTTER].answer == "Postgres"


def test_an_answer_is_opened_as_it_was_sealed() -> None:
    scene = by(closed(), OTTER, opening(OTTER))
    scene.then(did.AnswerGiven(answer="Postgres", why="simple", nonce=NONCES[OTTER]))
    assert scene.state.answers[OTTER].answer == "Postgres"


@pytest.mark.parametrize(
    "other",
    [
        ask.GiveAnswer(answer="Kafka", why="simple", nonce=NONCES[OTTER]),
        ask.GiveAnswer(answer="Postgres", why="fitted", nonce=NONCES[OTTER]),
        ask.GiveAnswer(answer="Postgres", why="simple", motives=("cost",), nonce=NONCES[OTTER]),
        ask.GiveAnswer(answer="Postgres", why="simple", nonce=NONCES[CRANE]),
        ask.GiveAnswer(answer="Postgres", why="simple"),
    ],
)
def test_another_text_is_refused_and_that_stays_on_record(other: ask.GiveAnswer) -> None:
    scene = closed()
    scene.actor = OTTER
    offered = (
        commit_to_answer(STREAM, OTTER, other.nonce, other.answer, other.why, other.motives)
        if other.nonce
        else ""
    )
    scene.refused("other_answer_sealed", other, did.OpeningRefused(offered=offered))
    assert scene.state.seals[OTTER].refused == 1
    assert OTTER not in scene.state.answers
    scene.when(opening(OTTER))  # the true one still opens it
    assert scene.state.answers[OTTER].answer == "Postgres"


def test_one_that_is_not_opened_is_absent() -> None:
    scene = by(closed(), OTTER, opening(OTTER))
    by(scene, SYSTEM, ask.PassAnswer(agent=CRANE, why="not opened", failure="Not opened."))
    assert scene.state.unanswered == ()
    seal = describe_seal(scene.state)
    assert seal is not None
    assert (seal["sealed"], seal["unopened"], seal["refused"]) == ([OTTER, CRANE], [CRANE], [])
    assert seal["checkpoint"] == 3


@pytest.mark.parametrize(
    ("custodians", "sentence"),
    [
        (("c1", "c2", "c3"), APART),
        (("c1", "c1", "c3"), TOGETHER),  # the third sealed nothing
        (("", "", ""), TOGETHER),
    ],
)
def test_what_it_proves_depends_on_who_keeps_the_keys(
    custodians: tuple[str, ...], sentence: str
) -> None:
    assert describe_custody(closed(*custodians).state) == sentence


def test_keys_in_some_folders_prove_something_only_between_them() -> None:
    scene = asked("c1", "c1", "c2")
    for name in NAMES:
        by(scene, name, ask.SealAnswer(commitment=commitment(name)))
    told = describe_custody(by(scene, SYSTEM, CLOSING).state)
    assert told.startswith("3 keys in 2 folders: between folders, no author could")
    assert told.endswith(TOGETHER)
