"""The first start without a key in a real terminal: what is offered, and what taking it does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.server.server import Partner
from tests.e2e.tmux import terminal, wait_for
from tests.session.local_servers import aside

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)


def unspaced(text: str) -> str:
    """A text without its blanks and line breaks: a draft is wrapped anywhere."""
    return "".join(text.split())


SECRET = "sk-typed-0123456789"


@pytest.fixture
def partner(own_folders: Path) -> Iterator[Partner]:
    """A partner that plays vLLM on a port of its own."""
    with aside(Partner(rate=float("inf"))) as server:
        config = own_folders / "config" / "spark" / "config.toml"
        config.parent.mkdir(parents=True)
        # openai where nobody is: the key is stored unchecked.
        rows = [("vllm", server.url), ("openai", "https://spark.invalid/v1")]
        config.write_text("".join(f'[providers.{name}]\nbase_url = "{url}"\n' for name, url in rows))
        yield server


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), pytest.param(160, 48, marks=pytest.mark.long)])
def test_a_server_that_was_found_is_taken_with_enter_and_gets_the_prompt(
    quick_spark: Path, project: Path, partner: Partner, columns: int, rows: int
) -> None:
    with terminal([str(quick_spark), "say hello"], columns, rows, {}, project) as pane:
        pane.until("spark-practice")
        pane.keys("Home")
        screen = pane.until("❯ spark-practice")
        assert "say hello" in screen and f"on port {partner.port}" in screen
        pane.keys("Enter", *" and")  # in one read
        typed = " and"
        for _ in range(18):  # while the app comes again; more, this fast, would be a paste
            if "ready" in pane.screen():
                break
            pane.type("x")
            typed += "x"
        draft = unspaced(f"say hello{typed}")
        pane.until(lambda screen: "To open so always" in screen and draft in unspaced(screen))
        pane.keys("Enter")
        wait_for(lambda: len(partner.requests) > 0, "the prompt at the server")
        pane.keys("C-q")
        pane.until("exit 0")


def test_a_login_that_fails_opens_the_app_again_and_one_that_does_not_uses_the_key(
    quick_spark: Path, own_folders: Path, project: Path, partner: Partner
) -> None:
    environment = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    with terminal([str(quick_spark)], 80, 24, environment, project) as pane:
        pane.until("spark-practice")
        pane.keys("Home", "Down", "Down", "Down")
        pane.until("❯ Log in to openai")
        pane.keys("Enter")
        pane.until("Key for openai")
        pane.keys("Enter")
        pane.until("Begin with")
        pane.keys("Escape")
        pane.until(lambda screen: "no key was given" in screen and "Begin with" not in screen)
        pane.type("hello")
        pane.keys("Enter")
        pane.until("spark-practice")
        pane.keys("Home", "Down", "Down", "Down")
        pane.until("❯ Log in to openai")
        pane.keys("Enter")
        # The first question still stands above: what is typed before the second one is lost.
        pane.until(lambda screen: screen.count("Key for openai") == 2)
        pane.type(SECRET)
        pane.keys("Enter")
        screen = pane.until(
            lambda screen: "hello" in screen and "Ask" in screen and "Begin with" not in screen
        )
        assert SECRET not in screen
        pane.keys("C-q")
        assert SECRET not in pane.until("exit 0")
    stored = own_folders / "config" / "spark" / "credentials.toml"
    assert stored.read_text() == f'openai = "{SECRET}"\n'
