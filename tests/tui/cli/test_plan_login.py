"""``spark login chatgpt`` and ``spark logout chatgpt`` as processes, against an issuer and a model server."""

from __future__ import annotations

import json
import re
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.models.sign_in.callback_server import PORT
from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.local_servers import aside
from tests.session.models.sign_in.issuer_server import Fault, IssuerServer, User, end_of, issuing
from tests.session.models.sign_in.signing import settings_of, stand_in_browser

SCRIPT = """
plan = true
models = ["gpt-6-luna", "gpt-6.2-sol"]
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "The plan pays."
"""


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with issuing() as server:
        yield server


@pytest.fixture
def partner() -> Iterator[Partner]:
    with aside(Partner(scripts=parse(SCRIPT))) as server:
        yield server


@pytest.fixture
def config(
    own_folders: Path, issuer: IssuerServer, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The configuration folder of a user whose browser agrees to everything."""
    folder = own_folders / "config" / "spark"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(settings_of(issuer, partner.url))
    stand_in_browser(own_folders / "programs", monkeypatch)
    return folder


def signed_in(run_spark: RunSpark, *more: str) -> str:
    ran = run_spark("login", "chatgpt", *more)
    assert (ran.code, ran.err) == (0, ""), ran.err
    return ran.out


def test_the_browser_signs_in_and_the_plan_answers(
    run_spark: RunSpark, issuer: IssuerServer, partner: Partner, config: Path, project: Path
) -> None:
    out = signed_in(run_spark)
    assert out.startswith("Continue with ChatGPT\n") and "The browser opens this address" in out
    file = config / "chatgpt-credentials.json"
    assert f"chatgpt: me@example.org is signed in; the sign-in is stored in {file}" in out
    assert "You're using your ChatGPT plan" in out and "https://chatgpt.com/settings/usage" in out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (live,) = issuer.live
    assert live.access not in out and live.refresh not in out
    partner.model.key = live.access
    listed = run_spark("login", "--list")
    assert listed.out.split() == ["chatgpt", "me@example.org", "(in", "use):", str(file)]
    ran = run_spark("exec", "hello", cwd=project, env={"OPENAI_API_KEY": "sk-that-costs-money-01"})
    assert ran.code == 0 and "The plan pays." in ran.out, ran.err
    assert "sk-that-costs" not in str(list(partner.headers))
    models = run_spark("models", cwd=project)
    assert "gpt-6.2-sol" in models.out and "hidden-model" not in models.out
    again = signed_in(run_spark)
    assert "You're using your" not in again  # said the first time only


def test_an_address_pasted_over_ssh_signs_in(
    quick_spark: Path, issuer: IssuerServer, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")
    process = subprocess.Popen(
        [str(quick_spark), "login", "chatgpt"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    told = ""
    while "forward the port" not in told:
        told += process.stdout.readline()
    assert "Open this address in a browser" in told and "ssh -L" in told
    (address,) = re.findall(r"http://\S+/authorize\S+", told)
    last = end_of(address)  # the page that does not load on the user's machine
    for pasted, why in (
        (last.replace("state=", "state=x"), "belongs to another attempt"),
        (last.partition("&client_id=")[0], "the address was cut: copy all of it"),
    ):
        process.stdin.write(f"{pasted}\n")
        process.stdin.flush()
        assert why in process.stderr.readline()
    out, err = process.communicate(f"{last}\n", timeout=60)
    assert process.returncode == 0 and "me@example.org is signed in" in out and not err
    assert issuer.count("/token") == 1


def test_a_forwarded_port_is_named_and_one_that_is_taken_is_told(
    run_spark: RunSpark, issuer: IssuerServer, config: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = run_spark("login", "chatgpt", "--port", str(port))
        assert ran.code == 3 and f"port {port} of 127.0.0.1 cannot be used" in ran.err
    signed_in(run_spark, "--port", str(port))
    (sent,) = (fields for path, fields in issuer.seen if path == "/authorize")
    assert sent["redirect_uri"] == f"http://127.0.0.1:{port}/auth/callback" and port != PORT


def test_a_user_who_says_no_is_told_so(run_spark: RunSpark, issuer: IssuerServer, config: Path) -> None:
    issuer.user = User(allows=False)
    ran = run_spark("login", "chatgpt")
    assert ran.code == 3 and ran.err.startswith(
        "spark: you did not allow it in the browser; nothing was stored"
    )


def test_accounts_by_name_and_signing_out(
    run_spark: RunSpark, issuer: IssuerServer, partner: Partner, config: Path, project: Path
) -> None:
    signed_in(run_spark)
    partner.model.key = issuer.live[0].access
    out = signed_in(run_spark, "--account", "my work")
    assert "chatgpt: my work is signed in" in out
    ran = run_spark("exec", "hello", "--account", "me@example.org", cwd=project)
    assert ran.code == 0 and "The plan pays." in ran.out, ran.err
    ran = run_spark("exec", "hello", "--account", "wrok", cwd=project)
    assert ran.code == 3 and "no account is called 'wrok'; there are me@example.org, my work" in ran.err
    left = run_spark("logout", "chatgpt")
    assert left.code == 0 and "my work is signed out, and the sign-in is withdrawn" in left.out
    assert "me@example.org is used from now on" in left.out and issuer.count("/revoke") == 1
    issuer.faults["/revoke"] = [Fault(503, "")]
    left = run_spark("logout", "chatgpt", "--account", "me@example.org")
    assert left.code == 0 and "is signed out on this machine" in left.out
    assert "did not confirm that the sign-in is withdrawn" in left.err
    assert run_spark("logout", "chatgpt").code == 1
    ran = run_spark("exec", "hello", cwd=project)
    assert ran.code == 3 and "no key" in ran.err


def test_an_ended_sign_in_is_said_everywhere_and_no_key_takes_its_place(
    run_spark: RunSpark, issuer: IssuerServer, partner: Partner, config: Path, project: Path
) -> None:
    signed_in(run_spark)
    partner.model.key = "another"
    issuer.faults["/token"] = [Fault(400, {"error": "refresh_token_expired"})]
    env = {"OPENAI_API_KEY": "sk-that-costs-money-01"}
    for _ in range(2):
        ran = run_spark("exec", "hello", cwd=project, env=env)
        assert ran.code == 3 and "has run out, since it was not used for 30 days" in ran.err, ran.err
        assert "Sign in again: spark login chatgpt" in ran.err and ran.out == ""
    assert "sk-that-costs" not in str(list(partner.headers)) and not partner.requests
    doctor = run_spark("doctor", "--json", cwd=project, env=env)
    found = {line["step"]: line for line in map(json.loads, doctor.out.splitlines())}
    assert found["key"]["well"] is False and "has run out" in found["key"]["found"]
    assert "the sign-in has run out" in run_spark("login", "--list").out


def test_doctor_says_whose_plan_pays(
    run_spark: RunSpark, issuer: IssuerServer, partner: Partner, config: Path, project: Path
) -> None:
    signed_in(run_spark)
    partner.model.key = issuer.live[0].access
    doctor = run_spark("doctor", "--json", "--model", "gpt-6-luna", cwd=project)
    found = {line["step"]: line for line in map(json.loads, doctor.out.splitlines())}
    assert found["key"]["found"] == "from the ChatGPT plan of me@example.org"
    assert found["answer"]["well"] is True and doctor.code == 0, doctor.out
    run_spark("doctor", "--bundle", "report.md", "--yes", "--model", "gpt-6-luna", cwd=project)
    report = (project / "report.md").read_text()
    assert "the ChatGPT plan of [e-mail]" in report and "example.org" not in report


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("login", "chatgpt", "--base-url", "http://127.0.0.1:9/v1"),
            "--base-url and --no-check are for keys",
        ),
        (("login", "chatgpt", "--no-check"), "are for keys"),
        (("login", "openai", "--account", "work"), "are for plans"),
        (("login", "openai", "--port", "8000"), "are for plans"),
        (("logout", "openai", "--account", "work"), "--account is for plans"),
        (
            ("exec", "hello", "--provider", "openai", "--account", "work"),
            "--account: openai is used with a key",
        ),
    ],
)
def test_options_that_do_not_fit_are_wrong(
    run_spark: RunSpark, config: Path, words: tuple[str, ...], why: str
) -> None:
    ran = run_spark(*words, given="sk-0123456789")
    assert ran.code == 2 and why in ran.err and ran.err.count("\n") == 1


@pytest.mark.parametrize("name", ["claude", "claude-max"])
def test_claude_plans_are_closed_to_other_programs(run_spark: RunSpark, name: str) -> None:
    ran = run_spark("login", name)
    line = "spark: Claude plans are closed to other programs; with an API key: spark login anthropic\n"
    assert (ran.code, ran.err) == (3, line)
    ran = run_spark("login", "anthropic", "--no-check", given="sk-ant-0123456789")
    assert ran.code == 0 and ran.err.startswith("spark: Claude plans are closed to other programs: ")


def test_the_plan_beside_keys_is_told_once(run_spark: RunSpark, issuer: IssuerServer, config: Path) -> None:
    ran = run_spark("login", "chatgpt", env={"GROQ_API_KEY": "gsk-0123456789"})
    assert ran.code == 0
    assert "chatgpt: the plan goes before your keys; to use one: --provider groq" in ran.out
