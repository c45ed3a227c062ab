"""Arrows point down: surfaces -> flows -> engine -> protocols and stores -> core.

`verify` stands alone; keys and the workspace sit beside the engine, below the surfaces. A new
package gets its row here before its first import.
"""

from __future__ import annotations

import sys

from tests.tidy.source import Module, modules, protocols

BELOW_SURFACES = {"core", "store", "engine", "keys", "workspace", "outside", "flows", "agents"}
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "store": {"core"},
    "engine": {"core", "store"},
    "verify": set(),
    "outside": {"core"},
    "keys": {"core", "store", "engine"},
    "workspace": {"core", "store", "engine", "keys", "verify"},
    "testing": {"core", "store", "engine"},
    "flows": BELOW_SURFACES - {"flows"} | {"verify"} | protocols(),
    "agents": {"core", "outside"},
    "surfaces": BELOW_SURFACES | {"verify"} | protocols(),
    "": {"surfaces", "__version__"},
    **{protocol: {"core"} for protocol in protocols()},
}
# One purpose, one place: who may import what is not ours.
ONLY_IN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sqlite3", "apsw", "psycopg"), ("store", "keys.kept")),
    **dict.fromkeys(("click", "rich"), ("surfaces",)),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "sse_starlette"), ("surfaces",)),
    **dict.fromkeys(("jinja2", "mcp", "watchfiles"), ("surfaces",)),
    "nacl": ("core.signing", "keys.lock", "verify"),
}


def lies_in(module: Module, place: str) -> bool:
    return module.name == place or module.name.startswith(place + ".")


def test_every_package_has_its_place() -> None:
    assert {module.package for module in modules()} <= set(MAY_IMPORT)


def test_arrows_point_down() -> None:
    up = [
        f"{module}:{line} imports {name}"
        for module in modules()
        for name, line in module.own_imports()
        for target in [name.split(".")[0]]
        if target != module.package and target not in MAY_IMPORT[module.package] | {"__version__"}
    ]
    assert up == []


def test_protocols_know_nothing_of_each_other() -> None:
    assert len(protocols()) >= 2
    crossed = [
        f"{module}:{line} imports {name}"
        for module in modules()
        if module.package in protocols()
        for name, line in module.own_imports()
        if name.split(".")[0] not in ("core", module.package)
    ]
    assert crossed == []


def test_every_foreign_library_keeps_to_its_place() -> None:
    strayed = [
        f"{module}:{line} imports {name}"
        for module in modules()
        for name, line in module.foreign_imports()
        for places in [ONLY_IN.get(name.split(".")[0])]
        if places is not None and not any(lies_in(module, place) for place in places)
    ]
    assert strayed == []


def foreign(module: Module) -> set[str]:
    tops = {name.split(".")[0] for name, _ in module.foreign_imports()}
    return tops - sys.stdlib_module_names


def test_the_verifier_shares_nothing_with_what_it_checks() -> None:
    for module in modules():
        if module.package == "verify":
            assert all(name.split(".")[0] == "verify" for name, _ in module.own_imports()), module
            assert foreign(module) <= {"nacl", "msgspec"}, module


def test_the_standalone_verifier_needs_one_library() -> None:
    (standalone,) = (module for module in modules() if module.name == "verify.standalone")
    assert foreign(standalone) == {"nacl"}
    assert list(standalone.own_imports()) == []


def test_the_core_stands_on_three_libraries() -> None:
    for module in modules():
        if module.package == "core":
            assert foreign(module) <= {"msgspec", "immutables", "nacl"}, module
