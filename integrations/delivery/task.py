"""What is put on the queue. A task only wakes a delivery; the truth is the delivery's row."""

from django_tasks import task

from integrations.delivery import forwarding


@task()
def forward_report(report_id: str) -> None:
    forwarding.forward_new(report_id)


@task()
def forward_report_now(report_id: str) -> None:
    """For a person who asks: before those that wait for their turn."""
    forwarding.forward(report_id)
