"""Live events: what changed is said at once, to everyone, and nothing is lost by a gap."""

from __future__ import annotations

import pytest

from moot.api.page.changes import ALL_SCREENS
from moot.surfaces.web.live import MOST_LISTENERS, Listeners
from tests import own_loop
from tests.project import Project
from tests.web.server import ServerThread, Visitor

OTTER, CRANE = "amber-otter", "teal-crane"


@pytest.mark.requirement("OPR-096")
def test_what_another_process_writes_is_told_without_asking(
    project: Project, visitor: Visitor
) -> None:
    with visitor.listen() as listener:
        assert listener.status == 200
        assert listener.frame()["retry"] == "1000"
        done = project.spawn("--as", OTTER, "reserve", "src/auth", "--work", "T-7")
        assert done.code == 0
        changed = set(listener.changed())
        while "sessions" not in changed:
            changed |= set(listener.changed())
        assert {"sessions", "status", "log"} <= changed
        assert "decisions" not in changed
    cards = [c for group in visitor.get("/api/sessions").data["feed"] for c in group["cards"]]
    assert [card["work"] for card in cards] == ["T-7"]


def test_after_a_gap_everything_changed(visitor: Visitor) -> None:
    with visitor.listen() as listener:
        last = listener.frame()["id"]
    with visitor.listen(last) as listener:
        assert listener.frame()["id"] == last
    with visitor.listen("another-1") as listener:
        listener.frame()
        assert tuple(listener.changed()) == ALL_SCREENS


def test_more_listeners_than_allowed_are_sent_away_for_a_while(visitor: Visitor) -> None:
    async def fill() -> None:
        listeners = Listeners()
        all_frames = [listeners.frames("") for _ in range(MOST_LISTENERS)]
        for frames in all_frames:
            await anext(frames)
        assert listeners.is_full()
        for frames in all_frames:
            await frames.aclose()
        assert len(listeners) == 0
        assert not listeners.arrived.is_set()

    own_loop.run(fill())
    assert visitor.get("/api/v1/events").status == 401


def test_one_who_reads_slowly_holds_a_set_of_names_and_no_more() -> None:
    async def read_late() -> None:
        listeners = Listeners()
        frames = listeners.frames("")
        await anext(frames)
        for _ in range(10_000):
            listeners.tell(("mail", "log"))
        frame = (await anext(frames)).decode()
        assert '{"changed":["mail","log"]}' in frame
        await frames.aclose()

    own_loop.run(read_late())


def test_a_server_stops_although_somebody_listens(project: Project) -> None:
    server = ServerThread(project)
    visitor = Visitor(server.address)
    visitor.enter()
    with visitor.listen() as listener:
        listener.frame()
        server.stop()
        assert listener.frame() in ({}, {"": "still here"})
