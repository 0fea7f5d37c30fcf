"""What workers of the queue do before their first task."""

from typing import Any

from django.dispatch import receiver
from django_tasks.signals import task_started
from django_tasks_db import DatabaseBackend

from hub import logs


@receiver(task_started, dispatch_uid="write-behind-in-workers")
def write_behind(sender: Any, **kwargs: Any) -> None:
    """Let no slow reader of stderr stop a worker. A task within a request is none of the queue."""
    if isinstance(sender, DatabaseBackend):  # the worker names the backend itself, not its class
        logs.write_behind()
