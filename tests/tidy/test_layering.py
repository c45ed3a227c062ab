"""Arrows point down: surfaces -> flows -> engine -> protocols and stores -> core.

`verify` stands alone; keys and the workspace sit beside the engine, below the flows. A new room
gets its row here before its first import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.tidy.source import Module, modules, package_of, protocols

PURE = {"core", "pages", "protocols"}
BELOW_FLOWS = PURE | {
    "store",
    "engine",
    "keys",
    "keeper",
    "workspace",
    "system",
    "agents",
    "verify",
}
# What each room may import beside itself. A room is a folder; its inner folders are part of it.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "pages": {"core"},
    "protocols": {"core", "pages"},
    "store": {"core"},
    "system": {"core"},
    "agents": {"core", "system"},
    "engine": {"core", "store"},
    "keys": {"core", "store", "engine"},
    "keeper": {"core", "store", "engine"},
    "workspace": {"core", "store", "engine", "keys", "keeper", "verify"},
    "verify": set(),
    "testing": {"core", "store", "engine"},
    **dict.fromkeys(
        ("flows.presence", "flows.mail", "flows.debate", "flows.parliament", "flows.trace"),
        BELOW_FLOWS,
    ),
    "flows.observed": BELOW_FLOWS,
    "flows.guard": BELOW_FLOWS | {"flows.presence"},
    "flows.tools": BELOW_FLOWS | {"flows.guard"},
    "flows.watching": BELOW_FLOWS | {"flows.presence", "flows.mail", "flows.guard"},
    "flows.runs": BELOW_FLOWS
    | {"flows.presence", "flows.mail", "flows.debate", "flows.parliament", "flows.trace"},
    "flows.decisions": BELOW_FLOWS
    | {"flows.presence", "flows.debate", "flows.parliament", "flows.runs"},
    "flows.bridges": BELOW_FLOWS
    | {"flows.presence", "flows.mail", "flows.debate", "flows.parliament", "flows.trace"}
    | {"flows.runs", "flows.decisions"},
    "flows": BELOW_FLOWS,
    "api": BELOW_FLOWS | {"flows"},
    "surfaces": BELOW_FLOWS | {"flows", "api"},
    "": {"surfaces", "api", "core"},
}
# One purpose, one place: who may import what is not ours.
ONLY_IN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("sqlite3", "apsw", "psycopg"),
        ("store", "keys.seen_checkpoints", "workspace.file_versions"),
    ),
    **dict.fromkeys(("click", "rich"), ("surfaces",)),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "sse_starlette"), ("surfaces",)),
    **dict.fromkeys(("jinja2", "mcp"), ("surfaces",)),
    "watchfiles": ("surfaces", "system.watching"),
    "nacl": ("core.ed25519", "keys.passphrase_lock", "verify"),
}


def lies_in(name: str, place: str) -> bool:
    return name == place or name.startswith(place + ".")


def room_of(package: str) -> str:
    """The innermost room that has a row."""
    while package not in MAY_IMPORT:
        package = package.rpartition(".")[0]
    return package


def test_every_package_has_its_place() -> None:
    assert {module.package.partition(".")[0] for module in modules()} <= set(MAY_IMPORT)


def test_arrows_point_down() -> None:
    up = [
        f"{module}:{line} imports {name}"
        for module in modules()
        for room in [room_of(module.package)]
        for name, line in module.own_imports()
        if not lies_in(package_of(name), room)
        and not any(lies_in(package_of(name), target) for target in MAY_IMPORT[room])
    ]
    assert up == []


def packages() -> dict[str, set[str]]:
    """Which package imports which, functions and annotations included."""
    arrows: dict[str, set[str]] = {module.package: set() for module in modules()}
    for module in modules():
        targets = {package_of(name) for name, _ in module.own_imports()}
        arrows[module.package] |= targets - {module.package}
    return arrows


def circles(arrows: dict[str, set[str]]) -> Iterator[str]:
    """Packages that can be reached from themselves. Packages without a way on are taken away."""
    left = dict(arrows)
    while ended := [package for package, targets in left.items() if not targets & left.keys()]:
        for package in ended:
            del left[package]
    for package, targets in left.items():
        yield f"{package or 'moot'} -> {', '.join(sorted(targets & left.keys()))}"


def test_no_packages_import_each_other_in_a_circle() -> None:
    assert list(circles(packages())) == []


def test_a_circle_would_be_found() -> None:
    knot = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert [row.partition(" ")[0] for row in circles(knot)] == ["a", "b", "c", "d"]


def test_protocols_know_nothing_of_each_other() -> None:
    assert len(protocols()) >= 2
    crossed = [
        f"{module}:{line} imports {name}"
        for module in modules()
        if module.protocol
        for name, line in module.own_imports()
        if lies_in(name, "protocols") and not lies_in(name, f"protocols.{module.protocol}")
    ]
    assert crossed == []


def test_every_foreign_library_keeps_to_its_place() -> None:
    strayed = [
        f"{module}:{line} imports {name}"
        for module in modules()
        for name, line in module.foreign_imports()
        for places in [ONLY_IN.get(name.split(".")[0])]
        if places is not None and not any(lies_in(module.name, place) for place in places)
    ]
    assert strayed == []


STANDARD_SOMEWHERE = {"_sha2", "_sha256"}  # each in the standard library of some Pythons


def foreign(module: Module) -> set[str]:
    tops = {name.split(".")[0] for name, _ in module.foreign_imports()}
    return tops - sys.stdlib_module_names - STANDARD_SOMEWHERE


def test_the_verifier_shares_nothing_with_what_it_checks() -> None:
    for module in modules():
        if module.top == "verify":
            assert all(name.split(".")[0] == "verify" for name, _ in module.own_imports()), module
            assert foreign(module) <= {"nacl", "msgspec"}, module


def test_the_standalone_verifier_needs_one_library() -> None:
    (standalone,) = (module for module in modules() if module.name == "verify.standalone")
    assert foreign(standalone) == {"nacl"}
    assert list(standalone.own_imports()) == []


def test_the_core_stands_on_three_libraries() -> None:
    for module in modules():
        if module.top in ("core", "pages"):
            reads_markdown = {"markdown_it"} if module.name == "pages.rich_text" else set()
            assert foreign(module) <= {"msgspec", "immutables", "nacl"} | reads_markdown, module
