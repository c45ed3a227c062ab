"""What an agent does: edits by its tool, tests, scripts, git, and commands that destroy."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bench.loss import tool_calls
from bench.loss.tool_calls import Call
from bench.loss.world import FILES, NEW_FILES, Agent, make_text

ALL: Final = (".",)


class Act(NamedTuple):
    """What a tool says it will do, and what it then does: a shell command, or one file in which
    `old` becomes `new` (the whole file if `old` is empty).

    `targets` are the files that it would reach. `text` is what a script writes. `is_script`: the
    command calls a script, which logs its own writes. `is_background`: the tool tells its end at
    once, and the command goes on.
    """

    kind: str
    call: Call
    command: str = ""
    path: str = ""
    old: str = ""
    new: str = ""
    targets: tuple[str, ...] = ()
    text: str = ""
    is_script: bool = False
    is_background: bool = False
    sub_agent: str = ""


class Scene(NamedTuple):
    """Who acts where, and which files it has edited and not yet committed."""

    agent: Agent
    root: Path
    own: tuple[str, ...]
    chance: random.Random

    @property
    def some_file(self) -> str:
        """Its own or any."""
        is_own = self.own and self.chance.random() < 0.4
        return self.chance.choice(self.own if is_own else (*FILES, *NEW_FILES))

    @property
    def word(self) -> str:
        """Bytes that nobody else has written; they begin with the writer's name."""
        return f"{self.agent.name}-{self.chance.getrandbits(64):016x}"


def choose_act(scene: Scene) -> Act:
    kind = scene.chance.choices(list(MIX), [often for often, _ in MIX.values()])[0]
    return MIX[kind][1](kind, scene)


def _edit(kind: str, scene: Scene) -> Act:
    """A line is replaced, or the whole file, by a tool that has just read it."""
    path, root, tool = scene.some_file, str(scene.root), scene.agent.tool
    file = scene.root / path
    try:
        first = file.read_text("utf-8").split("\n")[0]
    except OSError:
        first = ""
    if not first or scene.chance.random() < 0.4:
        text = make_text(scene.chance, scene.agent.name)
        call = tool_calls.write_call(tool, root, path, text)
        return Act(kind, call, path=path, new=text, targets=(path,))
    line = f"{scene.agent.name} {scene.chance.getrandbits(64):016x}"
    call = tool_calls.edit_call(tool, root, path, first, line)
    return Act(kind, call, path=path, old=first, new=line, targets=(path,))


def _edit_by_sub_agent(kind: str, scene: Scene) -> Act:
    act = _edit(kind, scene)
    return act._replace(sub_agent="one") if scene.agent.tool == "claude" else act


def _harmless(kind: str, scene: Scene) -> Act:
    return _shell(kind, scene, scene.chance.choice(_HARMLESS).format(file=scene.some_file))


def last_look(scene: Scene) -> Act:
    """Return a command that changes nothing, after which Moot looks at the worktree."""
    return _shell("harmless command", scene, "make --version")


def _slow_tests(kind: str, scene: Scene) -> Act:
    return _shell(kind, scene, scene.chance.choice(("make test", "sh tools/test.sh")))


def _script(kind: str, scene: Scene) -> Act:
    command = _SCRIPTS[kind]
    targets: tuple[str, ...] = ("src/f0.txt", "docs/f0.txt")
    if "{file}" in command:
        path = scene.some_file
        command, targets = command.format(file=path), (path,)
    act = _shell(kind, scene, command)._replace(targets=targets, text=scene.word, is_script=True)
    if kind != "script in the background":
        return act
    call = act.call._replace(input={**act.call.input, "run_in_background": True})
    return act._replace(call=call, is_background=True)


def _destructive(_kind: str, scene: Scene) -> Act:
    path = scene.some_file
    there = [name for name in FILES if (scene.root / name).is_file() and name != path]
    command = scene.chance.choice(DESTRUCTIVE)
    words = {
        "file": path,
        "name": os.path.basename(path),
        "folder": os.path.dirname(path),
        "beside": scene.chance.choice(there or [path]),
        "word": scene.word,
    }
    targets: tuple[str, ...] = (
        ALL if "{file}" not in command and "{name}" not in command else (path,)
    )
    if "mv {beside}" in command:
        targets = (path, words["beside"])
    if command == "rm -rf {folder}":
        targets = (words["folder"],)
    return _shell(command, scene, command.format(**words))._replace(targets=targets)


def _commit(kind: str, scene: Scene) -> Act:
    """Just its own files, as every guide says."""
    own = [path for path in scene.own if (scene.root / path).is_file()]
    if not own:
        return _edit("edit", scene)
    names = " ".join(own)
    command = f"git add -- {names} && git commit -qm '{scene.word}' -- {names}"
    return _shell(kind, scene, command)._replace(targets=tuple(own))


def _shell(kind: str, scene: Scene, command: str) -> Act:
    return Act(kind, tool_calls.shell_call(scene.agent.tool, command), command=command)


_HARMLESS: Final = (
    "ls -la",
    "git status --short",
    "git diff",
    "cat {file}",
    "grep -rn committed . | head -5",
    "python3 -c \"print(open('{file}').read())\"",
    "rm -rf build",
    "git log --oneline -3",
    "wc -l < {file}",
    "sort {file} | uniq -c > /dev/null",
    "sed -n 1,5p {file}",
)
_SCRIPTS: Final = {
    "script that names the file": "sh tools/format.sh {file}",
    "script that removes the file": "sh tools/prune.sh {file}",
    "script that names nothing": "sh tools/generate.sh",
    "script in the background": "sh tools/format.sh {file}",
}
DESTRUCTIVE: Final = (
    "git checkout -- .",
    "git checkout -- {file}",
    "git restore {file}",
    "git reset --hard",
    "git stash",
    "git clean -fd",
    "git add -A && git commit -qm '{word}'",
    "rm -f {file}",
    "rm -rf {folder}",
    "find {folder} -name '{name}' -delete",
    "mv {beside} {file}",
    "cp {beside} {file}",
    "echo {word} > {file}",
    "echo {word} >> {file}",
    "sed -i '1s/.*/{word}/' {file}",
    "python3 -c \"open('{file}', 'w').write('{word}')\"",
)
# How often each kind comes, and what makes it.
MIX: Final[Mapping[str, tuple[int, Callable[[str, Scene], Act]]]] = {
    "edit": (40, _edit),
    "edit by a sub-agent": (5, _edit_by_sub_agent),
    "slow tests": (14, _slow_tests),
    "harmless command": (10, _harmless),
    "script that names the file": (5, _script),
    "script that removes the file": (2, _script),
    "script that names nothing": (3, _script),
    "script in the background": (3, _script),
    "destructive command": (10, _destructive),
    "commit of its own files": (8, _commit),
}
HARMLESS_KINDS: Final = frozenset({"slow tests", "harmless command"})
EDIT_KINDS: Final = frozenset({"edit", "edit by a sub-agent"})
