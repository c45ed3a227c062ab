"""What earlier versions wrote, and the names that stand in signed records: neither may change.

    vX.Y.Z/             a workspace, exports, receipts and keys as that version left them
    test_old_records    this version opens, checks, shows and goes on writing all of it
    record_names.json   every name that a record, a key's digest or a signed snapshot holds
    record_names.py     reads these names from the code; `--write` takes what was added

`tools/make_golden.py` makes the folder of the version that is about to be released.
"""
