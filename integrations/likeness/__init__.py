"""Whether two reports of one page are about one problem, and why: no model, no service, no database.

terms.py               what a report is compared by: code, numbers, words; made once, stored as JSON
reading.py             a text as tokens; stems.py, vocabulary.py, families.py: what words are and mean
named.py               steps, tabs, sections and sibling words that a text names
comparing.py           points for rare terms in common, with the reason in words
vetoes.py              what contradicts: another step, flag, number, error message
choosing.py            the nearest of the issues that are there: the same, maybe the same, or none
scoring.py             the same for a list of reports, to be held against labeled ones
"""
