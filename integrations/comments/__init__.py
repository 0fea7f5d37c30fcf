"""Writes comments below the issues that the Hub has opened, and edits them: one per occasion, by `maintain`.

words.py      what a comment says, and how the Hub tells its own text from what somebody has edited
again.py      what is to be done where a problem is reported again after its issue was closed
listing.py    the list of those that also reported the problem
sending.py    one attempt: look for it, write it, or write it anew
releasing.py  what becomes of those that joined an issue that is gone
"""
