"""The library: every operation with its signature, and what it gives back."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from moot.api.opening import open as open_session
from moot.api.operation import SUBJECTS, all_operations
from moot.api.session import Session


def page() -> str:
    lines = [
        "# Library",
        "",
        "Every operation takes a session first and gives back a frozen value, the same one that the",
        "command line prints as `data`. What is refused raises `moot.MootError` with a stable code.",
        "How far names and signatures are kept is said in [stability.md](../stability.md).",
        "",
        "## moot.open",
        "",
        *_function("moot.open", open_session),
        "## moot.Session",
        "",
        *_paragraphs(Session),
    ]
    for subject, module in SUBJECTS.items():
        lines += _subject(subject, module)
    return "\n".join(lines)


def signature_lines() -> list[str]:
    """List the operations for the snapshot in the tests: name, function, signature, what it does.

    The module that defines a function is left out: it may move without a change for callers.
    """
    return sorted(
        f"{entry.name}: {entry.function.__name__}{_signature(entry.function)}"
        f"{' writes' if entry.writes else ''}"
        f"{' runs-programs' if entry.runs_programs else ''}"
        for entry in all_operations()
    )


def _subject(subject: str, place: str) -> Iterator[str]:
    module = import_module(place)
    yield f"## moot.api.{subject}"
    yield ""
    yield from _paragraphs(module)
    for entry in all_operations():
        if entry.function.__module__ == module.__name__:
            names = ", ".join(f"`{name}`" for name in (entry.name, *entry.also))
            yield f"### {subject}.{entry.function.__name__}"
            yield ""
            kind = "writes" if entry.writes else "reads"
            yield f"{names} · {kind}{' · starts programs' if entry.runs_programs else ''}"
            yield ""
            yield from _function(f"{subject}.{entry.function.__name__}", entry.function)
    structs = [value for value in vars(module).values() if _is_result(value, module.__name__)]
    for struct in structs:
        yield f"#### {subject}.{struct.__name__}"
        yield ""
        yield from _paragraphs(struct, struct.__doc__ != msgspec.Struct.__doc__)
        yield ", ".join(f"`{field.encode_name}`" for field in msgspec.structs.fields(struct))
        yield ""


def _is_result(value: Any, module: str) -> bool:
    public = inspect.isclass(value) and not value.__name__.startswith("_")
    return public and issubclass(value, msgspec.Struct) and value.__module__ == module


def _function(name: str, function: Any) -> Iterator[str]:
    yield "```text"
    yield f"{name}{_formatted(function)}"
    yield "```"
    yield ""
    yield from _paragraphs(function)


def _formatted(function: Any) -> str:
    """Write the signature on one line if it is short, else with a line for each parameter."""
    whole = _signature(function)
    if len(whole) < 70:
        return whole
    lines = [f"    {part},\n" for part in _parameters(function)]
    return f"(\n{''.join(lines)}) -> {_annotation(inspect.signature(function).return_annotation)}"


def _signature(function: Any) -> str:
    end = _annotation(inspect.signature(function).return_annotation)
    return f"({', '.join(_parameters(function))}) -> {end}"


def _parameters(function: Any) -> list[str]:
    parts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        text = f"{parameter.name}: {_annotation(parameter.annotation)}"
        has_default = parameter.default is not parameter.empty
        parts.append(f"{text} = {_default(parameter.default)}" if has_default else text)
    return parts


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _default(value: Any) -> str:
    """Write a default as source code: a function or an object by its name, a lambda as `...`."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if " at 0x" in repr(value):
        name = str(getattr(value, "__name__", type(value).__name__))
        return name if name.isidentifier() else "..."
    return repr(value)


def _paragraphs(thing: Any, wanted: bool = True) -> Iterator[str]:
    text = inspect.getdoc(thing) if wanted else None
    if text:
        yield text
        yield ""
