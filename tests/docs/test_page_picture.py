"""README shows the page, in a picture that a tool makes and that is small enough to be loaded."""

from __future__ import annotations

from tools.make_page_picture import FILE, HEIGHT, MOST_BYTES, WIDTH

from tests.docs.test_readme import ROOT


def test_the_readme_shows_the_page_in_a_small_picture() -> None:
    data = FILE.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) <= MOST_BYTES
    size = (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    assert size == (WIDTH, HEIGHT), "run `python -m tools.make_page_picture`"
    assert f"](docs/pictures/{FILE.name})" in (ROOT / "README.md").read_text("utf-8")
