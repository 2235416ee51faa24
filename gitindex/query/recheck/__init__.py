"""Which earlier answers are no longer true? By their receipts, without asking again."""
