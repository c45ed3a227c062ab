"""Agents and where they work: join, run, reserve, hand over, see who is here and what is due.

agenda.py  `moot agenda` and `moot tick`: what is due, for whom, by when; and what happens
           when it is late
agents.py  `moot agent ...` and `moot admit`: who may sign here, with which key
event.py   `moot event ...`, `handoff`, `blocked` and `plan`: work passed on, help asked
           for, and the page that the agents of one work share
join.py    `moot join` (also `bb-init`): start a session under a name of its own, or go on
           with one
prompt.py  `moot prompt`: one line for the prompt of a shell or tmux
run.py     `moot run -- COMMAND`: a program with a name, a heartbeat while it lives, and a
           clean end
scope.py   `moot reserve`, `moot release` and `moot scope ...`: who works where
status.py  `moot status`: one screen
"""
