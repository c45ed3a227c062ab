"""The protocols: pure state machines in one shape. None imports another, a store or a clock.

presence, mail, debate, parliament, trace   five public protocols, each from its own document
decision    one question from the first answers to a person's word
path        what led from one protocol to another, step by step
example     the smallest machine that has all the parts: read it first
"""
