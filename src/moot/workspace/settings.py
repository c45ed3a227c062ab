"""Settings: `moot.toml` in the root of a worktree, and a user's own file of the same form.

`SETTINGS` lists every key. The repository's file comes with a clone, so it may only name things and
make rules stricter: no command, no address, nothing that weakens the guard. If both files set a
rule, the stricter value counts. Unknown keys and unreadable files are refused; until they are
fixed, `strictest_settings` applies, so that a broken file never weakens anything.
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
    unless `starts_as` names another. `in_repository`: the repository's file may set it.
    `is_notice`: notice settings have no stricter value: either file may turn the notice off; an
    unreadable file does not.
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
        "what an agent's edit holds until it is committed: the whole `file`, or (a preview) the"
        " `lines` that it changed",
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
    # Participants run commands, so they must not come with a cloned repository.
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
    # Only the user of the machine decides what telemetry is sent, and where.
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
    """Optional rules of the guard."""

    unmerged: str = "tell"
    files: str = "file"
    reading: str = "tell"


class Notify(msgspec.Struct, frozen=True):
    """How Moot notifies the user."""

    command: str = ""


class KnownTests(msgspec.Struct, frozen=True):
    """How Moot recognizes a test run."""

    command: str = ""


class AskDefaults(msgspec.Struct, frozen=True):
    """Defaults of `moot ask`."""

    participants: str = ""
    rule: str = "majority"
    choose: str = "most-frequent"


class Telemetry(msgspec.Struct, frozen=True):
    """What Moot exports, and where."""

    export: str = "off"
    texts: str = "off"
    tools: str = "off"


class Settings(msgspec.Struct, frozen=True):
    """All settings: one field for each table of the file.

    `problem` is why the files were not used, if one cannot be read.
    """

    protect: Protect = Protect()
    notify: Notify = Notify()
    ask: AskDefaults = AskDefaults()
    telemetry: Telemetry = Telemetry()
    tests: KnownTests = KnownTests()
    problem: str = ""


def read_settings(worktree: Path, user_file: Path | None) -> Settings:
    """Return a worktree's settings; Malformed (`bad_setting`, `settings_unreadable`) if one is bad.

    Loads nothing if there is no file: a hook calls it before every edit.
    """
    return _combine(
        _read_file(worktree / FILE, in_repository=True),
        {} if user_file is None else _read_file(user_file, in_repository=False),
    )


def read_settings_or_strictest(worktree: Path, user_file: Path | None) -> Settings:
    """Return the settings for the guard: a bad file makes every rule as strict as possible."""
    try:
        return read_settings(worktree, user_file)
    except Malformed as error:
        return strictest_settings(error)


def shows_readers_holders(worktree: Path, env: Mapping[str, str]) -> bool:
    """Return whether Moot shows a model which agent holds the file that it reads."""
    settings = read_settings_or_strictest(worktree, user_settings_file(env))
    return settings.protect.reading == "tell"


def holds_lines(worktree: Path, env: Mapping[str, str]) -> bool:
    """Return whether an edit holds the lines that it changed, and not the whole file."""
    settings = read_settings_or_strictest(worktree, user_settings_file(env))
    return settings.protect.files == "lines"


def read_user_settings(env: Mapping[str, str]) -> Settings:
    """Return the settings of the user's own file alone; Malformed if it is bad."""
    file = user_settings_file(env)
    return _combine({}, {} if file is None else _read_file(file, in_repository=False))


def find_settings_problems(folder: Path, env: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return what is wrong with the settings files for `folder`, for `moot ledger doctor`."""
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
    # The guard's rules are those that a repository may set; the others keep their defaults.
    named = (each for each in SETTINGS if each.choices and each.in_repository)
    strictest = {each.name: each.choices[-1] for each in named if not each.is_notice}
    return msgspec.structs.replace(_build(strictest), problem=str(error))


def _combine(repository: Mapping[str, str], user: Mapping[str, str]) -> Settings:
    values: dict[str, str] = {}
    for setting in SETTINGS:
        named = [each[setting.name] for each in (repository, user) if setting.name in each]
        if setting.choices and named:
            values[setting.name] = max(named, key=setting.choices.index)
        elif named:  # the user's names are added to the repository's
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
        hint="fix the file; until then the strictest settings apply",
    )


def _flatten(document: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return `table.key` and value; other forms keep their name and are refused later."""
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
        raise _bad(f"{file}: there is no setting {name}", _nearest(name, file))
    if in_repository and not setting.in_repository:
        raise _bad(
            f"{file}: only a user's own settings may set {name}, not a repository",
            f"move it to your own file ({VARIABLE}, or moot/{FILE} in your settings folder)",
        )
    if not isinstance(value, str) or (setting.choices and value not in setting.choices):
        known = " or ".join(f'"{choice}"' for choice in setting.choices) or "a text"
        raise _bad(f"{file}: {name} cannot be {value!r}"[:300], f"{name} is {known}")
    return value


def _nearest(name: str, file: Path) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [each.name for each in SETTINGS], n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"remove it from {file}"


def _bad(message: str, hint: str) -> Malformed:
    return Malformed(message, code="bad_setting", hint=hint)
