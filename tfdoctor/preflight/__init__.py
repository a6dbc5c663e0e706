"""What a machine must have before a job starts: requirements, where they are written, and whether they hold."""
