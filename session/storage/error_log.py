"""The file that faults of spark itself are logged to, with their tracebacks."""

from __future__ import annotations

import logging
from pathlib import Path

LOGGER = "spark"
"""The name of the logger that all loggers of spark are below."""


def log_faults_to(file: Path) -> None:
    """Write the faults of spark itself to ``file`` from now on, and nowhere else.

    The file is made with the first fault. Without this call Python writes tracebacks to standard error.
    """
    logger = logging.getLogger(LOGGER)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    handler = logging.FileHandler(file, encoding="utf-8", delay=True)
    handler.setLevel(logging.ERROR)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
