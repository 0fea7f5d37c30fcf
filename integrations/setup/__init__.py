"""Installing the app, choosing the repository, test reports."""
