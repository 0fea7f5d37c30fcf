"""Every request is read as UTF-8."""

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest


class Utf8Request(WSGIRequest):
    """Django's own, except that its Content-Type does not choose how addresses and forms are read.

    Python has charsets that are none of text, and some that take quadratic time.
    """

    @property
    def encoding(self) -> str:
        return "utf-8"

    @encoding.setter
    def encoding(self, named: str) -> None:
        """Django's own reads the query string here, where nothing answers for a mistake in it."""


class Application(WSGIHandler):
    request_class = Utf8Request
