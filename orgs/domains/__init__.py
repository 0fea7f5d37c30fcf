"""Claiming a domain, proving it by DNS, and looking again."""
