"""What a change affects: compares two trees by their facts. Writes nothing."""
