"""The file that faults of spark itself are logged to, with their tracebacks."""

from __future__ import annotations

import logging
from pathlib import Path

from session.text.masking import mask

LOGGER = "spark"
"""The name of the logger that all loggers of spark are below."""


class _Masking(logging.Formatter):
    """Leaves out the keys that spark has read: a traceback may quote what a server said."""

    def format(self, record: logging.LogRecord) -> str:
        """See :meth:`logging.Formatter.format`."""
        return mask(super().format(record))


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
    handler.setFormatter(_Masking("%(asctime)s %(name)s %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
