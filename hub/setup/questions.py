"""All questions, in the order in which they are answered."""

from hub.setup import (
    address,
    configuration,
    database,
    github_app,
    machine,
    names,
    redis_server,
    webhooks,
)
from hub.setup.findings import Question

QUESTIONS = [
    Question("Settings", configuration.settings_are_read),
    Question("Address", address.address, seconds=15),
    Question("Proxies", address.proxies),
    Question("GitHub App", github_app.app, seconds=25),
    Question("Webhooks", webhooks.webhooks, seconds=25),
    Question("Database", database.database, seconds=20),
    Question("Redis", redis_server.redis),
    Question("DNS", names.dns, seconds=12),
    Question("Public suffixes", names.suffixes, seconds=20),
    Question("Disk", machine.disk),
    Question("Files", machine.files),
]
