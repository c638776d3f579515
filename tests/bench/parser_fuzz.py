"""Coverage-guided fuzzing of the parsers: ``python -m tests.bench.parser_fuzz [SECONDS] [FORMAT]``.

Needs atheris (``pip install atheris``), which has no wheel for every platform and so is no dependency.
The input is a model's answer; what must hold is what ``tests/edits/formats/test_fuzz_formats.py`` says:
nothing raises, any chunking gives the same hunks, and what completes on a prefix comes first in the whole.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from edits.formats.events import Completed
from edits.hunk import Format, Hunk


def hunks_of(parser_type: Any, form: Format | None, pieces: list[str]) -> list[Hunk]:
    """Return the hunks that a fresh parser completes on ``pieces`` and a clean end."""
    parser = parser_type(form)
    events = [event for piece in pieces for event in parser.feed(piece)]
    events += parser.close(clean=True)
    return [event.hunk for event in events if isinstance(event, Completed)]


def check(parser_type: Any, form: Format | None, text: str, at: int) -> None:
    """Check the parser's rules on ``text``, cut at ``at`` for the prefix."""
    whole = hunks_of(parser_type, form, [text])
    assert hunks_of(parser_type, form, list(text)) == whole, "chunking changed the hunks"
    parser = parser_type(form)
    early = [event.hunk for event in parser.feed(text[:at]) if isinstance(event, Completed)]
    assert early == whole[: len(early)], "a hunk completed before it was decided"


def main() -> None:
    """Fuzz for the given time (60 seconds), in one format or in all that detection knows."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    form = Format(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    with atheris.instrument_imports():
        detect = importlib.import_module("edits.formats.detect")

    def one(data: bytes) -> None:
        provider = atheris.FuzzedDataProvider(data)
        at = provider.ConsumeIntInRange(0, 4096)
        check(detect.AutoParser, form, provider.ConsumeUnicode(4096), at)

    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
