"""Coding tools: what each calls its events and edits, and how our hooks get into its settings.

coding_tools.py    one row for each tool: its events, its edit tools, where their paths stand
install.py         install and uninstall, for every tool: merge, never overwrite
hook_entries.py    what is added to each tool's settings; json_settings.py merges it
original_files.py  what was there before, to be put back exactly
git_hook.py        the pre-commit hook, in line with those that are there
companion_hooks.py git's other hooks: merges, cherry-picks, reverts, rebases
manual.py          what an agent is told about Moot, and where each tool reads it
tool_trust.py      Codex runs only hooks its user trusts, Gemini CLI only in trusted folders
hook_health.py     whether what is installed also works
"""

HOOK_TOOLS = ("claude", "codex", "gemini", "opencode")
