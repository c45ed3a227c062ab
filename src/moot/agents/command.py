"""`cmd:COMMAND`: any program as a participant.

It gets its brief, prints its reply and ends. It runs in a separate process group, which is killed
when its time is up; its output is limited. It finds its name in MOOT_AGENT, otherwise only the
variables that it needs, and never a person's passphrase. If it fails, only the last line of its
standard error is shown.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec

from moot.agents.brief import Brief
from moot.agents.cost import Cost
from moot.agents.outcome import CallEnding, NoAnswer, unreadable_reply
from moot.agents.participant import Nature, ParticipantKind, ParticipantReply, Spec
from moot.agents.recipes import call_for, read_command, read_output, recipe_for
from moot.agents.reply import MOST_BYTES, read_reply
from moot.coding_tools import all_tools
from moot.coding_tools.tool import AMAZON_VARIABLES, MODEL_VARIABLES
from moot.core.errors import Malformed, Unavailable
from moot.system.running import ProgramNotStarted, ProgramResult, RunOrder, run_program

# The environment variables that a program of `cmd:` gets; it does not get tokens of other services.
# `NAME*` means all variables with that prefix. `--env NAME` adds others.

# Never passed on: a person's passphrase, and the name of the agent that started us.
WITHHELD: Final = frozenset({"MOOT_PASSPHRASE_FILE", "MOOT_AGENT", "MOOT_EPOCH"})
# For every program: user, folders, output format, network.
COMMON: Final = (
    *("HOME", "USER", "LOGNAME", "PATH", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "TZ"),
    *("LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "CI"),
    *("XDG_*", "DBUS_SESSION_BUS_ADDRESS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY", "VIRTUAL_ENV", "PYTHONIOENCODING", "PYTHONUTF8"),
    *("APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "USERPROFILE", "WINDIR"),
)
# Program -> the variables with its settings and keys; those of coding tools are in their modules.
KNOWN_PROGRAMS: Final[dict[str, tuple[str, ...]]] = {
    **{tool.name: tool.variables for tool in all_tools()},
    "aider": ("AIDER_*", *MODEL_VARIABLES, *AMAZON_VARIABLES),
    "amp": ("AMP_*",),
    "copilot": ("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"),
    "cursor-agent": ("CURSOR_*",),
    "goose": ("GOOSE_*", *MODEL_VARIABLES),
    "llm": ("LLM_*", *MODEL_VARIABLES),
    "ollama": ("OLLAMA_*",),
    "qwen": ("QWEN_*", "DASHSCOPE_*", "OPENAI_*"),
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


def environment_for(
    program: str, env: Mapping[str, str], added: Iterable[str] = ()
) -> dict[str, str]:
    """Return the part of `env` that this program gets; `added` are names that the user allows."""
    name = re.split(r"[/\\]", program)[-1].lower().removesuffix(".exe").removesuffix(".cmd")
    rows = (*COMMON, *KNOWN_PROGRAMS.get(name, ()), *map(_require_name, added))
    return {
        variable: value
        for variable, value in env.items()
        if variable not in WITHHELD and any(_fits(row, variable) for row in rows)
    }


def _fits(row: str, variable: str) -> bool:
    if os.name == "nt":  # names ignore case there
        row, variable = row.upper(), variable.upper()
    return variable.startswith(row[:-1]) if row.endswith("*") else variable == row


def _require_name(name: str) -> str:
    if not _NAME.match(name) or name in WITHHELD:
        why = "is never passed on" if name in WITHHELD else "is not the name of a variable"
        hint = "name a variable, such as --env MY_API_KEY"
        raise Malformed(f"--env: {name[:60]!r} {why}", code="bad_variable", hint=hint)
    return name


# A tool may print much around the reply.
MOST_OUTPUT: Final = 4 * MOST_BYTES
_TAIL: Final = 300
_ENV_HINT: Final = " (`--env NAME` passes a variable on)"


class CommandParticipant:
    def __init__(
        self,
        spec: Spec,
        agent: str,
        folder: Path,
        env: Mapping[str, str],
        added: tuple[str, ...] = (),
    ) -> None:
        """`added` are the names of variables that it gets in addition to those it needs."""
        self._words = read_command(spec.rest)
        _require_installed(self._words[0], folder, env)
        self.nature = Nature(ParticipantKind.COMMAND, spec.recordable, _model_in(self._words))
        self._folder = folder
        self._env = {**environment_for(self._words[0], env, added), "MOOT_AGENT": agent}
        self._running: set[int] = set()
        self._given_up = False
        self._lock = threading.Lock()

    def reply(self, brief: Brief, seconds: float) -> ParticipantReply:
        try:
            call = call_for(self._words, brief, seconds)
        except Malformed as error:
            raise NoAnswer(CallEnding.TOO_LONG, str(error)) from None
        order = RunOrder(
            call.words, self._folder, self._env, seconds, MOST_OUTPUT, call.standard_input
        )
        try:
            result = run_program(order, self._note_started)
        except ProgramNotStarted as error:
            raise NoAnswer(CallEnding.NOT_FOUND, str(error)) from None  # AGT-031
        finally:
            self._note_ended()
        if result.interrupted is not None:
            raise KeyboardInterrupt
        output = read_output(self._words, result.stdout.beginning)
        cost = msgspec.structs.replace(output.cost, millis=result.nanos // 1_000_000)
        self._note_model(output.model)
        _require_output(result, seconds, cost, output.error)
        try:
            return ParticipantReply(read_reply(output.text), cost)  # AGT-030
        except Malformed as error:
            raise unreadable_reply(error, cost) from None

    def stop(self) -> None:
        with self._lock:
            self._given_up = True  # AGT-018
            for pid in self._running:
                _kill(pid)

    def _note_started(self, pid: int) -> None:
        """Remember a started process; kill it at once if the run was stopped meanwhile."""
        with self._lock:
            self._running.add(pid)
            if self._given_up:
                _kill(pid)

    def _note_ended(self) -> None:
        """Forget the ended process; a participant makes one call at a time."""
        with self._lock:
            self._running.clear()

    def _note_model(self, model: str | None) -> None:
        """Note the model that the program reports, if it is not known yet."""
        if model is not None and self.nature.model is None:
            self.nature = msgspec.structs.replace(self.nature, model=model[:100])


def _kill(pid: int) -> None:
    with suppress(OSError, AttributeError):
        os.killpg(pid, signal.SIGKILL)


def _require_installed(program: str, folder: Path, env: Mapping[str, str]) -> None:
    """Raise Unavailable if the program is not installed, before any participant is asked
    (AGT-031)."""
    place = folder / program if os.path.dirname(program) else Path(program)
    if shutil.which(place, path=env.get("PATH", os.defpath)) is None:
        raise Unavailable(
            "program_missing",
            f"{program}: no such program is installed",
            hint="install it, or type its whole path: cmd:/path/to/program",
        )


def _require_output(result: ProgramResult, seconds: float, cost: Cost, error: str) -> None:
    """Raise NoAnswer if the program was killed, failed, printed nothing or too much (AGT-031).

    `error` is the program's own reason for its failure, if its output contains one.
    """
    if result.timed_out:
        raise NoAnswer(CallEnding.TIMED_OUT, f"no answer within {seconds:g} s; it was ended", cost)
    if result.stdout.truncated:
        raise NoAnswer(CallEnding.TOO_LONG, f"it printed {result.stdout.size:,} bytes", cost)
    if result.exit_status != 0:
        how = f"signal {result.signal}" if result.signal else f"exit status {result.exit_status}"
        raise NoAnswer(
            CallEnding.CRASHED,
            f"{how}{_last_line(error.encode() or result.stderr.beginning)}",
            cost,
            exit_status=result.exit_status,
            signal=result.signal,
        )
    if not result.stdout.beginning.strip():
        raise NoAnswer(
            CallEnding.SILENT, f"it printed nothing{_last_line(result.stderr.beginning)}", cost
        )


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    line = f": {lines[-1][-_TAIL:]}" if lines else ""
    return f"{line}{_ENV_HINT}" if "environment variable" in line.lower() else line


def _model_in(words: tuple[str, ...]) -> str | None:
    """Return the NAME of `-m NAME` or `--model NAME`, if the program has a recipe."""
    if recipe_for(words) is None:
        return None
    named = [after for flag, after in pairwise(words) if flag in _MODEL]
    glued = [word.partition("=")[2] for word in words if word.startswith("--model=")]
    return next(iter(named + glued), None)


_MODEL: Final = ("-m", "--model")
