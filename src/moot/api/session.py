"""A session: who acts, from where, on which workspace. Every operation takes one first.

The caller that makes a session (`moot.open`, the command line, a hook) passes what it knows;
nothing here reads the environment. Who may act for whom is decided here and nowhere else:

    not_you             one agent may not act under another's name
    actor_required      the operation needs an actor, and none is known
    session_replaced    another session has adopted the name since this one started
    bad_epoch           MOOT_EPOCH is not a number, so that cannot be checked
    human_key_required  only a person may do this
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from moot.core.errors import MootError, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    from moot.api.opening import OpenWorkspaces
    from moot.core.clock import Clock, Millis
    from moot.core.debug import DebugLog
    from moot.core.findings import Finding
    from moot.core.registry.model import Agent
    from moot.core.signing import Signer
    from moot.keys.folder import AskPassphrase, KeyFolder, Passphrase
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace


# Index space: the key of a tool session or of a tool's process -> JoinedAgent.
TOOL_SESSIONS: Final = "presence.sessions"
NO_EPOCH: Final = -1  # the epoch of a session whose MOOT_EPOCH is not a number


class JoinedAgent(msgspec.Struct, frozen=True):
    """The name that joined with a key, and which holder of that name."""

    agent: str
    epoch: int


def settings_for(name: str, epoch: int) -> dict[str, str]:
    """Return the environment variables of a program that works as this holder of `name`."""
    return {"MOOT_AGENT": name, "MOOT_EPOCH": str(epoch)}


class Place(msgspec.Struct, frozen=True):
    """Where a session works: its folder, the root of the worktree around it, and the branch."""

    folder: Path
    worktree: Path
    branch: str | None


class ToolSession(msgspec.Struct, frozen=True):
    """The session of a coding tool that calls us.

    When it starts, an agent joins under its key, by which later calls find that agent. `keys` are
    those under which it may have joined, the likeliest first; none if the tool gave no id.
    `sub_agent` is the tool's id of the acting sub-agent: empty for the main agent, unset if unknown
    (as in a shell). `sub_agent_kind` is the tool's name for its task.
    """

    tool: str
    keys: tuple[str, ...]
    sub_agent: str | UnsetType = UNSET
    sub_agent_kind: str | UnsetType = UNSET

    @property
    def name(self) -> str:
        """The name of its record; a tool that gives no id has one session for each run."""
        return self.keys[0] if self.keys else f"{self.tool}:run"


class Session:
    """One caller's access to a workspace. Use it in a `with` block, or `close()` it.

    `acting` is the agent or person whose key signs; None: each operation names its actor. `epoch`
    is which holder of that name this session was started as, if known. Without `acting`, the agent
    of `tool_session` acts. `read_only` opens the workspace without write access. It and `keys` may
    be functions, which are called on first use.
    """

    def __init__(
        self,
        folder: Path,
        *,
        acting: str | None = None,
        epoch: int | None = None,
        tool_session: ToolSession | None = None,
        home: Path | None = None,
        keys: KeyFolder | Callable[[], KeyFolder] | None = None,
        ask_passphrase: AskPassphrase | None = None,
        stale_millis: Millis | None = None,
        remarks: tuple[Finding, ...] = (),
        clock: str = "",
        env: Mapping[str, str] | None = None,
        read_only: bool | Callable[[], bool] = False,
        debug: DebugLog | None = None,
        stays_open: OpenWorkspaces | None = None,
        messages_per_minute: int | None = None,
        ends_exited: bool = False,
        is_at_terminal: Callable[[], bool] | None = None,
    ) -> None:
        """`stale_millis` is when this session considers others stale; None: the workspace's value.

        `remarks` are warnings about how the session was set up; operations that report findings add
        them. `env` is the whole environment of programs that operations start. `debug` logs what is
        opened, locked, decided and committed. Workspaces in `stays_open` are shared with other
        sessions and not closed with this one. `messages_per_minute` limits messages and questions
        of the acting agent; None: no limit. `ends_exited`: opening the workspace for writing ends
        sessions whose process has exited on this machine. If no actor is named, `is_at_terminal`
        returns True and no coding tool started this process, the user's everyday name acts.
        """
        self.folder = folder
        self.acting = acting
        self.epoch = epoch
        self.tool_session = tool_session
        self.home = home
        self.stale_millis = stale_millis
        self.remarks = remarks
        self.clock_text = clock
        self.env: Mapping[str, str] = env or {}
        self._keys = keys
        self._ask_passphrase = ask_passphrase
        self._read_only = read_only
        self._debug = debug
        self._stays_open = stays_open
        self._messages_per_minute = messages_per_minute
        self._ends_gone = ends_exited
        self._is_at_terminal = is_at_terminal
        self._opened: list[Workspace] = []  # shared with the sessions of `acting_as`
        self._closed: list[Workspace] = []
        self._place: Place | None = None
        self._workspace_folder: Path | None = None  # of a session made by `in_workspace`
        self._elsewhere: dict[Path, Session] = {}  # those sessions, by their workspace's folder

    @property
    def keys(self) -> KeyFolder:
        """The key folder: the one given, else the user's own."""
        if self._keys is None:
            from moot.workspace.workspace import key_folder

            self._keys = key_folder({})
        elif callable(self._keys):
            self._keys = self._keys()
        return self._keys

    @property
    def keys_path(self) -> Path:
        """The path of the key folder; does not load the modules that read keys."""
        if self._keys is None or callable(self._keys):
            from moot.workspace.user_folders import key_folder_path

            return key_folder_path(self.env)
        return self._keys.path

    @property
    def ask_passphrase(self) -> AskPassphrase:
        """The function that asks a person for their passphrase; by default it never asks."""
        from moot.keys.folder import never_ask

        return self._ask_passphrase or never_ask

    @property
    def workspace_folder(self) -> Path:
        """The `.moot` folder for the session's folder; raises Unavailable if there is none."""
        if self._workspace_folder is not None:
            return self._workspace_folder
        from moot.workspace.find import find_workspace

        return find_workspace(self.folder, self.home)

    @property
    def workspace(self) -> Workspace:
        """The open workspace. Opened on first use: debate files, for example, need none."""
        if not self._opened:
            self._opened.append(self._open())
            if self._ends_gone and not self._is_read_only():
                from moot.api.presence.exited_agents import end_exited_agents

                end_exited_agents(self._opened[0], self.acting)
        return self._opened[0]

    def why_old(self) -> MootError | None:
        """Return why the data may be old: the keeper did not answer or has another history, or this
        machine has left. None if the data is current."""
        if not self._opened:
            return None
        joined = self._opened[0].joined
        return self._opened[0].left if joined is None else joined.away

    def require_workspace(self) -> None:
        """Raise Unavailable if there is no workspace, before a caller reads its input."""
        from moot.workspace.find import require_ledger

        require_ledger(self.workspace_folder)

    @property
    def tool_session_name(self) -> str:
        """The name of the record of this session's tool calls."""
        return "program:run" if self.tool_session is None else self.tool_session.name

    @property
    def sub_agent(self) -> str | UnsetType:
        """The id of the acting sub-agent, empty for the main agent, unset if unknown.

        Mail and duties belong to the session, whichever of its agents acts.
        """
        return UNSET if self.tool_session is None else self.tool_session.sub_agent

    @property
    def sub_agent_kind(self) -> str | UnsetType:
        """The tool's name for the task of the acting sub-agent."""
        return UNSET if self.tool_session is None else self.tool_session.sub_agent_kind

    @property
    def workspace_or_none(self) -> Workspace | None:
        """The open workspace, or None if there is none: a debate's file needs none.

        Raises Unavailable if `home` names a missing workspace, or if its ledger is missing.
        """
        from moot.workspace.find import require_ledger

        try:
            require_ledger(self.workspace_folder)
        except Unavailable as error:
            if self.home is not None or error.code != "no_workspace":
                raise
            return None
        return self.workspace

    @property
    def clock(self) -> Clock:
        """The clock; a fixed one unless the workspace here forbids that."""
        from moot.core.clock import fixed_clock, system_clock

        if not self.clock_text:
            return system_clock
        workspace = self.workspace_or_none
        return fixed_clock(self.clock_text) if workspace is None else workspace.engine.clock

    @property
    def place(self) -> Place:
        """Where the session works in this workspace."""
        if self._place is None:
            from moot.api.guard.guarded_paths import branch_of, worktree_of

            worktree = worktree_of(self.folder, self.workspace)
            self._place = Place(self.folder, worktree, branch_of(worktree))
        return self._place

    def acting_as(self, name: str, epoch: int | None = None) -> Session:
        """Return the same session under another name whose key is here. Closing one closes both.

        `epoch` says which holder of the name is meant, in case another adopts it meanwhile.
        """
        other = self._derive(acting=name, epoch=epoch, tool_session=None)
        other._opened = self._opened
        return other

    def in_workspace(self, workspace_folder: Path) -> Session:
        """Return a session of the same caller in another workspace; closing this one closes it.

        An agent may be about to write files of another project than the one it works in.
        """
        other = self._elsewhere.get(workspace_folder)
        if other is None:
            other = self._derive()
            other._workspace_folder = workspace_folder
            self._elsewhere[workspace_folder] = other
        return other

    def with_keys(self, folder: KeyFolder) -> Session:
        """Return a session of the same caller with another key folder; it must be closed."""
        return self._derive(keys=folder)

    def only_reading(self, stays_open: OpenWorkspaces) -> Session:
        """Return a read-only session in the same place, without an actor or passphrases.

        For a process that shows a workspace to others; workspaces in `stays_open` are shared.
        """
        no_actor: dict[str, Any] = {"acting": None, "epoch": None, "tool_session": None}
        return self._derive(
            **no_actor, ask_passphrase=None, read_only=True, stays_open=stays_open, remarks=()
        )

    def in_folder(
        self, folder: Path, *, epoch: int | None, stale_millis: Millis | None, clock: str
    ) -> Session:
        """Return a session of the same caller in another folder; it asks for no passphrase and must
        be closed."""
        other = self._derive(
            epoch=epoch,
            stale_millis=stale_millis,
            clock=clock,
            ask_passphrase=None,
            stays_open=None,
        )
        other.folder = folder
        other._workspace_folder = self.workspace.path
        return other

    @contextmanager
    def unlocked(self, person: str, passphrase: Passphrase) -> Iterator[Session]:
        """Give the block a session in which `person` acts, with a separate workspace, so that the
        unlocked key is forgotten when the block ends."""

        def ask(name: str) -> Passphrase | None:
            return passphrase if name == person else None

        changes = {"acting": person, "epoch": None, "tool_session": None, "read_only": False}
        changes["stays_open"] = None
        with self._derive(**changes, ask_passphrase=ask) as session:
            yield session

    def _derive(self, **changes: Any) -> Session:
        """Return a copy of this session with these changes and a separate workspace."""
        same: dict[str, Any] = {
            "acting": self.acting,
            "epoch": self.epoch,
            "tool_session": self.tool_session,
            "home": self.home,
            "keys": self._keys,
            "ask_passphrase": self._ask_passphrase,
            "stale_millis": self.stale_millis,
            "remarks": self.remarks,
            "clock": self.clock_text,
            "env": self.env,
            "read_only": self._read_only,
            "debug": self._debug,
            "stays_open": self._stays_open,
            "messages_per_minute": self._messages_per_minute,
        }
        return Session(self.folder, **{**same, **changes})

    # Who may act for whom: `actor` for agents, `person` and the `require_...` below for people.
    def actor(self, named: str | None = None) -> str:
        """Return who acts: `named`, else the session's own name; both must agree."""
        own = self.acting or self._tool_agent()
        if own and named and named != own:
            raise Refused(
                "not_you",
                f"you are {own}; this would act as {named}",
                hint="leave the option out: an agent cannot act under another's name",
            )
        name = named or own or self.everyday_name()
        if not name:
            raise self._unknown_actor()
        self.require_current_holder(name)
        return name

    def known_actor(self) -> str | None:
        """Return who acts, if known: the session's own name, else the agent of its tool session.

        None for a person at a terminal, and for a tool session that has not joined.
        """
        name = self.acting or self._tool_agent()
        if name:
            self.require_current_holder(name)
        return name or None

    def everyday_name(self) -> str | None:
        """Return the everyday name of the person at the terminal; make it if there is none yet.

        None if an actor is named, or if it is not certain that a person types here.
        """
        if self.acting is not None or self.tool_session is not None:
            return None
        if self._is_at_terminal is None or not self._is_at_terminal():
            return None
        from moot.api.presence.starting_names import take_everyday_name
        from moot.api.presence.tool_processes import find_enclosing_tool

        if find_enclosing_tool(self.env, os.getpid()) is not None:  # some tools use a terminal
            return None
        return take_everyday_name(self.workspace)

    def _tool_agent(self) -> str | None:
        keys = () if self.tool_session is None else self.tool_session.keys
        agents = (self._agent_that_joined_with(key) for key in keys)
        return next((agent for agent in agents if agent is not None), None)

    def _agent_that_joined_with(self, key: str) -> str | None:
        """Return the agent that joined with `key`; raise Refused if its name has a new holder."""
        with self.workspace.store.read() as view:
            row = view.row(TOOL_SESSIONS, key)
        if row is None:
            return None
        joined = msgspec.json.decode(row.value, type=JoinedAgent)
        agent = self.workspace.engine.registry().agents.get(joined.agent)
        if agent is None or agent.epoch != joined.epoch:
            raise Refused(
                "session_replaced",
                f"another session has adopted {joined.agent}",
                hint="start a new session",
            )
        return joined.agent

    def _unknown_actor(self) -> MootError:
        left = self._opened[0].left if self._opened else None
        if left is not None and not self._is_read_only():
            return left  # no actor could write
        if self.tool_session is not None:
            return Refused(
                "actor_required",
                "this session has not joined, so its agent is unknown",
                hint="start the tool with `moot run -- TOOL`, or start a new session",
            )
        return Refused(
            "actor_required",
            "Moot does not know who acts",
            hint="use --as NAME, or set MOOT_AGENT (`moot run` does)",
        )

    def require_current_holder(self, name: str) -> None:
        """Raise Refused if another session has adopted this session's own name since it started.

        The earlier session may still run and find the new key; it must not sign with that key.
        """
        if self.epoch is None or name != self.acting:
            return
        agent = self.workspace.engine.registry().agents.get(name)
        if self.epoch == NO_EPOCH:
            raise Refused(
                "bad_epoch",
                f"MOOT_EPOCH is not a number, so Moot cannot tell if this session is still {name}",
                hint="unset MOOT_EPOCH; `moot join` then prints the right one",
            )
        if agent is not None and agent.epoch != self.epoch:
            raise Refused(
                "session_replaced",
                f"another session has adopted {name} since this one started",
                hint="stop here, or start again: `moot join`",
            )

    def require_pace(self, name: str, key: str | None, *words: object) -> None:
        """Raise Refused (too_many) if `name` has sent too many messages in the last minute.

        A repeat of the same `words` under the same `key` counts once.
        """
        if self._messages_per_minute is not None:
            from moot.api.mail.outgoing import require_pace

            require_pace(self.workspace, name, self._messages_per_minute, key, words)

    def require_agent(self, name: str) -> Agent:
        """Return the registry's entry of a name; raise NotFound if there is none."""
        agent = self.workspace.engine.registry().agents.get(name)
        if agent is None:
            raise NotFound(
                "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
            )
        return agent

    def epoch_of(self, name: str) -> int | None:
        """Return the epoch of the present holder; Refused if it has ended: it never answers."""
        registry = self.workspace.engine.registry()
        agent = registry.agents.get(name)
        ending = registry.keys[agent.kid].ending if agent is not None else None
        if ending is not None:
            hint = "`moot status` shows who is here"
            raise Refused("agent_retired", f"{name} has ended: {ending}", hint=hint)
        return None if agent is None else agent.epoch

    def person(self, what: str) -> str:
        """Return the person who acts: the one named, else the first whose key can be unlocked."""
        self.require_no_agent(what)
        signer = self.person_signer()
        if signer is None:
            raise Refused(
                "human_key_required",
                f"no person's key is here: {what} is for people",
                hint="`moot agent register NAME --human` makes one",
            )
        return self.workspace.engine.registry().keys[signer.kid].name

    def has_people(self) -> bool:
        """Return True if a person is registered here, who could decide."""
        return bool(self.workspace.engine.registry().human_keys())

    def operator(self, what: str) -> str | None:
        """Return the person whose key signs an operator's act; None if no person is registered.

        Without a person the act is recorded as observed only. An agent is refused.
        """
        self.require_no_agent(what)
        names = [key.name for key in self.workspace.engine.registry().human_keys()]
        return self.acting or (names[0] if names else None)

    def person_signer(self) -> Signer | None:
        """Return the unlocked key of a person who may consent here; None if there is none.

        A session that acts under a name cannot consent under another.
        """
        for key in self.workspace.engine.registry().human_keys():
            if self.acting in (None, key.name):
                held = self.workspace.keys.find(key.name, key.kid)
                if held is not None:
                    return held.signer
        return None

    def require_no_agent(self, what: str) -> None:
        """Refuse an agent, before a passphrase is asked for."""
        if self.acting is not None and not self.acts_as_person():
            raise Refused(
                "human_key_required",
                f"{self.acting} is not a person: {what} is for people",
                hint="run this yourself, outside of `moot run`",
            )

    def require_no_agent_around(self, what: str) -> None:
        """Refuse an agent, and any process that a coding tool or `moot run` started: a model may
        have started it under another name or with another environment."""
        from moot.api.presence.tool_processes import find_enclosing_run, find_enclosing_tool

        self.require_no_agent(what)
        pid = os.getpid()
        parent = find_enclosing_tool(self.env, pid) or find_enclosing_run(self.env, pid)
        if parent is not None or self.tool_session is not None:
            raise Refused(
                "human_key_required",
                f"this runs inside {parent or 'a coding tool'}: {what} is for people",
                hint="run this yourself, in a terminal outside of coding tools and of `moot run`",
            )

    def require_self_or_person(self, name: str) -> None:
        """Refuse an agent that acts on another name; people and callers without a name may."""
        if self.acting in (None, name) or self.acts_as_person():
            return
        raise Refused(
            "not_you",
            f"you are {self.acting}; this is about {name}",
            hint="an agent can do this only for itself; ask the person who runs you",
        )

    def acts_as_person(self) -> bool:
        """Return True if the session acts under the name of a registered person."""
        from moot.core.machine import KeyClass

        known = self.workspace.engine.registry().agents.get(self.acting or "")
        return known is not None and known.kind is KeyClass.HUMAN

    def close(self, *, checkpoint: bool = True) -> None:
        """Close the workspace, if it was opened, after a checkpoint over everything it wrote.

        Hooks skip the checkpoint to save time: the next command makes it.
        """
        for other in self._elsewhere.values():
            other.close(checkpoint=checkpoint)
        closing = self._opened[:] if self._stays_open is None else []
        self._opened.clear()
        for workspace in closing:
            workspace.close(checkpoint=checkpoint)
        # Keep a reference: a process that ends now need not free this memory, which takes longer
        # than closing if there are many agents and reservations.
        self._closed = closing

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def can_ask_passphrase(self) -> bool:
        """True if a passphrase can be obtained: from a person at a terminal, or from a file."""
        return self._ask_passphrase is not None

    def _open(self) -> Workspace:
        from moot.workspace.find import LEDGER, require_ledger

        folder = require_ledger(self.workspace_folder)
        if self._stays_open is None or not (folder / LEDGER).exists():
            return self._open_workspace(folder)
        return self._stays_open.find(
            folder / LEDGER, self.clock_text, lambda: self._open_workspace(folder)
        )

    def _open_workspace(self, folder: Path) -> Workspace:
        from moot.workspace.workspace import Workspace

        return Workspace(
            folder,
            self.keys,
            self.ask_passphrase,
            self.clock_text,
            only_reads=self._is_read_only(),
            debug=self._debug,
        )

    def _is_read_only(self) -> bool:
        return self._read_only() if callable(self._read_only) else self._read_only


def read_presence(workspace: Workspace) -> State:
    """Return who is here and what they hold."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE

    return workspace.engine.state(MACHINE, STREAM)
