"""What every command prints as `data`: paths and types, from the golden that the tests hold it to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

GOLDEN: Final = Path(__file__).parents[2] / "tests" / "golden" / "data.json"


def page() -> str:
    shapes: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text("utf-8"))
    lines = [
        "# Data",
        "",
        'With `--json` a command prints `{"ok", "command", "data", "error"}`. This is the shape of',
        "`data`: it may grow, never change. `[]` is each item of a list, `{}` each value of a map, a",
        "final `?` means that the path may be missing.",
        "",
    ]
    for command in sorted(shapes):
        lines += [f"## {command}", "", "```text", *_paths(shapes[command]), "```", ""]
    return "\n".join(lines)


def _paths(shape: dict[str, str]) -> list[str]:
    return [f"{path or '(itself)'}: {kinds}" for path, kinds in shape.items()]
