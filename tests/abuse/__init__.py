"""Attacks at full size, against `script/serve` as it is shipped. `script/abuse` makes them.

Each module is about one door. What does not depend on the machine is a test beside the code that it
is about; here are the attacks themselves, and what they cost in milliseconds.
"""
