"""Questions and their answers: ask, decide, report, receipt."""
