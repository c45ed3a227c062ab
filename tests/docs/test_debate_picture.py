"""The picture in our pages is the one that the report draws today."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.make_debate_picture import FILE, picture, session

from moot.protocols.debate.checker import check_session


def test_the_published_picture_is_what_the_report_draws() -> None:
    assert FILE.read_text(encoding="utf-8") == picture(session())


def test_it_is_a_drawing_of_a_valid_session_and_runs_nothing() -> None:
    assert check_session(session()).valid
    drawn = ElementTree.fromstring(FILE.read_bytes())
    names = {one.tag.rpartition("}")[2] for one in drawn.iter()}
    assert names <= {"svg", "style", "rect", "text", "tspan", "title", "desc", "g", "line", "path"}
    assert "script" not in FILE.read_text(encoding="utf-8")
