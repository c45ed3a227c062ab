"""`moot doctor` (also `ledger doctor`) says what is wrong; `ledger rebuild` mends what can be
recomputed."""

from __future__ import annotations

from moot.api import ledger
from moot.core.plural import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint
from moot.surfaces.terminal.shell import Shell, command


def examine(shell: Shell) -> Answer:
    """Say what is wrong with this workspace and how to mend it. Repairs nothing.

    Looks at the ledger file, every chain of events, indexes, stored files, keys, git, the clock,
    the disk and the hooks of coding tools. The exit code is 1 if anything is seriously wrong.

    Examples:
      moot doctor
      moot doctor --json
      moot ledger doctor
    """
    seen = ledger.doctor(shell.session)
    lines = _diagnosis(seen)
    return Answer(seen, lambda: lines, DONE if seen.healthy else REFUSED)


# The same command under two names.
doctor = command(None, "doctor", "doctor")(examine)
ledger_doctor = command(None, "doctor", "ledger.doctor")(examine)


def _diagnosis(seen: ledger.Diagnosis) -> list[str]:
    lines = [finding_line(finding) for finding in seen.findings]
    end = paint("healthy", "green") if seen.healthy else paint("not healthy", "red")
    return [*lines, f"{end}: {seen.checked} things looked at, {len(lines) or 'none'} worth telling"]


@command(None, "rebuild", "ledger.rebuild")
def rebuild(shell: Shell) -> Answer:
    """Recompute every index and snapshot from the events; replace them if they differ.

    So is the tree of heads under the newest checkpoint, if that one signs its root; else nothing
    is changed. An index table that is missing is made anew, if the events are whole. Events are
    never touched. Signs of life and delivery cursors are kept: no event holds them.

    Examples:
      moot ledger rebuild
    """
    done = ledger.rebuild(shell.session)
    lines = [finding_line(finding) for finding in done.findings]
    counts = ((done.events, "event"), (done.rows, "index row"), (done.snapshots, "snapshot"))
    count = ", ".join(plural(*one) for one in counts)
    verdict = (
        f"{plural(len(lines), 'difference')} mended" if done.changed else "all as it should be"
    )
    return Answer(done, lambda: [*lines, f"{verdict}: {count}"])
