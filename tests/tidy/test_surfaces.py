"""Surfaces parse, call the library and render: no engine, no store, no protocol, no rule.

What still reaches deeper is listed with its reason; the list may only shrink.
"""

from __future__ import annotations

import ast

from tests.tidy.source import Module, modules
from tests.tidy.test_layering import lies_in

MAY_IMPORT = (
    "api",
    "runner",
    "usage",
    "pages",
    "verify",
    "surfaces",
    "core.clock",
    "core.errors",
    "core.findings",
    "core.names",
    "core.text",
    "core.quoted",
    "core.version",
    "store.files",
)
FORBIDDEN = {"engine", "store", "execute", "execute_all", "execute_chain"}
# Modules that still import more than that.
DEEPER: dict[str, str] = {
    "surfaces.cli.entry": "the names of the coding tools, before anything else is loaded",
    "surfaces.cli.trace.steps": "traces.execute is the library's own",
    "surfaces.environment": "a stale time is read from text as presence reads it",
    "surfaces.hooks.call": "the coding tools",
    "surfaces.hooks.entry": "makes the session: key folder, debug lines",
    "surfaces.hooks.moments": "the coding tools",
    "surfaces.mcp.identity": "makes the session: key folder, the tool's process",
    "surfaces.terminal.shell": "makes the session: key folder, passphrases, debug lines",
}


def deep_imports(module: Module) -> set[str]:
    names = {name for name, _ in module.own_imports()}
    return {name for name in names if not any(lies_in(name, place) for place in MAY_IMPORT)}


def deep_attributes(module: Module) -> set[str]:
    found = (node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute))
    return set(found) & FORBIDDEN


def surfaces() -> list[Module]:
    return [module for module in modules() if module.top == "surfaces"]


def test_surfaces_reach_no_deeper_than_the_library() -> None:
    deep = {
        module.name: sorted(deep_imports(module) | deep_attributes(module))
        for module in surfaces()
        if deep_imports(module) or deep_attributes(module)
    }
    new = {name: why for name, why in deep.items() if name not in DEEPER}
    assert new == {}


def test_the_exceptions_are_still_needed() -> None:
    deep = {m.name for m in surfaces() if deep_imports(m) or deep_attributes(m)}
    assert set(DEEPER) <= deep
