"""Inboxes: everything new is shown once, nothing is lost, and nobody reads for another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.api.mail import inbox
from moot.api.mail.inbox import Box
from moot.core.clock import HOUR
from moot.protocols.mail.model import stream_of
from tests.sampling import examples

from .scene import CRANE, FINCH, OTTER, THREAD, MailScenario, ack, info, party, question

MINE = Box(CRANE, 1)


class Post(MailScenario):
    """A scenario whose inboxes are read as the surfaces do."""

    @property
    def space(self) -> Any:
        return self.world  # it has the engine and the store, as a workspace has

    def take(self, limit: int = 100, box: Box = MINE) -> list[str]:
        shown, _more = inbox.take_unread(self.space, box, limit)
        return [slip.value["id"] for slip in shown]

    def unread(self, box: Box = MINE) -> list[str]:
        with self.world.store.read() as view:
            new = inbox.list_unread(view, box, self.world.clock.now)
        return [slip.value["id"] for slip in new]

    def states(self, box: Box = MINE) -> dict[str, str]:
        with self.world.store.read() as view:
            return {slip.value["id"]: slip.state for slip in inbox.list_all(view, box)}

    def to(self, thread: str, *names: str) -> None:
        self.world.engine.execute(stream_of(thread), info(*names), OTTER)


@pytest.fixture
def post() -> Post:
    return Post()


def test_what_is_new_is_shown_once(post: Post) -> None:
    post.run(OTTER, question())
    post.run(OTTER, info(FINCH, cc=(party(CRANE),)))
    assert post.take() == [f"{THREAD}:1", f"{THREAD}:2"]
    assert post.take() == []
    post.run(OTTER, info())
    assert post.take() == [f"{THREAD}:3"]


def test_unread_seen_and_acked(post: Post) -> None:
    post.run(OTTER, question())
    post.run(OTTER, question())
    assert set(post.states().values()) == {"unread"}
    post.take()
    assert set(post.states().values()) == {"seen"}
    post.run(CRANE, ack(1))
    assert post.states() == {f"{THREAD}:1": "acked", f"{THREAD}:2": "seen"}


def test_what_was_answered_is_not_new(post: Post) -> None:
    post.run(OTTER, question())
    post.run(CRANE, ack(1))
    assert post.take() == []


def test_looking_marks_nothing(post: Post) -> None:
    post.run(OTTER, info())
    assert post.unread() == post.unread() == post.take()


def test_a_limit_leaves_the_rest_for_later(post: Post) -> None:
    for number in range(7):
        post.to(f"t-{number}", CRANE)
        post.world.clock.forward(seconds=1)
    found = [post.take(3), post.take(3), post.take(3)]
    assert found == [
        ["t-0:1", "t-1:1", "t-2:1"],
        ["t-3:1", "t-4:1", "t-5:1"],
        ["t-6:1"],
    ]


def test_a_thread_is_shown_up_to_a_point_never_with_a_hole(post: Post) -> None:
    """The clock went back between them, so the later message sorts first."""
    post.to("t-1", CRANE)
    post.world.clock.now -= HOUR
    post.to("t-1", CRANE)
    assert sorted(post.take(1)) == ["t-1:1", "t-1:2"]
    assert post.take() == []


def test_a_clock_that_goes_back_hides_nothing(post: Post) -> None:
    post.to("t-1", CRANE)
    assert post.take() == ["t-1:1"]
    post.world.clock.now -= 5 * HOUR
    post.to("t-2", CRANE)
    post.world.clock.now -= 500 * HOUR
    post.to("t-3", CRANE)
    assert post.take() == ["t-3:1", "t-2:1"]


def test_what_was_sent_while_the_clock_was_far_back_is_new_before_long(post: Post) -> None:
    """And it was not shown before, whichever way it was looked for."""
    post.to("t-1", CRANE)
    assert post.take() == ["t-1:1"]
    post.world.clock.now -= 500 * HOUR
    post.to("t-2", CRANE)
    post.world.clock.now += 500 * HOUR
    post.to("t-3", CRANE)
    assert post.take() == ["t-3:1"]
    post.world.clock.forward(minutes=60)
    assert post.unread() == ["t-2:1"]
    assert post.take() == ["t-2:1"]
    assert post.take() == []


def test_a_look_through_everything_is_rare(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    rows = inbox._rows

    def counted(view: Any, box: Box, since: str) -> Any:
        read.append(since)
        return rows(view, box, since)

    monkeypatch.setattr(inbox, "_rows", counted)
    post.take()
    read.clear()
    for _ in range(3):
        post.take()
    assert "" not in read
    post.world.clock.forward(minutes=60)
    post.take()
    assert read.count("") == 1
    read.clear()
    post.take()
    assert "" not in read


def test_a_message_sent_again_is_new_again_and_stands_there_once(post: Post) -> None:
    post.run(OTTER, question())
    assert post.take() == [f"{THREAD}:1"]
    post.later(30)
    assert post.take() == [f"{THREAD}:1"]
    assert post.states() == {f"{THREAD}:1": "seen"}


def test_another_holder_of_the_name_has_another_inbox(post: Post) -> None:
    post.run(OTTER, question())
    post.adopted(CRANE)
    later = inbox.box_of(post.space, CRANE)
    assert later == Box(CRANE, 2)
    assert post.take(box=Box(CRANE, 2)) == []
    assert post.unread() == [f"{THREAD}:1"]


def test_nobody_ever_was_called_so(post: Post) -> None:
    assert inbox.box_of(post.space, "no-body") is None


def test_new_mail_is_announced_once_and_stays_new(post: Post) -> None:
    post.run(OTTER, info())
    assert [slip.value["id"] for slip in inbox.announce_new(post.space, MINE)] == [f"{THREAD}:1"]
    assert inbox.announce_new(post.space, MINE) == []
    post.run(OTTER, info())
    assert [slip.value["id"] for slip in inbox.announce_new(post.space, MINE)] == [f"{THREAD}:2"]
    assert post.take() == [f"{THREAD}:1", f"{THREAD}:2"]


def test_cursors_survive_a_rebuild(post: Post) -> None:
    post.run(OTTER, info())
    post.take()
    post.world.engine.rebuild()
    assert post.take() == []


def test_more_than_a_page(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.api.mail.inbox._PAGE", 4)
    for number in range(11):
        post.to(f"t-{number:02}", CRANE)
    assert len(post.take()) == 11


_acts = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, 3)),
        st.tuples(st.just("take"), st.integers(1, 3)),
        st.tuples(st.just("clock"), st.integers(-60 * HOUR, 60 * HOUR)),
    ),
    max_size=40,
)


@settings(max_examples=examples(60), deadline=None)
@given(_acts)
def test_each_message_is_delivered_exactly_once(acts: list[tuple[str, int]]) -> None:
    """Whatever the clock does between them."""
    post, sent, shown = Post(), 0, []
    for act, value in acts:
        if act == "send":
            post.to(f"t-{value}", CRANE)
            sent += 1
        elif act == "take":
            shown += post.take(value)
        else:
            post.world.clock.now += value
    post.world.clock.forward(minutes=60)
    while more := post.take(5):
        shown += more
    assert len(shown) == len(set(shown)) == sent
