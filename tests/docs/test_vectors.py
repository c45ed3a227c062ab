"""The published vectors are what this code writes, and what it refuses."""

from __future__ import annotations

import json

import pytest
from tools.make_vectors import FOLDER, files

from moot.core.canonical import canonical, parse_canonical
from moot.core.errors import Malformed


@pytest.mark.requirement("LDG-004")
@pytest.mark.parametrize("name", ["canonical.json", "blocks.json", "bundle.jsonl", "trust.json"])
def test_the_published_vectors_are_what_this_code_writes(name: str) -> None:
    assert (FOLDER / name).read_bytes() == files()[name]


def test_every_published_value_has_its_published_bytes() -> None:
    for case in json.loads((FOLDER / "canonical.json").read_text())["canonical"]:
        assert canonical(case["value"]).hex() == case["bytes"]
        assert parse_canonical(bytes.fromhex(case["bytes"])) == case["value"]


def test_every_published_refusal_is_refused() -> None:
    for text in json.loads((FOLDER / "canonical.json").read_text())["refused"]:
        with pytest.raises(Malformed):
            parse_canonical(text.encode())
