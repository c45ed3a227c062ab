"""Coding tools: what each calls its events and edits, and how our hooks get into its settings.

coding_tools.py    one row for each tool: its events, its edit tools, where their paths stand
install.py         install and uninstall, for every tool: merge, never overwrite
settings_files.py  which settings a tool reads, how far each reaches, and where ours go
hook_command.py    the command line in the settings: closed before an edit, open to colleagues
hook_entries.py    the events and timeouts of each tool; json_settings.py merges them
hook_files.py      each file of ours: how it gets in, how it is taken out, whether it is whole
opencode_plugin.py opencode has no commands but a plugin, which runs the same command line
git_exclude.py     what is installed for one clone is kept out of git; worktrees.py knows them
original_files.py  what was there before, to be put back exactly
dependents.py      whom it would unguard to uninstall here
git_hook.py        the pre-commit hook, in line with those that are there
companion_hooks.py git's other hooks: merges, cherry-picks, reverts, rebases
manual.py          what an agent is told about Moot, and where each tool reads it
mcp_entries.py     what tells each tool to start `moot mcp`; mcp_files.py puts it in and out
mcp_probe.py       the server as a tool starts it: does it offer its tools?
tool_trust.py      Codex runs only hooks its user trusts, Gemini CLI only in trusted folders
hook_health.py     whether what is installed also works; hook_status.py tells it for each worktree
hook_stamps.py     when a tool's hook last spoke, and what was done to it
guard_files.py     the files that carry our hooks: would a change take them out?
hook_probe.py      an edit that must be refused, sent through what is installed
"""

HOOK_TOOLS = ("claude", "codex", "gemini", "opencode")
