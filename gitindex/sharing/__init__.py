"""What leaves or enters this machine: signed packs of facts, and the team's index on PostgreSQL."""
