"""The pages below /settings/."""
