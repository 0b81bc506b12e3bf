"""Run the command line as ``python -m sawtooth.cli``."""

import sys

from . import main

sys.exit(main())
