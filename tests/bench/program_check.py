"""Runs other people's programs against the partner: ``python3 -m tests.bench.program_check --keep DIR``.

Codex CLI, OpenCode, aider and Mistral's Vibe, which needs a ``python3.12``, are installed into ``DIR`` the
first time (npm and pip; minutes, 3 GB). Each is asked in a project of its own for a conversation, an edit and
a model that does not exist, and is stopped in the middle of an answer; then it is told something else in the
same conversation. Prints what held, and the bytes of the first conversation's requests. Leaves with 1 where
something did not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from session.partner.load_script import parse
from session.partner.server.requests import Request
from session.partner.server.server import Partner
from tests.bench.wire_bytes import packed
from tests.session.talking import RED

MODEL, UNKNOWN = "spark-practice", "no-such-model"
BEFORE, AFTER = "def red():\n    return 1\n", "def red():\n    return 10\n"
SCRIPT = f'''
models = ["{MODEL}"]
refuse_models = ["{UNKNOWN}"]
[[scenario]]
match = ["repaint"]
{RED}[[scenario.step]]
say = "I change red.\\n"
[[scenario.step]]
patch = ["red"]
[[scenario.step]]
say = "Done.\\n"
[[scenario]]
match = ["tell a long story"]
[[scenario.step]]
say = "Once upon a time.\\n"
[[scenario.step]]
stall = 60.0
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "A word of the partner.\\n"
'''
SECONDS = 150.0
"""The longest that one run of a program may take; their first starts are slow."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: how it is installed, and the command that asks it for something."""

    name: str
    install: Sequence[str]
    executable: str
    """Where it is after that, below the folder."""
    arguments: Callable[[str, str], Sequence[str]]
    """The arguments for a model and a prompt."""
    environ: Callable[[str, Path], Mapping[str, str]] = lambda url, home: {}
    prepare: Callable[[str, Path, Path], None] = lambda url, home, project: None
    resume: Callable[[str, str], Sequence[str]] | None = None
    """The arguments that continue the last conversation; the usual ones where it keeps none."""
    script: str = ""
    """Scenarios of its own: the calls of its own tools."""


def _codex_home(url: str, home: Path, project: Path) -> None:
    (home / "config.toml").write_text(
        'model_provider = "partner"\napproval_policy = "never"\nsandbox_mode = "workspace-write"\n'
        f'[model_providers.partner]\nname = "partner"\nbase_url = "{url}"\nenv_key = "PARTNER_KEY"\n'
        'wire_api = "responses"\nsupports_websockets = true\n'
    )


def _opencode_home(url: str, home: Path, project: Path) -> None:
    settings = home / "opencode"
    settings.mkdir()
    options = {"baseURL": url, "apiKey": "k"}
    limit = {"context": 128_000, "output": 16_000}
    models = {name: {"name": name, "limit": limit} for name in (MODEL, UNKNOWN)}
    partner = {"npm": "@ai-sdk/openai-compatible", "name": "partner", "options": options, "models": models}
    allowed = {"edit": "allow", "bash": "allow"}
    body = {"autoupdate": False, "share": "disabled", "permission": allowed, "provider": {"partner": partner}}
    (settings / "opencode.json").write_text(json.dumps(body))


def _vibe_home(url: str, home: Path, project: Path) -> None:
    provider = f'name = "partner"\napi_base = "{url}"\napi_key_env_var = "PARTNER_KEY"\nbackend = "generic"\n'
    settings = f"enable_telemetry = false\n[[providers]]\n{provider}"
    agents = home / "agents"
    agents.mkdir()
    for name in (MODEL, UNKNOWN):
        settings += f'[[models]]\nname = "{name}"\nprovider = "partner"\nalias = "{name}"\n'
        (agents / f"{name}.toml").write_text(f'active_model = "{name}"\n')
    (home / "config.toml").write_text(settings)


def _vibe(model: str, *words: str) -> Sequence[str]:
    return "--trust", "--auto-approve", "--agent", model, *words


_VIBE = """
[[scenario]]
match = ["repaint it"]
[[scenario.step]]
call = [{tool = "read_file", arguments = {path = "colours.py"}}]
[[scenario.step]]
[[scenario.step.call]]
tool = "edit"
arguments = {file_path = "colours.py", old_string = "return 1", new_string = "return 10"}
[[scenario.step]]
say = "Done.\\n"
"""
_OPENCODE = """
[[scenario]]
match = ["repaint it"]
[[scenario.step]]
call = [{tool = "read", arguments = {filePath = "colours.py"}}]
[[scenario.step]]
[[scenario.step.call]]
tool = "edit"
arguments = {filePath = "colours.py", oldString = "return 1", newString = "return 10"}
[[scenario.step]]
say = "Done.\\n"
"""


PROGRAMS = (
    Program(
        "Codex CLI",
        ("npm", "install", "--no-audit", "--no-fund", "--prefix", "{}", "@openai/codex"),
        "node_modules/.bin/codex",
        lambda model, prompt: ("exec", "--skip-git-repo-check", "-m", model, prompt),
        lambda url, home: {"CODEX_HOME": str(home), "PARTNER_KEY": "k"},
        _codex_home,
        lambda model, prompt: ("exec", "resume", "--last", "--skip-git-repo-check", "-m", model, prompt),
    ),
    Program(
        "OpenCode",
        ("npm", "install", "--no-audit", "--no-fund", "--prefix", "{}", "opencode-ai"),
        "node_modules/.bin/opencode",
        lambda model, prompt: ("run", "-m", f"partner/{model}", prompt),
        lambda url, home: {f"XDG_{kind}_HOME": str(home) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        _opencode_home,
        lambda model, prompt: ("run", "--continue", "-m", f"partner/{model}", prompt),
        _OPENCODE,
    ),
    Program(
        "aider",
        (sys.executable, "-m", "pip", "install", "-q", "--target", "{}", "aider-chat"),
        "bin/aider",
        lambda model, prompt: (
            *("--model", f"openai/{model}", "--edit-format", "diff", "--no-show-model-warnings"),
            *("--no-check-update", "--yes-always", "--no-auto-commits", "--no-analytics"),
            *("--message", prompt, "colours.py"),
        ),
        lambda url, home: {"OPENAI_API_KEY": "k", "OPENAI_API_BASE": url, "HOME": str(home)},
    ),
    Program(
        "Vibe",
        ("sh", "-c", "python3.12 -m venv {} && {}/bin/python3 -m pip install -q mistral-vibe"),
        "bin/vibe",
        lambda model, prompt: _vibe(model, "-p", prompt),
        lambda url, home: {"VIBE_HOME": str(home), "PARTNER_KEY": "k", "HOME": str(home)},
        _vibe_home,
        lambda model, prompt: _vibe(model, "--continue", "-p", prompt),
        _VIBE,
    ),
)


@dataclass(slots=True)
class Outcome:
    """What held of one program, and the bytes of its requests."""

    held: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, list[str]] = field(default_factory=dict)
    """By conversation, the bytes of its requests, and in brackets the same deflated one after the other."""

    def weigh(self, conversation: str, requests: Sequence[Request]) -> None:
        """Keep the bytes of a conversation."""
        small = packed(requests, stream=True)
        weights = zip(requests, small, strict=True)
        self.sizes[conversation] = [f"{request.size:,} ({less:,})" for request, less in weights]


async def run(
    command: Sequence[str], project: Path, environ: Mapping[str, str], until: Callable[[], bool] | None
) -> str:
    """Run a program and return what it wrote; interrupt it once ``until`` holds, if that is given."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=project,
        env={**os.environ, "PWD": str(project), **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    reading = asyncio.create_task(process.communicate())
    try:
        async with asyncio.timeout(SECONDS):
            while until is not None and not until() and not reading.done():
                await asyncio.sleep(0.05)
            if until is not None and not reading.done():
                os.killpg(process.pid, signal.SIGINT)
            written, _ = await asyncio.shield(reading)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        written, _ = await reading
    return " ".join(bytes(written).decode("utf-8", "replace").split())  # some wrap what they print


async def check(program: Program, folder: Path) -> Outcome:
    """Ask ``program`` for everything."""
    outcome = Outcome()
    first, rest = SCRIPT.split("[[scenario]]", 1)
    script = parse(f"{first}{program.script}[[scenario]]{rest}")
    async with Partner(rate=math.inf, scripts=script) as partner:
        with tempfile.TemporaryDirectory() as name:
            home, project = Path(name) / "home", Path(name) / "project"
            home.mkdir()
            project.mkdir()
            file = project / "colours.py"
            file.write_text(BEFORE)
            as_somebody = ("-c", "user.name=a", "-c", "user.email=a@b")
            for words in (("init", "-q"), ("add", "."), (*as_somebody, "commit", "-qm", "a")):
                subprocess.run(["git", *words], cwd=project, check=True)
            program.prepare(partner.url, home, project)
            environ = program.environ(partner.url, home)
            executable = str(folder / program.executable)

            async def ask(
                model: str, prompt: str, until: Callable[[], bool] | None = None, *, again: bool = False
            ) -> str:
                arguments = program.resume if again and program.resume else program.arguments
                return await run((executable, *arguments(model, prompt)), project, environ, until)

            told = await ask(MODEL, "say something")
            outcome.held["conversation"] = "ok" if "A word of the partner" in told else "no answer"
            outcome.weigh("conversation", partner.requests)
            talked = len(partner.requests)
            await ask(MODEL, "repaint it")
            outcome.weigh("edit", list(partner.requests)[talked:])
            outcome.held["edit"] = "ok" if file.read_text() == AFTER else "not applied"
            told = await ask(UNKNOWN, "say something")
            outcome.held["error"] = "ok" if "does not exist" in told else "not told"
            asked, cut = len(partner.requests), partner.cut
            await ask(MODEL, "tell a long story", lambda: _story(partner, asked))
            try:
                async with asyncio.timeout(10):
                    while partner.cut == cut:
                        await asyncio.sleep(0.05)
                outcome.held["interrupt"] = "ok"
            except TimeoutError:
                outcome.held["interrupt"] = "the answer went on"
            told = await ask(MODEL, "say something else", again=True)
            outcome.held["redirect"] = "ok" if "A word of the partner" in told else "no answer"
    return outcome


def _story(partner: Partner, asked: int) -> bool:
    return any(
        request.generate and "long story" in str(request.items) for request in list(partner.requests)[asked:]
    )


def main() -> int:
    """Install what is missing, run all, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, required=True, help="the folder for the programs")
    parser.add_argument("--only", nargs="*", help="the programs by name; all without it")
    given = parser.parse_args()
    folder: Path = given.keep.expanduser().resolve()
    if shutil.which("npm") is None:
        sys.exit("npm is not installed: it installs Codex CLI")
    failed = False
    for program in PROGRAMS:
        if given.only and program.name not in given.only:
            continue
        own = folder / program.name.lower().replace(" ", "-")
        if not (own / program.executable).exists():
            own.mkdir(parents=True, exist_ok=True)
            subprocess.run([word.replace("{}", str(own)) for word in program.install], check=True)
        outcome = asyncio.run(check(program, own))
        failed = failed or any(held != "ok" for held in outcome.held.values())
        cells = " | ".join(f"{what}: {held}" for what, held in outcome.held.items())
        print(f"{program.name:10} | {cells} | bytes: {outcome.sizes}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
