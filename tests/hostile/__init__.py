"""Hostile input: whatever anybody sends, and wherever, is answered, never with a 5xx, and on both databases alike.

`table.py` has requests with something wrong about them, as bytes; `doors.py` finds the endpoints and forms
in the URLs; `generated.py` has hypothesis fill in their fields. All of it is sent to the Hub under its
production server: two of them with the same rows, on SQLite and PostgreSQL, whose answers are compared.
"""
