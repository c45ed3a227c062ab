"""An exported trace is judged from its bytes: every attack is found, named, and placed.

The stand-alone checker judges the same files and must agree about the ledger part.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.api.traces import inspection
from moot.api.traces import inspection as auditing
from moot.api.traces.inspection import Inspection
from moot.core.errors import MootError
from moot.core.ledger import RecordToAppend
from moot.core.machine import Event
from moot.core.record import Body, Record, seal
from moot.core.signing import Signer
from moot.engine.export import bundle, envelope
from moot.keys.folder import KeyFolder
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.report import CheckStatus
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import AuditVerdict, ExecutionResult, Profile, Review, Role, Stage
from moot.verify import standalone
from moot.workspace import trust as trust_files
from moot.workspace.integrity_check import CheckOptions
from moot.workspace.workspace import Workspace
from tests.cli.damage import edit, of
from tests.sampling import examples
from tests.trace.trace_project import AGENTS, AUDITOR, TraceProject, open_trace_project, reopened

Lines = list[bytes]


class Kept(NamedTuple):
    """A finished, audited trace as a file, with everyone's keys, as if they were stolen."""

    folder: Path
    lines: tuple[bytes, ...]
    signers: dict[str, Signer]
    stream: str

    @property
    def trust(self) -> Path:
        return self.folder / "trust.json"

    def first(self) -> int:
        """The place of the trace's first event among the lines."""
        return next(n for n, line in enumerate(self.lines) if stream_of(line) == self.stream)

    def count_events(self) -> int:
        return sum(stream_of(line) == self.stream for line in self.lines)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    place = tmp_path_factory.mktemp("kept")
    with open_trace_project(place) as project:
        project.begin()
        project.to_final()
        auditing.audit_trace(project.space, project.stream, AUDITOR, Profile.DEFAULT)
        project.space.engine.checkpoint()
        return keep(project, place)


def keep(project: TraceProject, place: Path) -> Kept:
    space = project.space
    with space.store.read() as view:
        lines = tuple(bundle(view, space.trust, space.artifacts, [project.stream]))
    (place / "trust.json").write_bytes(
        trust_files.trust_file_bytes(trust_files.trust_file_of(space.trust))
    )
    registry = space.engine.registry()
    signers = {}
    for name in AGENTS.values():
        held = space.keys.find(name, registry.agents[name].kid)
        assert held is not None
        signers[name] = held.signer
    return Kept(place, lines, signers, project.stream)


def stream_of(line: bytes) -> str | None:
    said = json.loads(line)
    if "payload" not in said:
        return None
    found: str = json.loads(base64.b64decode(said["payload"]))["stream"]
    return found


def with_header(lines: Lines) -> Lines:
    """The header made to fit, as any forger would."""
    body = lines[1:]
    header = json.loads(lines[0])
    header |= {"digest": hashlib.sha256(b"".join(body)).hexdigest(), "lines": len(body)}
    return [json.dumps(header, sort_keys=True, separators=(",", ":")).encode() + b"\n", *body]


def judge(kept: Kept, lines: Lines, trust: Path | None = None) -> Inspection:
    """What we say; the stand-alone checker must say the same of the ledger part."""
    file = kept.folder / "attacked.moot"
    file.write_bytes(b"".join(lines))
    trust = trust or kept.trust
    found = inspection.inspect_file(file, CheckOptions(KeyFolder(kept.folder / "nobody"), trust))
    told = standalone.verify(str(file), str(trust))
    assert told.verdict == found.verdict.verdict
    assert not (kept.folder / "nobody").exists()
    return found


def codes(found: Inspection) -> set[str]:
    return {one.code for report in found.reports for one in report.failures()}


def test_the_file_itself_holds(kept: Kept) -> None:
    found = judge(kept, list(kept.lines))
    assert found.holds
    (report,) = found.reports
    assert (report.verdict, report.first_bad) == (AuditVerdict.PASS, None)
    assert (report.events, report.last_trusted) == (kept.count_events(), kept.count_events() - 1)
    assert all(check.evidence for check in report.checks)


@pytest.mark.requirement("TRC-044")
def test_the_same_file_gives_the_same_report(kept: Kept) -> None:
    assert judge(kept, list(kept.lines)).reports == judge(kept, list(kept.lines)).reports


# Drop, duplicate, swap, cut: each at every event of the trace.


def dropped(lines: Lines, place: int) -> Lines:
    return lines[:place] + lines[place + 1 :]


def doubled(lines: Lines, place: int) -> Lines:
    return [*lines[:place], lines[place], *lines[place:]]


def swapped(lines: Lines, place: int) -> Lines:
    lines[place], lines[place + 1] = lines[place + 1], lines[place]
    return lines


@pytest.mark.requirement("TRC-019", "TRC-020", "TRC-069")
@pytest.mark.parametrize(
    ("attack", "event"),
    # What follows the last is no event: to cut off the end is another test.
    [*product((dropped, swapped), range(10)), *product((doubled,), range(11))],
)
def test_events_dropped_doubled_or_reordered_are_found_where_they_are(
    kept: Kept, attack: Callable[[Lines, int], Lines], event: int
) -> None:
    assert kept.count_events() == 11
    place = kept.first() + event
    found = judge(kept, with_header(attack(list(kept.lines), place)))
    assert not found.holds
    assert found.verdict.verdict == "tampered"
    bad, last = found.verdict.first_bad, found.verdict.last_trusted
    assert bad is not None
    assert bad.line == place + (2 if attack is doubled else 1)
    assert last is not None
    assert last.line == bad.line - 1
    if event:
        (report,) = found.reports
        assert report.verdict is AuditVerdict.FAIL
        assert report.first_bad == event + (attack is doubled)
        assert report.last_trusted == report.first_bad - 1


@pytest.mark.parametrize("missing", [1, 2, 5])
def test_a_tail_that_was_cut_off_is_found_by_the_checkpoint(kept: Kept, missing: int) -> None:
    end = kept.first() + kept.count_events()
    lines = list(kept.lines[: end - missing]) + list(kept.lines[end:])
    found = judge(kept, with_header(lines))
    assert not found.holds
    assert found.verdict.verdict in ("truncated", "tampered")
    assert codes(found) & {"incomplete", "chain_break"}


def test_a_tail_cut_off_with_all_its_proofs_is_not_called_valid(kept: Kept) -> None:
    end = kept.first() + kept.count_events()
    cited = {one["sha256"] for line in kept.lines[kept.first() : end - 2] for one in cites(line)}
    lines = list(kept.lines[: end - 2])
    lines += [line for line in kept.lines[end:] if artifact_of(line, kept) in cited]
    found = judge(kept, with_header(lines))
    assert found.verdict.verdict == "unproven"
    assert not found.holds


def cites(line: bytes) -> list[dict[str, Any]]:
    body = json.loads(base64.b64decode(json.loads(line)["payload"]))
    found: list[dict[str, Any]] = body["artifacts"]
    return found


def artifact_of(line: bytes, kept: Kept) -> str | None:
    """The artifact that a line begins or belongs to."""
    current = None
    for one in kept.lines:
        said = json.loads(one)
        if "artifact" in said:
            current = said["artifact"]["sha256"]
        elif "chunk" not in said:
            current = None
        if one is line:
            return current
    return None


@pytest.mark.parametrize("left", [1, 3, 8])
def test_a_file_that_was_cut_short_is_no_passed_trace(kept: Kept, left: int) -> None:
    """The header is as it was: it promises more lines than there are."""
    found = judge(kept, list(kept.lines[:-left]))
    assert found.verdict.verdict == "truncated"
    assert found.reports[0].verdict is AuditVerdict.FAIL
    assert not found.holds


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_flipped_byte_goes_unnoticed_and_none_raises(kept: Kept, data: st.DataObject) -> None:
    whole = bytearray(b"".join(kept.lines))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    file = kept.folder / "flipped.moot"
    file.write_bytes(bytes(whole))
    found = inspection.inspect_file(
        file, CheckOptions(KeyFolder(kept.folder / "nobody"), kept.trust)
    )
    assert not found.holds


@pytest.mark.parametrize("data", [b"", b"\n", b"{}\n", b"\xff" * 100, b'{"payload":' * 500])
def test_what_is_no_export_at_all_is_a_verdict_not_a_crash(kept: Kept, data: bytes) -> None:
    file = kept.folder / "rubbish.moot"
    file.write_bytes(data)
    found = inspection.inspect_file(
        file, CheckOptions(KeyFolder(kept.folder / "nobody"), kept.trust)
    )
    assert not found.holds
    assert found.reports == ()


# Artifacts.


def artifacts(kept: Kept) -> dict[str, int]:
    """Where each artifact begins."""
    found = {}
    for place, line in enumerate(kept.lines):
        if line.startswith(b'{"artifact"'):
            found[json.loads(line)["artifact"]["sha256"]] = place
    return found


@pytest.mark.requirement("TRC-036", "TRC-067")
def test_swapped_bytes_of_an_artifact_are_found(kept: Kept) -> None:
    for sha256, place in artifacts(kept).items():
        lines = list(kept.lines)
        if not lines[place + 1].startswith(b'{"chunk"'):
            continue  # an empty one has no bytes to swap
        data = base64.b64decode(json.loads(lines[place + 1])["chunk"])
        other = base64.b64encode(bytes(reversed(data)) if data != data[::-1] else b"?" * len(data))
        lines[place + 1] = b'{"chunk":"%b"}\n' % other
        found = judge(kept, with_header(lines))
        assert found.verdict.verdict == "tampered"
        failed = [check.id for check in found.reports[0].checks if check.status is CheckStatus.FAIL]
        assert failed == ["CHK_ARTIFACT_HASH_MATCH"], sha256
        assert found.reports[0].verdict is AuditVerdict.FAIL


@pytest.mark.requirement("TRC-036", "TRC-067")
def test_the_swapped_artifact_is_named_however_many_read(kept: Kept) -> None:
    """Processes that read ahead have seen the end of the file by then."""
    sha256, place = next(
        (sha, n) for sha, n in artifacts(kept).items() if b"chunk" in kept.lines[n + 1][:9]
    )
    assert sha256 != list(artifacts(kept))[-1]
    lines = list(kept.lines)
    size = len(base64.b64decode(json.loads(lines[place + 1])["chunk"]))
    lines[place + 1] = b'{"chunk":"%b"}\n' % base64.b64encode(b"?" * size)
    file = kept.folder / "attacked.moot"
    file.write_bytes(b"".join(with_header(lines)))
    for jobs in (1, 2):
        how = CheckOptions(KeyFolder(kept.folder / "nobody"), kept.trust, jobs)
        (report,) = inspection.inspect_file(file, how).reports
        assert [(one.code, one.artifact) for one in report.failures()] == [
            ("artifact_hash_mismatch", sha256)
        ]


@pytest.mark.requirement("TRC-069")
def test_nothing_passes_in_a_damaged_file(project: TraceProject, tmp_path: Path) -> None:
    """Reading stops at the damage: what follows was not looked at, whose ever it is."""
    streams = []
    for text in ("one", "two"):
        streams.append(project.begin())
        done = project.execute_intent(project.script(f"print({text!r})"))
        assert not done.failed
    project.space.engine.checkpoint()
    with project.space.store.read() as view:
        lines = list(bundle(view, project.space.trust, project.space.artifacts, streams))
    kept = keep(project, tmp_path)
    mine = next(n for n, line in enumerate(lines) if b'{"chunk":"b25lCg==' in line)
    lines[mine] = b'{"chunk":"%b"}\n' % base64.b64encode(b"ONE\n")
    found = judge(kept, with_header(lines))
    assert [report.verdict for report in found.reports] == [AuditVerdict.FAIL, AuditVerdict.FAIL]


@pytest.mark.requirement("TRC-036", "TRC-067")
def test_an_artifact_that_is_left_out_is_missed(kept: Kept) -> None:
    for place in artifacts(kept).values():
        end = place + 1 + kept.lines[place + 1].startswith(b'{"chunk"')
        lines = with_header([*kept.lines[:place], *kept.lines[end:]])
        found = judge(kept, lines)
        assert not found.holds
        assert "artifact_missing" in codes(found)


@pytest.mark.parametrize(
    "name", ["../../../../etc/passwd", "/etc/passwd", "C:\\x", "a" * 64 + "/.."]
)
def test_a_name_in_a_file_never_becomes_a_path(kept: Kept, name: str) -> None:
    before = sorted(path.name for path in kept.folder.iterdir())
    place = next(iter(artifacts(kept).values()))
    lines = list(kept.lines)
    said = json.loads(lines[place])
    said["artifact"]["sha256"] = name
    lines[place] = json.dumps(said, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    found = judge(kept, with_header(lines))
    assert found.verdict.verdict == "tampered"
    after = sorted(path.name for path in kept.folder.iterdir())
    assert set(after) - set(before) <= {"attacked.moot"}


# Re-chained by someone who holds keys.


def rechained(kept: Kept, event: int, change: Callable[[Body], Body], holding: set[str]) -> Lines:
    """One event changed and all later ones joined to it, signed where a key is at hand."""
    lines, start = list(kept.lines), kept.first()
    prev = None
    for seq in range(event, kept.count_events()):
        said = json.loads(lines[start + seq])
        body = msgspec.json.decode(base64.b64decode(said["payload"]), type=Body)
        body = change(body) if seq == event else msgspec.structs.replace(body, prev=prev)
        if body.actor.id in holding:
            record = seal(body, kept.signers[body.actor.id])
        else:
            raw = msgspec.json.encode(body, order="sorted")
            signature = base64.b64decode(said["signatures"][0]["sig"])
            record = Record(body.stream, body.seq, body.actor.kid, raw, signature)
        prev = record.hash.hex()
        lines[start + seq] = envelope(record) + b"\n"
    return with_header(lines)


def another_text(body: Body) -> Body:
    return msgspec.structs.replace(body, data={**body.data, "text": "something else"})


@pytest.mark.requirement("TRC-020", "TRC-053", "TRC-069")
def test_one_stolen_key_does_not_rewrite_history(kept: Kept) -> None:
    """Others signed what followed; the changed event stands before theirs."""
    claim = next(
        n
        for n in range(kept.count_events())
        if b"claim_issued" in base64.b64decode(json.loads(kept.lines[kept.first() + n])["payload"])
    )
    found = judge(kept, rechained(kept, claim, another_text, {AGENTS[Role.EXECUTOR]}))
    assert not found.holds
    assert found.verdict.verdict == "tampered"
    assert found.reports[0].verdict is AuditVerdict.FAIL
    assert "sig_invalid" in codes(found)
    assert (found.reports[0].first_bad or 0) > claim


def test_all_agents_keys_stolen_still_do_not_fit_the_checkpoint(kept: Kept) -> None:
    found = judge(kept, rechained(kept, 7, lambda body: body, set(AGENTS.values())))
    assert found.holds  # nothing was changed: the same bytes again
    found = judge(kept, rechained(kept, 6, another_text, set(AGENTS.values())))
    assert not found.holds
    assert found.verdict.verdict == "tampered"


def test_an_event_of_another_trace_does_not_fit_in(kept: Kept, tmp_path: Path) -> None:
    with open_trace_project(tmp_path, "lime-lynx") as project:
        project.begin()
        project.to_final()
        project.space.engine.checkpoint()
        other = keep(project, tmp_path)
    lines = list(kept.lines)
    lines[kept.first() + 3] = other.lines[other.first() + 3]
    found = judge(kept, with_header(lines))
    assert found.verdict.verdict == "tampered"
    assert not found.holds


def test_another_ledgers_trust_file_does_not_do(kept: Kept, tmp_path: Path) -> None:
    with open_trace_project(tmp_path, "lime-lynx") as project:
        project.begin()
        other = keep(project, tmp_path)
    found = judge(kept, list(kept.lines), other.trust)
    assert found.verdict.verdict == "unknown-key"
    assert found.reports[0].verdict is AuditVerdict.FAIL
    assert "key_unknown" in codes(found)


# Rightly signed and rightly chained, but against the rules: written past the machine.


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TraceProject]:
    with open_trace_project(tmp_path) as made:
        made.begin()
        yield made


def force(project: TraceProject, role: Role, event: Event) -> None:
    """Append an event with its author's own key, asking nobody."""
    space = project.space
    with space.store.write() as change:
        (*_, last) = change.records(project.stream)
        binding = project.state.binding_of(role)
        assert binding is not None
        held = space.keys.find(binding.agent, binding.kid)
        assert held is not None
        body = msgspec.structs.replace(
            last.body,
            seq=last.seq + 1,
            prev=last.hash.hex(),
            key=None,
            type=MACHINE.type_of[type(event)],
            actor=msgspec.structs.replace(
                last.body.actor, id=binding.agent, epoch=binding.epoch, kid=binding.kid, role=None
            ),
            data=msgspec.to_builtins(event),
            artifacts=(),
        )
        change.append([RecordToAppend(seal(body, held.signer), None)])
    space.engine._replay.clear_cache()


ENDED = did.ToolExecutionCompleted(
    execution_id="x1",
    intent_id="i1",
    input_artifact="0" * 64,
    outputs=(),
    result=ExecutionResult(exit_status=0, duration_ms=1),
)
STARTED = did.ToolExecutionStarted(execution_id="x1", intent_id="i1", input_artifact="0" * 64)
CLAIMED = did.ClaimIssued(claim_id="c1", text="t", confidence="1", evidence=("0" * 64,))
FINAL = did.FinalStatementSigned(statement="s", claims=())
REVIEWED = did.ProposalReviewed(proposal_id="p1", status=Review.APPROVED, rationale="mine")
PROPOSED = did.ProposalCreated(
    proposal_id="p1",
    objective="o",
    assumptions=("a",),
    required_tools=("t",),
    expected_evidence=("e",),
)


@pytest.mark.parametrize(
    ("role", "written", "code"),
    [
        pytest.param(
            Role.EXECUTOR,
            (STARTED,),
            "ordering_violation",
            marks=pytest.mark.requirement("TRC-021"),
        ),
        pytest.param(
            Role.EXECUTOR, (ENDED,), "ordering_violation", marks=pytest.mark.requirement("TRC-017")
        ),
        pytest.param(
            Role.EXECUTOR, (CLAIMED,), "claim_unproven", marks=pytest.mark.requirement("TRC-022")
        ),
        pytest.param(
            Role.EXECUTOR,
            (FINAL, FINAL),
            "finalization_invalid",
            marks=pytest.mark.requirement("TRC-023"),
        ),
        pytest.param(
            Role.EXECUTOR,
            (PROPOSED,),
            "role_policy_violation",
            marks=pytest.mark.requirement("TRC-062"),
        ),
        pytest.param(
            Role.PLANNER,
            (PROPOSED, REVIEWED),
            "role_policy_violation",
            marks=pytest.mark.requirement("TRC-062"),
        ),
        pytest.param(
            Role.PLANNER,
            (CLAIMED,),
            "role_policy_violation",
            marks=pytest.mark.requirement("TRC-062"),
        ),
        pytest.param(
            Role.CRITIC, (FINAL,), "role_policy_violation", marks=pytest.mark.requirement("TRC-062")
        ),
    ],
)
def test_events_signed_past_the_rules_are_valid_bytes_and_a_failed_audit(
    project: TraceProject, tmp_path: Path, role: Role, written: tuple[Event, ...], code: str
) -> None:
    for event in written:
        force(project, role, event)
    project.space.engine.checkpoint()
    kept = keep(project, tmp_path)
    found = judge(kept, list(kept.lines))
    assert found.verdict.verdict == "valid"
    assert not found.holds
    (report,) = found.reports
    assert report.verdict is AuditVerdict.FAIL
    assert code in report.failed_codes()
    assert report.first_bad is not None


@pytest.mark.requirement("TRC-020")
def test_an_event_of_a_revoked_key_is_not_believed(project: TraceProject, tmp_path: Path) -> None:
    from moot.engine.registry_commands import current_heads, find_agent, revoke

    project.approved()
    space = project.space
    ref, data = current_heads(space.engine)
    space.artifacts.put(data, ref.media_type)
    revoke(space.engine, find_agent(space.engine, AGENTS[Role.EXECUTOR]).kid, "stolen", ref)
    force(project, Role.EXECUTOR, FINAL)
    space.engine.checkpoint()
    kept = keep(project, tmp_path)
    found = judge(kept, list(kept.lines))
    assert found.verdict.verdict == "unknown-key"
    assert found.reports[0].verdict is AuditVerdict.FAIL
    assert "key_revoked" in codes(found) | {one.code for one in found.verdict.findings}


def test_an_auditor_with_a_key_folder_of_its_own_believes_the_workspace(
    project: TraceProject, tmp_path: Path
) -> None:
    """Nothing is pinned there yet: that is no reason to fail what others did."""
    project.to_final()
    auditor = KeyFolder(tmp_path / "auditor")
    for file in project.keys.rglob("*"):
        if file.is_file() and file.name != "trust.json":
            place = auditor.path / file.relative_to(project.keys)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
            place.chmod(0o600)
    with Workspace(project.space.path, auditor) as space:
        done = auditing.audit_trace(space, project.stream, AUDITOR, Profile.DEFAULT)
    assert done.report.verdict is AuditVerdict.PASS


def _to(project: TraceProject, stage: Stage) -> None:
    """As far as a stage, with real events."""
    if stage is Stage.PLANNING:
        return
    if stage is Stage.REVIEWING:
        project.ask(Role.PLANNER, PROPOSE)
    elif stage is Stage.EXECUTING:
        project.approved()
    elif stage is Stage.CLAIMING:
        project.execute_intent(project.script("print(1)"))
    else:
        project.to_final()
    if stage is Stage.COMPLETED:
        auditing.audit_trace(project.space, project.stream, AUDITOR, Profile.DEFAULT)


PROPOSE = ask.CreateProposal(
    objective="o", required_tools=("t",), assumptions=("a",), expected_evidence=("e",)
)
STAGES = (
    Stage.PLANNING,
    Stage.REVIEWING,
    Stage.EXECUTING,
    Stage.CLAIMING,
    Stage.AUDITING,
    Stage.COMPLETED,
)


@pytest.mark.requirement("TRC-015", "TRC-069")
@pytest.mark.parametrize("stage", STAGES)
def test_a_changed_byte_fails_a_trace_wherever_it_stands(
    project: TraceProject, stage: Stage
) -> None:
    """E-22, E-23: told by the verification, for nothing can be appended to a broken chain."""
    _to(project, stage)
    assert project.state.stage is stage
    project.space.engine.checkpoint()
    first = f"{of(project.stream)} AND seq = 0"
    edit(
        project.space.path / "ledger.db",
        f"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '\"see\"', '\"sea\"') AS BLOB)"
        f" WHERE {first}",
    )
    other = reopened(project)
    length = other.length
    for role, command in (
        (Role.PLANNER, PROPOSE),
        (Role.EXECUTOR, ask.SignFinalStatement(statement="s")),
        (Role.AUDITOR, ask.StartVerification(profile="default")),
    ):
        with pytest.raises(MootError):
            other.ask(role, command)
    assert other.length == length
    how = CheckOptions(KeyFolder(project.keys))
    found = inspection.inspect_live(project.space.path, how, project.stream)
    assert (found.verdict.verdict, found.holds) == ("tampered", False)
    (report,) = found.reports
    assert (report.verdict, report.first_bad, report.last_trusted) == (AuditVerdict.FAIL, 0, None)
    other.space.close()


@pytest.mark.requirement("TRC-043", "TRC-061")
def test_an_audit_that_was_begun_and_never_ended_is_gone_on_with(project: TraceProject) -> None:
    from moot.protocols.trace.commands import StartVerification

    project.to_final()
    project.ask(Role.AUDITOR, StartVerification(profile="strict"))
    before = project.length
    done = auditing.audit_trace(project.space, project.stream, AUDITOR, Profile.DEFAULT)
    assert (done.run, done.report.profile) == ("v1", Profile.STRICT)
    assert project.length == before + 1
    assert done.report.events == before - 1
