"""Runs inside the target interpreter (child.py, by path): Python 3.6 to 3.14, standard library only."""
