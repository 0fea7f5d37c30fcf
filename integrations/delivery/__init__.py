"""Delivers each report as one issue: pace, holds, retries.

forwarding.py          one attempt, from taking a delivery to what came of it
pacing.py, turns.py    how many may be sent now, and whose turn it is
waiting.py, line.py    why one waits, and about until when; backlog.py: all that waits for an integration
holds.py               stopping and releasing all deliveries of an integration
catching_up.py         what a request left over of that, by `maintain`
ownership_changes.py   the same for pages that change owners
withholding.py         what members may not read while none has push access; it stops nothing
trying_again.py        *Try again* for members, retry and hold for operators
discarding.py          *Discard* and *Restore*
retries.py             sending a list of reports, for `maintain` and commands
task.py                the task for the queue
"""
