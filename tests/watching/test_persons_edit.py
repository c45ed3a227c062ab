"""A person edits while agents work: a clear line, nothing lost, and nobody accused."""

from __future__ import annotations

import sys

from tests.hooks.yard import CRANE, OTTER, Yard, call, reason
from tests.watching.post import hold, letters

WRITE_ELSEWHERE = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c',"
    " \"open('a.txt', 'w').write('typed by a person')\"], check=True, timeout=60)"
)


def test_a_persons_edit_of_what_an_agent_holds_is_told_and_the_copy_is_kept(yard: Yard) -> None:
    """Two agents are here, so that nobody can be named: the holder gets a letter, not a guess."""
    hold(yard, CRANE, yard.other, "a.txt")
    yard.ok("--as", OTTER, "join")
    words = ("run", "--name", "coral-finch", "--", sys.executable, "-c", WRITE_ELSEWHERE)
    done = yard.spawn(*words)
    assert done.code == 0
    assert "changed by someone unknown, while teal-crane holds it: a.txt" in done.err
    assert [letter for letter in letters(yard) if "a.txt" in str(letter)]
    assert yard.owners() == {"a.txt": CRANE}
    assert yard.events("INCURSION") == []  # nobody is accused


def test_what_a_person_typed_since_is_not_written_over_unseen(yard: Yard) -> None:
    yard.hook("codex", call("codex-start", yard.root))
    (yard.root / "a.txt").write_text("a person was here")
    patch = "*** Begin Patch\n*** Add File: a.txt\n+mine\n*** End Patch\n"
    asked = call("codex-patch", yard.root, tool_input={"command": patch})
    assert "a.txt" in reason(yard.hook("codex", asked))
    assert (yard.root / "a.txt").read_text() == "a person was here"
