"""The pages for everybody: landing, report form, receipt, privacy, connecting a client."""
