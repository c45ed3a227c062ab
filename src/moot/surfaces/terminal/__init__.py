"""What every command of the command line needs.

answer.py      the answer of a command, and how it is printed: one envelope, or lines for a
               person
derive.py      make a command from an operation: a table says what a person types, the
               signature says the rest
lazy.py        a click group that lists its commands from a table and suggests a command
               after a typing error
listing.py     tables and sentences for people, no wider than the terminal
local_time.py  times for a person at a terminal: short, and in local time
output.py      `-o FILE` and every other path that a command writes to
page.py        `-o FILE`: a report as a file, in the format of its ending; `--open` shows it
progress.py    a progress bar and a status line on a terminal; nothing elsewhere
shell.py       the context of a command: who acts, where the workspace is, how it answers
telemetry.py   a command as a span, with what it measured; the span of `moot run` lasts as
               long as its program
typed.py       put the typed arguments into hints: `moot trace status TRACE` becomes `moot
               trace status t1`
verdict.py     a verdict for people: the headline, what it rests on, and what to do
"""
