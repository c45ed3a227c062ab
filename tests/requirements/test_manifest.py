"""Requirements and tests, bound in both directions.

A requirement is a row of a manifest beside this file; a test names the rows it proves with
`@pytest.mark.requirement("ID")`. No row without a test, no cited row that does not exist. What is
not met yet is a row with a `gap`, which has no test and gives its reason.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from moot.core.registry.rules import RULES
from tests.requirements.documents import DOCUMENTS, OWN_SUBJECTS

HERE = Path(__file__).parent
TESTS = HERE.parent
MANIFESTS = sorted(HERE.glob("*.toml"))
ID = re.compile(r"[A-Z]{3}-[0-9]{2,3}[a-z]?")
FIELDS = {"id", "text", "source", "gap"}


def rows(manifest: Path) -> list[dict[str, Any]]:
    content = tomllib.loads(manifest.read_text("utf-8"))
    assert set(content) == {"requirement"}, f"{manifest.name}: {sorted(content)}"
    found: list[dict[str, Any]] = content["requirement"]
    return found


def all_rows() -> list[dict[str, Any]]:
    return [row for manifest in MANIFESTS for row in rows(manifest)]


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of `name(...)` or `anything.name(...)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name in (
            getattr(node.func, "attr", None),
            getattr(node.func, "id", None),
        ):
            yield node


def ids_in(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and ID.fullmatch(str(node.value)):
            yield node


@cache
def prefixes() -> frozenset[str]:
    return frozenset(row["id"].partition("-")[0] for row in all_rows())


def is_of_a_manifest(found: ast.Constant) -> bool:
    """A table also holds ids of rules, which have prefixes of their own."""
    return str(found.value).partition("-")[0] in prefixes()


def tables_of(module: ast.Module) -> dict[str, ast.stmt]:
    """What is assigned at the top of a module, by name."""
    found: dict[str, ast.stmt] = {}
    for statement in module.body:
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        found |= {target.id: statement for target in targets if isinstance(target, ast.Name)}
    return found


def tables_behind(statement: ast.stmt, tables: dict[str, ast.stmt]) -> list[ast.stmt]:
    """The tables that a test's own parameters come from, directly or by way of another."""
    marked = getattr(statement, "decorator_list", None) or [statement]
    waiting, seen = list(marked), dict[str, ast.stmt]()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in tables and node.id not in seen:
                seen[node.id] = tables[node.id]
                waiting.append(tables[node.id])
    return [table for table in seen.values() if table is not statement]


def markers(module: ast.Module) -> Iterator[ast.expr]:
    """What is handed to `requirement`. Where that is a name, it stands for the ids written out in
    the same statement, in calls of the function that takes it, or in the module's tables whose rows
    the statement goes through."""
    tables = tables_of(module)
    for statement in module.body:
        handed = [argument for call in calls(statement, "requirement") for argument in call.args]
        yield from (argument for argument in handed if not isinstance(argument, ast.Name))
        if any(isinstance(argument, ast.Name) for argument in handed):
            yield from ids_in(statement)
            for table in tables_behind(statement, tables):
                yield from (found for found in ids_in(table) if is_of_a_manifest(found))
            if isinstance(statement, ast.FunctionDef):
                for call in calls(module, statement.name):
                    yield from ids_in(call)


def marking(pattern: str) -> list[Path]:
    """The files that name the marker at all: to read the others as Python takes long."""
    return [file for file in sorted(TESTS.rglob(pattern)) if b"requirement" in file.read_bytes()]


@cache
def cited() -> dict[str, list[str]]:
    """Each id that some test names, with the places. Read from the source: nothing is run."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in marking("*.py"):
        for argument in markers(ast.parse(file.read_text("utf-8"))):
            place = f"{file.relative_to(TESTS)}:{argument.lineno}"
            assert isinstance(argument, ast.Constant), f"{place}: an id is written out"
            found[str(argument.value)].append(place)
    return found


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
def test_every_row_is_well_formed(manifest: Path) -> None:
    for row in rows(manifest):
        assert set(row) <= FIELDS, row
        assert {"id", "text", "source"} <= set(row), row
        assert ID.fullmatch(row["id"]), row
        assert all(isinstance(value, str) and value.strip() for value in row.values()), row
        assert row["text"].endswith("."), row


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
def test_ids_stand_in_order_and_begin_alike(manifest: Path) -> None:
    ids = [row["id"] for row in rows(manifest)]
    assert ids == sorted(ids, key=lambda text: (len(text.rstrip("abcdefgh")), text))
    assert len({text.partition("-")[0] for text in ids}) == 1


def test_no_id_is_given_twice() -> None:
    twice = [text for text, count in Counter(row["id"] for row in all_rows()).items() if count > 1]
    assert twice == []


def test_no_two_requirements_say_the_same() -> None:
    said = Counter((row["id"].partition("-")[0], row["text"]) for row in all_rows())
    assert [text for text, count in said.items() if count > 1] == []


def test_no_requirement_is_without_a_test() -> None:
    bound = cited()
    assert [row["id"] for row in all_rows() if "gap" not in row and row["id"] not in bound] == []


def test_no_test_cites_what_does_not_exist() -> None:
    known = {row["id"] for row in all_rows()}
    assert {text: places for text, places in cited().items() if text not in known} == {}


def test_a_gap_has_a_reason_and_no_test() -> None:
    bound = cited()
    gaps = [row for row in all_rows() if "gap" in row]
    assert [row["id"] for row in gaps if row["id"] in bound] == []
    assert all(len(row["gap"].split()) >= 3 for row in gaps)


def is_section(document: str, place: str) -> bool:
    """Does the document have this place, such as `section 6.6, rule 13`?"""
    section, _, part = place.removeprefix("section ").partition(", ")
    parts = DOCUMENTS[document].get(section)
    if parts is None or not place.startswith("section "):
        return False
    unit, _, label = part.partition(" ")
    return not part or label in parts.get(unit, ())


def is_own_subject(subject: str) -> bool:
    """Is this a subject of ours, a section of our record format, or one of our design decisions?"""
    docs = TESTS.parent / "docs"
    if number := re.fullmatch(r"record format, section ([0-9]+)", subject):
        return f"\n## {number[1]}. " in (docs / "format.md").read_text("utf-8")
    if number := re.fullmatch(r"design decision ([0-9]{4})", subject):
        return any((docs / "decisions").glob(f"{number[1]}-*.md"))
    return subject in OWN_SUBJECTS


def is_exact(source: str) -> bool:
    """Does each part name a place that exists? Later parts may leave out the document."""
    document = ""
    for part in source.split("; "):
        if part.startswith("Moot, "):
            if not is_own_subject(part.removeprefix("Moot, ")):
                return False
            continue
        named, _, place = part.partition(", ")
        document, place = (named, place) if named in DOCUMENTS else (document, part)
        title_block = (document, place) == ("Operative 1", "title")
        if not document or not (title_block or is_section(document, place)):
            return False
    return True


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_page_of_public_documents_says_where_it_is_published(document: str) -> None:
    page = (TESTS.parent / "docs" / "protocols.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if f"| `{document}` |" in line]
    _, _, _, project, file, version, date, _ = (cell.strip() for cell in row.split("|"))
    assert all((project, file, version, date))
    cited = document.split()[-1]
    assert version == "none stated" if cited.isalpha() else cited in version


def test_every_source_names_a_place_that_exists() -> None:
    assert [(row["id"], row["source"]) for row in all_rows() if not is_exact(row["source"])] == []


@pytest.mark.parametrize(
    "source",
    [
        "Bounce EX-5",
        "Bounce 0.1",
        "Bounce 0.1, section 6.9",
        "Bounce 0.1, section 6.6, rule 16",
        "Bounce 0.1, section 6.6, rule",
        "Bounce 0.1, 6.6",
        "section 6.6, rule 13",
        "Bounce 0.1, section 3.1; section 10",
        "Brenner 0.1, section Machine-Checkable Rules, rule MB-013",
        "Moot, record format, section 99",
        "Moot, design decision 9999",
        "Moot, something",
    ],
)
def test_a_source_that_names_no_place_is_found(source: str) -> None:
    assert not is_exact(source)


def test_every_rule_of_the_registry_is_a_requirement() -> None:
    ids = {rule.id for table in RULES.values() for rule in table}
    assert ids <= {row["id"] for row in all_rows()}


MOST_ON_A_TABLE = 3


def is_marker(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(calls(decorator, "requirement"))


def ids_for_all_rows() -> dict[str, int]:
    """Tests with parameters, and how many ids each carries for all of these together."""
    found = {}
    for file in marking("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                any(calls(decorator, "parametrize")) for decorator in node.decorator_list
            ):
                marks = [
                    decorator
                    for decorator in node.decorator_list
                    if is_marker(decorator) and not any(calls(decorator, "parametrize"))
                ]
                found[node.name] = sum(1 for mark in marks for _ in ids_in(mark))
    return found


def test_a_table_of_many_norms_names_each_on_its_own_row() -> None:
    """An id says which row asserts it; on a test of twelve it says nothing of any."""
    many = {name for name, count in ids_for_all_rows().items() if count > MOST_ON_A_TABLE}
    assert many == set()
