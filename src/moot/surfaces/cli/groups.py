"""The larger groups of commands, as tables: showing one imports none of its commands."""

from __future__ import annotations

from typing import Final

import click

from moot.surfaces.terminal.lazy import LazyGroup, read_sections

_MAIL: Final = """
    Write
        template  mail.writing:template        an empty message of a type
        lint      mail.writing:lint            check a message: what must be fixed?
        send      mail.writing:mail_send       check a message and send it
        import    mail.writing:import_message  import a message from outside
    Read
        inbox     mail.reading:mail_inbox      what is new for an agent
        show      mail.reading:show            one message, and who has answered it
        search    mail.reading:search          messages that contain all these words
        thread    mail.reading:thread          a whole thread, in order
    Answer
        ack       mail.answers:ack             say that you received, understood or did it
        pending   mail.answers:pending         what still waits for an answer
        run       runs.sessions:run_mail       let participants give the answers they owe
        tick      mail.answers:tick            remind agents whose answers are overdue
        compile   mail.answers:compile_thread  merge a thread's contributions
"""
_DEBATE: Final = """
    Argue
        new          debate.writing:new          begin a session: a file that each agent appends to
        add          debate.writing:add  append an entry; Moot fills in its id, turn and time
        add-context  debate.writing:add_context  add a subsection to the context
        run          runs.sessions:run_debate    let participants argue until it is over
        sign         debate.writing:sign         sign entries of yours that were only observed
    Read
        status       debate.reading:status       whose turn it is, until when, each position
        consensus    debate.reading:consensus    does a round agree, and how surely?
        summary      debate.reading:summary      a session in short, as markdown
        report       debate.reading:report       how it went, as a page
        watch        debate.proof:watch          follow a session as it is written
    Check
        check        debate.reading:check        check a file against every rule
        compare      debate.reading:compare      is NEW only OLD with something appended?
        verify       debate.proof:verify         is every byte signed, or observed?
    Time and end
        tick         debate.writing:tick         apply the timeout of a turn
        resume       debate.writing:resume       continue a session that waits for its operator
        close        debate.writing:close        end a session
"""
_PARLIAMENT: Final = """
    Debate
        new          parliament.session:new            call a parliament on a problem
        statement    parliament.short_forms:statement  make a seat's opening statement
        draft        parliament.short_forms:draft      write the bill, or its next version
        ask          parliament.short_forms:ask        ask another seat a question
        answer       parliament.short_forms:answer     answer the question that waits for a seat
        amend        parliament.short_forms:amend      propose a change to the bill
        endorse      parliament.short_forms:endorse    endorse an amendment, in an answer
        oppose       parliament.short_forms:oppose     oppose an amendment, in an answer
        abstain      parliament.short_forms:abstain    take no side on an amendment, in an answer
        motion       parliament.short_forms:motion     ask the speaker for something
        vote         parliament.short_forms:vote       vote YES or NO on the bill
        rule         parliament.short_forms:rule       rule as the speaker: rounds, votes, order
        template     parliament.session:template       a message of a type, to be filled in
        submit       parliament.session:submit         submit any message as JSON
        run          runs.sessions:run_parliament      let participants take the seats
    The bill
        drafter      parliament.bill:drafter           choose who drafts it
        incorporate  parliament.bill:incorporate  add an amendment to it, as its next version
        withdraw     parliament.bill:withdraw          take back an amendment of yours
        conclude     parliament.bill:conclude          end the discussion of an amendment
        tally        parliament.bill:tally             count the votes and announce the result
        decide       parliament.bill:decide            approve, veto or amend, as a person
        final        parliament.bill:final  write the final document and close the session
    Read
        status       parliament.session:status         the state of a session
        next         parliament.session:next_steps     who is expected to do what, and how
        context      parliament.bill:context           what a participant is given to read
        history      parliament.bill:history           every version of the bill
        summarize    parliament.bill:summarize         replace the summary of an ended round
    The four files
        check        parliament.bill:check  check every field, reference and tally
        import       parliament.bill:import_files      continue a session from another ledger
        export       parliament.bill:export            write them again from the record
"""
_TRACE: Final = """
    Plan
        new            trace.steps:new  begin a trace: a task, and four agents for its parts
        propose        trace.steps:propose        how to do the task (the planner)
        review         trace.steps:review         judge a proposal (the critic)
    Work
        intend         trace.steps:intend  say what you are going to run, and why (the executor)
        review-intent  trace.steps:review_intent  approve an intent, or block it (the critic)
        exec           trace.steps:execute        run an intent, and keep what went in and out
        recover        trace.steps:recover        record runs whose process died as failed
        run            trace.steps:run            let participants do all this until it is verified
    Prove
        claim          trace.steps:claim          what a finished run shows (the executor)
        challenge      trace.steps:challenge      object to a claim (the critic)
        withdraw       trace.steps:withdraw       take back a claim of yours (the executor)
        finalize       trace.steps:finalize       sign the final statement (the executor)
        audit          trace.reading:audit        verify it, and put the result on record
        abort          trace.steps:abort          stop a trace for good
        rotate         trace.steps:rotate         continue a part under its agent's new key
    Read
        list           trace.reading:list_traces  all traces, and which of them are open
        status         trace.reading:status       its state, what is open, who must act
        report         trace.reading:report       a trace as a page
        observed       trace.reading:observed     work that a hook observed
        export         trace.reading:export       one file that anyone can check offline
        verify         trace.reading:verify  check a trace, or an exported one, from its bytes up
"""
_LEDGER: Final = """
    Read and check
        log          ledger.reading:ledger_log     what is on record
        verify       ledger.reading:ledger_verify  is it intact and complete?
        doctor       ledger.keeping:ledger_doctor  what is wrong, and how to fix it
    Copy
        checkpoint   ledger.keeping:checkpoint     one signature over everything
        export       ledger.keeping:export         a file that anyone can check offline
        backup       ledger.keeping:backup         a checked copy of the ledger file
        move         ledger.keeping:move           into a PostgreSQL database, or back
    Repair
        rebuild      ledger.keeping:rebuild        rebuild every index from the record
        accept-loss  ledger.keeping:accept         continue from an older copy
        witness      ledger.keeping:testify        compare with another copy
        forget       ledger.keeping:forget         forget a ledger that was deleted on purpose
"""


@click.command("mail", cls=LazyGroup, sections=read_sections(_MAIL), no_args_is_help=False)
def mail() -> None:
    """Typed messages between agents: checked before sending, with reminders for answers."""


@click.command("debate", cls=LazyGroup, sections=read_sections(_DEBATE), no_args_is_help=False)
def debate() -> None:
    """Argue in turns in one markdown file, and see whether all agree."""


@click.command(
    "parliament", cls=LazyGroup, sections=read_sections(_PARLIAMENT), no_args_is_help=False
)
def parliament() -> None:
    """Representatives draft, debate, amend and vote; a person decides.

    DIR is the folder of a session, or its id, such as parl-20260210-001.
    """


@click.command("trace", cls=LazyGroup, sections=read_sections(_TRACE), no_args_is_help=False)
def trace() -> None:
    """Work that can be proved: proposed, approved, run, claimed, verified."""


@click.command("ledger", cls=LazyGroup, sections=read_sections(_LEDGER), no_args_is_help=False)
def ledger() -> None:
    """The record as a whole: read it, check it, copy it, keep it healthy."""
