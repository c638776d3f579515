"""The log of faults of spark itself: one JSON object a line, with its level, rotated, without keys."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from session.base.text.masking import mask

if TYPE_CHECKING:
    from logging.handlers import RotatingFileHandler

LOGGER = "spark"
"""The name of the logger that all loggers of spark are below."""
LEVEL_VARIABLE = "SPARK_LOG"
"""The variable of the environment that says from which level on is logged; faults alone without it."""
LEVELS = ("debug", "info", "warning", "error")
LARGEST = 1_000_000
"""Bytes from which on another file is begun. One older file is kept beside it."""


class _LateFile(logging.Handler):
    """Opens the log with the first line: a start without faults does not load what rotates it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self._opened: RotatingFileHandler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """See :meth:`logging.Handler.emit`."""
        if self._opened is None:
            from logging.handlers import RotatingFileHandler

            # With a delay: where the file cannot be opened, that is handled as any failure to write a line.
            self._opened = RotatingFileHandler(
                self.file, maxBytes=LARGEST, backupCount=1, encoding="utf-8", delay=True
            )
            self._opened.setFormatter(self.formatter)
        self._opened.emit(record)

    def close(self) -> None:
        """See :meth:`logging.Handler.close`."""
        if self._opened is not None:
            with suppress(OSError):  # a full disk: what waits to be written is lost
                self._opened.close()
        super().close()


class _JsonLines(logging.Formatter):
    """Leaves out the keys that spark has read: a traceback may quote what a server said."""

    def format(self, record: logging.LogRecord) -> str:
        """See :meth:`logging.Formatter.format`."""
        told = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": mask(record.getMessage()),
        }
        if record.exc_info:
            told["traceback"] = mask(self.formatException(record.exc_info))
        return json.dumps(told, ensure_ascii=True)


def log_faults_to(file: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Write the faults of spark itself to ``file`` from now on, and nowhere else; with ``SPARK_LOG`` also
    what is less than a fault.

    The file is made with the first line. Without this call Python writes tracebacks to standard error.
    """
    logging.raiseExceptions = False  # of a log that cannot be written, no traceback goes to the screen
    logger = logging.getLogger(LOGGER)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    named = environ.get(LEVEL_VARIABLE, "").lower()
    level = named.upper() if named in LEVELS else "ERROR"
    handler = _LateFile(file)
    handler.setLevel(level)
    handler.setFormatter(_JsonLines())
    logger.setLevel(level)
    logger.addHandler(handler)
    logger.propagate = False


def log_file() -> Path | None:
    """The file that faults are written to; None where :func:`log_faults_to` was not called."""
    handlers = logging.getLogger(LOGGER).handlers
    return next((handler.file for handler in handlers if isinstance(handler, _LateFile)), None)
