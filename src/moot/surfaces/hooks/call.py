"""Read what a coding tool sent on stdin: limit its size, check it, and bring it into one shape.

`Unreadable` covers everything that can be wrong: empty, too long, not JSON, or of a newer shape.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from moot.api.session import ToolSession
from moot.coding_tools.tool import FAILURE, CodingTool, HookMoment
from moot.core.sha256 import sha256

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_KEY: Final = 200
MAX_KIND: Final = 60


class Unreadable(Exception):
    """The input cannot be used. The message is one line; `moment` is when it happened, if known.

    `code` and `hint` are set if the same call can be written in a readable way. `says_where` is
    False if the folders of the call are unknown, so that it may concern any workspace.
    """

    def __init__(
        self,
        message: str,
        moment: HookMoment | None = None,
        *,
        code: str = "",
        hint: str = "",
        says_where: bool = True,
    ) -> None:
        super().__init__(message)
        self.moment = moment
        self.code = code
        self.hint = hint
        self.says_where = says_where


class HookCall(msgspec.Struct, frozen=True):
    """One event of a coding tool, in the same shape for every tool.

    `going_on`: a hook has already made the model continue. `sub_agent` is the tool's id of the
    calling sub-agent, empty for the main agent; `sub_agent_kind` is what it is for. `source` is how
    a session started, `message` what the tool shows the person, `model` which model drives the
    tool; each is empty if not sent.
    """

    tool: CodingTool
    moment: HookMoment
    session: str
    cwd: str
    name: str = ""
    input: Mapping[str, Any] = {}
    call_id: str = ""
    going_on: bool = False
    duration_ms: int | None = None
    response: Any = None
    ok: bool | None = None
    sub_agent: str = ""
    sub_agent_kind: str = ""
    source: str = ""
    message: str = ""
    model: str = ""

    @property
    def is_reading(self) -> bool:
        """True if a file was read. Such a call is never refused, whatever goes wrong."""
        return self.moment is HookMoment.AFTER and self.name in self.tool.reads

    @property
    def tool_session(self) -> ToolSession:
        """Return the key by which this session's agent is found, and which sub-agent acts."""
        key, kind = session_key(self.tool.name, self.session), self.sub_agent_kind
        keys = () if key is None else (key,)
        return ToolSession(self.tool.name, keys, _shorten(self.sub_agent), kind[:MAX_KIND])


def session_key(tool: str, session: str) -> str | None:
    """Return the name of a tool's session in the index; None if the tool sent no id."""
    if not session:
        return None
    return f"{tool}:{_shorten(session, MAX_KEY - len(tool) - 1)}"


def _shorten(identifier: str, longest: int = MAX_KEY) -> str:
    """Return a tool's id unchanged, or its hash if it is too long or not printable."""
    if len(identifier) <= longest and identifier.isprintable():
        return identifier
    return sha256(identifier.encode("utf-8", "replace")).hexdigest()


def read_call(tool: CodingTool, data: bytes, here: str) -> HookCall:
    """Parse the call in `data`; `here` is the working directory if it names none."""
    sent = _parse(tool, data)
    name = sent.get("hook_event_name")
    moment = tool.events.get(name) if isinstance(name, str) else None
    if moment is None:
        raise Unreadable(f"{tool.name} sent an event that this moot does not know")
    for field, kind in _FIELDS.items():
        if not isinstance(sent.get(field, kind()), kind):
            raise Unreadable(f"{tool.name} sent {field} in an unknown form", moment)
    if not isinstance(sent.get("agent_id"), str | None):
        raise Unreadable(f"{tool.name} sent agent_id in an unknown form", moment)
    duration = sent.get("duration_ms")
    return HookCall(
        tool=tool,
        moment=moment,
        session=sent.get("session_id", ""),
        cwd=os.path.join(here, sent.get("cwd", "")),
        name=sent.get("tool_name", ""),
        input=sent.get("tool_input", {}),
        call_id=sent.get("tool_use_id") or _make_up_id(sent),
        going_on=sent.get("stop_hook_active", False),
        duration_ms=duration if isinstance(duration, int) else None,
        response=sent.get("tool_response", sent.get("error")),
        ok=_ok(tool, name, moment),
        sub_agent=sent.get("agent_id") or "",
        sub_agent_kind=_printable(sent.get("agent_type")),
        source=_printable(sent.get("source")),
        message=_printable(sent.get("message")),
        model=_printable(sent.get("model")),
    )


def _make_up_id(sent: Mapping[str, Any]) -> str:
    """Make an id for a call whose tool sends none, from what is equal before and after the call."""
    if "tool_name" not in sent:
        return ""
    from moot.workspace.call_journal import MADE_UP

    same = msgspec.json.encode([sent["tool_name"], sent.get("tool_input")], order="sorted")
    return f"{MADE_UP}{sha256(same).hexdigest()[:24]}"


def _printable(value: Any) -> str:
    """Return an optional text; empty if it is missing or not printable."""
    return value if isinstance(value, str) and value.isprintable() else ""


def _ok(tool: CodingTool, event: Any, moment: HookMoment) -> bool | None:
    """Return whether the call succeeded; None if the tool does not report it by its event."""
    if moment is not HookMoment.AFTER:
        return None
    return False if event == FAILURE else (True if tool.tells_failure else None)


_FIELDS: Final[Mapping[str, type]] = {
    "session_id": str,
    "cwd": str,
    "tool_name": str,
    "tool_input": dict,
    "tool_use_id": str,
    "stop_hook_active": bool,
}


def _parse(tool: CodingTool, data: bytes) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{tool.name} sent more than {MAX_BYTES} bytes", says_where=False)
    if not data.strip():
        raise Unreadable(f"{tool.name} sent nothing on stdin")
    try:
        sent = _decode(data)
    except (ValueError, RecursionError):
        raise Unreadable(f"what {tool.name} sent is not JSON") from None
    if not isinstance(sent, dict):
        raise Unreadable(f"what {tool.name} sent is not a JSON object")
    return sent


def _decode(data: bytes) -> Any:
    """Decode with msgspec, which is loaded anyway; `json` accepts more: NaN, lone surrogates,
    UTF-16."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        import json

        return json.loads(data)
