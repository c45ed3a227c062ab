"""The demonstration: three acts on a real repository, with nothing faked (DEC-026).

    act_decision.py     act 2: three voices disagree, one changes its mind, the vote passes, and
                        the person vetoes
    act_machines.py     --machines: several machines share one ledger; the keeper is killed, and
                        later rolled back
    act_proof.py        act 3: anyone can verify the record; edited copies are detected
    act_reservation.py  act 1: Moot refuses an edit of a file that another agent holds
    act_whole_path.py   `--full`: one matter through all five protocols, from BLOCKED to
                        verified claims
    acts.py             the acts in their order, and the files they leave
    scripted_voices.py  the answers and entries of the scripted participants
    stage.py            the folder, keys and processes of the demonstration

Lines with a `point` are results, which are always shown; --commands shows all lines. Every `$ ...`
line is a command that was run, and can be typed as shown; its output follows.
"""
