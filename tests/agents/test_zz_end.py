import pytest
from agents.test_tools import *
@pytest.mark.parametrize("tool", [TOOLS["codex"], TOOLS["claude"], TOOLS["gemini"]], ids=["codex","claude","gemini"])
def test_end(stage, tool):
    model = stage.play(tool.write(str(stage.file("free.txt"))), agent=None)
    print("LEFT", [ (m.name,m.left) for m in stage.yard.presence.members], stage.yard.owners())
    assert stage.file("free.txt").exists()
