from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

import context.text.tokens as tokens
from context.text.encoding import LONGEST, LONGEST_MATCH, MUCH, NONE, RankFileError, RankTable, load_encoding
from context.text.tokens import PIECE, Counter, as_block, pieces
from tests.context.text.make_rank_table import rank_table, tokens_of
from tests.thorough import share

CODE_LIKE = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcXYZ019_ \t\n\r/\\'\"`#{}()[]<>|.,;:!?*-+=@~$%^&"),
        st.sampled_from("éß漢字\u0301\u00a0\u2028\u200d\x85\x1c🙂"),
        st.characters(codec="utf-8"),
    ),
    max_size=120,
)


ASSIGNED = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcdeXYZ019_ \t\n\r/'.,-=sSlLdDmMrRvVtT"),
        # What is assigned in no Unicode version that all of them know may be a letter to one of them.
        st.characters(exclude_categories=("Cn", "Cs")).filter(lambda char: char != "\u0295"),
    ),
    max_size=60,
)
DATA = Path(tokens.__file__).parent
ABOUT = tomllib.loads((DATA / "o200k_base.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def shipped() -> list[bytes]:
    """The tokens of the shipped rank file."""
    return RankTable((DATA / ABOUT["ranks"]).read_bytes()).tokens()


@pytest.fixture(scope="module")
def theirs(shipped: list[bytes]) -> tiktoken.Encoding:
    """The encoder that these counts are compared with."""
    ranks = {token: rank for rank, token in enumerate(shipped)}
    return tiktoken.Encoding(
        "o200k", pat_str="|".join(ABOUT["pattern"]), mergeable_ranks=ranks, special_tokens={}
    )


def test_the_rank_file_holds_what_tiktoken_publishes(shipped: list[bytes]) -> None:
    published = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(shipped))
    assert hashlib.sha256(published).hexdigest() == ABOUT["published_sha256"]
    assert tokens_of(published) == shipped


def test_a_rank_table_finds_its_tokens_and_nothing_else(shipped: list[bytes]) -> None:
    some = [*shipped[:256], *shipped[256::199]]
    table, inside = RankTable(rank_table(some)), set(some)
    places = [table.place(token) for token in some]
    assert places == sorted(places)
    assert max(places) < NONE
    others = [token for token in shipped[::97] if token not in inside]
    assert {table.place(token) for token in (*others, b"x" * LONGEST * 2)} == {NONE}


@given(st.one_of(CODE_LIKE, ASSIGNED))
@settings(max_examples=share(2000, 100), deadline=None)
def test_counts_are_those_of_tiktoken(counter: Counter, theirs: tiktoken.Encoding, text: str) -> None:
    assert counter.count(text) == len(theirs.encode_ordinary(text))


@pytest.mark.parametrize("unit", [" ", "a", "Ab", "-", "é", "漢字", "\u200d", "_Z"])
def test_counts_of_long_words_are_those_of_tiktoken(
    counter: Counter, theirs: tiktoken.Encoding, unit: str
) -> None:
    text = unit * (3_000 // len(unit.encode()))
    assert counter.count(text) == len(theirs.encode_ordinary(text))


def test_counts_of_this_project_are_those_of_tiktoken(counter: Counter, theirs: tiktoken.Encoding) -> None:
    files = [*DATA.rglob("*.py"), *DATA.rglob("*.toml"), *Path(__file__).parent.rglob("*.py")]
    texts = [file.read_text("utf-8") for file in files]
    assert not all(text.isascii() for text in texts)
    assert list(map(counter.count, texts)) == [len(theirs.encode_ordinary(text)) for text in texts]


def test_much_chinese_is_counted_by_tiktoken_and_code_is_not(theirs: tiktoken.Encoding) -> None:
    fresh = load_encoding.__wrapped__()  # of its own: the other tests' has seen some
    chinese = "".join(map(chr, range(0x4E00, 0x9F00, 7)))
    code = "def f(x):  # größer\n    return x\n" * 3_000
    before, early = [fresh.count(text) for text in (chinese, code)], fresh._dense.uses_tiktoken
    for _ in range(MUCH // len(chinese) + 1):
        fresh.count(chinese)
    assert (early, fresh._dense.uses_tiktoken) == (False, True)
    counts = [len(theirs.encode_ordinary(text)) for text in (chinese, code)]
    assert [fresh.count(text) for text in (chinese, code)] == before == counts


def test_a_match_that_is_too_long_to_merge_counts_as_its_bytes(counter: Counter) -> None:
    assert counter.count("-" * LONGEST_MATCH) < LONGEST_MATCH / 10
    assert counter.count("-" * (LONGEST_MATCH + 1)) == LONGEST_MATCH + 1


@given(st.lists(CODE_LIKE, max_size=6))
@settings(max_examples=share(300, 40), deadline=None)
def test_counts_of_blocks_add_up_exactly(counter: Counter, texts: list[str]) -> None:
    blocks = [as_block(text, "# Block") for text in texts]
    assert sum(map(counter.count, blocks)) == counter.count("".join(blocks))


@given(CODE_LIKE)
@settings(max_examples=share(200, 30), deadline=None)
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
@settings(max_examples=share(200, 30), deadline=None)
def test_before_loading_a_count_is_an_upper_bound(counter: Counter, text: str) -> None:
    assert Counter().count(text) == len(text.encode()) >= counter.count(text)


@pytest.mark.parametrize(
    "unit", [" ", "a", "\n", " \n", "-", "é", "word ", "ab/\n", "\t", "x = 1\n", "\u2028"]
)
def test_large_texts_are_counted_and_never_too_low(
    counter: Counter, theirs: tiktoken.Encoding, unit: str
) -> None:
    text = unit * (1_200_000 // len(unit))
    assert "".join(pieces(text)) == text
    # The true count of a sample that the other encoder can take at once, scaled up.
    sample = unit * (60_000 // len(unit))
    assert counter.count(text) >= len(theirs.encode_ordinary(sample)) * (len(text) // len(sample)) * 0.99


PARTS = st.sampled_from(["foo bar", "\nx", "  y", "\n\n", "/a", "Zed qux", "'s t", "9 a"])


@given(
    st.one_of(st.lists(PARTS).map("".join), CODE_LIKE),
    st.integers(min_value=1, max_value=40),
)
@settings(max_examples=share(600, 200), deadline=None)
def test_cutting_into_pieces_keeps_counts_exact(theirs: tiktoken.Encoding, text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", size)
        patch.setattr(tokens, "SHORT_PIECE", size)
        cut = pieces(text)
    assert "".join(cut) == text
    assert sum(len(theirs.encode_ordinary(piece)) for piece in cut) == len(theirs.encode_ordinary(text))


@pytest.mark.parametrize("line", ["\t{ 0x1F, 0xA0, },\n", "  <T>,\n", '"a":1,', "größe, ä = {};\n"])
def test_tables_and_minified_code_are_cut_too(line: str) -> None:
    cut = pieces(line * 20_000)
    assert max(map(len, cut)) < PIECE + 2 * len(line)


def test_counts_stay_right_when_many_were_forgotten(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_REMEMBERED", 3)
    kept = Counter()
    kept.load()
    for text in ("one", "two words", "three", "four of them here", "one", "two words") * 2:
        assert kept.count_kept(text) == counter.count(text)
        assert len(kept._known) <= 3


def test_lone_surrogates_are_counted(counter: Counter) -> None:
    assert counter.count("a\ud800b") > 0
    assert Counter().count("\ud800") == 3


def test_a_damaged_rank_file_raises_an_error(tmp_path: Path) -> None:
    package = Path(tokens.__file__).parent
    data = tmp_path / "context" / "text"
    data.mkdir(parents=True)
    (tmp_path / "context" / "__init__.py").touch()
    for file in (*package.glob("*.py"), package / "o200k_base.toml"):
        (data / file.name).write_bytes(file.read_bytes())
    (data / ABOUT["ranks"]).write_bytes(b"IQ== 0\n")
    script = (
        "from context.text.tokens import Counter\nfrom context.text.encoding import RankFileError\n"
        "try: Counter().load()\nexcept RankFileError as e: print(e)"
    )
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
