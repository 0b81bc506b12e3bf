"""Run the command line as ``python -m precall.cli``."""

from . import start

start()
