"""Run the command line as ``python -m precall``."""

from .cli import start

start()
