"""Sharing between machines: signed packs of facts, and the team's index on PostgreSQL."""
