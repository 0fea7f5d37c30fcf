"""Installing the app, choosing the repository, a trial report."""
