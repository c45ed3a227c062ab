"""Every event that may stand in the ledger, with its fields."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec
from tools.reference.markdown import first_paragraph, table

from moot.core.machine import Event, Machine
from moot.engine.machines import MODULES


def page() -> str:
    lines = [
        "# Events",
        "",
        "Facts that may stand in the record, by the machine that reads them. Their names and fields",
        "are frozen: what was signed is never encoded again. The bytes are in [format.md](../format.md).",
        "",
    ]
    for name, module in MODULES.items():
        machine: Machine[Any] = import_module(module).MACHINE
        lines += [f"## {name}", ""]
        lines += table(("type", "fields", "meaning"), map(_row, machine.type_of.items()))
        lines += [""]
    return "\n".join(lines)


def _row(entry: tuple[type[Event], str]) -> tuple[str, str, str]:
    event, name = entry
    own = event.__doc__ if event.__doc__ != Event.__doc__ else ""
    fields = ", ".join(f"`{field.encode_name}`" for field in msgspec.structs.fields(event))
    return f"`{name}`", fields or "-", first_paragraph(own)
