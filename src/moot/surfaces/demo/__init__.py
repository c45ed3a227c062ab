"""The demonstration: three acts on a real repository, with nothing faked (DEC-026).

    act_decision.py     act 2: three voices disagree, one changes its mind, the vote passes, and
                        the person vetoes
    act_machines.py     --machines: clones with key folders of their own share one ledger; the
                        keeper is killed, and then shows less than it did before
    act_proof.py        act 3: the record goes to somebody else
    act_reservation.py  act 1: a file is held
    act_whole_path.py   `--full`: one matter through all five protocols, from BLOCKED to
                        verified claims
    acts.py             the acts in their order, and what they leave
    scripted_voices.py  what the scripted voices say
    stage.py            where the demonstration plays: a folder of its own, its own keys, and
                        real processes

Lines with a `point` are what came of it, and are shown unless all commands are asked for. Every
`$ ...` line is what was run, and can be typed as it stands; what follows it is what it printed.
"""
