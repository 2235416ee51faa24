"""The repo map."""
