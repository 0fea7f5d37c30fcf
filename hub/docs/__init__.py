"""The documentation in `docs/v0/`, as pages, as Markdown for agents, and searched."""
