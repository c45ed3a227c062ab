"""Make a command from an operation: a table says what a person types, the signature says the rest.

    @derive("trace.review", planning.review, '''
        TRACE
        PROPOSAL
        --verdict approved|rejected    Your judgement.
        --rationale TEXT               Why.
        --condition TEXT = conditions  To be met.
    ''')
    def review(made: ReviewedProposal) -> Iterator[str]:
        yield f"{made.proposal} is {made.verdict}"

A row is an argument or an option, ` = parameter` where the operation calls it differently, and
after two spaces its help. A parameter without a default is required (unless it is in brackets or
`:optional`), a sequence may be repeated, a bool is a flag, and a default that is not empty is
shown. The word in capitals, or what follows it after a colon, says how a value is read:

    N:1..9          a number in that range; `1..9` alone shows click's own metavar
    FILE, DIR       a path, if the operation takes one; `FILE:path` may be either
    FILE:new        a file that the command writes; `-o FILE:new-` also takes `-`
    -o PAGE         `-o FILE.html`, `.md` or `.json`, and `--open`; the last row
    FILE|-          what is in a file or on standard input
    TEXT, T:text    a text, `-` or `@file`; `TEXT:raw` is passed on as typed
    SCOPE, DIR      a scope, read from the current folder
    NAME,...        several, separated by commas; `NAME=T[,T]` may be repeated

The decorated function turns the result into lines for a person; its further parameters get what
was typed. Its docstring is the help. A name that the operation does not know fails at import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec

from moot.surfaces.terminal.answer import DONE, Answer
from moot.surfaces.terminal.output import STDOUT, OutputPath, output_option
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command, document, document_bytes, text_argument

Lines = Callable[..., Iterable[str]]
Act = Callable[..., Answer]
Reader = Callable[[Any, Shell], Any]
Values = dict[str, Any]
Within = Callable[[Shell, Values], AbstractContextManager[Values]]

_ROW: Final = re.compile(
    r"(?P<flags>-[-\w]+(?:/-[-\w]+)?(?:, -[-\w]+)*)? ?(?P<what>[^\s=:]\S*?)?"
    r"(?::(?P<kind>new-?|path|raw|text|optional|\d*\.\.\d*))?"
    r"(?: = (?P<no>not )?(?P<name>\w+)(?:\((?P<typed>\w+)\))?)?(?: {2,}(?P<help>.*))?"
)
_RANGE: Final = re.compile(r"(\d*)\.\.(\d*)")
_SEQUENCES: Final = ("Sequence", "tuple", "Iterable", "Mapping", "str | Sequence")
_FOLDERS: Final = ("DIR", "OLD_DIR", "DIRECTORY", "FOLDER")
_EMPTY: Final = (None, "", 0, "n/a")
_PAGE: Final = "-o PAGE = "
_COMMAND: Final = "COMMAND..."


class ParameterInfo(NamedTuple):
    """A parameter of an operation."""

    annotation: str
    is_required: bool
    default: Any


class Row(NamedTuple):
    """The operation's parameter, click's parameter, and how a typed value is read."""

    name: str
    made: click.Parameter
    read: Reader | None

    @property
    def is_file(self) -> bool:
        """Return whether a file's name is typed and the operation takes its content."""
        return self.read in (_read_file, _read_bytes)

    def read_typed(self, typed: Any, shell: Shell) -> Any:
        return typed if self.read is None or typed is None else self.read(typed, shell)


# The rows of each derived command, by its dotted name, once its module is imported.
ROWS: Final[dict[str, list[Row]]] = {}


def derive(
    dotted: str,
    operation: Callable[..., Any],
    rows: str = "",
    *,
    group: click.Group | None = None,
    types: Mapping[str, Any] | None = None,
    prepare: Callable[[Shell, Values], Values] = lambda _shell, values: values,
    exits: Callable[[Any], int] = lambda _made: DONE,
    within: Within = lambda _shell, _values: nullcontext({}),
    also: Callable[[Act], Act] = lambda function: function,
    says_if_old: bool = False,
    plan: type[msgspec.Struct] | None = None,
    **settings: Any,
) -> Callable[[Lines], click.Command]:
    """Turn a function `result -> lines` into the command that calls `operation` and shows them.

    `types` are click types by parameter. `prepare` changes or refuses the typed values before they
    are read, and adds arguments that are not typed. `exits` maps the result to the exit code. The
    operation runs `within` a context that gives it further arguments, made from the options that
    `also` adds to the command. If the operation takes a `plan`, the plan's fields are parameters as
    well.
    """
    fields = _fields_of(plan) if plan is not None else {}
    known = signature_of(operation) | fields
    texts = [text.strip() for text in rows.splitlines() if text.strip()]
    page = texts.pop().removeprefix(_PAGE) if texts and texts[-1].startswith(_PAGE) else ""
    table = ROWS[dotted] = [_read_row(text, known, types or {}) for text in texts]

    def register(lines: Lines) -> click.Command:
        wanted = lines.__code__.co_varnames[1 : lines.__code__.co_argcount]

        def invoke(shell: Shell, **values: Any) -> Answer:
            typed = {row.name: values[row.made.name or ""] for row in table}
            if page:
                typed[page] = values["output"]
            arguments = prepare(shell, dict(typed))
            arguments |= {row.name: row.read_typed(arguments[row.name], shell) for row in table}
            for name, value in list(arguments.items()):
                if value is None and not known[name].is_required:
                    del arguments[name]  # then the operation's own default counts
            if plan is not None:
                planned = {name: arguments.pop(name) for name in fields if name in arguments}
                arguments["plan"] = plan(**planned)
            with within(shell, values) as more:
                made = operation(shell.session, **arguments, **more)
            further = {name: typed[name] for name in wanted}
            return Answer(made, lambda: lines(made, **further), exits(made), says_if_old)

        invoke.__doc__ = lines.__doc__
        act = also(_with_page(invoke) if page else invoke)
        shown = [*getattr(act, "__click_params__", []), *(row.made for row in reversed(table))]
        act.__click_params__ = shown  # type: ignore[attr-defined]
        return command(group, dotted.rpartition(".")[2].replace("_", "-"), dotted, **settings)(act)

    return register


def options(rows: str, types: Mapping[str, Any] = {}) -> Callable[[Act], Act]:
    """Add the parameters of these rows to a command that is written by hand.

    Its own signature says the rest. It gets the values as typed.
    """

    def add(act: Act) -> Act:
        known = signature_of(act)
        texts = [text.strip() for text in rows.splitlines() if text.strip()]
        made = [_read_row(text, known, types).made for text in reversed(texts)]
        act.__click_params__ = [*getattr(act, "__click_params__", []), *made]  # type: ignore[attr-defined]
        return act

    return add


def with_progress(label: str) -> Within:
    """Show the progress that the operation reports, under this label."""

    @contextmanager
    def within(_shell: Shell, _values: Values) -> Iterator[Values]:
        with progress(label) as report:
            yield {"progress": report}

    return within


def _with_page(invoke: Act) -> Act:
    from moot.surfaces.terminal.page import page_option

    return page_option(invoke)


def signature_of(operation: Callable[..., Any]) -> dict[str, ParameterInfo]:
    """Return what an operation takes, without loading `inspect`: that is slow."""
    function = getattr(operation, "__wrapped__", operation)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(function.__kwdefaults__ or {})
    last = function.__defaults__ or ()
    defaults |= zip(names[code.co_argcount - len(last) : code.co_argcount], last, strict=True)
    return {
        name: ParameterInfo(
            function.__annotations__[name], name not in defaults, defaults.get(name)
        )
        for name in names[1:]
    }


def _fields_of(plan: type[msgspec.Struct]) -> dict[str, ParameterInfo]:
    """Return the fields of a plan, each of which has a default."""
    defaults = zip(plan.__struct_fields__, plan.__struct_defaults__, strict=True)
    return {
        name: ParameterInfo(plan.__annotations__[name], False, value) for name, value in defaults
    }


def _read_row(text: str, known: Mapping[str, ParameterInfo], types: Mapping[str, Any]) -> Row:
    found = _ROW.fullmatch(text)
    assert found is not None, text
    flags = (found["flags"] or "").replace(", ", " ").split()
    what, kind = found["what"] or "", found["kind"] or ""
    name = found["name"] or _plain_name(flags[0].partition("/")[0] if flags else what)
    taken = known[name]
    read = None if name in types else _reader(what, kind, taken.annotation)
    if found["no"]:
        read = _negated
    given_type = types.get(name) or _type_of(what, kind, taken.annotation)
    is_listed = isinstance(given_type, click.Choice) and "|" in what
    metavar = None if is_listed or not what or what[0].isdigit() else what
    if not flags:
        typed_name, is_optional = found["typed"] or name, what[0] == "[" or kind == "optional"
        made = _argument(typed_name, what, metavar, given_type, taken, is_optional)
        return Row(name, made, read)
    if flags == ["-o"]:
        return Row(name, _output(name, found["help"], kind, taken), read)
    help_text = " ".join(found["help"].split())  # a row may go on after a backslash
    option = _option([*flags, name], metavar, given_type, taken, help_text, bool(found["no"]))
    return Row(name, option, read)


def _plain_name(word: str) -> str:
    """`--dry-run` and `[SCOPE]...` as the names of parameters."""
    return word.strip("-[].").replace("-", "_").lower()


def _argument(
    name: str,
    what: str,
    metavar: str | None,
    given_type: Any,
    taken: ParameterInfo,
    is_optional: bool,
) -> click.Argument:
    words = what.endswith("...")
    return click.Argument(
        [name],
        nargs=-1 if words else 1,
        required=taken.is_required and not is_optional,
        type=given_type,
        metavar=f"-- {what}" if what == _COMMAND else metavar,
    )


def _option(
    names: list[str],
    metavar: str | None,
    given_type: Any,
    taken: ParameterInfo,
    help_text: str,
    negated: bool,
) -> click.Option:
    if taken.annotation.startswith("bool"):
        default = False if negated else taken.default
        return click.Option(names, is_flag=True, default=default, help=help_text)
    many = taken.annotation.startswith(_SEQUENCES) and "," not in (metavar or "").replace("[,", "")
    default = "" if taken.default == () else taken.default
    if many or metavar == "DIR":
        default = None
    elif not isinstance(default, int | float | None):
        default = str(default)  # click would show the name of a member of an enum
    # With `default=None` click would never miss a required option.
    given: Values = {} if default is None else {"default": default}
    return click.Option(
        names,
        multiple=many,
        required=taken.is_required,
        type=given_type,
        **given,
        show_default=default not in _EMPTY,
        metavar=metavar,
        help=help_text,
    )


def _output(name: str, help_text: str, kind: str, taken: ParameterInfo) -> click.Parameter:
    def function() -> None:
        """Hold the option that the decorator adds."""

    output_option(help_text, required=taken.is_required, printable=kind == "new-")(function)
    (option,) = function.__click_params__  # type: ignore[attr-defined]
    option.name = name
    assert isinstance(option, click.Parameter)
    return option


def _type_of(what: str, kind: str, annotation: str) -> Any:
    number = _RANGE.fullmatch(kind or what)
    if number is not None:
        least, most = (int(text) if text else None for text in number.groups())
        is_float = annotation.startswith("float")
        return click.FloatRange(least, most) if is_float else click.IntRange(least, most)
    if what.islower() and "|" in what:
        return click.Choice(what.split("|"))
    if kind.startswith("new"):
        return OutputPath(dir_okay=what != "FILE", file_okay=what != "DIR")
    if kind == "path":
        return click.Path(path_type=Path)
    if "|" not in what and annotation.startswith(("Path", "bytes")):
        is_folder = what.strip("[]") in _FOLDERS
        return click.Path(path_type=Path, dir_okay=is_folder, file_okay=not is_folder)
    return {"int": click.INT, "float": click.FLOAT}.get(annotation.partition(" ")[0])


def _reader(what: str, kind: str, annotation: str) -> Reader | None:
    if kind == "raw":
        return None
    if kind == "text" or what == "TEXT":
        return _read_text
    if kind == "new-":
        return _read_output
    if what.strip("[].") in ("SCOPE", "DIR") and not annotation.startswith("Path"):
        return _read_scopes
    if "FILE|-" in what or what.endswith(".json|-"):
        return _read_json if annotation.startswith("Path") else _read_file
    if annotation.startswith("bytes"):
        return _read_bytes
    return _read_names if "," in what else None


def _negated(value: Any, _shell: Shell) -> bool:
    return not value


def _read_text(value: Any, _shell: Shell) -> Any:
    return text_argument(value) if isinstance(value, str) else tuple(map(text_argument, value))


def _read_output(value: Path, _shell: Shell) -> Path | None:
    return None if value == STDOUT else value


def _read_scopes(value: Any, shell: Shell) -> Any:
    from moot.api.typed_paths import read_typed_scopes

    if isinstance(value, str):
        return read_typed_scopes([value], shell.session)[0]
    return read_typed_scopes(value, shell.session)


def _read_file(value: str, _shell: Shell) -> str:
    return document(value)


def _read_json(value: str, _shell: Shell) -> Path | str:
    """Return standard input (`-`) as text, or the path of a file; `@FILE` is the same as FILE."""
    return document(value) if value == "-" else Path(value.removeprefix("@"))


def _read_bytes(value: Path, _shell: Shell) -> bytes:
    return document_bytes(str(value))


def _read_names(value: str, _shell: Shell) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in value.split(","))))
