"""CLAUDE.md, GEMINI.md, Copilot's and Cursor's rules count where there is no AGENTS.md, once agreed to."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import Notice, TrustAnswered
from session.commands.trust_commands import trust_of
from session.project.workspace import open_workspace
from tests.session.project.trust.test_sessions import ask, asked
from tests.session.talking import PLAIN, environment, talking


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    return folder


def write(root: Path, path: str, text: str = "Be brief.\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize(
    "path",
    ["CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", ".cursorrules", ".cursor/rules/style.mdc"],
)
async def test_they_are_used_only_once_the_user_agreed(root: Path, path: str) -> None:
    write(root, path)
    async with talking(root, PLAIN) as talk:
        await asked(talk, path)
        assert "Be brief." not in await ask(talk, "hello")
        await talk.session.trust.answer(agreed=True)
        assert (await talk.until(TrustAnswered)).agreed
        assert "Be brief." in await ask(talk, "again")


async def test_the_first_of_them_counts_and_what_does_not_is_said_once(root: Path) -> None:
    write(root, "AGENTS.md", "Be brief.\n")
    write(root, "CLAUDE.md", "Be long.\n")
    write(root, ".cursor/rules/style.mdc", "Be loud.\n")
    async with talking(root, PLAIN) as talk:
        await asked(talk, "AGENTS.md")
        await talk.session.trust.answer(agreed=True)
        await talk.until(TrustAnswered)
        sent = await ask(talk, "hello")
        assert "Project instructions: AGENTS.md" in sent and "Be brief." in sent
        assert "Project instructions: CLAUDE.md" not in sent and "instructions: .cursor" not in sent
        await ask(talk, "again")
        told = [each.text for each in talk.all(Notice) if "does not count" in each.text]
        why = "does not count: AGENTS.md is used in its place, so the model does not follow it"
        assert told == [f"CLAUDE.md {why}", f".cursor/rules/style.mdc {why}"]


async def test_a_folder_below_has_its_own(root: Path) -> None:
    write(root, "web/CLAUDE.md", "Use tabs.\n")
    write(root, "web/b.py", "y = 2\n")
    async with talking(root, PLAIN) as talk:
        assert "Use tabs." not in await ask(talk, "what is in @web/b.py ?")
        await asked(talk, "web/CLAUDE.md")
        await talk.session.trust.answer(agreed=True)
        await talk.until(TrustAnswered)
        assert "Use tabs." in await ask(talk, "and in @web/b.py ?")


def test_spark_trust_shows_them_without_a_session(root: Path) -> None:
    write(root, "CLAUDE.md")
    write(root, "GEMINI.md")
    write(root, "web/GEMINI.md")
    _, found = trust_of(open_workspace(root, environment(root.parent / "xdg")))
    assert [each.path for each in found] == ["CLAUDE.md", "web/GEMINI.md"]
