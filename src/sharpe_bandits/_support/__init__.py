"""What any package needs and no bandit does: validation, names, files, checksums, display."""
