"""The runner of mutants: what it changes, which tests it takes, and that it spoils nothing."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tools.mutants.__main__ import find_mistakes
from tools.mutants.fresh import InThisOrder
from tools.mutants.nearest import find_package, find_test_files, find_test_folders
from tools.mutants.results import Results
from tools.mutants.sites import Mutant, list_mutants, write_mutant
from tools.mutants.trial import KILLED, SURVIVED, TIMED_OUT, set_up

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "moot"
MODULE = """
from __future__ import annotations

TRANSITIONS: dict[str, dict[str, str]] = {"open": {"done": "closed"}, "closed": {}}
RULES = (Rule("X-1", "late", "too late", is_late),)
SHAPE = ShapeField("round", "X-2", whole_number)


def is_late(now: int, limit: int = 5) -> bool:
    '''Is it?'''
    if now > limit and not is_open():
        raise ValueError(now)
    return True
"""


TABLES = """
RULES = (_text("X-1", "empty"), norm("X-2", "late", "too late", is_late))
OTHERS = (Row("X-3", "no", "found elsewhere", _never),)
FIELDS: Final[Mapping[str, field_rules.Rule]] = {"kid": is_kid, "size": an_object({"b": is_size})}


def _text(id: str, code: str) -> Rule[Any]:
    return Rule(id, code, "a sentence", is_empty)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree with one module and one test of it."""
    package = tmp_path / "src" / "moot" / "core"
    package.mkdir(parents=True)
    (tmp_path / "src" / "moot" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "limit.py").write_text("def is_late(now: int) -> bool:\n    return now > 5\n")
    tests = tmp_path / "tests" / "core"
    tests.mkdir(parents=True)
    (tests / "test_limit.py").write_text(
        "from moot.core.limit import is_late\n\n\n"
        "def test_late():\n    assert is_late(9)\n    assert not is_late(1)\n"
    )
    return tmp_path


def find(tree: Path, change: str) -> Mutant:
    path = tree / "src" / "moot" / "core" / "limit.py"
    return next(one for one in list_mutants(path, tree) if change in one.change)


def test_every_kind_of_change_is_offered_and_each_is_one_change(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    offered = list_mutants(path, tmp_path)
    assert [(one.kind, one.change) for one in offered] == [
        ("transition", "no 'done'"),
        ("rule", "Rule('X-1', 'late') checks nothing"),
        ("field", "ShapeField('round', 'X-2') checks nothing"),
        ("line", "now > limit: GtE"),
        ("line", "not is_open(): no not"),
        ("line", "now > limit and (not is_open()): the other of and, or"),
        ("line", "without raise ValueError(now)"),
        ("line", "if now > limit and (not is_open()): always False"),
        ("line", "if now > limit and (not is_open()): always True"),
        ("line", "True: False"),
    ]
    same = ast.unparse(ast.parse(MODULE)) + "\n"
    made = {write_mutant(one) for one in offered}
    assert len(made) == len(offered)
    assert same not in made
    assert len({one.id for one in offered}) == len(offered)


def test_each_row_is_offered_once_anyone_who_makes_it(tmp_path: Path) -> None:
    """Not the function that makes the rows, and no row whose check never says anything."""
    path = tmp_path / "module.py"
    path.write_text(TABLES)
    offered = list_mutants(path, tmp_path)
    assert [(one.kind, one.line, one.change) for one in offered] == [
        ("rule", 2, "_text('X-1', 'empty') checks nothing"),
        ("rule", 2, "norm('X-2', 'late') checks nothing"),
        ("field", 4, "'b' may be anything"),
        ("field", 4, "'kid' may be anything"),
        ("field", 4, "'size' may be anything"),
    ]
    assert len({write_mutant(one) for one in offered}) == len(offered)


def test_a_mutant_that_a_test_notices_is_killed_and_one_at_the_edge_survives(tree: Path) -> None:
    with set_up(tree, 60) as bench:
        assert bench.try_mutant(find(tree, "5: one more")) == SURVIVED
        module = tree / "src" / "moot" / "core" / "limit.py"
        before = module.read_bytes()
        module.write_text("def is_late(now: int) -> bool:\n    return not now < 5\n")
        assert bench.try_mutant(find(tree, "no not")) == KILLED
        assert before != module.read_bytes(), "the runner has not written here"


LATE = """
from __future__ import annotations

import subprocess
import sys

LIMIT = 5
SHARES = {1: 10}
FIELDS: Final[Mapping[str, field_rules.Rule]] = {
    "size": lambda value: value > LIMIT,
    "name": lambda value: value is not None,
}


def refuse(limit):
    def check(now):
        return now > limit
    return check


is_late = refuse(5)


def is_alone(count):
    return count == 1


def is_shared(count):
    return count > 1


if __name__ == "__main__":
    sys.exit(is_alone(int(sys.argv[1])))
"""
TEST_OF_LATE = """
from __future__ import annotations

import subprocess
import sys

from moot.core.limit import FIELDS, LIMIT, is_late, is_shared


def test_size():
    assert not FIELDS["size"](LIMIT)


def test_late():
    assert LIMIT == 5
    assert is_late(9)
    assert not is_late(5)


def test_alone():
    program = [sys.executable, "-m", "moot.core.limit", "1"]
    assert subprocess.run(program, timeout=60).returncode == 1


def test_shared():
    is_shared(1)
"""


@pytest.mark.thorough
def test_a_mutant_is_seen_by_what_was_imported_before_and_by_programs(tree: Path) -> None:
    """A closure that exists already, a value worked out at import, a program of its own."""
    (tree / "src" / "moot" / "core" / "limit.py").write_text(LATE)
    (tree / "tests" / "core" / "test_limit.py").write_text(TEST_OF_LATE)
    expected = {
        "now > limit: GtE": KILLED,
        "5: one more": KILLED,
        "count == 1: NotEq": KILLED,
        "count > 1: GtE": SURVIVED,
        "10: one more": SURVIVED,
        "'size' may be anything": KILLED,
        "'name' may be anything": SURVIVED,
    }
    with set_up(tree, 60) as bench:
        ended = {change: bench.try_mutant(find(tree, change)) for change in expected}
        assert "collected" in bench._helpers, "one of them has ended the process that waits"
    assert ended == expected


def test_only_the_tests_that_were_named_are_run_again_and_in_that_order() -> None:
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in ("slow", "near", "far")]
    InThisOrder(["far", "near"]).pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == ["far", "near"]


def test_nothing_is_said_with_tests_that_fail_anyway(tree: Path) -> None:
    (tree / "tests" / "core" / "test_sad.py").write_text("def test_sad():\n    assert False\n")
    with set_up(tree, 60) as bench, pytest.raises(SystemExit, match="test_sad"):
        bench.try_mutant(find(tree, "5: one more"))


@pytest.mark.thorough
def test_a_mutant_that_never_ends_is_ended(tree: Path) -> None:
    module = tree / "src" / "moot" / "core" / "limit.py"
    module.write_text(
        "def is_late(now: int) -> bool:\n    while not now:\n        pass\n    return now > 5\n"
    )
    with set_up(tree, 3) as bench:
        assert bench.try_mutant(find(tree, "no not")) == TIMED_OUT


def test_what_is_known_is_not_tried_again_until_the_module_changes(tree: Path) -> None:
    mutant = find(tree, "5: one more")
    file = tree / "results.jsonl"
    Results(file, tree).add(mutant, SURVIVED)
    again = Results(file, tree)
    assert again.knows(mutant)
    assert "| core | line | 2 | 1 | 0 | 1 | 0 |" in again.make_table(
        list_mutants(mutant.path, tree)
    )
    assert again.list_survivors([mutant]) == ["src/moot/core/limit.py:2: line: 5: one more"]
    again.add(mutant, KILLED)
    assert not Results(file, tree).survived(mutant), "the last word counts"
    mutant.path.write_text(mutant.path.read_text().replace("5", "6"))
    assert not again.knows(find(tree, "6: one more"))


def test_every_module_has_tests_that_are_near() -> None:
    """Without any, a mutant of it would survive untried."""
    untried = {
        find_package(path, SOURCE)
        for path in SOURCE.rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py") and not find_test_folders(path, ROOT)
    }
    assert untried == set()
    assert find_test_folders(SOURCE / "api" / "guard" / "edits.py", ROOT) == [ROOT / "tests/hooks"]


def test_the_nearest_tests_come_first() -> None:
    path = SOURCE / "protocols" / "presence" / "overlap.py"
    near, rest = find_test_files(path, ROOT)
    assert near
    assert not set(near) & set(rest)
    assert all(test.parent.name == "presence" for test in (*near, *rest))
    assert find_package(path, SOURCE) == "protocols/presence"


def test_the_working_tree_is_the_same_after_an_interruption(tree: Path) -> None:
    """The copy may be spoiled when a run is killed; the tree was never written to."""
    program = (
        "import os, sys\nfrom pathlib import Path\n"
        "from tools.mutants.sites import list_mutants\n"
        "from tools.mutants.trial import set_up\n"
        "tree = Path(sys.argv[1])\n"
        "path = tree / 'src' / 'moot' / 'core' / 'limit.py'\n"
        "with set_up(tree, 60) as bench:\n"
        "    bench._run_in_new_process = lambda tests: os._exit(9)\n"
        "    bench._run_mutant_in_new_process(list_mutants(path, tree)[0], ['a test'])\n"
    )
    module = tree / "src" / "moot" / "core" / "limit.py"
    before = module.read_bytes()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tree)}
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tree)], env=environment, timeout=120, check=False
    )
    assert ended.returncode == 9
    assert module.read_bytes() == before


@pytest.mark.parametrize(
    ("names", "kinds", "tests", "mistake"),
    [
        (["nowhere"], ["line"], [], "there is no src/moot/nowhere"),
        (["core"], ["lines"], [], "there is no kind 'lines'; choose of rule, field"),
        (["core"], ["line"], [Path("tests/none.py")], "there is no tests/none.py"),
    ],
)
def test_what_is_not_there_is_said_and_not_left_out(
    names: list[str], kinds: list[str], tests: list[Path], mistake: str
) -> None:
    (told,) = find_mistakes(names, kinds, tests)
    assert told.startswith(mistake)


def test_what_is_there_is_no_mistake() -> None:
    assert list(find_mistakes(["core", "verify/check.py"], ["line"], [Path("tests/core")])) == []
