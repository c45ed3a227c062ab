"""The demonstration: three acts on a real repository, with nothing faked (DEC-026).

    stage.py     where it plays: a folder of its own, its own keys, and real processes
    act_reservation.py   act 1: a held file, a dead holder, a forged sender
    act_decision.py      act 2: three voices, one who changes, a veto, a second version
    act_proof.py         act 3: one byte changed, the last event deleted, both named
    act_whole_path.py    --full: from BLOCKED to verified claims, through all five protocols
    act_machines.py      --machines: one ledger for several, a killed keeper, a rolled-back one
    voices.py    what the scripted voices say
    programs.py  how a person calls what was run, also where `moot` is not found by its name
    acts.py      the acts in their order, and what is handed on between them

Lines with a `point` are what came of it, and are shown unless all commands are asked for. Every
`$ ...` line is what was run, and can be typed as it stands; what follows it is what it printed.
"""
