"""The command line that a tool runs at each of its events, as it is in the tool's settings.

    here      names this installation of moot by its absolute path, and its workspace; it starts
              the thin client (`surfaces/hooks/thin.py`), which asks the `moot run` that started
              the tool, if there is one
    any       the same for settings that apply to all of a user's projects: it looks for a workspace
    shared    names only `moot`: for settings that are committed with the project

Before an edit the hook fails closed: if moot cannot start or fails, the edit is refused if there is
a workspace, or if this user's key folder says that there was one. A colleague who has neither can
edit. At every other event a failure is ignored: measured, Gemini CLI would otherwise drop results
or loop. Before a change of settings (`ConfigChange`) only exit code 2 counts: it means that the
change would remove our entries.

No command contains `${...}`: Gemini CLI expands it itself, without support for nesting, and what is
left is not a valid shell command. So known paths are written literally, and the others as plain
`$NAME`, which Gemini CLI and the shell expand alike.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from moot.coding_tools import find_tool
from moot.coding_tools.tool import HookMoment

THIN_CLIENT: Final = "surfaces/hooks/thin.py"
_PACKAGE: Final = Path(os.path.abspath(__file__)).parents[1]
FAILED: Final = "echo 'moot hook failed' >&2; exit 2"
# Where a user's keys may be; missing folders are skipped.
_KEY_FOLDERS: Final = (
    '"$MOOT_KEYS"',
    '"$XDG_DATA_HOME"/moot/keys',
    '"$HOME"/.local/share/moot/keys',
    '"$HOME/Library/Application Support/moot/keys"',
)
_KEYS_OF_LEDGER: Final = re.compile(r"\|\| \[ -e [^|]*/([\w.-]++)'? \] \|\| exit 0")
_TESTS: Final = {"-x": os.X_OK, "-r": os.R_OK}


class Workspace(NamedTuple):
    """How a command detects that there is or was a workspace: its folder, and its ledger's id in
    the user's key folder. Comparing commands (`without_key_folder`) does not need that folder."""

    folder: Path
    ledger: str
    keys: str = ""


def moot_words() -> tuple[str, ...]:
    """Return the words that start this installation of moot, whatever is on PATH.

    The script that was installed with this Python, or the one that was started; else the module,
    by a Python that does not search the current folder for modules.
    """
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    folders = dict.fromkeys(sysconfig.get_path("scripts", scheme) for scheme in schemes)
    for script in (*(os.path.join(folder, "moot") for folder in folders), sys.argv[0]):
        if os.path.basename(script) == "moot" and _is_program(script):
            return (os.path.abspath(script),)
    return (sys.executable, "-P", "-m", "moot")


def hook_words(tool: str) -> tuple[str, ...]:
    """Return the words that start our hook: the thin client, with this Python.

    If the client is not a separate file (in an archive), the whole of moot.
    """
    thin = str(_PACKAGE / THIN_CLIENT)
    if sys.executable and os.path.isfile(thin):
        return (sys.executable, "-I", "-S", thin, tool)
    return (*moot_words(), "hook", tool)


def hook_command(tool: str, event: str, workspace: Workspace | None) -> str:
    """Return the hook's command line. Without `workspace`, it searches for one if it fails."""
    start = _start(hook_words(tool))
    if not _is_before(tool, event):
        return f"{start} || {_after_failure(tool, event)}"
    if workspace is None:
        return f"{start} || {{ {_fail_near_a_workspace()}; exit 0; }}"
    ledger = shlex.quote(f"{workspace.keys}/{workspace.ledger}")
    there = f"[ -e {shlex.quote(str(workspace.folder))} ] || [ -e {ledger} ]"
    return f"{start} || {{ {there} || exit 0; {FAILED}; }}"


def shared_hook_command(tool: str, event: str) -> str:
    """Return the command line for everyone; it does nothing without a workspace and moot."""
    start = f"command -v moot >/dev/null 2>&1 && moot hook {tool}"
    if not _is_before(tool, event):
        return f"{start} || {_after_failure(tool, event)}"
    return f"{start} || {{ {_fail_near_a_workspace()}; exit 0; }}"


def without_key_folder(text: str) -> str:
    """Return a command, or a plugin with one in it, without the name of the user's key folder.

    Under `moot run` a tool sees a temporary key folder; the command must still compare equal."""
    return _KEYS_OF_LEDGER.sub(r"|| [ -e \1 ] || exit 0", text)


def first_hook_command(tool: str, event: str) -> str:
    """Return the command as the first release wrote it; valid until the next installation."""
    if _is_before(tool, event):
        return f"moot hook {tool} || {{ {FAILED}; }}"
    return f"moot hook {tool} || true"


def missing_file(command: str, search_path: str | None) -> str | None:
    """Return the missing file that one of our commands starts; None if it can start."""
    words = list(_split_words(command))
    if words[0] != "[":
        return None if shutil.which("moot", path=search_path) else "moot"
    while words[0] == "[":
        _, test, file, *words = words
        if not os.path.isfile(file) or not os.access(file, _TESTS[test]):
            return file
        words = words[2:]  # the closing bracket, and &&
    return None


def is_ours(tool: str, command: str) -> bool:
    """Return True for every command that any release installed for a tool."""
    try:
        words = _split_words(command)
    except ValueError:
        return False
    if words[:3] == ("moot", "hook", tool):
        return True
    begins_like_ours = words[:2] == ("[", "-x") or words[:3] == ("command", "-v", "moot")
    calls = zip(words, words[1:], words[2:], strict=False)
    return begins_like_ours and any(
        (os.path.basename(one) == "moot" and (two, three) == ("hook", tool))
        or (one == "-S" and two.endswith(f"/{THIN_CLIENT}") and three == tool)
        for one, two, three in calls
    )


@lru_cache(maxsize=64)
def _split_words(command: str) -> tuple[str, ...]:
    """Split a command into words; cached, because a tool's events share a few commands."""
    return tuple(shlex.split(command))


def _start(words: tuple[str, ...]) -> str:
    """Print nothing if the program is missing, or moot was removed from that Python."""
    program, *files = (word for word in words if os.path.isabs(word))
    tests = [f"[ -x {shlex.quote(program)} ]", *(f"[ -r {shlex.quote(each)} ]" for each in files)]
    return " && ".join((*tests, shlex.join(words)))


def _is_before(tool: str, event: str) -> bool:
    return find_tool(tool).events[event] is HookMoment.BEFORE


def _after_failure(tool: str, event: str) -> str:
    """Return what runs after a failed hook, at events that can stop only a change of settings."""
    is_refusal = find_tool(tool).events[event] is HookMoment.CONFIG_CHANGE
    return "[ $? -ne 2 ] || exit 2" if is_refusal else "true"


def _fail_near_a_workspace() -> str:
    """Search upwards from here, and from the folder that all worktrees of the repository share.

    The text is the same on every platform, because colleagues may use another one. No environment
    has a variable of this name, so Gemini CLI leaves it to the shell.
    """
    shared = 'cd "$(git rev-parse --git-common-dir 2>/dev/null || echo .)" && pwd -P'
    made_in = " ".join(f"{folder}/*/made-in" for folder in _KEY_FOLDERS)
    return (
        f'for moot_d in "$(pwd -P)" "$({shared})"; do'
        ' while [ -n "$moot_d" ] && [ "$moot_d" != / ]; do'
        ' if [ -n "$MOOT_HOME$MOOT_AGENT" ] || [ -e "$moot_d/.moot" ]'
        f' || grep -qxFse "$moot_d" {made_in}; then {FAILED}; fi;'
        ' moot_d=$(dirname "$moot_d"); done; done'
    )


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
