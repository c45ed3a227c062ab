"""`moot prompt`: one line for the prompt of a shell or tmux."""

from __future__ import annotations

from collections.abc import Iterable

from moot.api import prompt as api
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command


@command(None, "prompt", "prompt")
def prompt(shell: Shell) -> Answer:
    """One line for a prompt: who you are, how many are here, what is due and what is new.

    Nothing outside of a workspace, or where all is quiet.

    Examples:
      PS1='$(moot prompt)'"$PS1"
      tmux set -g status-right '#(cd #{pane_current_path} && moot prompt)'
    """
    seen = api.prompt(shell.session)
    return Answer(seen, lambda: _lines(seen), says_if_old=True)


def _lines(seen: api.Prompt) -> Iterable[str]:
    counts = ((seen.here, "here"), (seen.due, "due"), (seen.unread, "new"))
    parts = [f"{count} {word}" for count, word in counts if count]
    if seen.unguarded:
        parts.append(f"{seen.unguarded} unguarded")
    if seen.may_be_old:
        parts.append("may be old")
    parts = [*([seen.you] if seen.you else []), *parts]
    return [f"moot: {' · '.join(parts)}"] if parts else []
