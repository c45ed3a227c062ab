"""Settings: `moot.toml` in the root of a worktree, and a user's own file of the same form.

`SETTINGS` lists every key. The repository's file comes with whatever one clones, so it may only
name things and make rules stricter: no command, no address, nothing that opens the guard. Where
both files set a rule, the stricter one counts. What is unknown or cannot be read is refused; until
it is mended, `strictest_settings` holds, so that a broken file never opens anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding
from moot.workspace.find import worktree_root
from moot.workspace.user_folders import FILE, VARIABLE, user_settings_file

if TYPE_CHECKING:
    from moot.core.errors import MootError

MOST_BYTES: Final = 64 * 1024


class Setting(NamedTuple):
    """One key, and what it means.

    `choices` are the values of a rule, the loosest first; none: any text. The first is the default,
    unless `starts_as` names another.
    `in_repository`: may the repository's file set it? `is_notice`: it says only what is told, so
    that no choice is stricter: whoever wants the later one gets it, and a bad file nobody.
    """

    name: str
    sentence: str
    choices: tuple[str, ...] = ()
    in_repository: bool = False
    is_notice: bool = False
    starts_as: str = ""

    @property
    def default(self) -> str:
        return self.starts_as or (self.choices[0] if self.choices else "")


SETTINGS: Final = (
    Setting(
        "protect.unmerged",
        "an edit of a file that was changed on another worktree or branch of agents here, which is"
        " not merged: `tell` the model, or `block` the edit",
        choices=("tell", "block"),
        in_repository=True,
    ),
    Setting(
        "protect.files",
        "what an agent's edit holds until it is committed: the `lines` that it changed, or the"
        " whole `file`",
        choices=("lines", "file"),
        in_repository=True,
        starts_as="file",
    ),
    Setting(
        "protect.reading",
        "a file that another agent holds was read: `tell` the model, or be `silent`",
        choices=("tell", "silent"),
        in_repository=True,
        is_notice=True,
    ),
    Setting(
        "notify.command",
        "your own program, which is given one sentence when something waits for you: an agent is"
        " blocked on you, your word is needed on a decision, somebody changed what another holds,"
        " a tool works unguarded, a tool waits for your permission; each is told once",
    ),
    Setting(
        "tests.command",
        "commands that run tests, by their first words and with commas between them, beside those"
        " that are known: they are only recognized, never run",
        in_repository=True,
    ),
    # Participants run commands, so whoever clones a repository must not get them with it.
    Setting("ask.participants", "whom `moot ask` asks where no `--with` names anybody"),
    Setting(
        "ask.rule",
        "when those whom `moot ask` asks agree, without `--rule`",
        choices=("majority", "weighted", "unanimous"),
    ),
    Setting(
        "ask.choose",
        "how `moot ask` picks the motion if answers differ, without `--choose`",
        choices=("most-frequent", "plurality", "borda", "condorcet"),
    ),
    # Where telemetry goes, and what of it, is for whoever runs the machine to say.
    Setting(
        "telemetry.export",
        "spans and metrics of moot itself, sent to where the variables OTEL_EXPORTER_OTLP_... say;"
        " needs the extra `otel`; MOOT_OTEL overrides it",
        choices=("off", "on"),
    ),
    Setting(
        "telemetry.texts",
        "texts in what is exported, too: arguments of commands, names of files, what participants"
        " said",
        choices=("off", "on"),
    ),
    Setting(
        "telemetry.tools",
        "`moot run` asks the coding tools that it starts what they use, and takes it on loopback;"
        " `--usage` and `--no-usage` override it",
        choices=("off", "on"),
    ),
)


class Protect(msgspec.Struct, frozen=True):
    """What the guard does beyond what it always does."""

    unmerged: str = "tell"
    files: str = "file"
    reading: str = "tell"


class Notify(msgspec.Struct, frozen=True):
    """How the person is told that something waits."""

    command: str = ""


class KnownTests(msgspec.Struct, frozen=True):
    """How a run of tests is recognized."""

    command: str = ""


class AskDefaults(msgspec.Struct, frozen=True):
    """What `moot ask` goes by where nothing else was said."""

    participants: str = ""
    rule: str = "majority"
    choose: str = "most-frequent"


class Telemetry(msgspec.Struct, frozen=True):
    """What is told of what goes on here, and to whom."""

    export: str = "off"
    texts: str = "off"
    tools: str = "off"


class Settings(msgspec.Struct, frozen=True):
    """All settings that count here: one field for each table of the file.

    `problem` says why they are not what the files say, if a file cannot be read.
    """

    protect: Protect = Protect()
    notify: Notify = Notify()
    ask: AskDefaults = AskDefaults()
    telemetry: Telemetry = Telemetry()
    tests: KnownTests = KnownTests()
    problem: str = ""


def read_settings(worktree: Path, user_file: Path | None) -> Settings:
    """What counts in a worktree. Malformed (`bad_setting`, `settings_unreadable`) if a file is bad.

    Nothing is loaded where there is no file: a hook asks before every edit.
    """
    return _combine(
        _read_file(worktree / FILE, in_repository=True),
        {} if user_file is None else _read_file(user_file, in_repository=False),
    )


def read_settings_or_strictest(worktree: Path, user_file: Path | None) -> Settings:
    """The same for the guard: a bad file makes every rule as strict as it can be."""
    try:
        return read_settings(worktree, user_file)
    except Malformed as error:
        return strictest_settings(error)


def tells_reading(worktree: Path, env: Mapping[str, str]) -> bool:
    """Is a model told who holds what it reads?"""
    settings = read_settings_or_strictest(worktree, user_settings_file(env))
    return settings.protect.reading == "tell"


def holds_lines(worktree: Path, env: Mapping[str, str]) -> bool:
    """Return whether an edit holds the lines that it changed, and not the whole file."""
    settings = read_settings_or_strictest(worktree, user_settings_file(env))
    return settings.protect.files == "lines"


def read_user_settings(env: Mapping[str, str]) -> Settings:
    """What the user's own file says, whatever repository this is. Malformed if it is bad."""
    file = user_settings_file(env)
    return _combine({}, {} if file is None else _read_file(file, in_repository=False))


def find_settings_problems(folder: Path, env: Mapping[str, str]) -> tuple[Finding, ...]:
    """What is wrong with the files that count in `folder`, for `moot ledger doctor`."""
    try:
        read_settings(worktree_root(folder) or folder, user_settings_file(env))
    except Malformed as error:
        return (
            Finding(
                rule="DOC-45", code=error.code, message=str(error), hint=error.hint, where=FILE
            ),
        )
    return ()


def strictest_settings(error: MootError) -> Settings:
    # Rules of the guard are those that a repository may set; of the others the defaults count.
    named = (each for each in SETTINGS if each.choices and each.in_repository)
    strictest = {each.name: each.choices[-1] for each in named if not each.is_notice}
    return msgspec.structs.replace(_build(strictest), problem=str(error))


def _combine(repository: Mapping[str, str], user: Mapping[str, str]) -> Settings:
    values: dict[str, str] = {}
    for setting in SETTINGS:
        named = [each[setting.name] for each in (repository, user) if setting.name in each]
        if setting.choices and named:
            values[setting.name] = max(named, key=setting.choices.index)
        elif named:  # a user's own names stand beside those of the repository
            values[setting.name] = ", ".join(named)
    return _build(values)


def _build(values: Mapping[str, str]) -> Settings:
    tables: dict[str, dict[str, str]] = {}
    for name, value in values.items():
        table, _, key = name.partition(".")
        tables.setdefault(table, {})[key] = value
    return msgspec.convert(tables, Settings)


def _read_file(file: Path, *, in_repository: bool) -> dict[str, str]:
    data = _read_bytes(file)
    if data is None:
        return {}
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(file, str(error)) from None
    values: dict[str, str] = {}
    for name, value in _flatten(document):
        values[name] = _check(name, value, file, in_repository)
    return values


def _read_bytes(file: Path) -> bytes | None:
    """None if there is no such file."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error)) from None
    if len(data) > MOST_BYTES:
        raise _unreadable(file, f"it is longer than {MOST_BYTES} bytes")
    return data


def _unreadable(file: Path, why: str) -> Malformed:
    return Malformed(
        f"{file} cannot be read: {why}",
        code="settings_unreadable",
        hint="mend the file; until then the strictest settings count",
    )


def _flatten(document: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """`table.key` and its value; what is no table, or deeper, keeps its name and is refused."""
    rows: list[tuple[str, Any]] = []
    for table, content in document.items():
        if isinstance(content, dict):
            rows += [(f"{table}.{key}", value) for key, value in content.items()]
        else:
            rows.append((table, content))
    return rows


def _check(name: str, value: Any, file: Path, in_repository: bool) -> str:
    setting = next((each for each in SETTINGS if each.name == name), None)
    if setting is None:
        raise _bad(f"{file}: nothing is called {name}", _nearest(name, file))
    if in_repository and not setting.in_repository:
        raise _bad(
            f"{file}: {name} is for a user's own settings, not for a repository's",
            f"move it to your own file ({VARIABLE}, or moot/{FILE} in your settings folder)",
        )
    if not isinstance(value, str) or (setting.choices and value not in setting.choices):
        known = " or ".join(f'"{choice}"' for choice in setting.choices) or "a text"
        raise _bad(f"{file}: {name} cannot be {value!r}"[:300], f"{name} is {known}")
    return value


def _nearest(name: str, file: Path) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [each.name for each in SETTINGS], n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"take it out of {file}"


def _bad(message: str, hint: str) -> Malformed:
    return Malformed(message, code="bad_setting", hint=hint)
