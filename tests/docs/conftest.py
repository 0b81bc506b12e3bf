"""The documentation's own modules can be imported by these tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_extensions"))
