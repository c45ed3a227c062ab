"""The command line, a contract: names, exit codes and the JSON envelope stay as they are.

    bb.py           `bb` and `bb-init`: the names under which Operative's document knows these
                    commands (OPR-091)
    bb_commands.py  `bb-init` and the commands of `bb agent` except heartbeat; each calls a
                    command of `moot`
    demo.py         `moot demo`: real commands on a real repository, in a temporary folder
    entry.py        start `moot`; a coding tool's hook is answered without loading the rest of
                    the command line
    flow.py         `moot flow NAME SOURCE`: use the result of one protocol to start a step in
                    another
    groups.py       the larger groups of commands, as tables: showing one imports none of its
                    commands
    guard.py        `moot guard check` and `moot undo`: may an agent write there?
    help.py         `moot help` and `moot completion`: every command, and how a shell completes
                    them
    hook.py         `moot hook ...` and `moot mcp`: what coding tools call, and how it is
                    installed
    init.py         `moot init` and `moot config`: make a workspace, and change its settings
    machines.py     `moot keep`, `moot invite`, `moot machine`: one ledger for several machines
    main.py         `moot`: the root command and the table of commands
    serve.py        `moot serve`: the workspace in the browser, live
    setup.py        `moot explain`, `clean` and `uninstall`: explain a code, remove what agents
                    left, remove the hooks
    story.py        `moot story`: the whole path a decision took, with every native id
    debate/         debates in one markdown file: write, read, prove, run
    decisions/      questions and their answers: ask, decide, report, receipt
    ledger/         the record as a whole: log, verify, export, backup, doctor, trust, artifacts
    mail/           messages: write, check, send, read, answer, compile
    parliament/     parliaments: call a session, submit messages, vote, decide, print the final
                    bill
    presence/       agents and where they work: join, run, reserve, hand over, see who is here
                    and what is due
    runs/           what every run of participants shows and asks: limits, a live table,
                    questions to a person
    trace/          provable work: propose, review, run, claim, verify

`entry.py` is where the process starts, `main.py` the table of commands and the one broad `except`.
Each folder is one subject; what all of them share is in `surfaces/terminal/`.
"""
