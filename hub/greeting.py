"""What is said first after a sign-in: bad news that no issue tells; to nobody else."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from integrations.alerts import words
from orgs.models import Membership, User


@receiver(user_logged_in, dispatch_uid="say-bad-news-first")
def say_bad_news_first(request: HttpRequest | None, user: User, **kwargs: Any) -> None:
    """Leave it for the first page, whichever that is."""
    membership = Membership.objects.select_related("organization").filter(user=user).first()
    if request is None or membership is None:
        return
    for sentence in words.at_sign_in(membership.organization):
        messages.error(request, sentence, fail_silently=True)


@receiver(user_logged_out, dispatch_uid="drop-what-was-not-read")
def drop_what_was_not_read(request: HttpRequest | None, **kwargs: Any) -> None:
    """Drop what was left for a page that they did not open: the next one may be somebody else's."""
    if request is not None:
        list(messages.get_messages(request))  # once read, they are gone
