"""How sure: intervals, bands and comparisons."""
