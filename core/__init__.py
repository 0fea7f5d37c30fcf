"""What every app needs and none owns.

Errors, time, ids, rates, deadlines, who is calling. No models, and no import of ours.
"""
