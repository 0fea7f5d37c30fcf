"""Delivers each report as one issue: pace, holds, retries."""
