"""Bringing back what was in a file."""

from __future__ import annotations

import subprocess

from moot.api.guard.tool_sessions import ToolCall, after_call
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from tests.scenarios.stories.guard import reserve
from tests.scenarios.world import World, story

OTTER, CRANE = "amber-otter", "teal-crane"


def leave(world: World, text: str) -> None:
    """An edit of teal-crane, of which its hook tells afterwards."""
    file = world.project.root / "a.py"
    file.write_text(text, encoding="utf-8")
    session = Session(world.project.root, acting=CRANE, keys=KeyFolder(world.project.keys))
    with session:
        after_call(session, ToolCall("Write", (str(file),)))


@story(does="undo.list undo.show undo.restore", refuses="undo.restore undo.show")
def a_version_that_was_seen_is_brought_back(world: World) -> None:
    file = world.project.root / "a.py"
    subprocess.run(["git", "init", "--quiet"], cwd=world.project.root, check=True, timeout=60)
    assert world.do("undo.list") == {"versions": [], "more": 0, "elsewhere": 0}
    assert world.refuse("undo.restore", path="a.py") == "no_version"
    assert world.refuse("undo.show", path="a.py") == "no_version"
    for text in ("first\n", "second\n"):
        leave(world, text)
    (first,) = world.do("undo.list", path="a.py")["versions"]
    assert (first["path"], first["number"], first["agent"]) == ("a.py", 1, CRANE)
    assert (first["left_by"], first["lost_to"], first["lost_by"]) == ("Write", CRANE, "Write")
    shown = world.do("undo.show", path="a.py", version=1)
    assert "-second\n+first\n" in shown["difference"]
    reserve(world, CRANE, "a.py")
    before = world.events()
    assert world.refuse("undo.restore", path="a.py") == "reservation_conflict"
    assert (file.read_text("utf-8"), world.events()) == ("second\n", before)
    done = world.do("undo.restore", acting=CRANE, path="a.py", blob=first["id"])
    assert (done["restored"]["id"], done["file"]) == (first["id"], str(file))
    assert file.read_text("utf-8") == "first\n"
    copy = world.project.root / "copy.py"
    aside = world.do("undo.restore", path="a.py", blob=done["replaced"], file=copy)
    assert (aside["file"], aside["replaced"]) == (str(copy), None)
    assert (copy.read_text("utf-8"), file.read_text("utf-8")) == ("second\n", "first\n")
