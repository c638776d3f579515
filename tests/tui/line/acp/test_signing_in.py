"""Signing in from an editor: with a plan in the browser, or with a key that the editor sets."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp import PROTOCOL_VERSION, RequestError
from acp.schema import EnvVarAuthMethod

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.session.local_servers import aside
from tests.session.models.sign_in.issuer_server import issuing
from tests.session.models.sign_in.signing import settings_of, stand_in_browser
from tests.tui.line.acp.editor import Editor, agent, text

SCRIPT = """
plan = true
models = ["gpt-6-luna"]
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "The plan pays."
"""


async def test_an_editor_signs_in_with_a_plan_or_is_told_what_to_do(
    quick_spark: Path, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = own_folders / "config" / "spark"
    config.mkdir(parents=True)
    stand_in_browser(own_folders / "programs", monkeypatch)
    editor = Editor()
    with issuing() as issuer, aside(Partner(scripts=parse(SCRIPT))) as partner:
        (config / "config.toml").write_text(settings_of(issuer, partner.url))
        async with agent(quick_spark, editor) as (client, _):
            answer = await client.initialize(protocol_version=PROTOCOL_VERSION)
            methods = {method.id: method for method in answer.auth_methods or ()}
            assert methods["chatgpt"].name == "Continue with ChatGPT"
            key = methods["anthropic"]
            assert isinstance(key, EnvVarAuthMethod) and key.vars[0].name == "ANTHROPIC_API_KEY"
            for method, told in (
                ("anthropic", "set ANTHROPIC_API_KEY, or run spark login anthropic"),
                ("elsewhere", "no way to sign in called 'elsewhere'"),
            ):
                with pytest.raises(RequestError, match=told):
                    await client.authenticate(method_id=method)
            issuer.user.allows = False
            with pytest.raises(RequestError, match="did not allow it in the browser") as declined:
                await client.authenticate(method_id="chatgpt")
            assert declined.value.code == -32000 and issuer.live == []
            issuer.user.allows = True
            await client.authenticate(method_id="chatgpt")
            (live,) = issuer.live
            partner.model.key = live.access
            session = await client.new_session(cwd=str(tmp_path))
            await client.prompt(session_id=session.session_id, prompt=text("hello"))
            assert "The plan pays." in editor.said


async def test_where_no_browser_can_be_opened_the_terminal_is_named(
    quick_spark: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = own_folders / "config" / "spark"
    config.mkdir(parents=True)
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 22")
    with issuing() as issuer:
        (config / "config.toml").write_text(settings_of(issuer))
        async with agent(quick_spark, Editor()) as (client, _):
            with pytest.raises(RequestError, match="run spark login chatgpt in a terminal"):
                await client.authenticate(method_id="chatgpt")
