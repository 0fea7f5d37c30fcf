"""The version of this package; the Node package carries the same."""

__version__ = "0.1.0"
