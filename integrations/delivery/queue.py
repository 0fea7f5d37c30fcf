"""The queue of tasks: django-tasks-db's, whose new rows cost one prepared statement each."""

from typing import Any

from django.utils import timezone
from django_tasks.signals import task_enqueued
from django_tasks_db import DatabaseBackend
from django_tasks_db.backend import TaskResult
from django_tasks_db.models import DBTaskResult, get_date_max

from core import ids, prepared


class Queue(DatabaseBackend):
    """The backend of the library; a row is made as the library and its receivers make it."""

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> TaskResult:
        """As in the library, which makes the result twice."""
        self.validate_task(task)
        result: TaskResult = self._task_to_db_task(task, args, kwargs).task_result
        task_enqueued.send(type(self), task_result=result)
        return result

    def _task_to_db_task(self, task: Any, args: Any, kwargs: Any) -> DBTaskResult:
        row: DBTaskResult = DBTaskResult(
            id=ids.new_uuid(),  # so that the latest are found without an index on their time
            args_kwargs={"args": list(args), "kwargs": kwargs},
            priority=task.priority,
            task_path=task.module_path,
            queue_name=task.queue_name,
            run_after=task.run_after or get_date_max(),
            backend_name=self.alias,
            enqueued_at=timezone.now(),
        )
        prepared.insert(row)
        row._state.adding = False
        return row
