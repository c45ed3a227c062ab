"""The operation behind each action of a tool, and the operation's names for the tool's arguments.

    ACTIONS["scope"]["reserve"].operation   ->  "reserve"
    ACTIONS["scope"]["reserve"].parameters  ->  {"paths": "scopes", "work": "work", ...}

An action that takes from others or ends something is answered with the command for the shell
(`in_shell`): a tool whose annotations say that it destroys nothing must not do that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.operation import OPERATIONS, SUBJECTS, Operation
from moot.core.errors import Malformed
from moot.surfaces.terminal.derive import signature_of

if TYPE_CHECKING:
    from moot.api.session import Session

Values = dict[str, Any]
# Turns the tool's arguments into the operation's, if renaming is not enough.
Prepare = Callable[["Session", Values], Values]


def _as_given(_session: Session, values: Values) -> Values:
    return values


class Action(msgspec.Struct, frozen=True):
    """`subject` is the library's module with the operation, loaded when it is needed.

    `takes` lists the tool's arguments: `paths:scopes` is the operation's parameter `scopes`, and
    `!stance` is required although the operation has a default for it.
    """

    subject: str
    operation: str
    takes: str = ""
    prepare: Prepare = _as_given
    in_shell: str = ""  # the command that does it instead, with arguments in capitals

    @property
    def parameters(self) -> dict[str, str]:
        """Map the tool's arguments to the operation's parameters."""
        pairs = (word.lstrip("!").partition(":") for word in self.takes.split())
        return {argument: parameter or argument for argument, _, parameter in pairs}

    @property
    def needs(self) -> list[str]:
        """Return the required arguments: no default in the operation, or marked in the table."""
        known = signature_of(self.find_operation().function)
        return [
            argument
            for word, (argument, parameter) in zip(
                self.takes.split(), self.parameters.items(), strict=True
            )
            if word.startswith("!") or known[parameter].is_required
        ]

    def find_operation(self) -> Operation:
        """Return the library's operation. No tool offers one that starts programs."""
        import_module(SUBJECTS[self.subject])
        found = OPERATIONS[self.operation]
        assert not found.runs_programs, f"{found.name} starts programs"
        return found


def _all_or_named(_session: Session, values: Values) -> Values:
    """Release everything if no paths are given."""
    return values if values.get("scopes") else {**values, "everything": True}


def _one_tool(_session: Session, values: Values) -> Values:
    tools = values.pop("tools", ())
    if len(tools) != 1:
        raise Malformed("give exactly one tool", code="bad_arguments", where="tools")
    return {**values, "tool": tools[0]}


PARTS: Final = frozenset({"planner", "executor", "critic", "auditor"})


def _spread_parts(_session: Session, values: Values) -> Values:
    parts = values.pop("parts")
    if set(parts) != PARTS:
        known = ", ".join(sorted(PARTS))
        raise Malformed(f"parts must name {known}", code="bad_arguments", where="parts")
    return {**values, **parts}


def _debate_file(session: Session, values: Values) -> Values:
    from moot.api.debates.places import file_of_debate

    return {**values, "file": file_of_debate(session, values["file"])}


def _parliament_folder(session: Session, values: Values) -> Values:
    from moot.api.debates.places import folder_of_parliament

    return {**values, "folder": folder_of_parliament(session, values["folder"])}


def _in_workspace(_session: Session, values: Values) -> Values:
    return {"file": None, **values}


TAKE_STALE: Final = "moot reserve --takeover-stale PATHS"
_IN_SHELL: Final = {
    "trace.finalize": "moot trace finalize TRACE --statement TEXT",
    "trace.abort": "moot trace abort TRACE --reason TEXT",
}
_PREPARE: Final[Mapping[str, Prepare]] = {
    "release": _all_or_named,
    "trace.new": _spread_parts,
    "trace.intend": _one_tool,
    "debate.new": _in_workspace,
    **dict.fromkeys(("debate.status", "debate.summary", "debate.add"), _debate_file),
    **dict.fromkeys(
        ("parliament.status", "parliament.context", "parliament.submit"), _parliament_folder
    ),
}
# For each tool: action, module, operation, arguments. An action of `session` has one row for each
# kind of id: `debate/...`, `decision/...`. The library has no operation for `now`, `record more`.
_TABLE: Final = """
    scope
        reserve  scopes        reserve      paths:scopes work ttl_minutes key
        release  scopes        release      paths:scopes key
        check    guard.checks  guard.check  paths
        list     scopes        scope.list
    mail
        send      mail.sending  mail.send      to subject text id:answers ack_required key
        inbox     mail.reading  mail.inbox
        show      mail.reading  mail.show      id:message_id
        thread    mail.reading  mail.thread    id:thread_id
        search    mail.reading  mail.search    text:words
        ack       mail.answers  mail.ack       id:message_id status text:notes key
        template  mail.texts    mail.template  subject:kind
    event
        handoff   events  handoff         to subject summary ask:next_action scope work key
        blocked   events  blocked         to subject summary:blocker ask:requested_action urgency \
            scope work key
        seen      events  event.seen      id:event_id key
        accept    events  event.accept    id:event_id summary:notes key
        withdraw  events  event.withdraw  id:event_id summary:reason key
        list      events  event.list      work
    session
        status debate      debates.reading       debate.status       id:file
        status parliament  parliaments.sessions  parliament.status   id:folder
        status decision    councils              council.result      id:decision
        read debate        debates.reading       debate.summary      id:file
        read parliament    parliaments.files     parliament.context  id:folder
        read decision      councils              council.result      id:decision
        speak debate       debates.writing       debate.add          id:file !stance !confidence \
            !summary text:body evidence next:next_agent round:round_number key
        speak parliament   parliaments.sessions  parliament.submit   id:folder message key
        speak decision     councils              council.answer      id:decision text summary:why \
            key
        start              debates.writing       debate.new          title agents text:context key
        list               ledger                ledger.log
    trace
        list           traces.reading    trace.list
        status         traces.reading    trace.status         trace
        new            traces.lifecycle  trace.new            text:task !parts key
        propose        traces.planning   trace.propose        trace text:objective tools \
            expect:expected_evidence id:supersedes key
        review         traces.planning   trace.review         trace id:proposal verdict \
            text:rationale key
        intend         traces.planning   trace.intend         trace id:proposal command !tools \
            risk text:why writes key
        review_intent  traces.planning   trace.review_intent  trace id:intent verdict \
            text:rationale key
        claim          traces.claims     trace.claim          trace text confidence evidence \
            id:supersedes key
        challenge      traces.claims     trace.challenge      trace id:claim text:reason evidence \
            key
        withdraw       traces.claims     trace.withdraw       trace id:claim text:reason key
        finalize       traces.claims     trace.finalize       trace text:statement key
        abort          traces.lifecycle  trace.abort          trace text:reason key
    ask
        ask     councils  council.ask     question:text agents context options rule key
        result  councils  council.result  id:decision
    record
        verify  verification     ledger.verify
        log     ledger           ledger.log     id:name limit
        story   bridges.stories  story          id:name
"""


def _read_table() -> dict[str, dict[str, Action]]:
    tools: dict[str, dict[str, Action]] = {}
    for line in _TABLE.strip().splitlines():
        name, *rest = re.split(r" {2,}", line.strip(), maxsplit=3)
        if not rest:
            actions = tools[name] = {}
            continue
        subject, operation, takes = (*rest, "")[:3]
        prepare, in_shell = _PREPARE.get(operation, _as_given), _IN_SHELL.get(operation, "")
        actions[name] = Action(subject, operation, takes, prepare, in_shell)
    return tools


ACTIONS: Final[Mapping[str, Mapping[str, Action]]] = _read_table()


def find_action(tool: str, name: str, named_id: str) -> Action:
    """Return the action of a tool; for `session` it depends on the kind of the id."""
    actions = ACTIONS[tool]
    kind = "decision" if named_id.startswith("q-") else named_id.partition("/")[0]
    found = actions.get(name) or actions.get(f"{name} {kind}")
    if found is None:
        raise Malformed(
            f"{named_id[:80]!r} is not the id of a session",
            code="bad_arguments",
            where="id",
            hint="use an id that `now` shows: debate/..., parliament/... or decision/...",
        )
    return found
