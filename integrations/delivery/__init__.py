"""One report becomes one issue: forwarding, pace, holds, retries."""
