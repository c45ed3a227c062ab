"""What each coding tool sends to its hook, in the shape that the real ones were seen to send."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from bench.loss.world import Agent

_BEFORE: Final = {"gemini": "BeforeTool"}
_AFTER: Final = {"gemini": "AfterTool"}
_SHELL: Final = {
    "claude": "Bash",
    "codex": "Bash",
    "gemini": "run_shell_command",
    "opencode": "bash",
}
_MORE: Final[dict[str, dict[str, Any]]] = {
    "claude": {"permission_mode": "bypassPermissions"},
    "codex": {"turn_id": "t1", "model": "gpt-5.5", "permission_mode": "bypassPermissions"},
    "gemini": {"timestamp": "2026-11-15T02:42:18.267Z"},
    "opencode": {},
}


class Call(NamedTuple):
    """One call of a tool's own tool: its name and input, and whether its end is told."""

    name: str
    input: dict[str, Any]
    tells_end: bool = True


def shell_call(tool: str, command: str) -> Call:
    return Call(_SHELL[tool], {"command": command})


def read_call(tool: str, root: str, path: str) -> Call:
    """A file is read: Codex has no tool for it but the shell."""
    if tool == "codex":
        return shell_call(tool, f"cat {path}")
    name, field = {
        "claude": ("Read", "file_path"),
        "gemini": ("read_file", "file_path"),
        "opencode": ("read", "filePath"),
    }[tool]
    return Call(name, {field: f"{root}/{path}"})


def write_call(tool: str, root: str, path: str, text: str) -> Call:
    """A whole file: Codex adds it by a patch, the others have a tool for it."""
    if tool == "codex":
        return _patch_call(tool, f"*** Add File: {path}\n{_prefix(text, '+')}")
    name, field, where = {
        "claude": ("Write", "file_path", f"{root}/{path}"),
        "gemini": ("write_file", "file_path", path),
        "opencode": ("write", "filePath", f"{root}/{path}"),
    }[tool]
    return Call(name, {field: where, "content": text})


def edit_call(tool: str, root: str, path: str, old: str, new: str) -> Call:
    """A part of a file is replaced."""
    if tool == "codex":
        body = f"@@\n{_prefix(old, '-')}{_prefix(new, '+')}"
        return _patch_call(tool, f"*** Update File: {path}\n{body}")
    name, fields = {
        "claude": ("Edit", ("file_path", "old_string", "new_string")),
        "gemini": ("replace", ("file_path", "old_string", "new_string")),
        "opencode": ("edit", ("filePath", "oldString", "newString")),
    }[tool]
    return Call(name, dict(zip(fields, (f"{root}/{path}", old, new), strict=True)))


def delete_call(tool: str, path: str) -> Call:
    """By a patch; where there is no such tool, by a patch inside of a shell command."""
    return _patch_call(tool, f"*** Delete File: {path}\n")


def shell_patch_call(tool: str, path: str, text: str) -> Call:
    """A patch typed into the shell. Of these Codex never tells the end."""
    body = f"*** Add File: {path}\n{_prefix(text, '+')}"
    return _in_shell(tool, body)._replace(tells_end=tool != "codex")


def _patch_call(tool: str, body: str) -> Call:
    field = {"codex": "command", "opencode": "patchText"}.get(tool)
    if field is None:
        return _in_shell(tool, body)
    return Call("apply_patch", {field: f"*** Begin Patch\n{body}*** End Patch"})


def _in_shell(tool: str, body: str) -> Call:
    return shell_call(tool, f"apply_patch <<'EOF'\n*** Begin Patch\n{body}*** End Patch\nEOF")


def _prefix(text: str, mark: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def message_before(agent: Agent, call: Call, folder: str, number: int) -> dict[str, Any]:
    return _message(agent, call, folder, number, _BEFORE.get(agent.tool, "PreToolUse"))


def message_after(agent: Agent, call: Call, folder: str, number: int) -> dict[str, Any]:
    message = _message(agent, call, folder, number, _AFTER.get(agent.tool, "PostToolUse"))
    return {**message, "tool_response": {"output": ""}}


def start_message(agent: Agent, folder: str) -> dict[str, Any]:
    return {
        "session_id": agent.session,
        "cwd": folder,
        "hook_event_name": "SessionStart",
        "source": "startup",
        **_MORE[agent.tool],
    }


def _message(agent: Agent, call: Call, folder: str, number: int, event: str) -> dict[str, Any]:
    identified = {} if agent.tool == "gemini" else {"tool_use_id": f"call_{number}"}
    return {
        "session_id": agent.session,
        "cwd": folder,
        "hook_event_name": event,
        "tool_name": call.name,
        "tool_input": call.input,
        **identified,
        **_MORE[agent.tool],
    }
