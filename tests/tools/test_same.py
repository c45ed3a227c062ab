"""`python -m tools.same`: declared renames and moves pass, anything smuggled in does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = (sys.executable, "-m", "tools.same")

MODEL = '''"""What there is."""

from __future__ import annotations

from typing import NamedTuple


class State(NamedTuple):
    """A state."""

    live: tuple[int, ...]
    stale: int = 3

    def over(self, now: int) -> bool:
        return self.stale < now


class Late(State):
    def over(self, now: int) -> bool:
        return self.live == () or super().over(now)
'''
VIEWS = '''"""What one reads."""

from __future__ import annotations

from demo import shelf
from demo.model import State

__all__ = ["told", "LIMIT"]
LIMIT = 10


def kept(function):
    return function


@kept
def told(who: str, state: "State", limit: int = LIMIT) -> list[int]:
    """Tell."""
    found = [one for one in state.live if one - limit < 7]
    shelf.put(who, found)
    match state:
        case State(live=(), stale=stale):
            return [stale]
    return sorted(who for who in found) if who else found
'''
USE = '''"""Who uses it."""

import demo.shelf
from demo.model import State
from demo.views import told

FOLDER = "demo"
TARGETS = ("demo.shelf:put", f"{FOLDER}.views:told", "demo.shelf.v1")
PROGRAM = "import demo.shelf; demo.shelf.put('x', [])"


def use(first: int, second: int) -> list[int]:
    state = State(live=(first, second))
    demo.shelf.put("x", [getattr(state, "live")])
    return told(who="x", state=state._replace(live=(second,)), limit=first - second)
'''
BEFORE = {
    "src/demo/__init__.py": '"""A demo."""\n',
    "src/demo/model.py": MODEL,
    "src/demo/views.py": VIEWS,
    "src/demo/shelf.py": '"""Keeps."""\n\n\ndef put(who: str, what: list[int]) -> None: ...\n',
    "tests/test_use.py": USE,
}
DECLARED = """
# what was renamed
demo.model.State.live -> leases
demo.model.State.over(now) -> moment
demo.views.told -> describe
demo.views.told(who) -> name
demo.shelf -> demo.rooms.sorted_index   # and moved
"""
NEW_VIEWS = '''"""What one reads."""

from __future__ import annotations

from demo.model import State
from demo.rooms import sorted_index

__all__ = ["LIMIT", "describe"]
LIMIT = 10


def kept(function):
    return function


@kept
def describe(
    name: str, state: "State", limit: int = LIMIT
) -> list[int]:
    """Describe."""
    found = [one for one in state.leases if one - limit < 7]  # a comment
    sorted_index.put(name, found)
    match state:
        case State(leases=(), stale=stale):
            return [stale]
    return sorted(who for who in found) if name else found
'''
NEW_USE = '''"""Who uses it."""

import demo.rooms.sorted_index
from demo.model import State
from demo.views import describe

FOLDER = "demo"
TARGETS = ("demo.rooms.sorted_index:put", f"{FOLDER}.views:describe", "demo.shelf.v1")
PROGRAM = "import demo.rooms.sorted_index; demo.rooms.sorted_index.put('x', [])"


def use(first: int, second: int) -> list[int]:
    state = State(leases=(first, second))
    demo.rooms.sorted_index.put("x", [getattr(state, "leases")])
    return describe(name="x", state=state._replace(leases=(second,)), limit=first - second)
'''
AFTER = {
    "src/demo/__init__.py": '"""A demo."""\n',
    "src/demo/model.py": MODEL.replace("live", "leases").replace("now", "moment"),
    "src/demo/views.py": NEW_VIEWS,
    "src/demo/rooms/__init__.py": '"""Rooms."""\n',
    "src/demo/rooms/sorted_index.py": BEFORE["src/demo/shelf.py"],
    "tests/test_use.py": NEW_USE,
}
VIEWS_FILE, USE_FILE, MODEL_FILE = "src/demo/views.py", "tests/test_use.py", "src/demo/model.py"
SMUGGLED = {
    "an operator": (VIEWS_FILE, "one - limit", "one + limit"),
    "a comparison": (VIEWS_FILE, "< 7", "<= 7"),
    "a constant": (VIEWS_FILE, "< 7", "< 8"),
    "a default": (MODEL_FILE, "stale: int = 3", "stale: int = 4"),
    "a decorator removed": (VIEWS_FILE, "@kept\n", ""),
    "a local renamed": (VIEWS_FILE, "found", "finding"),
    "a global renamed": (VIEWS_FILE, "LIMIT", "BOUND"),
    "a rename that is only half done": (VIEWS_FILE, "put(name,", "put(who,"),
    "arguments swapped": (USE_FILE, "(first, second)", "(second, first)"),
    "operands swapped": (USE_FILE, "first - second", "second - first"),
    "keywords swapped": (USE_FILE, 'name="x", state=', 'state="x", name='),
    "a program in a string": (USE_FILE, "put('x', [])", "put('y', [])"),
    "a string": (USE_FILE, '("x"', '("y"'),
    "a string that only looks like a module": (USE_FILE, "demo.shelf.v1", "demo.rooms.v1"),
    "another module by string": (USE_FILE, "sorted_index:put", "sorted_list:put"),
    "another attribute": (USE_FILE, "state._replace", "state.replace"),
    "an import more": (USE_FILE, "import State", "import Late, State"),
    "an import from elsewhere": (USE_FILE, "demo.views import", "demo.model import"),
    "a base removed": (MODEL_FILE, "Late(State)", "Late"),
    "a statement more": (
        MODEL_FILE,
        "return self.leases",
        "self.stale\n        return self.leases",
    ),
    "a parameter made keyword-only": (VIEWS_FILE, "name: str, state", "name: str, *, state"),
    "a new module": ("src/demo/more.py", "", "X = 1\n"),
    "an inner name renamed": (VIEWS_FILE, "who for who in found", "item for item in found"),
    "a list made a set": (VIEWS_FILE, "return [stale]", "return {stale}"),
}


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q")

    def git(self, *args: str) -> None:
        user = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", *user, *args], cwd=self.folder, check=True, env=_env(), timeout=30)

    def commit(self, tag: str, files: dict[str, str]) -> None:
        if any(self.folder.glob("[a-z]*")):
            self.git("rm", "-rqf", "--ignore-unmatch", ".")
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, "utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", tag, "--allow-empty")
        self.git("tag", tag)

    def same(self, declared: str, *options: str) -> tuple[int, str]:
        moves = self.folder / ".git" / "moves.txt"
        moves.write_text(declared, "utf-8")
        command = [*TOOL, "old", "new", "--moves", str(moves), *options]
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={**_env(), "PYTHONPATH": str(ROOT)},
            timeout=30,
        )
        return done.returncode, done.stdout + done.stderr


def _env() -> dict[str, str]:
    return {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.commit("old", BEFORE)
    return made


def test_declared_renames_and_moves_are_the_same_program(repository: Repository) -> None:
    repository.commit("new", AFTER)
    code, told = repository.same(DECLARED)
    assert (code, told) == (0, "6 modules, 0 differences\n"), told


@pytest.mark.parametrize("line", [line for line in DECLARED.splitlines() if "->" in line])
def test_a_rename_that_is_not_declared_differs(repository: Repository, line: str) -> None:
    repository.commit("new", AFTER)
    code, told = repository.same(DECLARED.replace(line, ""))
    assert (code, "became" in told or "is new" in told) == (1, True)


@pytest.fixture(scope="module")
def smuggled(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """One run over many copies of the package, each with one change more than is declared."""
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    for number, (path, before, after) in enumerate(SMUGGLED.values()):
        text = AFTER.get(path, "")
        changed = text.replace(before, after) if before else after
        assert changed != text
        old |= _copy(BEFORE, number)
        new |= _copy({**AFTER, path: changed}, number)
    repository = Repository(tmp_path_factory.mktemp("smuggled"))
    repository.commit("old", old)
    repository.commit("new", new)
    declared = (DECLARED.replace("demo", f"demo{number}") for number in range(len(SMUGGLED)))
    return repository.same("".join(declared))


def _copy(files: dict[str, str], number: int) -> dict[str, str]:
    return {
        name.replace("demo", f"demo{number}").replace("use.", f"use{number}."): text.replace(
            "demo", f"demo{number}"
        )
        for name, text in files.items()
    }


@pytest.mark.parametrize("what", SMUGGLED)
def test_a_smuggled_change_is_found_where_it_is(smuggled: tuple[int, str], what: str) -> None:
    code, told = smuggled
    number = list(SMUGGLED).index(what)
    (path,) = _copy({SMUGGLED[what][0]: ""}, number)
    assert code == 1
    assert f"\n{path}:" in f"\n{told}"


def test_a_rename_that_a_local_captures_is_found(repository: Repository) -> None:
    captured = {name: text.replace("told", "limit") for name, text in BEFORE.items()}
    repository.commit("new", captured)
    assert repository.same("demo.views.told -> limit")[0] == 0
    inside = VIEWS.replace("return [stale]", "return told(who, state)")
    repository.commit("inner", {**BEFORE, VIEWS_FILE: inside})
    repository.git("tag", "-f", "old", "inner")
    repository.commit("later", {**captured, VIEWS_FILE: inside.replace("told", "limit")})
    repository.git("tag", "-f", "new", "later")
    code, told = repository.same("demo.views.told -> limit")
    assert (code, "bound in another scope" in told) == (1, True)


def test_two_names_that_become_one_are_found(repository: Repository) -> None:
    repository.commit("new", {**BEFORE, VIEWS_FILE: VIEWS.replace("kept", "told")})
    code, told = repository.same("demo.views.kept -> told")
    assert (code, "both became told" in told) == (1, True)


def test_docstrings_count_only_when_asked(repository: Repository) -> None:
    repository.commit("new", {**BEFORE, VIEWS_FILE: VIEWS.replace("Tell.", "Describe it.")})
    assert repository.same("")[0] == 0
    code, told = repository.same("", "--docstrings")
    assert (code, "'Tell.' became 'Describe it.'" in told) == (1, True)


def test_a_string_may_be_declared_and_other_files_are_listed(repository: Repository) -> None:
    repository.commit(
        "new", {**BEFORE, USE_FILE: USE.replace("shelf.v1", "shelf.v2"), "notes.md": "x"}
    )
    assert repository.same("")[0] == 1
    code, told = repository.same('"demo.shelf.v1" -> "demo.shelf.v2"')
    assert (code, "not compared: notes.md" in told) == (0, True)
