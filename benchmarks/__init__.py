"""The library beside its peers, in one process, as ratios: ``python -m benchmarks --help``."""
