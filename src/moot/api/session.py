"""A session: who acts, from where, on which workspace. Every operation takes one first.

The caller that makes a session (`moot.open`, the command line, a hook) passes what it knows;
nothing here reads the environment. Who may act for whom is decided here and nowhere else:

    not_you             one agent may not act under another's name
    actor_required      nobody is named, and the act needs someone
    session_replaced    another session has adopted the name since this one was started
    bad_epoch           what should say so is no number
    human_key_required  the act is a person's
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


_TOOL_SESSIONS: Final = "presence.sessions"  # index space: a tool session's key -> _Joined
NO_EPOCH: Final = -1  # of a session that was told something else than a number: nobody's


class _Joined(msgspec.Struct, frozen=True):
    """Which holder of which name joined with a session."""

    agent: str
    epoch: int


def settings_for(name: str, epoch: int) -> dict[str, str]:
    """What a program that works as `name` finds in its environment: who it is, and since when."""
    return {"MOOT_AGENT": name, "MOOT_EPOCH": str(epoch)}


class Place(msgspec.Struct, frozen=True):
    """Where a session stands: its folder, the root of the worktree around it, and the branch."""

    folder: Path
    worktree: Path
    branch: str | None


class ToolSession(msgspec.Struct, frozen=True):
    """The session of a coding tool that calls us, if it is one.

    When it starts, an agent is registered for it under its key, which makes it known ever after.
    `keys` are those under which it may be known, the likeliest first; none if the tool gave no id.
    `sub_agent` is what the tool calls the sub-agent that acts, empty if it is the session's main
    agent; unset where nobody can tell, as in a shell. `sub_agent_kind` is what it is for.
    """

    tool: str
    keys: tuple[str, ...]
    sub_agent: str | UnsetType = UNSET
    sub_agent_kind: str | UnsetType = UNSET

    @property
    def name(self) -> str:
        """What its record is called: a tool that gives no id has one session for each run."""
        return self.keys[0] if self.keys else f"{self.tool}:run"


class Session:
    """One caller's way to a workspace. Use it in a `with` block, or `close()` it.

    `acting` is the agent or person whose key signs; None: each act says who acts. `epoch` is which
    holder of that name this session was started as, if that is known. Without a name, the agent
    acts that was registered for `tool_session`. `read_only` lets the workspace open where nothing
    may be written. It and `keys` may be functions that are asked on first use.
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
        ends_gone: bool = False,
        is_at_terminal: Callable[[], bool] | None = None,
    ) -> None:
        """`stale_millis` is how soon this session calls others stale; None: as the workspace does.

        `remarks` are warnings about how the session was set up; operations that report findings
        add them. `env` is what programs find that are started for this session, and nothing else.
        `debug` is told what is opened, locked, decided and committed. What `stays_open` is shared
        with other sessions, and not closed with this one. `messages_per_minute` is how many mails
        and questions the acting agent may send; None: any number. `ends_gone`: once it is open for
        writing, sessions whose programs are gone from this machine are ended. If nobody is named,
        `is_at_terminal` says yes, and no coding tool is around, the user's everyday name acts.
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
        self._ends_gone = ends_gone
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
        """Where the key folder is, told without loading anything that could read a key."""
        if self._keys is None or callable(self._keys):
            from moot.workspace.user_folders import key_folder_path

            return key_folder_path(self.env)
        return self._keys.path

    @property
    def ask_passphrase(self) -> AskPassphrase:
        """How a person is asked for the passphrase of their key; by default nobody is."""
        from moot.keys.folder import never_ask

        return self._ask_passphrase or never_ask

    @property
    def workspace_folder(self) -> Path:
        """The `.moot` folder that belongs to where the session stands; Unavailable if none does."""
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
        """Why what was read may be old: the keeper of the ledger did not answer, or shows another
        history, or this machine has left; None if it did, or the ledger is here."""
        if not self._opened:
            return None
        joined = self._opened[0].joined
        return self._opened[0].left if joined is None else joined.away

    def require_workspace(self) -> None:
        """Unavailable if there is none here, told before a caller reads what it would write."""
        from moot.workspace.find import require_ledger

        require_ledger(self.workspace_folder)

    @property
    def tool_session_name(self) -> str:
        """What the record of this session's tool calls is called."""
        return "program:run" if self.tool_session is None else self.tool_session.name

    @property
    def sub_agent(self) -> str | UnsetType:
        """Who of this session acts: a sub-agent's id, empty for its main agent, unset if unknown.

        Mail and duties belong to the session, no matter which of its agents acts.
        """
        return UNSET if self.tool_session is None else self.tool_session.sub_agent

    @property
    def sub_agent_kind(self) -> str | UnsetType:
        """What the acting sub-agent is for, as its tool says."""
        return UNSET if self.tool_session is None else self.tool_session.sub_agent_kind

    @property
    def workspace_or_none(self) -> Workspace | None:
        """The open workspace, or None if none is around: a debate's file needs none.

        One that was named outright (`home`) must be there, and so must the ledger of one found.
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
        """The time. A fixed one counts unless the workspace here forbids it."""
        from moot.core.clock import fixed_clock, system_clock

        if not self.clock_text:
            return system_clock
        workspace = self.workspace_or_none
        return fixed_clock(self.clock_text) if workspace is None else workspace.engine.clock

    @property
    def place(self) -> Place:
        """Where the session stands in this workspace."""
        if self._place is None:
            from moot.api.guard.guarded_paths import branch_of, worktree_of

            worktree = worktree_of(self.folder, self.workspace)
            self._place = Place(self.folder, worktree, branch_of(worktree))
        return self._place

    def acting_as(self, name: str, epoch: int | None = None) -> Session:
        """The same session under another name whose key is here. Closing one closes both.

        `epoch` is which holder of the name is meant, if another may adopt it meanwhile.
        """
        other = self._derive(acting=name, epoch=epoch, tool_session=None)
        other._opened = self._opened
        return other

    def in_workspace(self, workspace_folder: Path) -> Session:
        """The same caller in another workspace, which is closed together with this session.

        Files that an agent is about to write may lie in another project than it works in.
        """
        other = self._elsewhere.get(workspace_folder)
        if other is None:
            other = self._derive()
            other._workspace_folder = workspace_folder
            self._elsewhere[workspace_folder] = other
        return other

    def with_keys(self, folder: KeyFolder) -> Session:
        """The same caller with another key folder, and a workspace of its own to close."""
        return self._derive(keys=folder)

    def only_reading(self, stays_open: OpenWorkspaces) -> Session:
        """The same place for nobody in particular, only to read; what `stays_open` is shared.

        A process that shows a workspace to others has no name and asks for no passphrase.
        """
        nobody: dict[str, Any] = {"acting": None, "epoch": None, "tool_session": None}
        return self._derive(
            **nobody, ask_passphrase=None, read_only=True, stays_open=stays_open, remarks=()
        )

    def standing_in(
        self, folder: Path, *, epoch: int | None, stale_millis: Millis | None, clock: str
    ) -> Session:
        """The same caller in another folder, with a workspace of its own to close; nobody is asked
        for a passphrase there."""
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
        """A session in which `person` acts, with a workspace of its own: the opened key is
        forgotten when the block ends, whatever this session goes on to do."""

        def ask(name: str) -> Passphrase | None:
            return passphrase if name == person else None

        changes = {"acting": person, "epoch": None, "tool_session": None, "read_only": False}
        changes["stays_open"] = None
        with self._derive(**changes, ask_passphrase=ask) as session:
            yield session

    def _derive(self, **changes: Any) -> Session:
        """A session like this one but for the changes, with a workspace of its own."""
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
        """Who acts: `named`, else the session's own name. If both are given they must agree."""
        own = self.acting or self._tool_agent()
        if own and named and named != own:
            raise Refused(
                "not_you",
                f"you are {own}; this would act as {named}",
                hint="leave the option away: one agent does not act under another's name",
            )
        name = named or own or self.everyday_name()
        if not name:
            raise self._nobody_acts()
        self.require_current_holder(name)
        return name

    def known_actor(self) -> str | None:
        """Who acts, if the session knows: its own name, else the agent of its tool session.

        None for a person at a terminal, and for a tool whose start nobody saw.
        """
        name = self.acting or self._tool_agent()
        if name:
            self.require_current_holder(name)
        return name or None

    def everyday_name(self) -> str | None:
        """The everyday name of the person at the terminal, made if there is none yet; None if
        somebody is named, or nobody can tell that a person is there."""
        if self.acting is not None or self.tool_session is not None:
            return None
        if self._is_at_terminal is None or not self._is_at_terminal():
            return None
        from moot.api.presence.starting_names import take_everyday_name
        from moot.api.presence.tool_processes import find_enclosing_tool

        if find_enclosing_tool(self.env, os.getpid()) is not None:  # some give their commands one
            return None
        return take_everyday_name(self.workspace)

    def _tool_agent(self) -> str | None:
        keys = () if self.tool_session is None else self.tool_session.keys
        agents = (self._agent_that_joined_with(key) for key in keys)
        return next((agent for agent in agents if agent is not None), None)

    def _agent_that_joined_with(self, key: str) -> str | None:
        """The agent of this tool's session, unless its name has a new holder by now."""
        with self.workspace.store.read() as view:
            row = view.row(_TOOL_SESSIONS, key)
        if row is None:
            return None
        joined = msgspec.json.decode(row.value, type=_Joined)
        agent = self.workspace.engine.registry().agents.get(joined.agent)
        if agent is None or agent.epoch != joined.epoch:
            raise Refused(
                "session_replaced",
                f"{joined.agent} has been adopted by another session",
                hint="start a new session",
            )
        return joined.agent

    def _nobody_acts(self) -> MootError:
        left = self._opened[0].left if self._opened else None
        if left is not None and not self._is_read_only():
            return left  # nobody could
        if self.tool_session is not None:
            return Refused(
                "actor_required",
                "this session has not joined: nobody knows which agent it is",
                hint="start the tool with `moot run -- TOOL`, or start a new session",
            )
        return Refused(
            "actor_required",
            "who acts is not known",
            hint="use --as NAME, or set MOOT_AGENT (`moot run` does)",
        )

    def require_current_holder(self, name: str) -> None:
        """Refused if another session has adopted this session's own name since it was started.

        The earlier session may live on with the new key within reach; it must not go on signing as
        the one who took over.
        """
        if self.epoch is None or name != self.acting:
            return
        agent = self.workspace.engine.registry().agents.get(name)
        if self.epoch == NO_EPOCH:
            raise Refused(
                "bad_epoch",
                f"MOOT_EPOCH is no number: whether this is still the session of {name} is unknown",
                hint="unset MOOT_EPOCH; `moot join` then prints the right one",
            )
        if agent is not None and agent.epoch != self.epoch:
            raise Refused(
                "session_replaced",
                f"{name} has been adopted by another session since this one started",
                hint="stop here, or start again: `moot join`",
            )

    def require_pace(self, name: str, key: str | None, *words: object) -> None:
        """Refused (too_many) if `name` has written to others too often, where that is limited.

        A repeat of the same `words` under the same `key` is sent once, and counts once.
        """
        if self._messages_per_minute is not None:
            from moot.api.mail.outgoing import require_pace

            require_pace(self.workspace, name, self._messages_per_minute, key, words)

    def require_agent(self, name: str) -> Agent:
        """What the registry knows of a name; NotFound if nobody is called so."""
        agent = self.workspace.engine.registry().agents.get(name)
        if agent is None:
            raise NotFound(
                "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
            )
        return agent

    def epoch_of(self, name: str) -> int | None:
        """Which holder of a name is meant: the one registered now. Who has ended answers nobody."""
        registry = self.workspace.engine.registry()
        agent = registry.agents.get(name)
        ending = registry.keys[agent.kid].ending if agent is not None else None
        if ending is not None:
            hint = "`moot status` shows who is here"
            raise Refused("agent_retired", f"{name} has ended: {ending}", hint=hint)
        return None if agent is None else agent.epoch

    def person(self, what: str) -> str:
        """The person who acts: the one named, else the first whose key can be unlocked here."""
        self.require_no_agent(what)
        for key in self.workspace.engine.registry().human_keys():
            wanted = self.acting in (None, key.name)
            if wanted and self.workspace.keys.find(key.name, key.kid) is not None:
                return key.name
        raise Refused(
            "human_key_required",
            f"no person's key is here: {what} is for people",
            hint="`moot agent register NAME --human` makes one",
        )

    def has_people(self) -> bool:
        """True if somebody is registered here as a person, who could decide."""
        return bool(self.workspace.engine.registry().human_keys())

    def operator(self, what: str) -> str | None:
        """The person whose key signs an operator's act; None where no person is registered.

        Such an act is then only observed. An agent is refused.
        """
        self.require_no_agent(what)
        names = [key.name for key in self.workspace.engine.registry().human_keys()]
        return self.acting or (names[0] if names else None)

    def person_signer(self) -> Signer | None:
        """The unlocked key of a person who may consent here; None if there is none.

        A session that acts under a name cannot consent under another.
        """
        for key in self.workspace.engine.registry().human_keys():
            if self.acting in (None, key.name):
                held = self.workspace.keys.find(key.name, key.kid)
                if held is not None:
                    return held.signer
        return None

    def require_no_agent(self, what: str) -> None:
        """Refuse an agent outright, before anyone is asked for a passphrase."""
        if self.acting is not None and not self.acts_as_person():
            raise Refused(
                "human_key_required",
                f"{self.acting} is no person: {what} is for people",
                hint="run this yourself, outside of `moot run`",
            )

    def require_no_agent_around(self, what: str) -> None:
        """Refuse an agent, and whatever runs below a coding tool or `moot run`: a model may have
        started it, under whichever name and in whichever environment."""
        from moot.api.presence.tool_processes import find_enclosing_run, find_enclosing_tool

        self.require_no_agent(what)
        around = find_enclosing_tool(self.env, os.getpid()) or find_enclosing_run(
            self.env, os.getpid()
        )
        if around is not None or self.tool_session is not None:
            raise Refused(
                "human_key_required",
                f"this runs below {around or 'a coding tool'}: {what} is for people",
                hint="run this yourself, in a terminal outside of coding tools and of `moot run`",
            )

    def require_self_or_person(self, name: str) -> None:
        """An agent ends or renews only itself; a person, or a caller without a name, anyone."""
        if self.acting in (None, name) or self.acts_as_person():
            return
        raise Refused(
            "not_you",
            f"you are {self.acting}; this is about {name}",
            hint="an agent does this for itself only; ask the person who runs you",
        )

    def acts_as_person(self) -> bool:
        """True if the session acts under the name of a registered person."""
        from moot.core.machine import KeyClass

        known = self.workspace.engine.registry().agents.get(self.acting or "")
        return known is not None and known.kind is KeyClass.HUMAN

    def close(self, *, checkpoint: bool = True) -> None:
        """Close the workspace, if it was opened, after one signature over everything it wrote.

        A hook has no time for that signature: the next command makes it.
        """
        for other in self._elsewhere.values():
            other.close(checkpoint=checkpoint)
        closing = self._opened[:] if self._stays_open is None else []
        self._opened.clear()
        for workspace in closing:
            workspace.close(checkpoint=checkpoint)
        # A process that ends right away need not take its memory apart: with many agents and
        # reservations that takes longer than closing.
        self._closed = closing

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def can_ask_passphrase(self) -> bool:
        """True if a person is there who may be asked for a passphrase, or has left it."""
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
