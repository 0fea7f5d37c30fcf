"""Intake: a report comes in, once and without secrets."""
