"""Reads every request as UTF-8."""

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest


class Utf8Request(WSGIRequest):
    """Django's request, except that the Content-Type cannot choose the encoding of URLs and forms.

    Python has encodings that are none of text, and some that take quadratic time.
    """

    @property
    def encoding(self) -> str:
        """Always UTF-8."""
        return "utf-8"

    @encoding.setter
    def encoding(self, named: str) -> None:
        """Django's own reads the query string here, where nothing answers for a mistake in it."""


class Application(WSGIHandler):
    """Django's WSGI handler with this kind of request."""

    request_class = Utf8Request
