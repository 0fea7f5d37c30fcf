"""What the Hub is compared with: each as a good team of its own would run it.

None of them is part of the Hub, and none is imported by it: each is a process of `.venv-bench`,
whose packages are in requirements/bench.lock.
"""
