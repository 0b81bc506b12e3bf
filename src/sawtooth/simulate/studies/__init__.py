"""Simulations that make the tables and figures of the documentation, one module each.

Each has ``run(output, *, quick=False, seed=..., workers=None, progress=None)``, which writes a tidy
CSV with its settings, a figure and a page into a folder, and goes on where it was interrupted.
"""
