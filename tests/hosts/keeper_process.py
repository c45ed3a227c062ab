"""`moot keep` as a process of its own, which can be killed, frozen and started again."""

from __future__ import annotations

import os
import re
import signal
import subprocess

from tests.project import MOOT, Project

SECONDS = 60
_LINE = re.compile(r"keeping at \S+:(\d+), fingerprint ([0-9a-f]{32})")


STARTED: list[subprocess.Popen[str]] = []


def end_all() -> None:
    """Whatever a test has left running."""
    for process in STARTED:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=SECONDS)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    STARTED.clear()


class KeeperProcess:
    """A keeper of a project's ledger. The first one chooses a port; the next ones take
    the same, so that machines find it again."""

    def __init__(self, project: Project, port: int = 0, *options: str, **settings: str) -> None:
        self.project = project
        self.process = subprocess.Popen(
            [*MOOT, *options, "keep", "--listen", f"127.0.0.1:{port}"],
            cwd=project.root,
            env={**project.env, **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        STARTED.append(self.process)
        stream = self.process.stderr if "--json" in options else self.process.stdout
        assert stream is not None
        first = stream.readline()
        found = _LINE.search(first)
        if found is None:
            self.kill()
        assert found is not None, first
        self.port, self.fingerprint = int(found[1]), found[2]

    def again(self) -> KeeperProcess:
        """The next keeper, at the same place."""
        return KeeperProcess(self.project, self.port)

    def join(self, project: Project, machine: str) -> Project:
        """Let a machine join, by the commands that people type."""
        project.root.mkdir(parents=True, exist_ok=True)
        invitation = self.project.ok("invite")["invitation"]
        project.ok("init", "--join", invitation, "--name", machine)
        return project

    def kill(self) -> None:
        """As by a power cut: it can do nothing about it."""
        self.process.kill()
        self.process.communicate(timeout=SECONDS)

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)  # until it has stopped

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> tuple[int, str]:
        """As a service manager ends it; its exit code, and what it printed since."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            out, _ = self.process.communicate(timeout=SECONDS)
            return self.process.returncode, out
        return self.process.returncode, ""
