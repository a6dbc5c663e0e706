"""TFD4: Python and operating system."""
