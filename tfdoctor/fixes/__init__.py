"""From diagnoses to a machine without them: plan, show, confirm, apply, check again, undo.

plan.py makes the plan and touches nothing; installer.py knows how to address the target's package tool; snapshot.py
keeps the environment as it was; journal.py is the record on disk; apply.py acts; render/plan_*.py show.
"""
