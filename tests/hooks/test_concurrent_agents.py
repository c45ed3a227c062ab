"""Several agents at the same time, as real processes: nobody innocent is on record, and
every foreign change of what somebody holds is told to its holder. The whole of it is
`make bench-loss`.

Each write has bytes of its own, so that its author is known afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moot.system.git_objects import blob_id
from tests.hooks.tool_calls import call
from tests.project import OTTER, Project

AGENTS = ("amber-otter", "teal-crane", "gray-heron", "coral-finch")
STEPS = 6
SECONDS = 240

# One agent's tool in a process of its own: hooks are real processes, too.
WORKER = """
import json, os, random, subprocess, sys
name, root, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance, own = random.Random(name), f"of-{name}.txt"
written = []

def hook(event, tool, sent, number):
    said = {"session_id": f"s-{name}", "cwd": root, "hook_event_name": event, "tool_name": tool,
            "tool_input": sent, "tool_use_id": f"{name}-{number}"}
    done = subprocess.run([sys.executable, "-P", "-m", "moot", "hook", "claude"], cwd=root,
                          input=json.dumps(said).encode(), capture_output=True, timeout=120,
                          env={**os.environ, "MOOT_AGENT": name})
    return done.stdout.decode()

others = sorted(set(sys.argv[4].split(",")) - {name})
hook("PreToolUse", "Write", {"file_path": f"{root}/{own}", "content": "0"}, "first")
open(f"{root}/{own}", "w").write("0")
hook("PostToolUse", "Write", {"file_path": f"{root}/{own}", "content": "0"}, "first")
for number in range(steps):
    kind = ("edit", "tests", "script")[number % 3]
    text = f"{name} {kind} {number} {chance.getrandbits(64):x}"
    if kind == "edit":
        sent = {"file_path": f"{root}/{own}", "content": text}
        if "block" in hook("PreToolUse", "Write", sent, number):
            continue
        open(f"{root}/{own}", "w").write(text)
        hook("PostToolUse", "Write", sent, number)
        written.append(["own", own, text])
        continue
    sent = {"command": "python -m pytest -q" if kind == "tests" else "sh write.sh"}
    hook("PreToolUse", "Bash", sent, number)
    subprocess.run([sys.executable, "-c", "pass"], cwd=root, check=True, timeout=60)
    if kind == "script":
        target = f"of-{chance.choice(others)}.txt"
        if os.path.exists(f"{root}/{target}"):
            open(f"{root}/{target}", "w").write(text)
            written.append(["foreign", target, text])
    hook("PostToolUse", "Bash", sent, number)
print(json.dumps(written))
"""


def work(project: Project, name: str, script: Path) -> list[list[str]]:
    words = [sys.executable, str(script), name, str(project.root), str(STEPS), ",".join(AGENTS)]
    done = subprocess.run(
        words, env=project.env, capture_output=True, check=True, timeout=SECONDS, cwd=project.root
    )
    made: list[list[str]] = json.loads(done.stdout)
    return made


def test_nobody_innocent_is_on_record_and_every_holder_is_told(
    project: Project, tmp_path: Path
) -> None:
    for name in AGENTS[2:]:
        project.ok("agent", "register", name)
    script = tmp_path / "worker.py"
    script.write_text(WORKER, encoding="utf-8")
    with ThreadPoolExecutor(len(AGENTS)) as pool:
        made = list(pool.map(lambda name: work(project, name, script), AGENTS))
    authors = {
        blob_id(text.encode()): name
        for name, writes in zip(AGENTS, made, strict=True)
        for _kind, _file, text in writes
    }
    assert sum(kind == "foreign" for writes in made for kind, *_ in writes) >= 4
    for noted in project.events("INCURSION"):
        assert authors.get(noted["payload"].get("blob_after")) == noted["from_agent"]
    told = {agent: project.told_changes(agent) for agent in AGENTS}
    for changes in told.values():
        for who, _path, _before, after in changes:
            assert who in ("", authors.get(after, who)), "the only one known was not the one"
    for name, writes in zip(AGENTS, made, strict=True):
        for kind, file, text in writes:
            on_disk = (project.root / file).read_text("utf-8") == text
            holder = file.removeprefix("of-").removesuffix(".txt")
            seen = blob_id(text.encode()) in {after for *_, after in told[holder]}
            if kind == "foreign" and on_disk:
                assert seen, f"{name} overwrote {file} and {holder} was not told"


# Eight hooks at once on one file: exactly one owner.

EIGHT = tuple(f"calm-otter{number}" for number in range(8))


@pytest.mark.requirement("GRD-003")
def test_of_eight_agents_that_write_at_once_exactly_one_may(project: Project) -> None:
    for agent in EIGHT:
        project.ok("agent", "register", agent)
    said = call("claude-write", project.root)
    children = [project.start_hook("claude", said, agent) for agent in EIGHT]
    answers = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0] * len(EIGHT)
    allowed = [agent for agent, out in zip(EIGHT, answers, strict=True) if not out]
    assert len(allowed) == 1
    assert project.owners() == {"a.txt": allowed[0]}
    assert len(project.events("INCURSION")) == len(EIGHT) - 1


def test_sessions_that_start_at_once_all_get_a_name_of_their_own(project: Project) -> None:
    calls = [call("claude-start", project.root, session_id=f"s{number}") for number in range(8)]
    children = [project.start_hook("claude", said, None) for said in calls]
    answers = [child.communicate(timeout=120)[0].decode() for child in children]
    names = {out.split()[2] for out in answers}
    assert len(names) == len(calls)
    assert {member.name for member in project.presence.members} == names


def test_of_six_sub_agents_of_one_session_that_write_at_once_exactly_one_may(
    project: Project,
) -> None:
    ids = [f"sub{number}" for number in range(6)]
    calls = [call("claude-subagent", project.root, agent_id=one) for one in ids]
    children = [project.start_hook("claude", said) for said in calls]
    answers = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0] * len(ids)
    allowed = [one for one, out in zip(ids, answers, strict=True) if not out]
    (member,) = (one for one in project.presence.members if one.name == OTTER)
    at_work = {one.tool_id: one.alias for one in member.sub_agents}
    assert sorted(at_work) == ids
    (held,) = project.presence.live
    assert [at_work[one] for one in allowed] == [held.alias]
    assert len(project.events("INCURSION")) == len(ids) - 1
