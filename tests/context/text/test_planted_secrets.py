"""Secrets of every kind, planted as people leave them: in secret files, by their names, and in others."""

from __future__ import annotations

import random
import string
import tomllib
from importlib import resources

import pytest

from context.text.secrets import hints_in, is_secret_file, public_rules, redact
from context.text.words import count_tokens

_DICE = random.Random(41)
_MIXED = string.ascii_letters + string.digits


def drawn(count: int, of: str = _MIXED) -> str:
    return "".join(_DICE.choices(of, k=count))


HEX, BASE64 = drawn(64, "0123456789abcdef"), drawn(43, _MIXED + "+/")
LOWER, UPPER = string.ascii_lowercase + string.digits, string.ascii_uppercase + string.digits
WIREGUARD = f"{drawn(42)}8="
PLANTED = {
    "age": ("# public key: age1x\n{}\n", "AGE-SECRET-KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    "PuTTY": ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{}\nPrivate-MAC: " + HEX, drawn(48)),
    "PuTTY MAC": ("Private-MAC: {}\n", HEX),
    "WireGuard": ("[Interface]\nPrivateKey = {}\nListenPort = 1\n", WIREGUARD),
    "WireGuard shared": ("[Peer]\nPresharedKey={}\n", WIREGUARD),
    "Vault": ("VAULT={}\n", "hvs." + drawn(90)),
    "Vault batch": ("x: {}\n", "hvb." + drawn(150)),
    "kube client key": ("users:\n- user:\n    client-key-data: {}\n", drawn(200)),
    "kube TLS": ("kind: Secret\ndata:\n  tls.key: {}\n", drawn(200)),
    "Docker": ('{{"auths": {{"r": {{"auth": "{}"}}}}}}', "dXNlcjp" + drawn(20) + "=="),
    "Docker identity": ('{{"identitytoken": "{}"}}', drawn(60)),
    "netrc": ("machine example.com login me password {}\n", "hunter2hunter"),
    "npm line": ("registry=x\n_auth={}\n", drawn(24)),
    "npm": ("t = {}\n", "npm_" + drawn(36)),
    "PyPI": ("t = {}\n", "pypi-AgEIcHlwaS5vcmc" + drawn(80)),
    "unquoted in .ini": ("[db]\npassword = {}\n", drawn(12) + "1a2B" + drawn(12)),
    "unquoted in YAML": ("  api_key: {}\n", drawn(12) + "1a2B" + drawn(20)),
    "unquoted in shell": ("export SECRET_KEY={} # why\n", drawn(12) + "1a2B" + drawn(20)),
    "GitLab deploy": ("x {}\n", "gldt-" + drawn(20)),
    "GitLab runner": ("x {}\n", "glrt-" + drawn(20)),
    "GitLab trigger": ("x {}\n", "glptt-" + drawn(40, "0123456789abcdef")),
    "Shopify": ("x={}\n", "shpss_" + drawn(32, "0123456789abcdef")),
    "Slack app": ("x={}\n", f"xapp-1-A{drawn(9, UPPER)}-123456789012-" + drawn(64, LOWER)),
    "Sendgrid": ("x={}\n", f"SG.{drawn(22)}.{drawn(43)}"),
    "Postman": ("x={}\n", f"PMAK-{HEX[:24]}-{HEX[:34]}"),
    "Pulumi": ("x={}\n", "pul-" + HEX[:40]),
    "Grafana": ("x={}\n", f"glsa_{drawn(32)}_{HEX[:8]}"),
    "Doppler": ("x={}\n", "dp.pt." + drawn(43)),
    "DigitalOcean": ("x={}\n", "doo_v1_" + HEX),
    "Databricks": ("x={}\n", "dapi" + HEX[:32]),
    "Linear": ("x={}\n", "lin_api_" + drawn(40)),
    "Notion": ("x={}\n", f"ntn_{drawn(11, string.digits)}{drawn(35)}"),
    "Planetscale": ("x={}\n", "pscale_tkn_" + drawn(40)),
    "Prefect": ("x={}\n", "pnu_" + drawn(36)),
    "RubyGems": ("x={}\n", "rubygems_" + HEX[:48]),
    "Square": ("x={}\n", "EAAA" + drawn(60)),
    "Stripe": ("x={}\n", "rk_live_" + drawn(30)),
    "Twilio": ("x={}\n", "SK" + HEX[:32]),
    "New Relic": ("x={}\n", "NRAK-" + drawn(27, UPPER)),
    "1Password": ("x={}\n", "-".join(["A3", *(drawn(n, UPPER) for n in (6, 11, 5, 5, 5))])),
    "Alibaba": ("x={}\n", "LTAI" + drawn(20)),
    "Clojars": ("x={}\n", "CLOJARS_" + drawn(60)),
    "Dynatrace": ("x={}\n", f"dt0c01.{drawn(24)}.{drawn(64)}"),
    "EasyPost": ("x={}\n", "EZAK" + drawn(54)),
    "Frame.io": ("x={}\n", "fio-u-" + drawn(64)),
    "Hugging Face": ("x={}\n", "hf_" + drawn(34, string.ascii_letters)),
    "Perplexity": ("x={}\n", "pplx-" + drawn(48)),
    "Sentry": ("x={}\n", "sntryu_" + HEX),
    "Artifactory": ("x={}\n", "AKCp" + drawn(69)),
    "Terraform Cloud": ("x={}\n", f"{drawn(14)}.atlasv1.{drawn(64)}"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_secret_is_masked(kind: str) -> None:
    around, secret = PLANTED[kind]
    text = around.format(secret)
    found = redact(text)
    parts = [secret[at : at + 12] for at in range(8, max(9, len(secret) - 12))]
    assert found.kinds and not any(part in found.text for part in parts), found.text
    assert found.text.count("\n") == text.count("\n")
    runs = " ".join(count_tokens(text))
    assert redact(text, hints_in(text, runs)) == found, "the same by the words of an index"


@pytest.mark.parametrize(
    "name",
    """
        .env .env~ .env.bak .env-prod .env_prod prod.env prod.env.local .ENV.local .envs/x secrets.yaml
        secrets.yml conf/Secrets.YAML secrets.json secrets.toml app.secrets.yaml credentials.json
        credentials credentials.csv client_secret_1.json service-account.json x.tfstate x.tfstate.backup
        terraform.tfstate.1700000000.backup credentials.tfrc.json kubeconfig prod.kubeconfig
        kubeconfig.yaml .kube/config .docker/config.json .dockerconfigjson id_rsa id_rsa_work
        id_ed25519_sk x.pem x.ppk x.keytab x.ovpn wg0.conf keys.agekey .vault-token .vault_pass
        vault_pass.txt .my.cnf .mylogin.cnf .s3cfg rclone.conf .authinfo .config/rclone/rclone.conf
        .config/op/config .config/sops/age/keys.txt .config/gh/hosts.yml .huggingface/token
        .cache/huggingface/token .cargo/credentials.toml .m2/settings.xml .terraformrc
    """.split(),  # noqa: SIM905 - a list of names is easier to read so
)  # fmt: skip
def test_a_file_of_such_a_name_is_never_read(name: str) -> None:
    assert is_secret_file(name) and is_secret_file(f"sub/{name}")


@pytest.mark.parametrize(
    "name",
    """
        .env.example example.env .env.sample env.py credentials.example.json secrets.template.yaml
        secrets.py credentials.ts x.tf docs/secrets.md kube/deploy.yaml settings.xml config.json
        id_rsa.pub
        id_rsa_reader.py src/credentials/mod.rs docker/Dockerfile .docker/Dockerfile config token hosts.yml
    """.split(),  # noqa: SIM905 - a list of names is easier to read so
)  # fmt: skip
def test_an_ordinary_file_is_read(name: str) -> None:
    assert not is_secret_file(name)


def test_every_public_rule_compiles_masks_a_group_and_is_linear() -> None:
    data = tomllib.loads(resources.files("context.text").joinpath("public_secrets.toml").read_text("utf-8"))
    assert len(data["text"]) > 100
    for rule, row in zip(
        public_rules(frozenset(f"~{n}" for n in range(len(data["text"])))), data["text"], strict=True
    ):
        assert "secret" in rule.pattern.groupindex, rule.name
        for word in row["words"]:
            for text in (word * 3_000, word + "a" * 20_000, f"{word} " * 3_000, word.upper() + "A1" * 10_000):
                rule.pattern.sub("", text)


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password_from_keyring_2()\n",
        "token: str = default_token_1_of_the_list\n",
        "secret = settings.SECRET_KEY_V2_NAME\n",
        "PrivateKey = load(path)\n",
        '"auth": true, "auth": "basic"\n',
        'api_key = os.environ["OPENAI_API_KEY_2"]\n',
        "the login of a user needs a password here\n",
        "sha256 = " + HEX + "\n",
        "SKIP the step, SKELETON keys\n",
        "notion_page_of_the_user ntn_\n",
    ],
)
def test_text_that_only_looks_like_one_is_kept(text: str) -> None:
    assert redact(text).text == text
