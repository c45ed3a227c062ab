"""What every command of the command line needs, whatever it is about.

answer.py      what a command gives back, and how it is printed: one envelope, or lines for
               a person
derive.py      make a command of an operation: a table says what a person types, the
               signature says the rest
lazy.py        A click group that shows its commands from a table, a line each, and knows
               what was mistyped
listing.py     lists for people: a table that is no wider than the terminal it is written to
local_time.py  times as a person at a terminal reads them: short, and in the time of this
               place
output.py      `-o FILE`: where a command may write what it made, and what it says if it
               cannot
page.py        `-o FILE`: a report as a file, in the form that its name asks for; `--open`
               shows it
progress.py    A bar on the terminal while something takes long; elsewhere nothing, not even
               an import
shell.py       what a command runs in: who acts, where the workspace is, how answers are
               printed
telemetry.py   A command as a span, with what it measured; a `moot run` lasts as long as its
               program
typed.py       A hint speaks of what was typed: `moot trace status TRACE` names the trace
               that was meant
verdict.py     A verdict for people: one line that says it, what it rests on, and what to do
"""
