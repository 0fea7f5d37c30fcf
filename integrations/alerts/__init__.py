"""Tells organizations bad news by an issue in their own repository: opened once per cause, closed when it is gone.

causes.py    compares what is wrong now with what has been told
words.py     what the issue says
sending.py   opens and closes the issues
"""
