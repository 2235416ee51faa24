"""Installs gitindex into repositories and configurations, and removes it again."""
