"""What a filled database lacks: tables without rows, states that no row has, columns that say always the same."""

from collections.abc import Iterator

from django.apps.registry import Apps
from django.db import connection, models

from tests.upgrades.kept import OURS

UNUSED = {  # of libraries, which the Hub does not use
    "account_emailaddress",
    "account_emailconfirmation",
    "auth_group",
    "auth_group_permissions",
    "django_tasks_database_dbtaskresult",  # only with HUB_FORWARDING=queue
    "orgs_user_groups",
    "orgs_user_user_permissions",
    "socialaccount_socialapp",
    "socialaccount_socialtoken",
}
ONLY_ONE = {"hub_codehost", "hub_offer"}  # have one row at most
AT_ONCE = {"integrations_hold.followed_at"}  # empty for a moment only


def lacks(apps: Apps) -> list[str]:
    """What is missing, by the models `apps`."""
    found = [f"{table} is empty" for table in sorted(_empty_tables())]
    for model in apps.get_models():
        if model._meta.app_label in OURS and model._meta.db_table not in ONLY_ONE:
            found += _of_columns(model)
    return found


def _empty_tables() -> Iterator[str]:
    for table in set(connection.introspection.table_names()) - UNUSED:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")
            if cursor.fetchone() is None:
                yield table


def _of_columns(model: type[models.Model]) -> Iterator[str]:
    for field in model._meta.concrete_fields:
        name = f"{model._meta.db_table}.{field.column}"
        all_rows = model._base_manager.all()
        if field.choices:
            values = set(all_rows.values_list(field.attname, flat=True))
            missing = {each for each, _ in field.flatchoices} - values
            yield from (f"{name} is never {each!r}" for each in sorted(missing))
        if field.null and name not in AT_ONCE:
            for is_empty in (True, False):
                if not all_rows.filter(**{f"{field.name}__isnull": is_empty}).exists():
                    yield f"{name} is {'never' if is_empty else 'always'} empty"
