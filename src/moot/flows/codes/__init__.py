"""Every code that an error or a finding may carry, read from the source that gives it.

raised_codes.py    codes that stand where an error is raised or a finding is made
rule_rows.py       the rows of all rule tables: those of the protocols, and the doctor's
explanation.py     one code or rule explained: what it says, why, what to do

The pages errors.md and rules.md of the reference are made from the first two, so that a terminal
and the pages can never disagree.
"""
