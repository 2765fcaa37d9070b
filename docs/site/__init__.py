"""What makes the documentation: pages that follow from the code, formulas without scripts, links, numbers."""
