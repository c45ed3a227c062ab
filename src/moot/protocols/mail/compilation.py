"""`COMPILED: vN ...`: a merged artifact as a message, and a whole thread merged round by round.

A round is the deltas between two COMPILED messages. Each is merged on top of the one before, so a
delta that arrives late gets the next free number and never renames what a version has published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from moot.core.clock import Millis
from moot.core.findings import Finding, Severity
from moot.core.markdown import write_fence
from moot.core.plural import plural
from moot.protocols.mail.artifact import Artifact, new_artifact, write_artifact_markdown
from moot.protocols.mail.body_writer import write_body
from moot.protocols.mail.deltas import ARTIFACT_SECTIONS, DeltaOperation
from moot.protocols.mail.lint import lint_message
from moot.protocols.mail.merge import MergedArtifact, merge_deltas, read_contributions
from moot.protocols.mail.merge_rules import check_artifact
from moot.protocols.mail.types import STATISTICS, MessageType

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
    """The deltas of each version in the order of the record, and last those of the next one.

    A DELTA that was recorded while a version was being made belongs to the next: what that version
    has published stays as it is.
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
    """The version after the last round; each earlier round was published as a version."""
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
    """Findings about blocks that could not be read, and deltas that stand where none counts."""
    for finding in lint_message("DELTA[human]: -", source.body).findings:
        if finding.rule in _LOST:
            place = f"line {finding.line}" if finding.line else "body"
            yield msgspec.structs.replace(finding, where=f"{source.message_id} {place}")


def write_compiled_message(merged: MergedArtifact) -> CompiledVersion:
    """One merged version as a COMPILED message, with all its sections (BRN-024)."""
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
