"""Tasks for the queue. A task only starts a delivery; the delivery's row holds its state."""

from django_tasks import task

from integrations.delivery import forwarding

ASKED_FOR = 10  # above all that has just arrived, which is 0


@task()
def forward_report(report_id: str) -> None:
    """Deliver a new report in its turn."""
    forwarding.forward_new(report_id)


@task(priority=ASKED_FOR)
def forward_report_now(report_id: str) -> None:
    """Deliver a report at once, because a person asked for it."""
    forwarding.forward(report_id)
