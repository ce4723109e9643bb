"""Worker processes inherit `sys.path`, and so find the step functions of these tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
