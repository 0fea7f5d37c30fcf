"""Comments of the Hub on issues that it has opened, and reopening them.

again.py     what is to be done where a problem is reported again after its issue was closed
"""
