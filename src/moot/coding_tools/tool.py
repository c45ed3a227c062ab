"""The base class of a coding tool. Every hook loads this module, so larger imports are local.

Most tools keep their hooks as commands in a JSON file, and their servers too: the methods of
`CodingTool` implement that. A tool that works differently overrides them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from moot.core.text import OwnText

if TYPE_CHECKING:
    from pathlib import Path

    from moot.coding_tools import server_entries, settings, starts


class HookMoment(StrEnum):
    """When a tool calls us. Only an edit, and a change of settings, can be stopped."""

    BEFORE = "before"
    AFTER = "after"
    START = "start"
    STOP = "stop"
    END = "end"
    SUB_AGENT_END = "sub_agent_end"
    ASKS_PERSON = "asks_person"
    CONFIG_CHANGE = "config_change"


class Rewriting(StrEnum):
    """How a tool rewrites a path before it opens the file.

    The hook gets the path as the model wrote it, so it also reserves what the tool would make of
    it. Each tool's behaviour was read from its published source, if there is one.
    """

    TRIMMED = "trimmed"  # strips blanks at both ends, normalizes to composed letters
    HOME = "home"  # `~` and `~/x`
    AT_SIGN = "at_sign"  # strips a leading `@` and following slashes if no such file exists
    DECODED = "decoded"  # strips `file://` and decodes `%20`
    LOOKED_UP = "looked_up"  # searches the project for a relative path that does not exist


FAILURE: Final = "PostToolUseFailure"
# To allow a call, print nothing: in Claude Code `allow` also skips the user's permission prompt.
ALLOW: Final = ""
# The session of `moot hook test`: always refused, and never recorded.
TEST_SESSION: Final = "moot-hook-test"
READING_HEARD: Final = "moot: this reading was heard of"  # what it is told
COMMON_EVENTS: Final = {
    "PreToolUse": HookMoment.BEFORE,
    "PostToolUse": HookMoment.AFTER,
    FAILURE: HookMoment.AFTER,
    "SessionStart": HookMoment.START,
    "Stop": HookMoment.STOP,
    "SessionEnd": HookMoment.END,
    "SubagentStop": HookMoment.SUB_AGENT_END,
}
FILE_EDITS: Final = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
READ_INPUT: Final = "Do what the text on standard input asks."
AMAZON_VARIABLES: Final = ("AWS_*",)
GOOGLE_VARIABLES: Final = ("GOOGLE_*", "GEMINI_*", "CLOUD_ML_REGION", "VERTEX_*")
MODEL_VARIABLES: Final = (
    *("ANTHROPIC_*", "OPENAI_*", "AZURE_*", "OPENROUTER_*", "GROQ_*", "MISTRAL_*", "DEEPSEEK_*"),
    *("XAI_*", "TOGETHER_*", "FIREWORKS_*", "CEREBRAS_*", "OLLAMA_*", "HF_TOKEN"),
    *GOOGLE_VARIABLES,
)
# Codes of problems that keep a hook from running in a tool that is about to start.
UNTRUSTED: Final = "hook_untrusted"
MISSING: Final = "hook_missing"
OFF: Final = "hook_switched_off"
BROKEN: Final = "hook_plugin_broken"
NO_MOOT: Final = "hook_moot_missing"
# Owners of a layer of settings.
MANAGED, USER, PROJECT, LOCAL, FLAG = "managed", "user", "project", "local", "flag"


class CodingTool:
    """One coding tool. A subclass gives what it has otherwise; its one instance is its module's
    `TOOL`.

    Calls of its hooks. `edits`, `patches` and `shells` map the tool's own tool names to the field
    that matters, `reads` does the same for tools that only show files (Codex reads by its shell).
    `plain_start`: text for the model is plain stdout at the start of a session, else JSON.
    `go_on`: the decision that makes the model go on instead of stopping; empty if there is none.
    `tells_failure`: a call that failed has an event of its own, or none at all.
    `rewritings`: what it makes of a path; those under a tool name are for that one only.
    `whole_file`: the tools that write a file whole (of patches, what they add) and may do so
    although the model has not seen what is in it.
    `tells_before`: text for the model can be passed with an edit that is allowed.
    `shows_message`: a hook's `systemMessage` is shown to its person.
    `login_shell`: its commands run in login shells, which may have another PATH than the tool.
    `settings_sources`: what it calls a change of files in which hooks of ours may be.

    Settings with hooks. `settings_file` is the project's, `local_file` one next to it that is never
    committed, if there is one. `user_file` is the user's: a variable that names a folder, the name
    in it, and without that variable the name in the home folder. `carriers` are the names of all
    files that may carry our hooks.
    `matcher` is what its edit tools match, `timeout` in the tool's unit. `shorter` are events that
    the tool allows less time. `shown_names` are what it shows its person while the hook of an event
    runs, where it would else show a command line. `later_events` are those that earlier lines lack:
    these guard all the same, and are renewed. `uses_main_checkout`: in each worktree it reads the
    main checkout's hooks, and only where the worktree has the folder `hook_folder`, even empty.
    `needs_trust`: hooks run only if the user trusts them; `trusts_user_settings`: but for those in
    the user's own settings. `home_variable` is part of a command that installs hooks for a start.

    Our manual: `manual_file`, which is all ours if the tool `has_skills`, else notes with a block.

    Our server: `server_file` holds it by name below `server_group`. The tool `asks` before a call;
    `consent` is what a person may add so that it does not, `consent_place` where, and
    `asks_for_server` if it asks before it starts, or calls, the server. `call_name` is what a model
    calls one of our tools. `variables_key`: of the environment it hands on only what is named
    there.

    Programs. `packages` and `path_marks` tell that a path is this tool's, `marks` are variables
    that it sets in what it starts, `session_variables` those of them that hold the id of its
    session. `folder_options` name another folder to work in.

    A participant. `modes` are the words by which it is asked without its terminal, the usual one
    first; `last_words` are added at the end, and `added_words` unless one of `not_if_given` is
    there. `variables` are what it needs of the environment; `*` at the end: all that begin so.
    """

    name: str
    events: Mapping[str, HookMoment] = COMMON_EVENTS
    edits: Mapping[str, str] = {}
    patches: Mapping[str, str] = {}
    shells: Mapping[str, str] = {}
    reads: Mapping[str, str] = {}
    plain_start = False
    go_on = ""
    tells_failure = False
    tells_before = False
    shows_message = False
    login_shell = False
    settings_sources: frozenset[str] = frozenset()
    whole_file: frozenset[str] = frozenset()
    rewritings: tuple[Rewriting, ...] = (Rewriting.HOME,)
    rewritings_of: Mapping[str, tuple[Rewriting, ...]] = {}

    settings_file: str
    local_file: str | None = None
    user_file: tuple[str, str, str]
    carriers: tuple[str, ...]
    matcher = ""
    timeout = 10
    hook_events: tuple[str, ...] = ()
    shorter: Mapping[str, int] = {}
    shown_names: Mapping[str, str] = {}
    later_events: tuple[str, ...] = ()
    uses_main_checkout = False
    hook_folder = ""
    needs_trust = False
    trusts_user_settings = False
    home_variable = ""

    manual_file = "AGENTS.md"
    has_skills = False

    server_file: str
    server_group = "mcpServers"
    server_form = "JSON"
    asks = "nothing"
    asks_for_server = False
    consent = ""
    consent_place = ""
    call_name: str
    variables_key = ""

    packages: tuple[str, ...] = ()
    path_marks: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    session_variables: tuple[str, ...] = ()
    folder_options: tuple[str, ...] = ()

    modes: tuple[str, ...] = ()
    last_words: tuple[str, ...] = ()
    added_words: tuple[str, ...] = ()
    not_if_given: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    # Calls of its hooks ---------------------------------------------------------------------------

    def rewritings_for(self, name: str) -> tuple[Rewriting, ...]:
        return (*self.rewritings, *self.rewritings_of.get(name, ()))

    def event_named(self, moment: HookMoment) -> str:
        return next(name for name, known in self.events.items() if known is moment)

    def may_change(self, name: object) -> bool:
        """Return whether a call of this name may change files."""
        return name in self.edits or name in self.shells or name in self.patches

    def tell_model(self, moment: HookMoment, text: OwnText) -> str:
        """Return the answer with text for the model, at the start of a session or after a call."""
        if not text or (moment is HookMoment.START and self.plain_start):
            return text
        output = {"hookEventName": self.event_named(moment), "additionalContext": text}
        return _encode({"hookSpecificOutput": output})

    def let_go_on(self, reason: OwnText) -> str:
        """Return the answer that lets the model go on for one more turn, with `reason`."""
        return _encode({"decision": self.go_on, "reason": reason}) if self.go_on else ALLOW

    def tell_person(self, text: OwnText) -> str:
        """Return the answer with one line for the tool's own terminal, where it shows any; the
        model does not go on for it."""
        return _encode({"systemMessage": text}) if text and self.shows_message else ALLOW

    def make_edit(self, file: str) -> tuple[str, dict[str, str]]:
        """Return a call that writes `file` whole: its name and its input. For `moot hook test`."""
        raise NotImplementedError

    # Settings with hooks --------------------------------------------------------------------------

    def own_files(
        self, chosen: settings.SettingsFile, place: settings.Place
    ) -> list[settings.InstalledFile]:
        """Return the files to write for this user alone, the settings file last."""
        from moot.coding_tools import settings

        return settings.own_files(self, chosen, place)

    def shared_files(self, place: settings.Place) -> list[settings.InstalledFile]:
        """Return the files to write that can be committed."""
        from moot.coding_tools import settings

        return settings.shared_files(self, place)

    def files_with_ours(self, place: settings.Place) -> list[settings.InstalledFile]:
        """Return every file of the tool that may contain our entries."""
        from moot.coding_tools import settings

        return settings.files_with_ours(self, place)

    def has_ours(self, document: dict[str, Any], _path: Path) -> bool:
        """Return whether settings contain our entries."""
        from moot.coding_tools import settings

        return bool(settings.our_commands(self, document))

    def is_complete(self, file: settings.SettingsFile, place: settings.Place) -> bool:
        """Return whether this file alone installs all hooks, in any accepted form."""
        from moot.coding_tools import settings

        return not settings.missing_events(self, file, settings.accepted_forms(self, place))

    def is_outdated(self, file: settings.SettingsFile, place: settings.Place) -> bool:
        """Return whether an older version wrote it for this user alone, and its guard is complete:
        only the hooks after reads and on settings changes are missing. Shared entries are not
        replaced for that."""
        from moot.coding_tools import settings

        return settings.is_outdated(self, file, place)

    def is_shared(self, place: settings.Place) -> bool:
        """Return whether the project's own file has all shared entries."""
        from moot.coding_tools import settings

        return settings.is_shared(self, place)

    def names_file(self, _file: Path, _root: Path) -> bool:
        """Return whether the settings of the worktree `root` name this file of ours."""
        return False

    def missing_programs(self, setup: settings.Setup) -> set[str]:
        """Return the missing programs that our entries start."""
        from moot.coding_tools import settings

        return settings.missing_programs(self, setup)

    def flaws(self, _setup: settings.Setup) -> Iterator[settings.Flaw]:
        """Yield what keeps installed hooks from running, beyond the checks for every tool."""
        yield from ()

    def store_trust(self, _place: settings.Place) -> str:
        """Store the user's trust, only at their explicit request; return what was done."""
        return f"{self.name} asks for no trust"

    def probe(
        self, file: settings.SettingsFile, call: Mapping[str, Any], place: settings.Place
    ) -> settings.ProbeCall:
        """Return how the tool itself would send this call to the hooks in `file`."""
        from moot.coding_tools import settings

        return settings.probe(self, file, call, place)

    # Files that agents may not remove our hooks from ----------------------------------------------

    def guard_files(self, place: settings.Place) -> Iterator[Path]:
        """Yield the files that it reads hooks from, or that could switch them off."""
        from moot.coding_tools import settings

        yield from (file.path for file in settings.settings_files(self, place))

    def read_marks(self, path: Path, text: str) -> settings.Marks:
        """Return what this text would say about the guard; ValueError if the tool cannot read
        it."""
        from moot.coding_tools import settings

        return settings.read_marks(self, path, text)

    def switches(self, _document: Mapping[str, Any]) -> Iterator[str]:
        """Yield settings that switch hooks off or redirect them."""
        yield from ()

    def is_guard_whole(self, place: settings.Place) -> bool:
        """Return whether one of its files has all that this moot installs, or stronger."""
        from moot.coding_tools import settings

        return settings.is_guard_whole(self, place)

    # Our server -----------------------------------------------------------------------------------

    def make_server_entry(self, command: Sequence[str], *, trust: bool = False) -> dict[str, Any]:  # noqa: ARG002 - for those that keep it there
        """Return the entry of our server; `command` starts `moot mcp`, `trust` is a person's
        yes."""
        program, *words = command
        return {"command": program, "args": words}

    def add_server(self, text: str, command: Sequence[str], *, trust: bool, where: str) -> str:
        """Return the settings with our entry; Refused if another server has our name there."""
        from moot.coding_tools import server_entries

        return server_entries.add_to_text(self, text, command, trust=trust, where=where)

    def remove_server(self, text: str, where: str) -> str | None:
        """Return the settings without our entry; None if nothing else was in them."""
        from moot.coding_tools import server_entries

        return server_entries.remove_from_text(self, text, where)

    def read_server_settings(self, text: str) -> Any:
        """Return what the settings with our entry say; ValueError if it cannot be read."""
        import msgspec

        return msgspec.json.decode(text)

    def consent_files(self, _place: settings.Place) -> list[settings.InstalledFile]:
        """Return the files in which a person's yes to our server is kept, outside of its entry."""
        return []

    def server_flaw(self, _found: server_entries.FoundServer) -> server_entries.EntryFlaw | None:
        """Return what keeps our entry from working, beyond the checks for every tool."""
        return None

    # A start of the tool --------------------------------------------------------------------------

    def is_program(self, name: str) -> bool:
        """Return whether a program of this name is the tool."""
        return name == self.name

    def find_folder(self, _started: starts.StartedTool, here: Path) -> Path:
        """Return the folder that it works in if none of its `folder_options` names one."""
        return here

    def read_layers(self, _start: starts.ToolStart) -> Iterator[starts.Layer]:
        """Yield the settings that it loads for this start, as measured or
        documented."""
        yield from ()

    def start_flaws(self, case: starts.GuardCase) -> Iterator[tuple[str, Iterable[starts.Problem]]]:
        """Yield what keeps our hook from running, one iterable per code; the first non-empty one
        counts."""
        yield MISSING, case.find_missing_hook()
        yield UNTRUSTED, self.start_trust(case)
        yield NO_MOOT, case.find_missing_moot()

    def start_trust(self, _case: starts.GuardCase) -> Iterator[starts.Problem]:
        """Yield what is missing of the user's trust."""
        yield from ()

    def list_conversations(self, _env: Mapping[str, str]) -> Iterable[Path]:
        """Return the files in which it keeps its conversations, if they can be read."""
        return ()

    def read_conversation(self, _file: Path, _folder: str) -> Iterator[starts.ShownCall]:
        """Yield the calls in it that may change files, of sessions that work in `folder`."""
        yield from ()

    # Usage, sessions, participants ----------------------------------------------------------------

    def log_reports(self) -> tuple[starts.CallReport, ...]:
        """Return which of its OpenTelemetry logs report one model call."""
        return ()

    def span_reports(self) -> tuple[starts.CallReport, ...]:
        """Return which of its OpenTelemetry spans report one model call."""
        return ()

    def usage_environment(self, address: starts.OtlpAddress) -> Mapping[str, str]:
        """Return the variables that make it report its usage to `address`."""
        return address.as_variables()

    def usage_arguments(self, _address: starts.OtlpAddress) -> tuple[str, ...]:
        """Return the arguments that make it report its usage; they go before its own."""
        return ()

    def is_own_telemetry(self, name: str) -> bool:
        """Return whether this variable shows that the user already exports its telemetry."""
        from moot.coding_tools.starts import is_telemetry_variable

        return is_telemetry_variable(name)

    def find_own_telemetry(self, _start: starts.ToolStart) -> Iterator[str]:
        """Yield settings and arguments that show the same."""
        yield from ()

    def resume_command(self, session: str) -> str:  # noqa: ARG002 - for those that can
        """Return the command that resumes one of its sessions; `session` is quoted."""
        return self.name

    def read_output(self, _raw: bytes) -> starts.ToolOutput:
        """Return the model's answer from its output."""
        from moot.coding_tools.starts import ToolOutput

        return ToolOutput(None)


def table_in(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of settings; an empty one if there is none of that name."""
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def block(reason: OwnText) -> str:
    """Return the answer that blocks an edit in Claude Code, Codex and Gemini CLI, with exit code 0;
    our plugin for opencode reads it too."""
    return _encode(
        {
            "decision": "block",
            "reason": reason,
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            },
        }
    )


def _encode(answer: dict[str, Any]) -> str:
    import json  # most calls are allowed without output

    return json.dumps(answer)
