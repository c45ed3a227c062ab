"""`cmd:COMMAND`: any program as a participant.

It gets its brief, prints its reply and ends. It runs in a process group of its own, which is killed
when its time is up; its output is kept up to a limit. It finds its own name in MOOT_AGENT, of the
other variables only what it needs (command.py), and never a person's passphrase. Of its
standard error only the last line is shown, if it failed.
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

# Which environment variables a program behind `cmd:` gets: tokens of other services stay here. `*`
# at the end of a row means every variable that begins so. `--env NAME` adds what else it needs.

# Never handed on: a person's passphrase, and the name of the agent that started us.
WITHHELD: Final = frozenset({"MOOT_PASSPHRASE_FILE", "MOOT_AGENT", "MOOT_EPOCH"})
# What any program may see: who and where it is, how it prints, how it reaches the network.
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
# By the program's own name: its settings and its key; several providers where it speaks to several.
# What a coding tool needs, its module says.
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
    """The part of `env` that this program gets; `added` are names that its user allows besides."""
    name = re.split(r"[/\\]", program)[-1].lower().removesuffix(".exe").removesuffix(".cmd")
    rows = (*COMMON, *KNOWN_PROGRAMS.get(name, ()), *map(_require_name, added))
    return {
        variable: value
        for variable, value in env.items()
        if variable not in WITHHELD and any(_fits(row, variable) for row in rows)
    }


def _fits(row: str, variable: str) -> bool:
    if os.name == "nt":  # where names are the same in any case
        row, variable = row.upper(), variable.upper()
    return variable.startswith(row[:-1]) if row.endswith("*") else variable == row


def _require_name(name: str) -> str:
    if not _NAME.match(name) or name in WITHHELD:
        why = "is never handed on" if name in WITHHELD else "is no name of a variable"
        raise Malformed(
            f"--env: {name[:60]!r} {why}", code="bad_variable", hint="such as --env MY_API_KEY"
        )
    return name


# A tool's own envelope around the answer may be long.
MOST_OUTPUT: Final = 4 * MOST_BYTES
_TAIL: Final = 300
_HOW_TO_HAND_ON: Final = " (`--env NAME` hands a variable on)"


class CommandParticipant:
    def __init__(
        self,
        spec: Spec,
        agent: str,
        folder: Path,
        env: Mapping[str, str],
        added: tuple[str, ...] = (),
    ) -> None:
        """`added` are the names of variables that it gets besides what it is known to need."""
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
            made = call_for(self._words, brief, seconds)
        except Malformed as error:
            raise NoAnswer(CallEnding.TOO_LONG, str(error)) from None
        order = RunOrder(
            made.words, self._folder, self._env, seconds, MOST_OUTPUT, made.standard_input
        )
        try:
            ran = run_program(order, self._note_started)
        except ProgramNotStarted as error:
            raise NoAnswer(CallEnding.NOT_FOUND, str(error)) from None  # AGT-031
        finally:
            self._note_ended()
        if ran.interrupted is not None:
            raise KeyboardInterrupt
        heard = read_output(self._words, ran.stdout.beginning)
        cost = msgspec.structs.replace(heard.cost, millis=ran.nanos // 1_000_000)
        self._note_model(heard.model)
        _require_output(ran, seconds, cost, heard.error)
        try:
            return ParticipantReply(read_reply(heard.text), cost)  # AGT-030
        except Malformed as error:
            raise unreadable_reply(error, cost) from None

    def stop(self) -> None:
        with self._lock:
            self._given_up = True  # AGT-018
            for pid in self._running:
                _kill(pid)

    def _note_started(self, pid: int) -> None:
        """Remember a started process; if the run is being stopped at this moment, stop it at
        once."""
        with self._lock:
            self._running.add(pid)
            if self._given_up:
                _kill(pid)

    def _note_ended(self) -> None:
        """Forget the process, which has ended; a participant makes one call at a time."""
        with self._lock:
            self._running.clear()

    def _note_model(self, model: str | None) -> None:
        """Note the model that the program says it asked, if it is not known yet."""
        if model is not None and self.nature.model is None:
            self.nature = msgspec.structs.replace(self.nature, model=model[:100])


def _kill(pid: int) -> None:
    with suppress(OSError, AttributeError):
        os.killpg(pid, signal.SIGKILL)


def _require_installed(program: str, folder: Path, env: Mapping[str, str]) -> None:
    """Unavailable if the program is not installed: said before anybody is asked anything
    (AGT-031)."""
    place = folder / program if os.path.dirname(program) else Path(program)
    if shutil.which(place, path=env.get("PATH", os.defpath)) is None:
        raise Unavailable(
            "program_missing",
            f"{program}: there is no such program here",
            hint="install it, or give its whole path: cmd:/path/to/program",
        )


def _require_output(ran: ProgramResult, seconds: float, cost: Cost, error: str) -> None:
    """NoAnswer if the program was killed, failed, printed nothing, or printed without end
    (AGT-031). `error` is what it says itself of its failure, if it says so where it answers."""
    if ran.timed_out:
        raise NoAnswer(CallEnding.TIMED_OUT, f"no answer within {seconds:g} s; it was ended", cost)
    if ran.stdout.truncated:
        raise NoAnswer(CallEnding.TOO_LONG, f"it printed {ran.stdout.size:,} bytes", cost)
    if ran.exit_status != 0:
        how = f"signal {ran.signal}" if ran.signal else f"exit status {ran.exit_status}"
        raise NoAnswer(
            CallEnding.CRASHED,
            f"{how}{_last_words(error.encode() or ran.stderr.beginning)}",
            cost,
            exit_status=ran.exit_status,
            signal=ran.signal,
        )
    if not ran.stdout.beginning.strip():
        raise NoAnswer(
            CallEnding.SILENT, f"it printed nothing{_last_words(ran.stderr.beginning)}", cost
        )


def _last_words(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    words = f": {lines[-1][-_TAIL:]}" if lines else ""
    return f"{words}{_HOW_TO_HAND_ON}" if "environment variable" in words.lower() else words


def _model_in(words: tuple[str, ...]) -> str | None:
    """`-m NAME` or `--model NAME`, for a program we know; a report says who shares a model."""
    if recipe_for(words) is None:
        return None
    named = [after for flag, after in pairwise(words) if flag in _MODEL]
    glued = [word.partition("=")[2] for word in words if word.startswith("--model=")]
    return next(iter(named + glued), None)


_MODEL: Final = ("-m", "--model")
