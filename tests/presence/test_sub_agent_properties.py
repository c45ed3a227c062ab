"""One session, its main agent and its sub-agents, at random: never two in one place."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from moot.core.clock import MINUTE
from moot.protocols.presence import commands as ask
from moot.protocols.presence.model import Kind, Member, Reservation
from moot.protocols.presence.paths import classify_overlap
from tests.sampling import examples

from .scene import OTTER, ROOT
from .test_properties import Presence

_tool_ids = st.sampled_from(["", "first", "second"])
_paths = st.sampled_from(["src", "src/a", "docs"])


class OneSession(RuleBasedStateMachine):
    """A smaller world than that of all of presence, so that a run meets the same place often."""

    def __init__(self) -> None:
        super().__init__()
        self.presence = Presence()
        self.presence.act(OTTER, ask.Join(project_root=ROOT))

    @property
    def session(self) -> Member:
        return self.presence.state.members[0]

    @property
    def held(self) -> tuple[Reservation, ...]:
        return self.presence.state.live

    def at_work(self) -> dict[str, str]:
        """Alias to tool id, of those who were seen lately."""
        now, stale = self.presence.now, self.presence.state.stale_millis
        lately = (one for one in self.session.sub_agents if now < one.last_at + stale)
        return {one.alias: one.tool_id for one in lately}

    @rule(tool_id=_tool_ids, path=_paths)
    def edit(self, tool_id: str, path: str) -> None:
        """Refused exactly if another who is at work holds something there."""
        others = {
            held.holder
            for held in self.held
            if self.at_work().get(held.alias, tool_id) != tool_id
            and classify_overlap(held.key, path) is not Kind.DISJOINT
        }
        command = ask.Reserve(
            scopes=(path,), project_root=ROOT, automatic=True, once=True, sub_agent=tool_id
        )
        assert self.presence.act(OTTER, command) == (not others)

    @rule(path=_paths)
    def reserve_by_hand(self, path: str) -> None:
        assert self.presence.act(OTTER, ask.Reserve(scopes=(path,), project_root=ROOT))

    @rule()
    def release_all(self) -> None:
        aliases = self.at_work()
        worked_on = [held.key for held in self.held if held.alias in aliases]
        assert self.presence.act(OTTER, ask.Release(all=True))
        assert [held.key for held in self.held] == worked_on

    @rule(tool_id=_tool_ids)
    def end(self, tool_id: str) -> None:
        keys = [held.key for held in self.held]
        self.presence.act(OTTER, ask.EndSubAgent(sub_agent=tool_id))
        assert [held.key for held in self.held] == keys

    @precondition(lambda self: len(self.held) == 3)
    @rule()
    def leave(self) -> None:
        assert self.presence.act(OTTER, ask.Leave())
        assert self.held == ()
        assert self.session.sub_agents == ()

    @rule(minutes=st.sampled_from([15, 8, 1, -2]))
    def wait(self, minutes: int) -> None:
        self.presence.now += minutes * MINUTE

    @rule(tool_id=_tool_ids, path=_paths)
    def edit_after_a_long_silence(self, tool_id: str, path: str) -> None:
        self.wait(15)
        self.edit(tool_id, path)

    @invariant()
    def the_same_holds_as_in_all_of_presence(self) -> None:
        self.presence.never_two_sub_agents_at_work_in_one_place()
        self.presence.an_alias_is_at_work_and_never_given_twice()
        self.presence.a_snapshot_is_the_state()
        self.presence.numbers_only_grow()

    def teardown(self) -> None:
        self.presence.teardown()


TestOneSession = OneSession.TestCase
TestOneSession.settings = settings(
    max_examples=examples(100), stateful_step_count=30, deadline=None
)
