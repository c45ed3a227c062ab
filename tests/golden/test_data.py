"""The golden of every command's `data`: it is whole, and a test that prints another shape fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.terminal import shell
from tests.cli.command_tree import commands_with_envelopes
from tests.golden.data_shapes import (
    GOLDEN,
    MAPS,
    Difference,
    Field,
    Shape,
    compare,
    main,
    merge,
    merge_all,
    read,
    shape_of,
    write,
)
from tests.golden.plugin import print_and_check

ROOT = Path(__file__).resolve().parents[2]
LISTED = {"agents": [{"name": "amber-otter", "seen": None}, {"name": "teal-crane", "seen": "now"}]}
SHAPE = shape_of(LISTED)
# A test as anyone might write it, printing an answer that `completion` has never given.
PRINTS = """
from moot.surfaces.terminal.answer import Answer, print_answer

def test_prints():
    print_answer("completion", Answer({data}, lambda: ["said"]), as_json={as_json})
"""


def field(*types: str, always: bool = True) -> Field:
    return Field(frozenset(types), always)


def golden_of(*answers: dict[str, Any]) -> Shape:
    return merge_all({"any": shape_of(data)} for data in answers)["any"]


def test_every_command_has_its_shape_in_the_golden() -> None:
    assert set(read(GOLDEN)) == set(commands_with_envelopes())


def test_the_command_line_prints_through_the_check() -> None:
    assert vars(shell)["print_answer"] is print_and_check


def test_the_golden_is_as_it_would_be_written(tmp_path: Path) -> None:
    write(tmp_path / "again.json", read(GOLDEN))
    assert (tmp_path / "again.json").read_text("utf-8") == GOLDEN.read_text("utf-8")


def test_every_map_of_the_table_is_in_the_golden() -> None:
    maps = {path for shape in read(GOLDEN).values() for path in shape if path.endswith("{}")}
    assert [
        one for one in MAPS if not any(f".{path}".endswith(f".{one}{{}}") for path in maps)
    ] == []


def test_a_shape_has_the_types_at_every_path() -> None:
    assert dict(SHAPE) == {
        "agents": field("list"),
        "agents[]": field("object"),
        "agents[].name": field("string"),
        "agents[].seen": field("null", "string"),
    }


def test_the_keys_of_a_map_are_no_paths() -> None:
    shape = shape_of({"liveness": {"amber-otter": "alive", "teal-crane": None}})
    assert set(shape) == {"liveness", "liveness{}"}
    assert shape["liveness{}"].types == {"null", "string"}


def test_what_an_item_lacks_is_not_always_there() -> None:
    shape = shape_of({"all": [{"a": 1, "b": 2.5}, {"a": True}]})
    assert shape["all[].a"] == field("boolean", "integer")
    assert shape["all[].b"] == field("number", always=False)


@pytest.mark.parametrize(
    ("other", "always"),
    [
        ({"held": {"by": "x"}}, True),
        ({"held": None}, True),
        ({}, True),
        ({"held": {}}, False),
    ],
)
def test_only_an_object_can_lack_what_another_has(other: dict[str, Any], always: bool) -> None:
    for merged in (
        golden_of({"held": {"by": "y"}}, other),
        golden_of(other, {"held": {"by": "y"}}),
    ):
        assert merged["held.by"].always is always
        assert merged["held"].always is bool(other)


def test_the_same_shape_makes_no_difference() -> None:
    assert compare(SHAPE, SHAPE) == Difference([], [])
    assert compare(SHAPE, shape_of({"agents": []})) == Difference([], [])


@pytest.mark.parametrize(
    ("data", "broken"),
    [
        ({}, "`agents` is missing"),
        ({"agents": [{"name": "x"}]}, "`agents[].seen` is missing"),
        ({"agents": [*LISTED["agents"], {"seen": None}]}, "`agents[].name` is missing"),
        ({"agents": [{"name": 1, "seen": None}]}, "`agents[].name` is integer, not string"),
        ({"agents": None}, "`agents` is null, not list"),
    ],
)
def test_what_is_missing_or_of_another_type_is_broken(data: dict[str, Any], broken: str) -> None:
    assert compare(SHAPE, shape_of(data)) == Difference([broken], [])


def test_what_may_be_missing_is_not_missed() -> None:
    golden = golden_of({"a": 1, "b": 2}, {"a": 1})
    assert compare(golden, golden_of({"a": 1})) == Difference([], [])


def test_a_path_that_nobody_knew_is_growth() -> None:
    shape = shape_of({**LISTED, "total": 2})
    assert compare(SHAPE, shape) == Difference([], ["`total`"])


def test_a_renamed_path_is_both() -> None:
    shape = shape_of({"agents": [{"label": "x", "seen": None}]})
    assert compare(SHAPE, shape) == Difference(["`agents[].name` is missing"], ["`agents[].label`"])


def test_merging_is_the_same_in_any_order() -> None:
    other = golden_of({"agents": [{"name": None}], "total": 1})
    assert merge(SHAPE, other) == merge(other, SHAPE)
    assert merge(SHAPE, SHAPE) == SHAPE


def test_a_file_keeps_all_of_a_shape(tmp_path: Path) -> None:
    shapes = {"one": golden_of(LISTED, {}), "empty": golden_of({})}
    write(tmp_path / "shapes.json", shapes)
    assert read(tmp_path / "shapes.json") == shapes


def test_writing_adds_to_the_golden_and_never_takes_away(tmp_path: Path) -> None:
    golden, folder = tmp_path / "data.json", tmp_path / "recorded"
    folder.mkdir()
    write(golden, {"one": golden_of({"a": 1}), "two": golden_of({"b": 1})})
    write(folder / "1.json", {"one": golden_of({"a": 1, "c": 1})})
    write(folder / "2.json", {"one": golden_of({"a": 1})})
    assert main(["--write", str(folder)], golden) == 0
    assert read(golden) == {
        "one": {"a": field("integer"), "c": field("integer", always=False)},
        "two": {"b": field("integer")},
    }


def test_a_recording_shows_what_is_printed_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden, folder = tmp_path / "data.json", tmp_path / "recorded"
    folder.mkdir()
    write(golden, {"one": golden_of({"a": 1, "b": 1}, {"a": 1})})
    write(folder / "1.json", {"one": golden_of({"a": 1})})
    before = golden.read_bytes()
    assert main(["--lost", str(folder)], golden) == 1
    assert capsys.readouterr().out == "one b\n"
    write(folder / "2.json", {"one": golden_of({"a": 1, "b": 1})})
    assert main(["--lost", str(folder)], golden) == 0
    assert golden.read_bytes() == before


@pytest.mark.parametrize("words", [[], ["--write"], ["--read", "."]])
def test_other_words_leave_the_golden_alone(tmp_path: Path, words: list[str]) -> None:
    assert main(words, tmp_path / "data.json") == 2
    assert list(tmp_path.iterdir()) == []


def run_a_test_that_prints(
    folder: Path, data: dict[str, Any], *, as_json: bool, **settings: str
) -> subprocess.CompletedProcess[str]:
    file = folder / "test_it.py"
    file.write_text(PRINTS.format(data=data, as_json=as_json), "utf-8")
    words = ("-m", "pytest", "-q", "-p", "tests.golden.plugin", "-p", "no:cacheprovider")
    return subprocess.run(
        [sys.executable, *words, "--rootdir", str(folder), str(file)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("as_json", [True, False])
def test_a_test_that_prints_another_shape_fails(tmp_path: Path, as_json: bool) -> None:
    done = run_a_test_that_prints(tmp_path, {"shell": 1, "colour": "red"}, as_json=as_json)
    assert done.returncode == 1, done
    assert "may never change, but `script` is missing" in done.stdout
    assert "may never change, but `shell` is integer, not string" in done.stdout
    assert "has grown by `colour`; if on purpose: run the tests that print it" in done.stdout


def test_a_test_that_prints_the_known_shape_passes(tmp_path: Path) -> None:
    done = run_a_test_that_prints(tmp_path, {"shell": "zsh", "script": ""}, as_json=True)
    assert done.returncode == 0, done


def test_recording_keeps_the_shape_and_fails_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    done = run_a_test_that_prints(
        tmp_path, {"shell": 1}, as_json=True, MOOT_RECORD_DATA=str(folder)
    )
    assert done.returncode == 0, done
    (file,) = folder.iterdir()
    assert read(file) == {"completion": {"shell": field("integer")}}
