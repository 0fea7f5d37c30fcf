"""What happens to a report after intake; its admin and its commands."""
