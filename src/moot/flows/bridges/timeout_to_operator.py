"""A debate whose turn timed out waits for a person: BLOCKED to the operator, urgent (FLO-04)."""

from __future__ import annotations

import shlex

from moot.core.errors import Refused
from moot.flows.bridges import sources
from moot.flows.bridges.liveness import alive
from moot.flows.bridges.steps import TakenStep
from moot.flows.bridges.to_mail import send_notice
from moot.protocols.debate import events as did
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.mail.body_writer import write_blocked_body
from moot.workspace.workspace import Workspace

FLOW = "timeout-to-operator"


def timeout_to_operator(workspace: Workspace, named: str, asked_by: str) -> TakenStep:
    begun, path = sources.debate(workspace, named, did.SessionBegan)
    stream, file = begun.source.stream, shlex.quote(str(path))
    workspace.engine.tick(stream)
    flow_source, _ = sources.debate(workspace, named, did.TurnTimedOut)
    state = workspace.engine.state(DEBATE, stream)
    if not workspace.engine.registry().human_keys():
        raise Refused(
            "nobody_to_tell",
            "no person is registered here",
            hint="`moot agent register operator --human` makes one",
        )
    late = _late(workspace, flow_source.source.seq, stream)
    how = "; ".join(
        f"{name} is {verdict.liveness}" for name, verdict in alive(workspace, late).items()
    )
    body = write_blocked_body(
        item=state.session_id,
        blocker=f"{', '.join(late)} did not speak in time in {flow_source.title!r}. {how}".strip(),
        kind="Dependency",
        needed=(
            f"moot debate resume {file} --late gives the time again, --skip passes over; "
            f"moot debate close {file} --reason TEXT ends it"
        ),
    )
    subject = f"BLOCKED: {' '.join(flow_source.title.split())}"[:200]
    return send_notice(
        workspace, FLOW, flow_source, asked_by, (), subject, body, importance="urgent"
    )


def _late(workspace: Workspace, seq: int, stream: str) -> list[str]:
    with workspace.store.read() as view:
        record = next(view.records(stream, after=seq - 1))
    return [str(name) for name in record.body.data["agents"]]
