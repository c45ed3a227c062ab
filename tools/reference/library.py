"""The library: every operation with its signature, and what it gives back."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from moot.api.opening import open as open_session
from moot.api.operation import SUBJECTS, Operation, all_operations
from moot.api.session import Session


def page() -> str:
    lines = [
        "# Library",
        "",
        "Every operation takes a session first and gives back a frozen value, the same one that the",
        "command line prints as `data`. What is refused raises `moot.MootError` with a stable code.",
        "How far names and signatures are kept is said in [library.md](../library.md).",
        "",
        "## moot.open",
        "",
        *_function("moot.open", open_session),
        "## moot.Session",
        "",
        *_paragraphs(Session),
    ]
    for subject in SUBJECTS:
        lines += _subject(subject)
    return "\n".join(lines)


def signature_lines() -> list[str]:
    """List the operations for the snapshot in the tests: name, function, signature, what it does.

    The module that defines a function is left out: it may move without a change for callers.
    """
    return sorted(
        f"{entry.name}: {_signature(entry)}{' writes' if entry.writes else ''}"
        f"{' runs-programs' if entry.runs_programs else ''}"
        for entry in all_operations()
    )


def _subject(subject: str) -> Iterator[str]:
    module = import_module(f"moot.api.{subject}")
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
    """The signature on one line if it is short, else a line for each parameter."""
    signature = inspect.signature(function)
    whole = str(signature).replace("'", "")
    if len(whole) < 70 and " at 0x" not in whole:
        return whole
    lines: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "    *," not in lines:
            lines.append("    *,")
        lines.append(f"    {_parameter(parameter)},")
    end = f") -> {signature.return_annotation}".replace("'", "")
    return "\n".join(["(", *lines, end])


def _parameter(parameter: inspect.Parameter) -> str:
    """As it is written: of a function or an object that is the default only its name."""
    default = parameter.default
    if default is not parameter.empty and " at 0x" in repr(default):
        named = getattr(default, "__name__", type(default).__name__)
        return f"{parameter.replace(default=parameter.empty)} = {named}".replace("'", "")
    return str(parameter).replace("'", "")


def _signature(entry: Operation) -> str:
    signature = inspect.signature(entry.function)
    lines: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        lines.append(_parameter(parameter))
    end = str(signature.return_annotation).replace("'", "")
    return f"{entry.function.__name__}({', '.join(lines)}) -> {end}"


def _paragraphs(thing: Any, wanted: bool = True) -> Iterator[str]:
    text = inspect.getdoc(thing) if wanted else None
    if text:
        yield text
        yield ""
