"""What every app needs: errors, time, ids, limits.

No models, and no imports from the other apps.
"""
