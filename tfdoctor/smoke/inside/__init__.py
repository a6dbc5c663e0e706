"""Runs inside the target interpreter: standard library and the target's TensorFlow only, never imported here."""
