"""Load and faults drawn at random, then the question what was lost or doubled. `script/chaos` runs it.

A fault is a function in a module `faults_*.py`; `faults.py` says how it is written. What it finds and
may break is in `world.py`.
"""
