"""Runs: participants take their turns until something has come out.

run_debate.py, run_mail.py, run_parliament.py, run_trace.py
                   seat the participants, let the runner go, record what came out
run_seats.py       the part of it that is the same for all: limits in, how it ended out
runnable_*.py      what the runner needs of each protocol (`agents/runnable.py`): briefs made from
                   the protocol's own views, replies as its own commands; nothing is decided here
parliament_prompts.py, trace_prompts.py   what a seat or a role is asked for, and in which shape
first_answers.py   what each would answer alone, all at the same time
seats.py           who sits where: specs become participants
run_record.py      what calls cost and how they ended, kept in the decision of the run
"""
