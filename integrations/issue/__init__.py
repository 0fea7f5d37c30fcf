"""Turns a report into the title and body of an issue, safe to read.

rendering.py           fills the template
placement.py           makes each text safe for the place of its placeholder
safe_text.py           what is live on GitHub (mentions, links, HTML, commands), made inert
evidence.py            the evidence as Markdown
code_blocks.py, tables.py, github_markdown.py    what GitHub makes of Markdown
secrets_at_seams.py    secrets that form where two texts meet
template_limits.py     how large a template may be
plain_html.py          which HTML it may have
addressing.py          whom it addresses on GitHub
"""
