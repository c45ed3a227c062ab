"""The protocols: pure state machines in one shape. None imports another, a store or a clock.

    debate/      debate: do we agree, and how surely (Bounce Protocol v0.1)
    decision/    decision: one question from the first answers to a person's approval, veto or
                 amendment
    example/     errands: the smallest complete protocol, and the one to copy when adding a
                 sixth
    mail/        mail: who told whom what, and who still owes an answer (Brenner Protocol v0.1)
    observed/    observed work: what a coding tool's hook saw, and when no hook was watching
    parliament/  parliament: representatives draft, debate, amend and vote; a person decides
    path/        path: what led from one protocol to another, step by step
    plan/        plans: one signed page for each piece of work, which its agents read and amend
    presence/    presence: who is here, alive, and working where (Operative Protocol v1)
    trace/       trace, after the Agent Protocol: what was done, by whom, with what proof

Presence, mail, debate, parliament and trace each follow a public document; the others are ours.
Read `example/` first.
"""
