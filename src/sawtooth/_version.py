"""The version of sawtooth, kept here and nowhere else."""

__version__ = "0.1.0"
