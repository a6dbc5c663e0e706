"""Reading a log: its lines, the known messages in them, the situation they speak of, and the decision."""
