"""Takes reports in: each is stored once, without secrets.

views.py, shape.py     `POST /v1/reports`, and the format of its body
intake.py              a new report
repeats.py             a duplicate of an earlier one, and its other words (accounts.py)
statements.py          what is asked of the database for each report
canonical.py           one spelling for each page
screening.py           removes secrets from a report, by secrets.py
cleaning.py, plain.py  texts without what cannot be seen, for secrets and for issues
erasing.py             erasing the text of a report
receivers.py           a report whose organization is deleted
"""
