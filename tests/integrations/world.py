"""The one delivery and the one integration of a test."""

from integrations.models import Delivery, Integration


def delivery() -> Delivery:
    return Delivery.objects.get()


def integration() -> Integration:
    return Integration.objects.select_related("installation").get()
