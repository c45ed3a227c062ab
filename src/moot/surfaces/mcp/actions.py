"""Which operation each action of a tool is, and what the operation calls the tool's arguments.

    actions_of("scope")["reserve"].operation   ->  "reserve"
    actions_of("scope")["reserve"].takes       ->  {"paths": "scopes", "work": "work", ...}

What has no operation here is answered with the command for the shell (`in_shell`): it takes from
others or ends something, and a tool that says it destroys nothing must not do that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.operation import OPERATIONS, Operation
from moot.core.errors import Malformed

if TYPE_CHECKING:
    from moot.api.session import Session

Values = dict[str, Any]
# Turns what was given into what the operation takes, where renaming does not do.
Prepare = Callable[["Session", Values], Values]


def _as_given(_session: Session, values: Values) -> Values:
    return values


class Action(msgspec.Struct, frozen=True):
    """`subject` is the module of the library that holds the operation, loaded when it is asked for.

    `takes` names the operation's parameters, with spaces between them: `paths:scopes` is renamed
    on the way. `needs` is what must be given.
    """

    subject: str
    operation: str
    takes: str = ""
    needs: tuple[str, ...] = ()
    prepare: Prepare = _as_given
    in_shell: str = ""  # the command that does it instead, with the words of its arguments

    @property
    def parameters(self) -> dict[str, str]:
        """The tool's argument -> the operation's parameter."""
        pairs = (word.partition(":") for word in self.takes.split())
        return {argument: parameter or argument for argument, _, parameter in pairs}

    def find_operation(self) -> Operation:
        """The library's own; one that starts programs is offered by no tool."""
        import_module(f"moot.api.{self.subject}")
        found = OPERATIONS[self.operation]
        assert not found.runs_programs, f"{found.name} starts programs"
        return found


def _all_or_named(_session: Session, values: Values) -> Values:
    """Without paths everything that is held is given back."""
    return values if values.get("scopes") else {**values, "everything": True}


def _one_tool(_session: Session, values: Values) -> Values:
    tools = values.pop("tools", ())
    if len(tools) != 1:
        raise Malformed("one tool is run at a time", code="bad_arguments", where="tools")
    return {**values, "tool": tools[0]}


PARTS: Final = frozenset({"planner", "executor", "critic", "auditor"})


def _spread_parts(_session: Session, values: Values) -> Values:
    parts = values.pop("parts")
    if set(parts) != PARTS:
        known = ", ".join(sorted(PARTS))
        raise Malformed(f"a trace has {known}", code="bad_arguments", where="parts")
    return {**values, **parts}


_SCOPE: Final = {
    "reserve": Action("scopes", "reserve", "paths:scopes work ttl_minutes key", needs=("paths",)),
    "release": Action("scopes", "release", "paths:scopes key", prepare=_all_or_named),
    "check": Action("guard.checks", "guard.check", "paths", needs=("paths",)),
    "list": Action("scopes", "scope.list"),
}
TAKE_STALE: Final = "moot reserve --takeover-stale PATHS"

_MAIL: Final = {
    "send": Action(
        "mail.sending",
        "mail.send",
        "to subject text id:answers ack_required key",
        needs=("to", "subject"),
    ),
    "inbox": Action("mail.reading", "mail.inbox"),
    "show": Action("mail.reading", "mail.show", "id:message_id", needs=("id",)),
    "thread": Action("mail.reading", "mail.thread", "id:thread_id", needs=("id",)),
    "search": Action("mail.reading", "mail.search", "text:words", needs=("text",)),
    "ack": Action(
        "mail.answers", "mail.ack", "id:message_id status text:notes key", needs=("id", "status")
    ),
    "template": Action("mail.texts", "mail.template", "subject:kind", needs=("subject",)),
}

_EVENT: Final = {
    "handoff": Action(
        "events",
        "handoff",
        "to subject summary ask:next_action scope work key",
        needs=("to", "subject", "summary", "ask"),
    ),
    "blocked": Action(
        "events",
        "blocked",
        "to subject summary:blocker ask:requested_action urgency scope work key",
        needs=("to", "subject", "summary", "ask"),
    ),
    "seen": Action("events", "event.seen", "id:event_id key", needs=("id",)),
    "accept": Action("events", "event.accept", "id:event_id summary:notes key", needs=("id",)),
    "list": Action("events", "event.list", "work"),
}

_TRACE: Final = {
    "list": Action("traces.reading", "trace.list"),
    "status": Action("traces.reading", "trace.status", "trace", needs=("trace",)),
    "new": Action(
        "traces.lifecycle",
        "trace.new",
        "text:task parts key",
        needs=("text", "parts"),
        prepare=_spread_parts,
    ),
    "propose": Action(
        "traces.planning",
        "trace.propose",
        "trace text:objective tools expect:expected_evidence id:supersedes key",
        needs=("trace", "text", "tools"),
    ),
    "review": Action(
        "traces.planning",
        "trace.review",
        "trace id:proposal verdict text:rationale key",
        needs=("trace", "id", "verdict", "text"),
    ),
    "intend": Action(
        "traces.planning",
        "trace.intend",
        "trace id:proposal command tools risk text:why writes key",
        needs=("trace", "id", "command", "tools", "risk", "text"),
        prepare=_one_tool,
    ),
    "review_intent": Action(
        "traces.planning",
        "trace.review_intent",
        "trace id:intent verdict text:rationale key",
        needs=("trace", "id", "verdict", "text"),
    ),
    "claim": Action(
        "traces.claims",
        "trace.claim",
        "trace text confidence evidence id:supersedes key",
        needs=("trace", "text", "confidence", "evidence"),
    ),
    "challenge": Action(
        "traces.claims",
        "trace.challenge",
        "trace id:claim text:reason evidence key",
        needs=("trace", "id", "text"),
    ),
    "withdraw": Action(
        "traces.claims", "trace.withdraw", "trace id:claim text:reason key", needs=("trace", "id")
    ),
    "finalize": Action(
        "traces.claims",
        "trace.finalize",
        "trace text key",
        in_shell="moot trace finalize TRACE --statement TEXT",
    ),
    "abort": Action(
        "traces.lifecycle",
        "trace.abort",
        "trace text key",
        in_shell="moot trace abort TRACE --reason TEXT",
    ),
}


def _debate_file(session: Session, values: Values) -> Values:
    from moot.api.debates.places import file_of_debate

    return {**values, "file": file_of_debate(session, values["file"])}


def _parliament_folder(session: Session, values: Values) -> Values:
    from moot.api.debates.places import folder_of_parliament

    return {**values, "folder": folder_of_parliament(session, values["folder"])}


def _place_of_its_own(_session: Session, values: Values) -> Values:
    return {"file": None, **values}


# Which operation it is depends on what is meant by the id: `debate/...`, `decision/...`.
_SESSION: Final = {
    "status debate": Action(
        "debates.reading", "debate.status", "id:file", ("id",), prepare=_debate_file
    ),
    "status parliament": Action(
        "parliaments.sessions", "parliament.status", "id:folder", ("id",), _parliament_folder
    ),
    "status decision": Action("councils", "council.result", "id:decision", ("id",)),
    "read debate": Action(
        "debates.reading", "debate.summary", "id:file", ("id",), prepare=_debate_file
    ),
    "read parliament": Action(
        "parliaments.files", "parliament.context", "id:folder", ("id",), _parliament_folder
    ),
    "read decision": Action("councils", "council.result", "id:decision", ("id",)),
    "speak debate": Action(
        "debates.writing",
        "debate.add",
        "id:file stance confidence summary text:body evidence next:next_agent"
        " round:round_number key",
        ("id", "stance", "confidence", "summary"),
        _debate_file,
    ),
    "speak parliament": Action(
        "parliaments.sessions",
        "parliament.submit",
        "id:folder message key",
        ("id", "message"),
        _parliament_folder,
    ),
    "speak decision": Action(
        "councils", "council.answer", "id:decision text summary:why key", ("id", "text")
    ),
    "start": Action(
        "debates.writing",
        "debate.new",
        "title agents text:context key",
        ("title", "agents"),
        _place_of_its_own,
    ),
    "list": Action("ledger", "ledger.log"),
}

_ASK: Final = {
    "ask": Action(
        "councils",
        "council.ask",
        "question:text agents context options rule key",
        needs=("question", "agents"),
    ),
    "result": Action("councils", "council.result", "id:decision", needs=("id",)),
}

_RECORD: Final = {
    "verify": Action("verification", "ledger.verify"),
    "log": Action("ledger", "ledger.log", "id:name limit"),
    "story": Action("bridges.stories", "story", "id:name", needs=("id",)),
}

# Of `now` and of `record more` the library has no operation: they are put together here.
ACTIONS: Final[Mapping[str, Mapping[str, Action]]] = {
    "scope": _SCOPE,
    "mail": _MAIL,
    "event": _EVENT,
    "session": _SESSION,
    "trace": _TRACE,
    "ask": _ASK,
    "record": _RECORD,
}


def find_action(tool: str, name: str, named_id: str) -> Action:
    """The action of a tool; that of `session` depends on what the id is of."""
    actions = ACTIONS[tool]
    kind = "decision" if named_id.startswith("q-") else named_id.partition("/")[0]
    found = actions.get(name) or actions.get(f"{name} {kind}")
    if found is None:
        raise Malformed(
            f"{named_id[:80]!r} is no id of a session",
            code="bad_arguments",
            where="id",
            hint="as `now` shows it: debate/..., parliament/... or decision/...",
        )
    return found
