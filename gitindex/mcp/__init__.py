"""The door for agents: tools over stdio, each a thin translation of one use case. Answers are data."""
