"""A keeper that lost its list of machines: each machine joins again with its copy and keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from moot.core.errors import Refused
from moot.core.signing import Signer
from moot.hosts import joining
from moot.hosts import messages as wire
from moot.hosts.joining import join_workspace, prove_rejoin
from moot.hosts.members import FILE
from moot.hosts.session_owner import OWNER
from moot.keys.folder import KeyFolder
from tests.hosts.keeper_process import KeeperProcess
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of
from tests.project import Project

FINCH = "coral-finch"


def lose_list(project: Project) -> None:
    (project.root / ".moot" / "keeper" / FILE).unlink()


def typed_in(hint: str) -> list[list[str]]:
    """The commands that a hint names, as words after `moot`."""
    return [line.split() for line in re.findall(r"`moot ([^`]*)`", hint)]


def test_the_way_back_is_what_the_hints_say(tmp_path: Path) -> None:
    root = tmp_path / "build"
    root.mkdir()
    build = Project(root, tmp_path / "build-keys")
    build.init()
    keeper = KeeperProcess(build)
    laptop = keeper.join(Project(tmp_path / "laptop", tmp_path / "laptop-keys"), "laptop")
    laptop.ok("agent", "register", OTTER)
    laptop.ok("--as", OTTER, "reserve", "src/a.py")
    asked = laptop.ok("ask", "Ship it?", "--with", "rules:approve,rules:approve")
    decision = asked["decision"]["id"]
    agents = build.ok("machine", "list")["machines"][0]["agents"]
    keeper.end()
    lose_list(build)
    keeper.again()
    before = events_of(build)

    error = laptop.json("--as", OTTER, "reserve", "src/b.py").error
    assert error["code"] == "machine_unknown"
    invited, join = typed_in(error["hint"])
    assert (invited, join) == (["invite"], ["init", "--join", "INVITATION"])
    word = build.ok(*invited)["invitation"]
    assert laptop.ok(*join[:-1], word, "--name", "laptop")["created"] is True

    laptop.ok("--as", OTTER, "reserve", "src/b.py")
    held = build.ok("scope", "list")["reservations"]
    assert {row["scope"]: row["owner"] for row in held} == {"src/a.py": OTTER, "src/b.py": OTTER}
    (row,) = build.ok("machine", "list")["machines"]
    assert (row["name"], row["agents"]) == ("laptop", agents)
    assert laptop.ok("verify")["verdict"] == "valid"
    assert before < events_of(laptop), "the copy goes on"

    refused = laptop.json("receipt", decision, "-o", "receipt.md").error
    assert refused["code"] == "ledgers_part"
    (move,) = typed_in(refused["hint"])
    laptop.ok(*move)
    laptop.ok("receipt", decision, "-o", "receipt.md")


def test_nobody_becomes_the_home_of_what_another_machine_began(
    kept: KeptLedger, laptop: Project, desktop: Project, tmp_path: Path
) -> None:
    """Numbers of machines stand in the ledger as well: one that is forgotten is not given again."""
    desktop.ok("agent", "register", FINCH)
    laptop.ok("debate", "new", "d.md", "--title", "Why?", "--agents", f"{CRANE},{FINCH}")
    lose_list(kept.project)
    assert join_workspace(desktop.root, KeyFolder(desktop.keys), kept.invite(), "desktop", "")
    kept.join(tmp_path / "third" / "project", tmp_path / "third" / "keys", "third")
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        homes = {home for name, _, home in view.all_cursors() if name == OWNER}
    assert homes == {1}
    assert [one.number for one in kept.keeping.members.read().machines] == [2, 3]


def test_an_unreadable_list_says_that_machines_join_again(
    kept: KeptLedger, laptop: Project
) -> None:
    file = kept.project.root / ".moot" / "keeper" / FILE
    file.write_bytes(b"{")
    error = laptop.json("--as", OTTER, "reserve", "src/a.py").error
    assert (error["code"], "MOOT_KEYS" in error["hint"]) == ("members_unreadable", False)
    file.rename(file.with_name("away"))
    assert join_workspace(laptop.root, KeyFolder(laptop.keys), kept.invite(), "laptop", "")
    laptop.ok("--as", OTTER, "reserve", "src/a.py")


# Not for anybody else -----------------------------------------------------------------------------


Change = Callable[[wire.Join], wire.Join]


class Intruder:
    """A machine that was invited, and says that it has somebody else's key folder."""

    def __init__(self, kept: KeptLedger, owner: Project) -> None:
        self._kept = kept
        self._custodian = KeyFolder(owner.keys).custodian
        with kept.project.workspace() as workspace:
            self.origin = workspace.trust.origin

    def join(self, *signers: Signer, origin: str = "", change: Change = lambda same: same) -> str:
        """With what these keys sign of the question, or of another one; how it is refused."""

        def prove(question: wire.Join) -> wire.HeldKeys:
            return prove_rejoin(signers, origin or self.origin, change(question))

        return self._ask(prove)

    def show(self, *held: tuple[str, bytes]) -> str:
        return self._ask(lambda _: held)

    def _ask(self, prove: Callable[[wire.Join], wire.HeldKeys]) -> str:
        try:
            joining._ask_to_join(self._kept.invite(), self._custodian, "evil", "", prove)
        except Refused as refused:
            return refused.code
        return ""


def signer_of(project: Project, name: str) -> Signer:
    folder = KeyFolder(project.keys)
    with project.workspace() as workspace:
        origin = workspace.trust.origin
    ((_, kid),) = (one for one in folder.list_keys(origin) if one[0] == name)
    key = folder.read_key(origin, name, kid)
    assert key is not None
    return key.open(None)


@pytest.fixture
def intruder(kept: KeptLedger, laptop: Project) -> Intruder:
    """As the laptop, after the list was lost."""
    lose_list(kept.project)
    return Intruder(kept, laptop)


def test_only_a_key_of_that_folder_shows_that_it_is_there(
    kept: KeptLedger, laptop: Project, tmp_path: Path
) -> None:
    desktop = kept.join(tmp_path / "desktop" / "project", tmp_path / "desktop" / "keys", "desktop")
    desktop.ok("agent", "register", CRANE)
    lose_list(kept.project)
    intruder, otter = Intruder(kept, laptop), signer_of(laptop, OTTER)
    assert intruder.join() == "key_folder_unproven"
    assert intruder.join(signer_of(desktop, CRANE)) == "key_folder_unproven"
    assert intruder.join(Signer(Signer.new_seed())) == "key_folder_unproven"
    for nonsense in (b"", bytes(64), bytes(1000)):
        assert intruder.show((otter.kid, nonsense)) == "key_folder_unproven"
    assert intruder.join(signer_of(desktop, CRANE), otter) == ""


@pytest.mark.parametrize(
    "others",
    [
        {"machine": "laptop"},
        {"invitation": "another"},
        {"repository": "another"},
        {"custodian": "0" * 32},
    ],
    ids="".join,
)
def test_a_signature_is_good_for_one_question(
    intruder: Intruder, laptop: Project, others: dict[str, str]
) -> None:
    signed = signer_of(laptop, OTTER)
    changed = intruder.join(signed, change=lambda asked: msgspec.structs.replace(asked, **others))
    assert changed == "key_folder_unproven"
    assert intruder.join(signed, origin="moot.ledger/" + "0" * 32) == "key_folder_unproven"


def test_a_key_that_was_revoked_shows_nothing(
    kept: KeptLedger, intruder: Intruder, laptop: Project
) -> None:
    assert join_workspace(laptop.root, KeyFolder(laptop.keys), kept.invite(), "laptop", "")
    laptop.ok("agent", "register", CRANE)
    otter = signer_of(laptop, OTTER)
    kept.project.ok("agent", "revoke", OTTER, "--reason", "lost")
    lose_list(kept.project)
    assert intruder.join(otter) == "key_folder_unproven"


def test_a_machine_that_is_on_the_list_and_the_keeper_itself_are_nobody_else(
    kept: KeptLedger, laptop: Project
) -> None:
    assert Intruder(kept, laptop).join(signer_of(laptop, OTTER)) == "custodian_taken"
    kept.project.ok("agent", "register", FINCH)
    assert Intruder(kept, kept.project).join(signer_of(kept.project, FINCH)) == "custodian_taken"


def test_a_machine_without_a_living_agent_has_nothing_to_show(
    kept: KeptLedger, laptop: Project
) -> None:
    laptop.ok("agent", "retire", OTTER)
    lose_list(kept.project)
    assert join_workspace(laptop.root, KeyFolder(laptop.keys), kept.invite(), "laptop", "")
    laptop.ok("agent", "register", CRANE)
