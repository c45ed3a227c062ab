"""Agents and where they work: join, run, reserve, hand over, see who is here and what is due.

agenda.py  `moot agenda` and `moot tick`: what is due, for whom, by when; and what happens
           when it is late
agents.py  `moot agent ...` and `moot admit`: who may sign here, with which key
event.py   `moot event ...`, `handoff`, `blocked` and `plan`: pass work on, ask for help,
           share a plan
join.py    `moot join` (also `bb-init`): start a session under a new name, or continue with
           an old one
prompt.py  `moot prompt`: one line for the prompt of a shell or tmux
run.py     `moot run -- COMMAND`: run a program as a named agent, with heartbeats, and
           release at the end
scope.py   `moot reserve`, `moot release` and `moot scope ...`: who works where
status.py  `moot status`: one screen
"""
