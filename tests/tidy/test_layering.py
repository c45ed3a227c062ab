"""Arrows point down: surfaces -> runner -> api -> engine -> protocols and stores -> core.

`verify` is alone. A new package gets its row here before its first import. A package that is above
another is reached from there through its entry points alone, by an import inside a function.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.tidy.source import Module, modules, package_of, protocols

PURE = {"core", "pages", "lines", "protocols"}
BELOW_API = PURE | {
    "store",
    "engine",
    "keys",
    "workspace",
    "system",
    "coding_tools",
    "agents",
    "hosts",
    "usage",
    "verify",
}
# What each package may import besides itself; its inner packages are part of it.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "pages": {"core"},
    "lines": {"core"},
    "protocols": {"core", "pages"},
    "store": {"core"},
    "system": {"core"},
    "coding_tools": {"core", "system"},
    "agents": {"core", "system", "coding_tools"},
    "engine": {"core", "store"},
    "keys": {"core", "store", "engine"},
    "workspace": {"core", "store", "engine", "keys", "verify"},
    "hosts": {"core", "store", "engine", "keys", "workspace"},
    "usage": PURE | {"store", "keys", "workspace", "system", "coding_tools", "agents"},
    "verify": set(),
    "testing": {"core", "store", "engine"},
    "api": BELOW_API,
    "runner": BELOW_API | {"api"},
    "usage.telemetry": BELOW_API | {"api", "runner"},
    "surfaces": BELOW_API | {"api", "runner", "usage.telemetry"},
    "": {"surfaces", "runner", "api", "core"},
}
# A module that packages below it may import, and which of them do.
ENTRY_POINTS: dict[str, set[str]] = {
    "hosts.opening": {"workspace"},
    "runner.delegation": {"api"},
    "runner.moot_run": {"api"},
}
# One purpose, one place: who may import what is not ours.
ONLY_IN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("sqlite3", "apsw", "psycopg"),
        ("store", "hosts.postgres", "keys.seen_checkpoints", "workspace.file_versions"),
    ),
    **dict.fromkeys(("click", "rich"), ("surfaces",)),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "sse_starlette"), ("surfaces",)),
    **dict.fromkeys(("jinja2", "mcp"), ("surfaces",)),
    "watchfiles": ("surfaces", "system.folder_watch"),
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
        if room not in ENTRY_POINTS.get(name, ())
        and not lies_in(package_of(name), room)
        and not any(lies_in(package_of(name), target) for target in MAY_IMPORT[room])
    ]
    assert up == []


def test_entry_points_are_used_and_not_imported_at_start() -> None:
    used = {
        (name, module.package.partition(".")[0])
        for module in modules()
        for name, _ in module.own_imports()
        if module.package.partition(".")[0] in ENTRY_POINTS.get(name, ())
    }
    assert used == {
        (name, package) for name, packages in ENTRY_POINTS.items() for package in packages
    }


def packages() -> dict[str, set[str]]:
    """Which package imports which, functions and annotations included."""
    arrows: dict[str, set[str]] = {module.package: set() for module in modules()}
    for module in modules():
        if lies_in(module.package, "api") or module.package == "":
            continue  # its inner packages are one layer
        room = module.package.partition(".")[0]
        names = (name for name, _ in module.own_imports())
        targets = {package_of(name) for name in names if room not in ENTRY_POINTS.get(name, ())}
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
        if module.top in ("core", "pages", "lines"):
            reads_markdown = {"markdown_it"} if module.name == "pages.markup" else set()
            assert foreign(module) <= {"msgspec", "immutables", "nacl"} | reads_markdown, module
