"""One root cause, one diagnosis, one file. Codes: TFD and three digits, by layer from the bottom up."""
