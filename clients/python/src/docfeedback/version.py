"""The version of this package, the same as of the Node package."""

__version__ = "0.1.0"
