"""``python3 -m tasks``."""

import sys

from tasks.cli import main

sys.exit(main())
