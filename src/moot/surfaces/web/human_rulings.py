"""A person's ruling that was prepared on the page, given in the terminal of `moot serve --decide`.

The page sends what it showed: the decision, the ruling, the reason, and the position of the record.
The terminal shows it again, with the exact text and its hash, and a child process (`moot decide`,
or `moot parliament decide`) asks for the passphrase there and ends after this one signature. Users
must never type a passphrase into a page: any local program can serve a look-alike.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.page.decisions import show_decision
from moot.api.page.requested_rulings import PREPARED, RequestedRuling
from moot.core.clock import system_clock, to_text
from moot.core.errors import Malformed, MootError
from moot.surfaces.web import answers
from moot.surfaces.web.answers import HttpAnswer, answer_error, answer_with

if TYPE_CHECKING:
    from moot.surfaces.web.readers import Readers

MOOT: Final = (sys.executable, "-P", "-m", "moot")
MOST_REASON: Final = 4000


class OfferedRuling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page sends: the ruling (`word`), the reason, and the position and hash it showed."""

    decision: str
    word: str
    reason: str
    position: int
    sha256: str


class RulingState(msgspec.Struct, frozen=True):
    """The state of the last ruling: `waiting` in the terminal, `given`, or `not_given`."""

    offered: bool
    decision: str | None = None
    word: str | None = None
    state: str | None = None
    at: str | None = None


class PreparedRulings:
    """Passes prepared rulings to the terminal, one at a time."""

    def __init__(
        self,
        readers: Readers,
        folder: Path,
        env: Mapping[str, str],
        say: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        self._readers = readers
        self._folder = folder
        self._env = dict(env)
        self._say = say
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._is_taken = False
        self.state = RulingState(True)

    async def take(self, body: dict[str, Any]) -> RulingState:
        """Show the ruling in the terminal and ask there; `busy` if the decision has changed."""
        offered = _read_offer(body)
        if self._is_taken or (self._task is not None and not self._task.done()):
            raise answers.ruling_in_progress()
        self._is_taken = True  # before the first await: a second request may come at once
        try:
            asked = await self._read_asked(offered.decision)
            shown = (offered.position, offered.sha256)
            if asked is None or (asked.position, asked.sha256) != shown:
                raise answers.decision_changed()
            if offered.word not in asked.words:
                raise answers.folder_unknown(asked.command)
            self._tell("waiting", offered)
            self._task = asyncio.get_running_loop().create_task(self._ask(asked, offered))
        finally:
            self._is_taken = False
        return self.state

    async def _read_asked(self, decision: str) -> RequestedRuling | None:
        asked: list[RequestedRuling | None] = []

        def read() -> HttpAnswer:
            try:
                asked.append(show_decision(self._readers.open_session(), decision).word)
            except MootError as error:
                return answer_error("words", error)
            return answer_with("words", None)

        await self._readers.run(read)
        return asked[0] if asked else None

    async def _ask(self, asked: RequestedRuling, offered: OfferedRuling) -> None:
        for line in _lines(asked, offered):
            self._say(line)
        process = await asyncio.create_subprocess_exec(
            *(*MOOT, *_COMMANDS[asked.kind](asked, offered)),
            cwd=self._folder,
            env=self._env,
        )
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        self._tell("given" if process.returncode == 0 else "not_given", offered)

    def _tell(self, state: str, offered: OfferedRuling) -> None:
        at = to_text(system_clock())
        self.state = RulingState(True, offered.decision, offered.word, state, at)
        self._changed()


def _read_offer(body: dict[str, Any]) -> OfferedRuling:
    try:
        offered = msgspec.convert(body, OfferedRuling)
    except msgspec.ValidationError as error:
        raise Malformed(str(error), code="bad_body") from None
    if offered.word not in PREPARED:
        hint = "to amend, type the command: it takes a file"
        raise Malformed("the ruling must be approve or veto", code="bad_body", hint=hint)
    if not 0 < len(offered.reason.strip()) <= MOST_REASON or offered.reason.startswith(("@", "-")):
        hint = f"give a reason of 1 to {MOST_REASON} characters"
        raise Malformed("the reason is missing or too long", code="bad_body", hint=hint)
    return offered


def _decide(asked: RequestedRuling, offered: OfferedRuling) -> list[str]:
    about = ["--", asked.decision, offered.word]
    return ["decide", f"--sha256={asked.sha256}", f"--reason={offered.reason}", *about]


def _decide_in_parliament(asked: RequestedRuling, offered: OfferedRuling) -> list[str]:
    """Return the command; a veto needs guidance, and its reason serves as that."""
    guidance = [f"--guidance={offered.reason}"] if offered.word == "veto" else []
    about = ["--", asked.folder or "", offered.word]
    options = [f"--sha256={asked.sha256}", f"--reason={offered.reason}", *guidance]
    return ["parliament", "decide", *options, *about]


_COMMANDS: Final[dict[str, Callable[[RequestedRuling, OfferedRuling], list[str]]]] = {
    "decision": _decide,
    "parliament": _decide_in_parliament,
}


def _lines(asked: RequestedRuling, offered: OfferedRuling) -> list[str]:
    """Return the lines for the terminal. Texts have a margin, so that they cannot imitate ours."""
    return [
        "",
        f"The page asks for your ruling on {asked.decision}: {offered.word}",
        *_in_margin("the question", asked.question),
        *_in_margin("the text", asked.text),
        f"  its SHA-256   {asked.sha256}",
        *_in_margin("your reason", offered.reason),
        "Type your passphrase to sign it, or press Ctrl-C to sign nothing.",
    ]


def _in_margin(name: str, text: str) -> list[str]:
    first, *more = text.split("\n")
    return [f"  {name:<13} {first}", *(f"{'|':>15} {line}" for line in more)]
