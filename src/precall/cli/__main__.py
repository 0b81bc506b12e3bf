"""Run the command line as ``python -m precall.cli``."""

import sys

from . import main

sys.exit(main())
