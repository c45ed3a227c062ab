"""Before a program starts under `moot run`: which coding tool it is, and will our hook run in it?

started_tools.py     the coding tools that a command line starts, by name, package or link
program_wrappers.py  programs that start another one (`env`, `npx`, a shell), one row each
shell_text.py        a shell's text as its simple commands
tool_settings.py     which settings a tool reads when it is started so
our_hooks.py         how our hooks are known there
guard_check.py       what keeps our hook from running, tool by tool; guard_case.py is what is asked
claude_switches.py, codex_switches.py, gemini_switches.py, opencode_switches.py
tool_around.py       is a coding tool, or `moot run`, above this process?
silent_tools.py      afterwards: tools among the processes below us whose hook was not heard yet
shown_calls.py       calls that a tool shows itself, in the files of its conversations
"""
