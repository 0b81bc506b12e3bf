"""Run the command line as ``python -m precall``."""

import sys

from .cli import main

sys.exit(main())
