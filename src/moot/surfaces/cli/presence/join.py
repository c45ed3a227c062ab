"""`moot join` (also `bb-init`): start a session under a name of its own, or go on with one.

Every way to start has its flag (OPR-098).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.api.session import settings_for
from moot.core.errors import Refused
from moot.core.findings import Finding, Severity
from moot.protocols.presence import STREAM, codec, recommendation
from moot.protocols.presence.recommendation import Recommendation
from moot.surfaces.cli.presence.from_root import misread
from moot.surfaces.cli.presence.here import Here
from moot.surfaces.cli.presence.scope_hints import hinted
from moot.surfaces.terminal.answer import Answer, findings_json, remarks
from moot.surfaces.terminal.people import a_person, require_own
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.machine import Command
    from moot.core.signing import Signer
    from moot.protocols.presence.commands import Evidence


# OPR-081, OPR-083, OPR-082: the three ways of the document.
@click.option("--non-interactive", is_flag=True, help="Never ask; fail if a choice is owed.")
@click.option("--register", metavar="NAME", help="Start under this new name.")
@click.option("--adopt", metavar="AGENT", help="Go on as this agent, if work is left.")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Where you will work.")
@click.option("--work", "--bead", "work", metavar="ID", help="On what (default: the branch).")
def join_answer(
    shell: Shell,
    non_interactive: bool,
    register: str | None,
    adopt: str | None,
    scopes: tuple[str, ...],
    work: str | None,
) -> Answer:
    """Join the work in this repository under a name of your own.

    Without options: a made-up name if nothing unfinished could be continued; else you choose.
    Adopting is possible only if files in that agent's scope are uncommitted, or it owns a work
    item in progress.

    Examples:
      moot join
      moot join --register amber-otter --scope src/auth
      moot join --adopt amber-otter
      bb-init --non-interactive --json
    """
    if register is not None and adopt is not None:
        raise click.UsageError("--register and --adopt exclude each other")
    asking = not non_interactive and shell.interactive()  # OPR-084
    session = _Session(shell, scopes, work, asking)
    if register is not None:
        if shell.acting not in (None, register):
            shell.actor(register)
        return session.start(register, recommendation.recommend_register(register))
    if adopt is not None:
        require_own(shell, adopt)
        return session.go_on(adopt, recommendation.recommend_adoption(adopt))
    return session.choose()


class _Session:
    """One start: where, on what, and whether a person can be asked."""

    def __init__(self, shell: Shell, scopes: tuple[str, ...], work: str | None, asking: bool):
        from moot.flows.presence import arrival

        self._arrival = arrival
        self.shell = shell
        self.here = Here(shell)
        self.scopes = scopes
        self.work = work
        self.asking = asking
        self.place = self.here.place(work)

    def choose(self) -> Answer:
        """Nobody said what to do: a name already acting joins; else B-22 decides."""
        if self.shell.acting:
            return self.start(
                self.shell.acting, recommendation.recommend_register(self.shell.acting)
            )
        found = self._arrival.candidates(
            self.here.space, self.place._replace(work=self.work), self._evidence(), self.scopes
        )
        advice = recommendation.recommend_start(found, self._fresh_name())
        if advice.finding is None:
            return self._start_anew(lambda name: recommendation.recommend_start((), name))
        if not self.asking:
            raise _choice_owed(advice)
        return self._ask(advice)

    def start(self, name: str, advice: Recommendation) -> Answer:
        """Register (unless this very name acts already) and join."""
        space = self.here.space
        known = space.engine.registry().agents.get(name)
        if known is None or name != self.shell.acting:
            self._require_welcome(name)
            self._arrival.enter(space, name)
        return self._begin(name, advice)

    def _start_anew(self, advise: Callable[[str], Recommendation]) -> Answer:
        """Under a made-up name: the one proposed may be taken before we have it."""
        space = self.here.space
        self._require_welcome(self._fresh_name())
        name = self._arrival.enter_fresh(space)
        return self._begin(name, advise(name))

    def _require_welcome(self, name: str) -> None:
        with hinted(self.here, self.scopes, "join --scope"):
            self._arrival.require_welcome(self.here.space, name, self.place, *self._wanted())

    def _begin(self, name: str, advice: Recommendation) -> Answer:
        outcome = self._arrival.join(self.here.space, name, self.place)
        reserved = self._reserve(name)
        found = [*outcome.findings, *self.here.remarks, *misread(self.scopes, self.here)]
        data = {
            "agent": name,
            "session_agent_id": name,
            "logical_agent_id": name,
            "epoch": self.here.space.engine.registry().agents[name].epoch,
            "adopted": False,
            "reserved": reserved,
            "recommendation": _shown(advice),
            "event": None,
            "findings": findings_json(found),
        }
        return Answer(data, lambda: [*_started(name, reserved), *remarks(found)])

    def go_on(self, name: str, advice: Recommendation) -> Answer:
        """Adopt; at a terminal a rejected adoption may name a scope or work item (B-32)."""
        space, place = self.here.space, self.place._replace(work=self.work)
        seen = self._evidence()
        try:
            self._arrival.require_adoptable(space, name, place, seen, self.scopes)
        except Refused as refused:
            if refused.code != "adoption_rejected" or not self.asking:
                raise
            if not self._more(refused, seen):
                raise
            place = self.place._replace(work=self.work)
        endorser = self._endorser(name)
        outcome = self._arrival.adopt(space, name, place, seen, self.scopes, endorser)
        resumed = outcome.recorded[0]
        document = codec.make_document(codec.make_envelope(resumed))
        data = {
            "agent": name,
            "session_agent_id": name,
            "logical_agent_id": name,
            "epoch": resumed.actor.epoch,
            "adopted": True,
            "prior_liveness": resumed.event.prior_liveness,
            "recommendation": _shown(advice),
            "event": document,
            "findings": findings_json(outcome.findings),
        }
        said = f"you go on as {name}: {resumed.event.evidence}"
        lines = [said, _export(name, resumed.actor.epoch)]
        return Answer(data, lambda: [*lines, *remarks(outcome.findings)])

    def _ask(self, advice: Recommendation) -> Answer:
        names = [one.agent for one in advice.candidates]
        for one in advice.candidates:
            click.echo(f"  {one.agent}: {one.evidence}", err=True)
        chosen = click.prompt(
            "go on as one of these, or start anew?",
            type=click.Choice([*names, "new"]),
            default="new",
            err=True,
        )
        if chosen == "new":
            return self._start_anew(recommendation.recommend_register)
        return self.go_on(chosen, recommendation.recommend_adoption(chosen))

    def _more(self, refused: Refused, seen: Evidence) -> bool:
        """Let a person name what is unfinished; the conditions are then judged again."""
        for finding in refused.findings:
            click.echo(f"  {finding.message}", err=True)
        said: str = click.prompt(
            "a scope or work item of that session (empty: give up)",
            default="",
            show_default=False,
            err=True,
        )
        if said.strip() in {bead.id for bead in seen.beads or ()}:
            self.work = said.strip()
        elif said.strip():
            self.scopes = (*self.scopes, said.strip())
        return bool(said.strip())

    def _endorser(self, name: str) -> Signer:
        known = self.here.space.engine.registry().agents[name]
        held = self.here.space.keys.find(name, known.kid)
        signer = held.signer if held is not None else a_person(self.shell)
        if signer is None:
            raise Refused(
                "not_endorsed",
                f"neither {name}'s old key nor a person's key is here",
                hint="run this where the old key is, or let a person unlock theirs",
            )
        return signer

    def _evidence(self) -> Evidence:
        return self._arrival.evidence(self.here.worktree)

    def _fresh_name(self) -> str:
        from moot.protocols.presence import agent_names

        space = self.here.space
        return agent_names.make_fresh_name(str(space.root), space.engine.registry().agents)

    def _reserve(self, name: str) -> list[str]:
        """An overlap comes after the name was given: say that it was."""
        try:
            with hinted(self.here, self.scopes):
                for asked in self._wanted():
                    self.here.space.engine.execute(STREAM, asked, name)
        except Refused as refused:
            hint = f"you have joined (`{_export(name)}`), without it: {refused.hint}"
            raise Refused(
                refused.code, str(refused), hint=hint, findings=refused.findings
            ) from None
        return list(self.scopes)

    def _wanted(self) -> list[Command]:
        return [self.here.reserving(self.scopes, self.work)] if self.scopes else []


def _choice_owed(advice: Recommendation) -> Refused:
    first = advice.finding
    assert first is not None
    rest = [
        Finding(
            rule="B-22",
            code="candidate",
            severity=Severity.INFO,
            message=one.evidence,
            where=one.agent,
            hint=f"moot join --adopt {one.agent}",
        )
        for one in advice.candidates
    ]
    reason = f"{first.message} [{advice.reason}]"
    return Refused(first.code, reason, hint=first.hint, findings=[first, *rest])


def _shown(advice: Recommendation) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(advice)
    return shown


def _started(name: str, reserved: list[str]) -> Iterable[str]:
    yield f"you are {name}"
    if reserved:
        yield f"{name} holds {', '.join(reserved)}"
    yield _export(name)


def _export(name: str, epoch: int = 1) -> str:
    told = " ".join(f"{key}={value}" for key, value in settings_for(name, epoch).items())
    return f"export {told}"


join = command(None, "join", "join")(join_answer)
