"""`moot prompt`: one line for the prompt of a shell or tmux."""

from __future__ import annotations

from collections.abc import Iterable

from moot.api.presence import prompt as api
from moot.surfaces.terminal.derive import derive


@derive("prompt", api.prompt, says_if_old=True)
def prompt(seen: api.Prompt) -> Iterable[str]:
    """Print one line for a prompt: who you are, how many are here, what is due and what is new.

    Prints nothing outside of a workspace, or if there is nothing to report.

    Examples:
      PS1='$(moot prompt)'"$PS1"
      tmux set -g status-right '#(cd #{pane_current_path} && moot prompt)'
    """
    counts = ((seen.here, "here"), (seen.due, "due"), (seen.unread, "new"))
    parts = [f"{count} {word}" for count, word in counts if count]
    if seen.unguarded:
        parts.append(f"{seen.unguarded} unguarded")
    if seen.may_be_old:
        parts.append("may be old")
    parts = [*([seen.you] if seen.you else []), *parts]
    return [f"moot: {' · '.join(parts)}"] if parts else []
