"""One shape for every protocol: the two tables of ARCHITECTURE.md that say so are true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.tidy.source import FIVE, ROOT, Module, modules, protocols
from tests.tidy.test_rules import rules_in

PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
NAMES = re.compile(r"`([^`]+)`")
ROWS = "rows on texts"


def table(heading: str) -> list[list[str]]:
    """The cells of the table whose first line this is."""
    lines = PAGE.split(f"{heading}\n")[1].splitlines()[1:]
    rows = lines[: next(place for place, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


FILES = {NAMES.findall(file)[0]: holds for file, holds in table("| file | holds |")}
HOMES = table("| what | usually in | elsewhere |")
OUTGROWN = [row for row in HOMES if not row[0].startswith(ROWS)]


def elsewhere(cell: str) -> Iterator[tuple[str, str]]:
    """Read a cell such as `debate, parliament FILE; trace FILE` as pairs of protocol and file."""
    for part in re.sub(r"\([^)]*\)", "", cell).split(";"):
        said = part.partition("`")[0]
        for protocol in re.findall(r"[a-z]+", said):
            yield from ((protocol, file) for file in NAMES.findall(part))


def homes(row: list[str]) -> dict[str, list[str]]:
    """The files of each protocol that hold it: those named, else the usual one."""
    named: dict[str, list[str]] = {}
    for protocol, file in elsewhere(row[2]):
        named.setdefault(protocol, []).append(file)
    usual = NAMES.findall(row[1])
    return {protocol: named.get(protocol, usual) for protocol in sorted(protocols())}


def module(protocol: str, file: str) -> Module:
    name = f"protocols.{protocol}.{file.removesuffix('.py').replace('/', '.')}"
    found = next((one for one in modules() if one.name == name), None)
    assert found is not None, f"{protocol} has no {file}"
    return found


def defined(one: Module) -> Iterator[str]:
    """What is made at the top of a module, and not imported into it."""
    for node in one.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("protocol", sorted(protocols()))
def test_every_protocol_has_the_files_of_the_shape(protocol: str) -> None:
    folder = ROOT / "src" / "moot" / "protocols" / protocol
    assert [file for file in FILES if not (folder / file).is_file()] == []


@pytest.mark.parametrize("protocol", sorted(protocols()))
def test_a_machine_names_all_it_is_made_of(protocol: str) -> None:
    machine = vars(import_module(f"moot.protocols.{protocol}.machine"))
    names = NAMES.findall(FILES["machine.py"])
    assert len(names) == 6
    assert [name for name in names if name not in machine] == []


@pytest.mark.parametrize("row", OUTGROWN, ids=lambda row: row[0])
def test_what_a_machine_is_made_of_stands_where_the_page_says(row: list[str]) -> None:
    (name,) = NAMES.findall(row[0])
    for protocol, files in homes(row).items():
        assert [file for file in files if name not in defined(module(protocol, file))] == []


def holds_rows(one: Module) -> bool:
    made = vars(import_module(f"moot.{one.name}"))
    public = (name for name in defined(one) if not name.startswith("_"))
    return any(True for name in public for _ in rules_in(made[name]))


def test_rows_stand_where_the_page_says_and_nowhere_else() -> None:
    (texts,) = (row for row in HOMES if row[0].startswith(ROWS))
    (commands,) = (row for row in HOMES if row[0] == "`RULES`")
    said = set(elsewhere(texts[2]))
    said |= {(protocol, file) for protocol, files in homes(commands).items() for file in files}
    found = {(m.protocol, m.path.name) for m in modules() if m.protocol if holds_rows(m)}
    assert found == said


def test_native_text_is_read_where_the_page_says() -> None:
    said = PAGE.split("Native text or JSON")[1].split("\n\n")[0]
    usual, debate, parliament = re.split(r"; in debate|, in parliament", said)
    named = {**dict.fromkeys(FIVE, usual), "debate": debate, "parliament": parliament}
    for protocol, words in named.items():
        files = [name for name in NAMES.findall(words) if name.endswith(".py")]
        assert files
        assert all(module(protocol, file) for file in files)


def test_the_manifests_that_the_page_names_are_there() -> None:
    named = re.findall(r"`(\w+\.toml)`", PAGE)
    assert len(named) == len(FIVE)
    assert all((ROOT / "tests" / "requirements" / name).is_file() for name in named)


def test_every_file_that_the_page_names_is_there() -> None:
    """Paths such as `engine/batch.py` or `tests/store/contract.py`, from package or root."""
    text = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    named = set(re.findall(r"`([\w.]+(?:/[\w.]+)*/\w+\.py)`", text))
    package = ROOT / "src" / "moot"
    machines = (package / "protocols" / protocol for protocol in protocols())
    places = (ROOT, package, package / "protocols", *machines)
    real = {name for name in named if "NAME" not in name}
    gone = [name for name in real if not any((place / name).is_file() for place in places)]
    assert sorted(gone) == []
    assert len(named) > 15
