from __future__ import annotations

import re
import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.text.secrets import MARK, _rules, hints_in, is_secret_file, redact
from context.text.words import count_tokens

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        (PEM, "MIIEow", "private key"),
        ("key = 'AKIAIOSFODNN7EXAMPLE'", "AKIAIOSFODNN7EXAMPLE", "AWS access key"),
        (
            "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "wJalrXUtn",
            "AWS secret key",
        ),
        ("OPENAI_API_KEY=sk-proj-" + "a1B2" * 10, "a1B2a1B2", "API key"),
        ("GROQ=gsk_" + "a1B2" * 13, "a1B2a1B2", "API key"),
        ("key: xai-" + "a1B2" * 20, "a1B2a1B2", "API key"),
        ("key: csk-" + "a1b2" * 12, "a1b2a1b2", "API key"),
        ("key: vck_" + "a1B2" * 14, "a1B2a1B2", "API key"),
        ("sk-ant-api03-" + "a1B2" * 20, "a1B2a1B2", "API key"),
        ("sk-or-v1-" + "a1b2" * 16, "a1b2a1b2", "API key"),
        ("api-key: " + "a1b2" * 8, "a1b2a1b2", "API key"),
        ("x-api-key: " + "a1b2" * 9, "a1b2a1b2", "API key"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpw", "basic credentials"),
        ("aws_session_token = " + "IQoJb3" * 20, "IQoJb3IQ", "AWS session token"),
        ("ghp_" + "a1" * 18, "a1a1", "GitHub token"),
        ("xoxb-123456789012-abc", "123456789012", "Slack token"),
        ("Authorization: Bearer abcdefghij0123456789xyz", "abcdefghij", "bearer token"),
        ("postgres://app:hunter22@db/prod", "hunter22", "password in a URL"),
        ('DB_PASSWORD = "hunter2hunter2hunter2"', "hunter2hunter2", "secret value"),
        ('TOKEN = "' + "a1B2" * 100 + '"', "a1B2", "secret value"),
        ('#define TOKEN "a1B2c3D4e5F6g7H8"', "a1B2", "secret value"),
        ('#  define APP_API_KEY\tL"a1B2c3D4e5F6g7H8"', "a1B2", "secret value"),
        ('TOKEN: Final[str] = b"a1B2c3D4e5F6g7H8"', "a1B2", "secret value"),
        ('const TOKEN: &\'static str = "a1B2c3D4e5F6g7H8";', "a1B2", "secret value"),
        ("let token: string | null = `a1B2c3D4e5F6g7H8`;", "a1B2", "secret value"),
        (r'"{\"access_token\": \"a1B2c3D4e5F6g7H8\"}"', "a1B2", "secret value"),
        ("redis://:hunter22@db/0", "hunter22", "password in a URL"),
        ("apiKey: '45441f4b65a2f80329fd45c7cb371fea'", "45441f4b", "secret value"),
        ('"client_secret": "q8Zk3vTt1x_Lw9-Bn4Yp"', "q8Zk3vTt", "secret value"),
        ("//registry/:_authToken=npm_" + "a1" * 18, "a1a1", "access token"),
        ("hf_" + "aB1" * 12, "aB1aB1", "access token"),
        ("AccountKey=" + "aB1+" * 20 + "==;", "aB1+aB1", "Azure storage key"),
        ("https://hooks.slack.com/services/T0/B0/" + "a1" * 12, "a1a1", "Slack webhook"),
        ("t = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.SflKxwRJSMeKKF2QT4'", "SflKxw", "JSON web token"),
    ],
)
def test_secrets_are_masked(text: str, secret: str, kind: str) -> None:
    found = redact(text)
    assert secret not in found.text
    assert found.kinds == (kind,)
    assert f"[{kind} masked]" in found.text
    assert found.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "def bearer(token): return f'Bearer {token}'",
        "the bearer of this message",
        "risk-assessment-of-the-whole-thing-we-do",
        "http://localhost:8080/path@x",
        "https://user:{password}@host/",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "AKIA is a prefix",
        "Authorization: Basic auth is off",
        "the xai-research-group-of-people",
        "password = input('what is your password 12345?')",
        'token = "TOKEN_KIND_IDENTIFIER"',
        'secret = "short1"',
        "if token == 'identifier': token = lexer.next_token_1()",
        "#define TOKEN_KIND 12345678901234567890",
        '#define TOKEN "%d of the tokens in file 1"',
        "def read(token: str, name: str = 'identifier_number_1'): ...",
        "://not/a:password@1",
    ],
)
def test_text_that_only_looks_like_a_secret_is_kept(text: str) -> None:
    assert redact(text).text == text


@given(st.text())
def test_masking_keeps_the_number_of_lines(text: str) -> None:
    assert redact(text + PEM + text).text.count("\n") == (text + PEM + text).count("\n")


def test_keys_without_an_end_are_masked_in_linear_time() -> None:
    begin = "-----BEGIN RSA PRIVATE KEY-----"
    found = redact(f"{begin}\nMIIEow\n" * 30_000)
    assert "MIIEow" not in found.text and found.text.count(begin) == 30_000


@pytest.mark.parametrize(
    ("before", "begin", "after"),
    [
        ("", "sk-proj-", ""),
        ("", "ghp_", ""),
        ("", "github_pat_", ""),
        ("", "glpat-", ""),
        ("", "xoxb-", ""),
        ("", "sk_live_", ""),
        ("Bearer ", "", ""),
        ("", "eyJhbGciOiJIUzI1NiJ9.eyJ", ".SflKxwRJSMeKKF2QT4"),
        ("", "pypi-", ""),
        ("AccountKey=", "", ""),
        ("https://hooks.slack.com/services/", "", ""),
        ("postgres://app:", "", "@db/prod"),
        ("password = '", "", "'"),
    ],
)
def test_no_part_of_a_long_secret_is_left(before: str, begin: str, after: str) -> None:
    found = redact(f"{before}{begin}{'a1B2' * 3_000}{after}\n").text
    assert "masked]" in found and "a1B2" not in found
    assert len(found) < 100


@pytest.mark.parametrize(
    "part",
    [
        'token="',
        "token='a1a1a1a1a1a1a1a1a1 ",
        "token: a | b    ",
        "token" + " " * 40,
        "#define token",
        "#define token_token ",
        "://a:",
        "sk-",
        "eyJaaaaaaaaaaaaaaaa.",
        "bearer a",
        "ghp_",
        "pypi-",
        "glpat-a.",
    ],
)
@pytest.mark.parametrize("joined", [True, False])
def test_one_line_of_beginnings_is_searched_in_linear_time(part: str, joined: bool) -> None:
    """Without a clock: a search that is not linear would take hours for this line."""
    text = part * (1_000_000 // len(part)) if joined else part + "a" * 1_000_000
    assert "\n" not in redact(text).text


def test_secret_files_are_recognised_by_name() -> None:
    for path in (
        ".env",
        "a/.env.production",
        "certs/server.key",
        "id_rsa",
        "x/.ssh/config",
        "App.ENV",
        ".aws/credentials",
    ):
        assert is_secret_file(path), path
    for path in (".env.example", "env.py", "keys.py", "src/environment.ts", "monkey.keymap"):
        assert not is_secret_file(path), path


def test_no_rule_relies_on_possessive_groups() -> None:
    # Before Python 3.11.5 they can fail to match, which once let a private key through.
    rules = tomllib.loads(resources.files("context.text").joinpath("secrets.toml").read_text("utf-8"))
    possessive_group = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
    assert possessive_group.search(r"(?:a-){0,9}+")
    assert [rule["name"] for rule in rules["text"] if possessive_group.search(rule["find"])] == []


_RULES = tomllib.loads(resources.files("context.text").joinpath("secrets.toml").read_text("utf-8"))["text"]
HINTS = sorted({hint for rule in _RULES for hint in rule["hints"]})


@given(st.lists(st.sampled_from([*HINTS, *"\n _-:/.0k", "task", "PRIVATE", "KEY"]), max_size=12).map("".join))
def test_hints_are_the_same_whether_the_tokens_are_known_or_not(text: str) -> None:
    own = {hint for hint in hints_in(text) if not hint.startswith(MARK)}
    assert own == {hint for hint in HINTS if hint in text}
    assert hints_in(text, " ".join(count_tokens(text))) == hints_in(text)
    assert redact(text, hints_in(text)) == redact(text)


@pytest.mark.parametrize(
    "name", ["aws_session_token", "AWSSESSIONTOKEN", "AwsSessionToken", "Aws_Session_TOKEN"]
)
@pytest.mark.parametrize("beside", ["", "größe ", "aws_SE\u017fSION_token "])
def test_a_name_is_looked_for_in_any_case(name: str, beside: str) -> None:
    assert redact(f"{beside}{name} = {'IQoJb3' * 20}").kinds == ("AWS session token",)


def test_letters_that_are_the_same_but_for_their_case_are_known() -> None:
    # The long s and the dotless i are an s and an i to an expression that ignores case.
    text = f"session: aws_se\u017fs\u0131on_token = {'IQoJb3' * 20}"
    assert redact(text).kinds == ("AWS session token",)


def test_all_that_an_expression_finds_has_what_is_looked_for_first() -> None:
    for name, _, held, pattern in _rules().texts:
        for shortest in ("session_token", "sessiontoken", "secretaccesskey", "secret_access_key"):
            value = "a1B2" * (10 if "secret" in shortest else 20)
            text = f"aws{shortest}={value}"
            assert not held or not pattern.search(text) or any(each in text for each in held), name


@given(
    st.lists(st.sampled_from(["sk-", "s", "-", "_", "9", "é", " ", "\n", "a1" * 10, "b" * 19]), max_size=9)
)
def test_a_key_does_not_begin_inside_a_word(parts: list[str]) -> None:
    text = "".join(parts)
    plain = re.compile(r"(?<![A-Za-z0-9_-])(?P<secret>sk-[A-Za-z0-9_-]{20,}+)")
    (known,) = (pattern for _, hints, _, pattern in _rules().texts if "sk-" in hints)
    assert [found.span("secret") for found in known.finditer(text)] == [
        found.span("secret") for found in plain.finditer(text)
    ]
