"""Charts: described as plain data, and drawn by matplotlib for notebooks, print and pages."""
