"""What each feature does at each event."""
