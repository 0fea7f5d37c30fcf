"""Read by Django, which looks for a module of this name (`FORMAT_MODULE_PATH`)."""

DATETIME_FORMAT = SHORT_DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\C"
