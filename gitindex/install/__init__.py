"""What gitindex puts into repositories and configurations, and takes out again."""
