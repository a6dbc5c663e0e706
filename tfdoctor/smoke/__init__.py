"""Tests that run real TensorFlow, in child processes."""
