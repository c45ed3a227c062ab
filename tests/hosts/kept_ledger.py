"""A keeper in this process, and projects on other machines that have joined it."""

from __future__ import annotations

from pathlib import Path

from moot.hosts.joining import Invitation, join_workspace
from moot.hosts.keeper import KeeperServer
from moot.keys.folder import KeyFolder
from moot.workspace.workspace import Workspace
from tests.project import Project


class KeptLedger:
    """A workspace on a machine of its own that keeps its ledger for others, over TLS."""

    def __init__(self, project: Project, port: int = 0) -> None:
        self.project = project
        self._is_closed = False
        self._workspace = Workspace(
            project.root / ".moot",
            KeyFolder(project.keys),
            clock_text=project.env.get("MOOT_CLOCK", ""),
        )
        self.keeping = KeeperServer(
            self._workspace.engine,
            self._workspace.artifacts,
            project.root / ".moot" / "keeper",
            (project.root / ".moot" / "trust.json").read_bytes(),
            "",
        )
        self.port = self.keeping.listen_tls("127.0.0.1", port)

    def invite(self) -> Invitation:
        id_, code = self.keeping.members.invite(self._workspace.engine.clock())
        return Invitation(f"127.0.0.1:{self.port}", self.keeping.fingerprint, id_, code)

    def join(self, root: Path, keys: Path, machine: str) -> Project:
        """Another machine: its own clone, its own key folder."""
        root.mkdir(parents=True, exist_ok=True)
        joined = Project(root, keys)
        assert join_workspace(root, KeyFolder(keys), self.invite(), machine, "")
        return joined

    def let_in(self, machine: Project, person: str, **typed: str) -> None:
        """Make somebody a person on another machine, by the consent of the ledger's owner."""
        self.project.ok("agent", "register", "operator", "--human", **typed)
        asked = machine.ok("agent", "register", person, "--human", **typed)
        self.project.ok("admit", asked["admission"], **typed)

    def close(self) -> None:
        """A second call changes nothing."""
        if not self._is_closed:
            self._is_closed = True
            self.keeping.close()
            self._workspace.close()
