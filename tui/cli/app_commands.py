"""Commands that open the app: ``spark [PROMPT]`` in this folder, ``spark resume`` on an earlier session, and
``spark demo`` on a sample project with the built-in partner, without a key or a network.

Where the user took an offer in the app, the offer is carried out and the app opens again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import (
    complete_sessions,
    editing_options,
    last_session_file,
    opening,
    prompt_argument,
    refuse_mistyped,
    session_file,
    theme_option,
)
from tui.front.exits import CONFIGURATION, leave
from tui.front.printing import say

if TYPE_CHECKING:
    from session.setup.model_offers import Offer
    from session.setup.opening import Opening
    from tui.app.run import Typed


RATE, TOUR_RATE = "1000", "150"
"""Tokens a second in the demo, and on its tour: there an answer lasts long enough to be stopped."""


@click.command("open")
@prompt_argument()
@click.option("-c", "--continue", "resume", is_flag=True, help="Resume this project's last session.")
@theme_option
@editing_options
def open_command(prompt: str | None, resume: bool, theme: str | None, folder: Path, **given: Any) -> None:
    """Open the app in this folder, and submit PROMPT if given."""
    refuse_mistyped(prompt)
    from tui.screen.terminal.startup import begin

    begin()
    from tui.app.run import run_app

    project = opening(folder, theme=theme, **given)
    journal, notice = last_session_file(project.workspace) if resume else (None, None)

    def again(offer: Offer, typed: Typed) -> tuple[Opening, str | None]:
        return begin_with(offer, folder, theme, given, typed)

    raise SystemExit(run_app(project, prompt=prompt, resume=journal, notice=notice, again=again))


@click.command("resume")
@click.argument("session", shell_complete=complete_sessions, required=False)
@theme_option
@editing_options
def resume_command(session: str | None, theme: str | None, folder: Path, **given: Any) -> None:
    """Continue SESSION (a unique prefix of its name is enough), or the last one."""
    from tui.screen.terminal.startup import begin

    begin()
    from tui.app.run import run_app

    project = opening(folder, theme=theme, **given)
    notice = None
    if session is None:
        journal, notice = last_session_file(project.workspace)
    else:
        journal = session_file(project.workspace, session)

    def again(offer: Offer, typed: Typed) -> tuple[Opening, str | None]:
        return begin_with(offer, folder, theme, given, typed)

    raise SystemExit(run_app(project, resume=journal, notice=notice, again=again))


@click.command("demo")
@prompt_argument()
@click.option("--rate", metavar="TOKENS_PER_S", help=f"How fast it answers: {RATE}, on the tour {TOUR_RATE}.")
@click.option("--tour", is_flag=True, help="Be guided through it in two minutes.")
@click.option("--model", default="spark-practice", show_default=True, help="Or spark-practice-text.")
@theme_option
def demo_command(
    prompt: str | None, rate: str | None, tour: bool, model: str, theme: str | None, typed: Typed = ()
) -> None:
    """Try spark on a sample project in a temporary folder: ask, watch hunks land, stop it, redirect it."""
    from tui.screen.terminal.startup import begin

    begin()
    from session.partner.demo import make_sample
    from session.partner.load_script import load
    from session.partner.server.server import ServingError, companion
    from tui.app.run import require_terminal, run_app

    require_terminal()
    folder = Path(tempfile.mkdtemp(prefix="spark-demo-"))
    notice = make_sample(folder)
    suggestions = [scenario.prompt for scenario in load().scenarios if scenario.prompt]
    try:
        with companion(rate or (TOUR_RATE if tour else RATE)) as url:
            # Every file in the folder is spark's own, so there is nothing to ask about.
            project = opening(folder, theme=theme, base_url=url, model=model, provider="partner", trust=True)
            project = with_tests(project)
            code = run_app(
                project, prompt=prompt, notice=notice, suggestions=suggestions, typed=typed, tour=tour
            )
    except ServingError as problem:
        leave(str(problem), CONFIGURATION)
    say(f"the sample project stays in {folder}; to play the session again: spark replay -C {folder}")
    raise SystemExit(code)


def with_tests(project: Opening) -> Opening:
    """The sample project with its own tests as a check that is agreed to: spark itself wrote them."""
    from dataclasses import replace

    from session.checks.check import Check, Kind
    from session.checks.known_checks import Agreements

    tests = Check("tests", "python3 -m unittest -q", Kind.TESTS, source="the sample project")
    Agreements(project.workspace.folders.state).add([tests])
    return replace(project, settings=replace(project.settings, checks=(tests, *project.settings.checks)))


def begin_with(
    offer: Offer, folder: Path, theme: str | None, given: dict[str, Any], typed: Typed = ()
) -> tuple[Opening, str | None]:
    """The project to open the app with for ``offer``, and a line to show there; ``given`` are the options of
    the command line, ``typed`` the keys pressed since. If a login fails, the app opens as before. After
    practice, exits with its exit code."""
    from session.setup.model_offers import OfferKind

    if offer.kind is OfferKind.PRACTISE:
        click.get_current_context().invoke(demo_command, theme=theme, typed=typed)
        raise AssertionError("the practice leaves by itself")
    notice = ""
    if offer.kind is OfferKind.LOGIN:
        from tui.cli.login_prompt import LoginError, log_in

        try:
            notice = log_in(offer.provider, base_url=offer.base_url or None)
        except (LoginError, KeyboardInterrupt) as problem:
            return opening(folder, theme=theme, **given), str(problem) or "no key was given"
    if offer.kind in (OfferKind.LOCAL, OfferKind.PULL):
        name = offer.model if offer.kind is OfferKind.LOCAL else _pulled(offer.model)
        if name is None:
            return opening(folder, theme=theme, **given), f"{offer.model} was not pulled"
        here = {"local": name, "base_url": None, "provider": None, "model": None}
        return opening(folder, theme=theme, **(given | here)), _remark(offer)
    # Only a server that was found has an address here; the missing provider keeps its own.
    chosen = {"provider": offer.provider, "base_url": offer.base_url, "model": offer.model}
    given = given | {name: value for name, value in chosen.items() if value}
    return opening(folder, theme=theme, **given), notice or _remark(offer)


def _pulled(short: str) -> str | None:
    """Download the model with this short name; returns its local name, or None if that failed."""
    from session.models.engine.model_hub import known_models
    from session.models.engine.model_store import SUFFIX
    from tui.cli.local_commands import pull_model

    try:
        click.get_current_context().invoke(pull_model, name=short, file=None, yes=False)
    except (SystemExit, KeyboardInterrupt):
        return None
    return next(each.file.removesuffix(SUFFIX) for each in known_models() if each.name == short)


def _remark(offer: Offer) -> str | None:
    """How to begin like this next time without being asked; None where there is nothing to say."""
    from session.base.storage.folders import config_folder
    from session.setup.model_offers import OfferKind

    file = config_folder() / "config.toml"
    if offer.kind in (OfferKind.LOCAL, OfferKind.PULL):
        return f'{offer.detail}. To open so always, put into {file}: provider = "local" and model in [local]'
    if offer.kind is not OfferKind.SERVER:
        return None
    return (
        f"{offer.detail}. To open so always, put into {file}: "
        f'provider = "{offer.provider}" and model = "{offer.model}"'
    )
