"""Finds the issue that a report is about, if there is one, among those of its page that are in the database.

looking.py             what a delivery is like: a lead to join, or maybe the same
candidates.py          the newest leads of its page, and what is on its way at the same time
verdicts.py            what members have said about two reports
following.py           issues that were opened when a problem came back
stored_terms.py        the terms of each report, from its first look on
rebuilding.py          those of an older rule made anew, by a command and by `maintain`
joining.py             a delivery joins the issue of a lead, or leaves it
signals.py             what the rooms above are told of
"""
