"""Stored files: shown, written out, erased on record."""

from __future__ import annotations

from tests.scenarios.world import World, story


@story(does="artifact.show artifact.erase", refuses="artifact.show artifact.erase")
def a_stored_file_is_shown_and_erased(world: World) -> None:
    with world.project.workspace() as workspace:
        sha256 = workspace.artifacts.put(b"hello\n", "text/plain").sha256
    shown = world.do("artifact.show", sha256=sha256[:8])
    assert (shown["text"], shown["size"]) == ("hello\n", 6)
    out = world.project.root / "out.txt"
    world.do("artifact.show", sha256=sha256, file=out)
    assert out.read_bytes() == b"hello\n"
    assert world.refuse("artifact.erase", sha256="nothing", reason="no") == "bad_hash"
    assert world.refuse("artifact.erase", sha256="0" * 8, reason="no") == "artifact_not_found"
    erased = world.do("artifact.erase", sha256=sha256, reason="a secret")
    assert erased == {"sha256": sha256, "recorded": True, "reason": "a secret"}
    assert world.refuse("artifact.show", sha256=sha256) == "artifact_erased"
    assert not world.do("artifact.erase", sha256=sha256, reason="again")["recorded"]
