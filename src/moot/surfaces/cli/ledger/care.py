"""`moot ledger doctor` and `rebuild`: saying what is wrong, and mending what can be recomputed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.core.plural import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.findings import Finding


@command(None, "doctor", "ledger.doctor")
def doctor(shell: Shell) -> Answer:
    """Say what is wrong with this workspace and how to mend it. Repairs nothing.

    Looks at the ledger file, every chain of events, indexes, stored files, keys, git, the clock,
    the disk and the hooks of coding tools. The exit code is 1 if anything is seriously wrong.

    Examples:
      moot ledger doctor
      moot ledger doctor --json
    """
    from moot.core.clock import system_clock
    from moot.core.findings import errors
    from moot.flows.tools.hook_health import live
    from moot.workspace.doctor import RULES, examine

    findings = examine(shell.found, shell.folder, system_clock())
    findings += live(Path.cwd(), shell.env, shell.home)
    healthy = not errors(findings)
    data = {
        "healthy": healthy,
        "checked": len(RULES),
        "findings": msgspec.to_builtins(findings),
    }
    lines = _diagnosis(findings, healthy, len(RULES))
    return Answer(data, lambda: lines, DONE if healthy else REFUSED)


def _diagnosis(findings: Iterable[Finding], healthy: bool, checked: int) -> list[str]:
    said = [finding_line(finding) for finding in findings]
    end = paint("healthy", "green") if healthy else paint("not healthy", "red")
    return [*said, f"{end}: {checked} things looked at, {len(said) or 'none'} worth telling"]


@command(None, "rebuild", "ledger.rebuild")
def rebuild(shell: Shell) -> Answer:
    """Recompute every index and snapshot from the events; replace them if they differ.

    So is the tree of heads under the newest checkpoint, if that one signs its root; else nothing
    is changed. Events are never touched. Signs of life and delivery cursors are kept: no event
    holds them.

    Examples:
      moot ledger rebuild
    """
    done = shell.workspace.engine.rebuild()
    changed = bool(done.differences)
    data = {
        "changed": changed,
        "events": done.events,
        "rows": done.rows,
        "words": done.words,
        "snapshots": done.snapshots,
        "findings": msgspec.to_builtins(done.differences),
    }
    said = [finding_line(finding) for finding in done.differences]
    counts = ((done.events, "event"), (done.rows, "index row"), (done.snapshots, "snapshot"))
    count = ", ".join(plural(*one) for one in counts)
    verdict = f"{plural(len(said), 'difference')} mended" if changed else "all as it should be"
    return Answer(data, lambda: [*said, f"{verdict}: {count}"])
