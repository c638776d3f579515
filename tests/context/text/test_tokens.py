from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import context.text.tokens as tokens
from context.text.tokens import Counter, RankFileError, as_block, pieces
from tests.thorough import share

CODE_LIKE = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcXYZ019_ \t\n\r/\\'\"`#{}()[]<>|.,;:!?*-+=@~$%^&"),
        st.sampled_from("éß漢字\u0301\u00a0\u2028\u200d\x85\x1c🙂"),
        st.characters(codec="utf-8"),
    ),
    max_size=120,
)


@given(st.lists(CODE_LIKE, max_size=6))
@settings(max_examples=share(300, 100), deadline=None)
def test_counts_of_blocks_add_up_exactly(counter: Counter, texts: list[str]) -> None:
    blocks = [as_block(text, "# Block") for text in texts]
    assert sum(map(counter.count, blocks)) == counter.count("".join(blocks))


@given(CODE_LIKE)
@settings(max_examples=share(200, 70), deadline=None)
def test_a_block_keeps_its_text(text: str) -> None:
    block = as_block(text, "# Block")
    assert block.endswith("\n") and not block[0].isspace() and block[0] != "/"
    assert text in block


def test_known_counts(counter: Counter) -> None:
    # Figures of the encoding itself: "hello world" is two tokens, and the mark is ordinary text here.
    assert counter.count("") == 0
    assert counter.count("hello world") == 2
    assert counter.count("<|endoftext|>") > 1


@given(CODE_LIKE)
@settings(max_examples=share(200, 70), deadline=None)
def test_before_loading_a_count_is_an_upper_bound(counter: Counter, text: str) -> None:
    assert Counter().count(text) == len(text.encode()) >= counter.count(text)


@pytest.mark.parametrize(
    "unit", [" ", "a", "\n", " \n", "-", "é", "word ", "ab/\n", "\t", "x = 1\n", "\u2028"]
)
def test_large_texts_are_counted_and_never_too_low(counter: Counter, unit: str) -> None:
    text = unit * (1_200_000 // len(unit))
    cut = pieces(text)
    assert "".join(cut) == text
    # The true count of a sample that the encoder can take at once, scaled up.
    sample = unit * (60_000 // len(unit))
    encoding = tokens._load_encoding()
    assert counter.count(text) >= len(encoding.encode_ordinary(sample)) * (len(text) // len(sample)) * 0.99


@given(
    st.lists(st.sampled_from(["foo bar", "\nx", "  y", "\n\n", "/a", "Zed qux", "'s t", "9 a"]), min_size=50)
)
@settings(max_examples=100, deadline=None)
def test_cutting_into_pieces_keeps_counts_exact(counter: Counter, parts: list[str]) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", 40)
        cut = pieces(text)
    assert "".join(cut) == text
    encoding = tokens._load_encoding()
    assert sum(len(encoding.encode_ordinary(piece)) for piece in cut) == len(encoding.encode_ordinary(text))


def test_lone_surrogates_are_counted(counter: Counter) -> None:
    assert counter.count("a\ud800b") > 0
    assert Counter().count("\ud800") == 3


def test_a_damaged_rank_file_raises_an_error(tmp_path: Path) -> None:
    package = Path(tokens.__file__).parent
    data = tmp_path / "context" / "text"
    data.mkdir(parents=True)
    (tmp_path / "context" / "__init__.py").touch()
    for name in ("__init__.py", "tokens.py", "o200k_base.toml"):
        (data / name).write_bytes((package / name).read_bytes())
    (data / "o200k_base.tiktoken.xz").write_bytes(lzma.compress(b"IQ== 0\n"))
    script = "import context.text.tokens as t\ntry: t.Counter().load()\nexcept t.RankFileError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "damaged" in done.stdout
    assert issubclass(RankFileError, Exception)


def test_loading_needs_no_network() -> None:
    script = (
        "import socket\n"
        "def refuse(*a, **k): raise SystemExit('network')\n"
        "socket.socket.connect = refuse\nsocket.getaddrinfo = refuse\n"
        "from context.text.tokens import Counter\nc = Counter(); c.load()\n"
        "print(c.count('hello world'), c.ready)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2 True", done.stderr
