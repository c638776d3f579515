"""What the index keeps of one file."""

from __future__ import annotations

import pytest

from context.disk.source import Source
from context.index.facts import facts_of
from context.index.file_text import file_text
from context.text.secrets import redact


def test_words_of_the_path_and_of_defined_names_count_more() -> None:
    facts = facts_of(Source("src/queue.py", "def drain(queue): pass  # drain it, 0x1F times\n", "0" * 64))
    assert facts.names == {"drain"}
    # Twice in the text and once as a name; once in the text and twice in the path.
    assert facts.words == {"src": 2, "queue": 3, "def": 1, "drain": 3, "pass": 1, "times": 1}


def test_a_very_long_outline_is_cut_at_a_line() -> None:
    lines = [f"#define REGISTER_NUMBER_{number} 0x{number:08X}" for number in range(3_000)]
    facts = facts_of(Source("registers.h", "\n".join(lines) + "\n", "0" * 64))
    kept = facts.outline.splitlines()
    assert kept[:-1] == lines[: len(kept) - 1]
    assert kept[-1] == "… more"
    assert 39_000 < len(facts.outline) <= 40_000 + len("… more\n")
    assert "REGISTER_NUMBER_2999" in facts.names


LONG_SECRET = "".join(f"{number:02d}aB" for number in range(36))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("settings.py", f'API_KEY = "{LONG_SECRET}"\n'),
        ("db.py", f'def connect(user: str, password="{LONG_SECRET}") -> None:\n    pass\n'),
        ("docs.py", f'def run():\n    """Sends the token = "{LONG_SECRET}" with each request."""\n'),
        ("web.js", f'export const apiKey = "{LONG_SECRET}";\n'),
        ("settings.json", f'{{"api_key": "{LONG_SECRET}"}}\n'),
        ("settings.toml", f'url = "postgres://app:{LONG_SECRET}@db/prod"\n'),
        ("notes.txt", f'{"word " * 18}token = "{LONG_SECRET}"\n'),
    ],
    ids=lambda value: value[:8],
)
def test_a_secret_longer_than_a_signature_is_masked_in_the_outline(path: str, text: str) -> None:
    source = Source(path, text, "0" * 64)
    assert LONG_SECRET not in redact(text).text
    assert LONG_SECRET[:12] not in facts_of(source).outline
    assert LONG_SECRET[:12] not in redact(file_text(source).outline.text).text


@pytest.mark.parametrize("beside", ["", "é"])
def test_a_secret_behind_a_digit_is_masked_in_the_outline(beside: str) -> None:
    # Behind a digit it is a part of no identifier.
    secret = "5xoxb-123456789012-abc"
    source = Source("notes.txt", f"{beside} {secret}\n", "3" * 64)
    assert "123456789012" not in facts_of(source).outline


def test_masking_leaves_the_lines_of_definitions_as_they_are() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----\n"
    text = f'KEY = """{key}"""\n\n\ndef use_key():\n    return KEY\n'
    (used,) = (
        symbol
        for symbol in file_text(Source("keys.py", text, "1" * 64)).outline.symbols
        if symbol.name == "use_key"
    )
    assert text.split("\n")[used.start] == "def use_key():"


def test_definitions_behind_a_key_without_an_end_stay_in_the_outline() -> None:
    text = f'BEGIN = "-----BEGIN RSA PRIVATE KEY-----"\n\n\ndef later({"value, " * 40}):\n    pass\n'
    facts = facts_of(Source("keys.py", text, "2" * 64))
    assert facts.names == {"BEGIN", "later"}


def test_line_checksums_are_kept_on_request() -> None:
    source = Source("a.py", "x = 1\nx = 1\ny = 2\n", "0" * 64)
    sums = facts_of(source).lines
    assert sums is not None and sums[0] == sums[1] != sums[2] and len(sums) == 3
    assert facts_of(source, lines=False).lines is None
