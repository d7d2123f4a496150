"""Makes ``samples.py`` importable for the tests of the detectors."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
