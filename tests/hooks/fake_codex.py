"""A stand-in for Codex: the part of its app server that tells of hooks, and a run that obeys trust.

Like the real one it reads `.codex/hooks.json` of the main checkout, in a worktree that has a
`.codex` folder and of a project that it trusts, and its own `hooks.json`. It keys each hook by
file, event and place, and keeps trust in `$CODEX_HOME/config.toml`. Any other command is a headless
run: it starts each trusted SessionStart hook, then writes `written.txt`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def home() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path(os.environ["HOME"], ".codex"))


def config() -> dict[str, Any]:
    file = home() / "config.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def main_checkout(folder: Path) -> Path:
    asked = ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"]
    done = subprocess.run(
        asked, cwd=folder, capture_output=True, text=True, check=False, timeout=20
    )
    return Path(done.stdout.strip()).parent if done.returncode == 0 else folder


def files_read_in(folder: Path) -> Iterator[Path]:
    main, projects = main_checkout(folder), config().get("projects", {})
    levels = (projects.get(str(each), {}).get("trust_level") for each in (folder, main))
    around = (each for each in (folder, *folder.parents) if (each / ".git").exists())
    if "trusted" in levels and (next(around, folder) / ".codex").is_dir():
        yield main / ".codex/hooks.json"
    yield home() / "hooks.json"


def hooks_in(folder: Path) -> Iterator[dict[str, Any]]:
    state = config().get("hooks", {}).get("state", {})
    for file in files_read_in(folder):
        events = json.loads(file.read_text("utf-8"))["hooks"] if file.is_file() else {}
        for event, groups in events.items():
            snake = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
            for at, group in enumerate(groups):
                for place, hook in enumerate(group["hooks"]):
                    key = f"{file}:{snake}:{at}:{place}"
                    digest = hashlib.sha256(json.dumps(hook).encode()).hexdigest()
                    known = state.get(key, {}).get("trusted_hash")
                    status = "trusted" if known == f"sha256:{digest}" else "untrusted"
                    yield {
                        "key": key,
                        "event": event,
                        "command": hook["command"],
                        "currentHash": f"sha256:{digest}",
                        "trustStatus": status,
                    }


def store(edits: list[dict[str, Any]]) -> None:
    known = config()
    state, projects = known.get("hooks", {}).get("state", {}), known.get("projects", {})
    for edit in edits:
        if edit["keyPath"] == "hooks.state":
            state |= edit["value"]
        else:
            _, name, field = re.split(r'\.?"\.?', edit["keyPath"])
            projects.setdefault(name, {})[field] = edit["value"]
    home().mkdir(parents=True, exist_ok=True)
    lines = [
        f'[hooks.state."{key}"]\ntrusted_hash = "{entry["trusted_hash"]}"\n'
        for key, entry in state.items()
    ]
    lines += [
        f'[projects."{name}"]\ntrust_level = "{entry["trust_level"]}"\n'
        for name, entry in projects.items()
    ]
    (home() / "config.toml").write_text("".join(lines), encoding="utf-8")


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        result: dict[str, Any] = {}
        if asked.get("method") == "hooks/list":
            found = [
                {"cwd": cwd, "hooks": list(hooks_in(Path(cwd)))} for cwd in asked["params"]["cwds"]
            ]
            result = {"data": found}
        elif asked.get("method") == "config/batchWrite":
            store(asked["params"]["edits"])
        if "id" in asked:
            sys.stdout.write(json.dumps({"id": asked["id"], "result": result}) + "\n")
            sys.stdout.flush()


def work() -> None:
    start = {"hook_event_name": "SessionStart", "session_id": "c1", "cwd": os.getcwd()}
    for hook in hooks_in(Path.cwd()):
        if hook["event"] == "SessionStart" and hook["trustStatus"] == "trusted":
            said = json.dumps({**start, "source": "startup"})
            subprocess.run(
                hook["command"], shell=True, input=said, text=True, check=False, timeout=60
            )
    Path("written.txt").write_text("written\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["app-server"]:
        serve()
    else:
        work()
