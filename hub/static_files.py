"""The static files: all of them are there, or they do not count as collected."""

from collections.abc import Iterator
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class WholeStaticFiles(CompressedManifestStaticFilesStorage):
    """Whitenoise's, which lists the files once all are written and compressed, and leaves no part of one.

    `serve` collects them where the list is missing, and `collectstatic` writes no file again that is there. So
    what a full disk has left would be sent for good.
    """

    def post_process(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, str, Any]]:
        """Write the files under their further names, and compressed; then the list of all."""
        try:
            yield from super().post_process(*args, **kwargs)
        except BaseException:
            self.manifest_storage.delete(self.manifest_name)
            raise
        if not kwargs.get("dry_run"):
            super().save_manifest()

    def save_manifest(self) -> None:
        """Do nothing yet: Django would write the list before the files are compressed."""

    def _save(self, name: str, content: Any) -> str:
        try:
            return super()._save(name, content)
        except OSError:
            self.delete(name)
            raise
