"""What every app needs: errors, time, ids, limits, prepared statements.

No models, and no imports from the other apps.
"""
