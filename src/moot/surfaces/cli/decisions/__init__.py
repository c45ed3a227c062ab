"""Questions and their answers: ask, decide, report, receipt.

ask.py      `moot ask`: a question to several participants, a short debate, a result for you
            to judge
reports.py  `moot report` and `moot receipt`: a result as a page, and as a file that anyone
            can verify
rulings.py  `moot council`, `decide`, `outcome` and `track`: agents at work answer a
            question, a person rules on the result, and records later how it turned out
"""
