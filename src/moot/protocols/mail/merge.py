"""Deltas into the artifact, in one order whatever the order of delivery.

Deltas are sorted by time, then agent, message and block, and applied one after the other. So every
agent that merges the same messages gets the same artifact. A delta that cannot be applied is left
out and reported; the others still count. `merge_deltas` depends only on its arguments and never
raises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.findings import Finding, Severity
from moot.core.markdown import write_fence
from moot.core.text import plural
from moot.protocols.mail.artifact import (
    MERGE_RULES,
    Artifact,
    ArtifactItem,
    Contributor,
    KillNote,
    check_artifact,
    new_artifact,
    write_artifact_markdown,
)
from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.body_writer import write_body
from moot.protocols.mail.deltas import (
    ARTIFACT_SECTIONS,
    LIST_FIELDS,
    RESEARCH_THREAD,
    Delta,
    DeltaOperation,
    find_missing_fields,
    item_number,
    read_delta_blocks,
)
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.types import STATISTICS, MessageType

MAX_HYPOTHESES = 6
_LIMITED_SECTION = "hypothesis_slate"
_REPLACE_MARKS = frozenset({"replace", "anchors_replace"})
# Fields that the artifact itself writes about an item; no payload may set them.
_OWN_FIELDS = frozenset(
    {"id", "killed", "killed_by", "killed_at", "kill_reason", "added", "added_by", "total score"}
)
_FORBIDDEN = frozenset({"__proto__", "constructor", "prototype"})
_REFERENCE_FIELDS = ("session", "item", "relation")


class Contribution(msgspec.Struct, frozen=True):
    """One delta with who sent it when; `number` is its block's place in the message."""

    at: Millis
    agent: str
    message_id: str
    number: int
    delta: Delta

    @property
    def merge_order(self) -> tuple[Millis, str, str, int]:
        return self.at, self.agent, self.message_id, self.number

    @property
    def where(self) -> str:
        return f"{self.message_id} delta block {self.number}"


class MergedArtifact(NamedTuple):
    """The new version, the findings about its deltas, and the deltas that were applied."""

    artifact: Artifact
    findings: tuple[Finding, ...]
    applied: tuple[Contribution, ...]


def read_contributions(
    message_id: str, agent: str, at: Millis, body: str
) -> tuple[Contribution, ...]:
    """Return the deltas of one message; blocks that are no delta are the linter's to report."""
    return tuple(
        Contribution(at, agent, message_id, block.number, delta)
        for block in read_delta_blocks(MessageBody(body))
        for delta in (block.delta,)
        if delta is not None
    )


def merge_deltas(base: Artifact, deltas: Iterable[Contribution]) -> MergedArtifact:
    """`base` with these deltas applied, as its next version; a delta given twice counts once."""
    merge = _Merge(base)
    by_order = {contribution.merge_order: contribution for contribution in deltas}
    for order in sorted(by_order):
        merge.apply(by_order[order])
    return merge.next_version()


class _LeftOut(Exception):
    """This delta is not applied; the code and the message say why."""


class _Merge:
    """One merge in progress: the artifact as lists that grow, and the findings so far."""

    def __init__(self, base: Artifact) -> None:
        self.base = base
        self.thread = dict(base.thread)
        self.items = {section: list(base.items.get(section, ())) for section in ARTIFACT_SECTIONS}
        self.hypotheses = len(base.items_alive(_LIMITED_SECTION))  # those that were not killed
        self.findings: list[Finding] = []
        self.applied: list[Contribution] = []
        # (item, field) -> who set it in this round, and to what
        self.written: dict[tuple[str, str], tuple[str, Any]] = {}

    def apply(self, contribution: Contribution) -> None:
        try:
            done = _OPERATIONS[contribution.delta.operation](self, contribution)
        except _LeftOut as refusal:
            code, message = refusal.args
            self.report(contribution, code, message)
            return
        if done:
            self.applied.append(contribution)

    def report(self, contribution: Contribution, code: str, message: str) -> None:
        self.findings.append(MERGE_RULES[code].finding(message, contribution.where))

    def next_version(self) -> MergedArtifact:
        base = self.base
        artifact = msgspec.structs.replace(
            base,
            version=base.version + 1,
            status="active",
            updated_at=max([base.updated_at, *(applied.at for applied in self.applied)]),
            thread=Map(self.thread),
            items=Map({section: tuple(items) for section, items in self.items.items() if items}),
            contributors=_count_contributors(base.contributors, self.applied),
        )
        return MergedArtifact(artifact, tuple(self.findings), tuple(self.applied))

    # The three operations -------------------------------------------------------------------------

    def add(self, contribution: Contribution) -> bool:
        delta = contribution.delta
        section = ARTIFACT_SECTIONS.get(delta.section)
        if section is None:
            raise _LeftOut("invalid_section", f"there is no section {delta.section[:40]!r}")
        if section is RESEARCH_THREAD:
            raise _LeftOut("rt_add_not_allowed", "nothing is added to the research thread")
        _require_object(delta)
        items = self.items[section.id]
        if section.id == _LIMITED_SECTION and self.hypotheses >= MAX_HYPOTHESES:
            raise _LeftOut("section_limit_exceeded", f"{MAX_HYPOTHESES} hypotheses stand already")
        missing = find_missing_fields(delta.payload, section.required)
        item_id = f"{section.prefix}{len(items) + 1}"
        if missing:
            words = f"{item_id} lacks {', '.join(missing)}"
            self.report(contribution, "missing_required_field", words)
        fields = {name: value for name, value, _ in self._accepted_fields(contribution, {})}
        items.append(ArtifactItem(item_id, Map(fields), contribution.agent, contribution.at))
        self.hypotheses += section.id == _LIMITED_SECTION
        return True

    def edit(self, contribution: Contribution) -> bool:
        _require_object(contribution.delta)
        if contribution.delta.section == RESEARCH_THREAD.id:
            if contribution.delta.target_id not in (None, RESEARCH_THREAD.prefix):
                raise _LeftOut("invalid_target", "the research thread has no such item")
            edited = self._edit_fields(contribution, RESEARCH_THREAD.prefix, self.thread)
            self.thread.update(edited)
            return _has_effect(contribution.delta, edited)
        items, place = self._find_target(contribution)
        item = items[place]
        if item.killed:
            raise _LeftOut("target_killed", f"{item.id} was killed by {item.killed.by}")
        edited = self._edit_fields(contribution, item.id, item.fields)
        items[place] = msgspec.structs.replace(item, fields=Map(item.fields).update(edited))
        return _has_effect(contribution.delta, edited)

    def kill(self, contribution: Contribution) -> bool:
        if contribution.delta.section == RESEARCH_THREAD.id:
            raise _LeftOut("rt_add_not_allowed", "the research thread is not killed")
        items, place = self._find_target(contribution)
        item = items[place]
        if item.killed:  # once is enough
            return False
        reason = contribution.delta.payload.get("reason")
        if not isinstance(reason, str) or not reason.strip():
            reason = contribution.delta.rationale
        if not reason:
            words = f"{item.id} is killed without a reason"
            self.report(contribution, "missing_required_field", words)
        kill = KillNote(contribution.agent, contribution.at, reason)
        items[place] = msgspec.structs.replace(item, killed=kill)
        self.hypotheses -= contribution.delta.section == _LIMITED_SECTION
        return True

    def _find_target(self, contribution: Contribution) -> tuple[list[ArtifactItem], int]:
        delta = contribution.delta
        items = self.items.get(delta.section)
        if items is None:
            raise _LeftOut("invalid_section", f"there is no section {delta.section[:40]!r}")
        if delta.target_id is None:
            raise _LeftOut("invalid_target", f"which item to {delta.operation.lower()} is not said")
        # Numbers are given in order and never reused, so H3 is the third hypothesis.
        number = item_number(ARTIFACT_SECTIONS[delta.section], delta.target_id)
        if number is None or number > len(items):
            raise _LeftOut("invalid_target", f"{delta.target_id[:40]!r} is not in {delta.section}")
        return items, number - 1

    # Fields ---------------------------------------------------------------------------------------

    def _edit_fields(
        self, contribution: Contribution, target: str, before: Mapping[str, Any]
    ) -> dict[str, Any]:
        edited: dict[str, Any] = {}
        if wrong := contribution.delta.fields_without_list():
            names = ", ".join(f"`{name}`" for name in wrong)
            self.report(contribution, "not_a_list", f"{names} is not a list and is left out")
        for name, value, replaces in self._accepted_fields(contribution, before):
            if name in wrong:
                continue
            edited[name] = value
            if replaces:
                self._note_conflict(contribution, target, name, value)
        return edited

    def _note_conflict(
        self, contribution: Contribution, target: str, name: str, value: Any
    ) -> None:
        """Report two agents that set one field differently in one round; the later one counts."""
        earlier = self.written.get((target, name))
        self.written[target, name] = (contribution.agent, value)
        if earlier and earlier[0] != contribution.agent and earlier[1] != value:
            agent = contribution.agent
            words = f"{earlier[0]} and {agent} both set `{name[:40]}` of {target}"
            self.report(contribution, "edit_conflict", f"{words}; what {agent} wrote stands")

    def _accepted_fields(
        self, contribution: Contribution, before: Mapping[str, Any]
    ) -> Iterator[tuple[str, Any, bool]]:
        """Yield name, new value, and whether it replaces the old value."""
        payload = contribution.delta.payload
        replace = any(payload.get(name) is True for name in _REPLACE_MARKS)
        for name, value in payload.items():
            if (plain := " ".join(name.split()).casefold()) in _FORBIDDEN | _OWN_FIELDS:
                words = f"`{plain}` is not for a delta to set"
                self.report(contribution, "forbidden_payload_key", words)
            elif name in LIST_FIELDS and isinstance(value, list) and not replace:
                yield name, _join_lists(before.get(name), value), False
            elif name not in _REPLACE_MARKS:
                yield name, value, True


def _require_object(delta: Delta) -> None:
    """Leave out a delta without an object: it names no field to add or change."""
    if not delta.has_payload:
        raise _LeftOut("payload_not_object", "there is no object that names the fields")


def _has_effect(delta: Delta, edited: Mapping[str, Any]) -> bool:
    """False for an edit of which every field was left out: it does not count as done."""
    return bool(edited) or not delta.fields_without_list()


_OPERATIONS: dict[DeltaOperation, Callable[[_Merge, Contribution], bool]] = {
    DeltaOperation.ADD: _Merge.add,
    DeltaOperation.EDIT: _Merge.edit,
    DeltaOperation.KILL: _Merge.kill,
}


def _join_lists(before: Any, more: list[Any]) -> list[Any]:
    """Join two lists without repeats; references are equal if session, item and relation are."""
    joined: dict[str, Any] = {}
    for value in [*(before if isinstance(before, list) else ()), *more]:
        joined.setdefault(_identity_of(value), value)
    return list(joined.values())


def _identity_of(value: Any) -> str:
    if isinstance(value, dict) and all(name in value for name in _REFERENCE_FIELDS):
        value = [value[name] for name in _REFERENCE_FIELDS]
    return repr(value)


def _count_contributors(
    before: tuple[Contributor, ...], applied: Iterable[Contribution]
) -> tuple[Contributor, ...]:
    """Return everyone whose deltas were applied, in the order of the first one."""
    by_agent = {contributor.agent: contributor for contributor in before}
    for contribution in applied:
        agent = contribution.agent
        known = by_agent.get(agent, Contributor(agent, 0))
        by_agent[agent] = msgspec.structs.replace(known, deltas=known.deltas + 1)
    return tuple(by_agent.values())


# `COMPILED: vN ...`: a merged artifact as a message, and a whole thread merged round by round.
#
# A round is the deltas between two COMPILED messages. Each is merged on top of the one before, so
# a delta that arrives late gets the next free number and never renames what a version has
# published.

MAX_FINDINGS_SHOWN = 50
# Rules whose breach keeps a contribution of a message out of the artifact.
_LOST = frozenset({"MB-004", "MB-005", "MBX-030", "MBX-031", "MBX-037"})
_DONE = {DeltaOperation.ADD: "added", DeltaOperation.EDIT: "edited", DeltaOperation.KILL: "killed"}


class CompiledVersion(NamedTuple):
    """Version N as a message, the artifact as a document, and all findings about its deltas."""

    subject: str
    body: str
    markdown: str
    artifact: Artifact
    findings: tuple[Finding, ...]


class DeltaMessage(msgspec.Struct, frozen=True):
    """A DELTA message of the thread."""

    message_id: str
    agent: str
    at: Millis
    body: str


class CompiledMessage(msgspec.Struct, frozen=True):
    """A COMPILED message of the thread; `last_merged` is the id of the last DELTA that it
    merged."""

    last_merged: str | None = None


def split_into_rounds(
    messages: Iterable[DeltaMessage | CompiledMessage],
) -> list[list[DeltaMessage]]:
    """Return the deltas of each version in the order of the record, and last those of the next one.

    A DELTA that was recorded while a version was being made belongs to the next one: a published
    version does not change.
    """
    rounds: list[list[DeltaMessage]] = [[]]
    for message in messages:
        if isinstance(message, DeltaMessage):
            rounds[-1].append(message)
            continue
        waiting = rounds.pop()
        ids = [source.message_id for source in waiting]
        merged = ids.index(message.last_merged) + 1 if message.last_merged in ids else len(ids)
        rounds += [waiting[:merged], waiting[merged:]]
    return rounds


def compile_thread(
    session_id: str,
    created_at: Millis,
    rounds: Sequence[Iterable[DeltaMessage]],
    question: str = "",
) -> CompiledVersion:
    """Return the version after the last round; each earlier round was published as a version."""
    merged = MergedArtifact(new_artifact(session_id, created_at, question), (), ())
    sources: list[DeltaMessage] = []
    for sources in map(list, rounds):
        deltas = (
            delta
            for source in sources
            for delta in read_contributions(source.message_id, source.agent, source.at, source.body)
        )
        merged = merge_deltas(merged.artifact, deltas)
    last = sorted(sources, key=lambda source: (source.at, source.agent, source.message_id))
    unread = (finding for source in last for finding in _find_unread(source))
    return write_compiled_message(merged._replace(findings=(*unread, *merged.findings)))


def _find_unread(source: DeltaMessage) -> Iterator[Finding]:
    """Yield findings about blocks that could not be read, and deltas in the wrong place."""
    for finding in lint_message("DELTA[human]: -", source.body).findings:
        if finding.rule in _LOST:
            place = f"line {finding.line}" if finding.line else "body"
            yield msgspec.structs.replace(finding, where=f"{source.message_id} {place}")


def write_compiled_message(merged: MergedArtifact) -> CompiledVersion:
    """Return one merged version as a COMPILED message, with all its sections (BRN-024)."""
    artifact = merged.artifact
    findings = merged.findings + check_artifact(artifact)
    markdown = write_artifact_markdown(artifact)
    changes = _summarize_changes(merged)
    body = write_body(
        MessageType.COMPILED,
        {
            "Summary": f"v{artifact.version} of {artifact.session_id}: {changes}.",
            "Contributors": _list_contributors(artifact),
            "Statistics": _count_items(artifact),  # BRN-026
            "Validation Status": _summarize_findings(findings),  # BRN-025, and the artifact itself
            "Full Artifact": write_fence(markdown, "markdown"),
        },
        title=f"Compiled Artifact v{artifact.version}",
    )
    subject = f"COMPILED: v{artifact.version} ({changes})"  # BRN-022
    return CompiledVersion(subject, body, markdown, artifact, findings)


def _summarize_changes(merged: MergedArtifact) -> str:
    done = Counter(_DONE[contribution.delta.operation] for contribution in merged.applied)
    return ", ".join(f"{count} {word}" for word, count in sorted(done.items())) or "nothing new"


def _list_contributors(artifact: Artifact) -> str:
    lines = [
        f"- {author.agent} ({plural(author.deltas, 'delta')})" for author in artifact.contributors
    ]
    return "\n".join(lines) or "- nobody yet"


def _count_items(artifact: Artifact) -> str:
    counts = artifact.count_items_alive()
    return "\n".join(
        f"- {label}: {count}" for label, count in zip(STATISTICS, counts.values(), strict=True)
    )


def _summarize_findings(findings: Sequence[Finding]) -> str:
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    head = f"{plural(errors, 'error')}, {plural(len(findings) - errors, 'warning')}"
    lines = (
        f"{finding.rule} {finding.code}: {finding.message} ({finding.where})"
        for finding in findings
    )
    shown = [f"- {' '.join(line.split())}" for line in lines]
    more = (
        [f"- and {len(shown) - MAX_FINDINGS_SHOWN} more"] if len(shown) > MAX_FINDINGS_SHOWN else []
    )
    return "\n".join([head, "", *shown[:MAX_FINDINGS_SHOWN], *more]).rstrip()


assert len(STATISTICS) == len(ARTIFACT_SECTIONS) - 1
