from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from session.models.catalogue import Catalogue
from session.setup.config import PROJECT_KEYS, ConfigError, Flags, Settings, load_settings


class Setup:
    """A project and a configuration folder, and what they make of the settings."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.config = folder / "config"
        self.root.mkdir()
        self.config.mkdir()

    def user(self, text: str) -> None:
        (self.config / "config.toml").write_text(text)

    def project(self, text: str) -> None:
        (self.root / ".spark.toml").write_text(text)

    def trust(self, more: str = "") -> None:
        self.user(f'{more}\n[trust]\nfolders = ["{self.root}"]\n')

    def load(self, environ: Mapping[str, str] | None = None, **flags: object) -> Settings:
        return self.both(environ, **flags)[0]

    def both(self, environ: Mapping[str, str] | None = None, **flags: object) -> tuple[Settings, Catalogue]:
        return load_settings(self.root, self.config, environ or {}, Flags(**flags))  # type: ignore[arg-type]

    def problem(self, environ: Mapping[str, str] | None = None, **flags: object) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(environ, **flags)
        message = str(caught.value)
        assert "\n" not in message
        return message


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


@pytest.mark.parametrize("name", ["config.toml", ".spark.toml"])
def test_a_pipe_in_place_of_a_file_of_settings_is_refused_at_once(setup: Setup, name: str) -> None:
    folder = setup.config if name == "config.toml" else setup.root
    os.mkfifo(folder / name)
    message = setup.problem(trust=True)
    assert name in message and "not a regular file" in message


def test_without_any_file_the_defaults_hold(setup: Setup) -> None:
    assert setup.load() == Settings(
        model="gpt-6-luna",
        provider="openai",
        base_url="https://api.openai.com/v1",
        effort="medium",
        fast=False,
        theme="auto",
        trusted=False,
    )


def test_each_layer_overrides_the_one_before(setup: Setup) -> None:
    setup.trust('model = "user-model"\neffort = "low"\ntheme = "light"\n')
    assert setup.load().effort == "low"
    setup.project('effort = "high"\nmodel = "project-model"\ntheme = "ansi16"\n')
    settings = setup.load()
    assert (settings.effort, settings.model, settings.theme) == ("high", "project-model", "ansi16")
    assert setup.load({"SPARK_THEME": "from-environment"}).theme == "from-environment"
    flagged = setup.load(
        {"SPARK_THEME": "x"}, effort="xhigh", model="flag-model", theme="from-flag", fast=True
    )
    assert (flagged.effort, flagged.model, flagged.theme, flagged.fast) == (
        "xhigh",
        "flag-model",
        "from-flag",
        True,
    )


def test_a_flag_that_was_not_given_overrides_nothing(setup: Setup) -> None:
    setup.user("fast = true\n")
    assert setup.load(fast=None).fast is True


def test_an_empty_theme_variable_counts_as_unset(setup: Setup) -> None:
    setup.user('theme = "light"\n')
    assert setup.load({"SPARK_THEME": ""}).theme == "light"


def test_the_address_comes_from_flag_then_environment_then_file_then_catalogue(setup: Setup) -> None:
    environ = {"OPENAI_BASE_URL": "https://environment.example/v1"}
    assert setup.load().base_url == "https://api.openai.com/v1"
    setup.user('base_url = "https://file.example/v1"\n')
    assert setup.load().base_url == "https://file.example/v1"
    assert setup.load(environ).base_url == "https://environment.example/v1"
    assert setup.load(environ, base_url="https://flag.example/v1").base_url == "https://flag.example/v1"


def test_another_providers_address_variable_is_not_looked_at(setup: Setup) -> None:
    settings = setup.load({"OPENAI_BASE_URL": "https://environment.example/v1"}, provider="partner")
    assert settings.base_url == ""


def test_the_model_names_its_provider_unless_the_user_names_one(setup: Setup) -> None:
    assert setup.load(model="spark-practice").provider == "partner"
    assert setup.load(model="spark-practice", provider="openai").provider == "openai"
    setup.user('provider = "mine"\n[providers.mine]\nbase_url = "https://mine.example/v1"\n')
    settings = setup.load()
    assert (settings.provider, settings.base_url) == ("mine", "https://mine.example/v1")


# --- the project's own file ---------------------------------------------------------------------


def test_an_untrusted_projects_file_is_ignored(setup: Setup) -> None:
    setup.project('effort = "high"\n')
    assert setup.load().effort == "medium"
    assert setup.load().trusted is False


@pytest.mark.parametrize("text", ["not toml [", 'base_url = "https://evil.example"', "effort = 3"])
def test_an_untrusted_projects_file_is_not_even_read(setup: Setup, text: str) -> None:
    setup.project(text)
    assert setup.load().base_url == "https://api.openai.com/v1"


def test_a_trusted_project_is_marked_so_also_without_a_file(setup: Setup) -> None:
    setup.trust()
    assert setup.load().trusted is True


@pytest.mark.parametrize(
    "row",
    [
        'base_url = "https://evil.example"',
        'provider = "evil"',
        "fast = true",
        "trusted = true",
        'key = "sk-1"',
        '[providers.evil]\nbase_url = "https://evil.example"',
        '[models.x]\nprovider = "evil"',
        '[trust]\nfolders = ["/"]',
    ],
)
def test_even_a_trusted_project_cannot_choose_the_server(setup: Setup, row: str) -> None:
    setup.trust()
    setup.project(row + "\n")
    message = setup.problem()
    key = row.split(" = ")[0].strip("[").split(".")[0].split("]")[0]
    assert str(setup.root / ".spark.toml") in message
    assert repr(key) in message
    assert "effort, model, theme" in message


def test_the_projects_keys_are_harmless() -> None:
    assert sorted(PROJECT_KEYS) == ["effort", "model", "theme"]


def test_trust_holds_for_the_folder_itself_alone(setup: Setup) -> None:
    setup.user(f'[trust]\nfolders = ["{setup.root.parent}", "{setup.root}/sub"]\n')
    setup.project('effort = "high"\n')
    assert setup.load().trusted is False


def test_a_trusted_folder_may_be_given_from_home_or_through_a_link(setup: Setup, own_folders: Path) -> None:
    (own_folders / "link").symlink_to(setup.root)
    setup.user('[trust]\nfolders = ["~/link"]\n')
    assert setup.load().trusted is True


@pytest.mark.parametrize(
    "folders", ['"~"', "[1]", "{}", '["."]', '["relative/path"]', '["~no-such-user-here/x"]']
)
def test_a_wrong_list_of_trusted_folders_is_refused(setup: Setup, folders: str) -> None:
    setup.user(f"[trust]\nfolders = {folders}\n")
    message = setup.problem()
    assert str(setup.config / "config.toml") in message
    assert "[trust] folders" in message


def test_trust_that_is_no_table_is_refused(setup: Setup) -> None:
    setup.user("trust = 1\n")
    assert "[trust]" in setup.problem()


# --- bad files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["model = ", "= 1", "[models", 'a = "\x01"', f"model = {'[' * 5000}"])
def test_bad_toml_names_the_file(setup: Setup, text: str) -> None:
    setup.user(text)
    message = setup.problem()
    assert message.startswith(str(setup.config / "config.toml"))
    assert "not valid TOML" in message


def test_a_byte_order_mark_before_the_settings_is_no_part_of_them(setup: Setup) -> None:
    setup.user('\ufefftheme = "dark"\n')
    assert setup.load().theme == "dark"


def test_a_file_that_is_not_utf_8_is_named(setup: Setup) -> None:
    (setup.config / "config.toml").write_bytes(b'model = "caf\xe9"\n')
    assert "config.toml is not UTF-8 (byte 12)" in setup.problem()


def test_a_file_that_cannot_be_read_is_named(setup: Setup) -> None:
    (setup.config / "config.toml").mkdir()
    assert "cannot read" in setup.problem() and "config.toml" in setup.problem()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("model = 3", "model must be a string, not 3"),
        ("fast = 1", "fast must be true or false, not 1"),
        ('fast = "yes"', "fast must be true or false, not 'yes'"),
        ("effort = true", "effort must be a string, not True"),
        ('effort = "huge"', "effort 'huge' is not one of none, minimal, low, medium, high, xhigh, max, auto"),
        ("theme = []", "theme must be a string"),
        ("base_url = 1", "base_url must be a string"),
        ("trusted = true", "has no key 'trusted' (did you mean 'trust'?)"),
        ('modle = "x"', "has no key 'modle' (did you mean 'model'?)"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(setup: Setup, row: str, said: str) -> None:
    setup.user(row + "\n")
    message = setup.problem()
    assert message.startswith(str(setup.config / "config.toml"))
    assert said in message


def test_a_wrong_effort_on_the_command_line(setup: Setup) -> None:
    known = "none, minimal, low, medium, high, xhigh, max, auto"
    assert setup.problem(effort="huge") == f"effort 'huge' is not one of {known}"


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_model_is_refused(setup: Setup, name: str) -> None:
    assert setup.problem(model=name) == "the model's name is empty"


def test_an_unknown_provider_lists_the_known_ones(setup: Setup) -> None:
    message = setup.problem(provider="nobody")
    assert message.startswith("unknown provider 'nobody'; known are alibaba, anthropic, ")
    assert ", xai" in message


# --- the catalogue --------------------------------------------------------------------------------


def test_a_user_may_add_a_provider_and_a_model(setup: Setup) -> None:
    setup.user(
        """
        model = "quick-1"
        [providers.mine]
        base_url = "https://mine.example/v1"
        key_variable = "MINE_KEY"
        base_url_variable = "MINE_URL"
        [models.quick-1]
        provider = "mine"
        window = 64000
        output_reserve = 4000
        edit_format = "search-replace"
        """
    )
    settings, catalogue = setup.both()
    model = catalogue.model(settings.model, settings.provider)
    assert (settings.provider, settings.base_url) == ("mine", "https://mine.example/v1")
    assert (model.window, model.budget, model.edit_format) == (64000, 60000, "search-replace")
    assert setup.load({"MINE_URL": "https://other.example"}).base_url == "https://other.example"


def test_one_value_of_a_row_may_be_overridden(setup: Setup) -> None:
    setup.user(
        '[models."gpt-5.3-codex-spark"]\nwindow = 99000\n[providers.openai]\nkey_variable = "OTHER_KEY"\n'
    )
    _, catalogue = setup.both()
    model = catalogue.model("gpt-5.3-codex-spark", "openai")
    assert (model.window, model.output_reserve, model.edit_format) == (99000, 16000, "v4a")
    assert catalogue.provider("openai").key_variable == "OTHER_KEY"
    assert catalogue.provider("openai").base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("providers = 1", "[providers] must be a table"),
        ("[providers]\nx = 1", "[providers.x] must be a table"),
        ("[providers.x]", "[providers.x] needs base_url"),
        ("[providers.x]\nbase_url = 3", "[providers.x] base_url must be a string"),
        ('[providers.x]\nbase_url = "u"\nkey_variable = 1', "[providers.x] key_variable must be a string"),
        (
            '[providers.x]\nbase_url = "u"\nwebsockets = true',
            "[providers.x] has no key 'websockets' (did you mean 'websocket'?)",
        ),
        ('[providers.x]\nbase_url = "u"\nwebsocket = 1', "[providers.x] websocket must be true or false"),
        (
            '[providers.x]\nbase_url = "u"\ndialects = ["soap"]',
            "[providers.x] dialects names 'soap'; there are",
        ),
        ('[providers.x]\nbase_url = "u"\ndialects = []', "[providers.x] needs at least one of dialects"),
        ('[providers.x]\nbase_url = "u"\nidle_seconds = 0', "[providers.x] idle_seconds must be a number of"),
        (
            '[providers.x]\nbase_url = "u"\nheaders = {a = 1}',
            "headers must be a table of strings",
        ),
        ("[models.x]\nwidow = 5", "[models.\"x\"] has no key 'widow' (did you mean 'window'?)"),
        ("[models.x]\nprice = {input = 1}", '[models."x"] price must hold input, output and'),
        (
            "[models.x]\nprice = {input = 1, output = 2, long = {input = 2, output = 3}}",
            '[models."x"] price.long must hold over (tokens of input), input, output',
        ),
        ("models = []", "[models] must be a table"),
        ("[models]\nx = 1", '[models."x"] must be a table'),
        ('[models.x]\nwindow = "big"', '[models."x"] window must be a whole number'),
        ("[models.x]\nwindow = true", '[models."x"] window must be a whole number'),
        ("[models.x]\nwindow = -1", '[models."x"] window must be a whole number'),
        ("[models.x]\nwindow = 100", '[models."x"] output_reserve must be smaller than window'),
        ('[models.x]\nefforts = "low"', '[models."x"] efforts must be a list'),
        (
            '[models.x]\nedit_format = "diff"',
            "[models.\"x\"] edit_format must be one of 'v4a', 'search-replace', 'whole'",
        ),
        ("[models.x]\nprovider = 1", '[models."x"] provider must be a string'),
    ],
)
def test_a_wrong_row_of_the_catalogue_is_named_with_the_file(setup: Setup, text: str, said: str) -> None:
    setup.user(text + "\n")
    message = setup.problem()
    assert message.startswith(str(setup.config / "config.toml"))
    assert said in message


def test_a_model_of_an_unknown_provider_is_refused_when_it_is_used(setup: Setup) -> None:
    setup.user('[models.x]\nprovider = "nobody"\n')
    assert setup.load().provider == "openai"
    assert "unknown provider 'nobody'" in setup.problem(model="x")


def test_a_projects_file_cannot_choose_another_provider_by_its_model(tmp_path: Path) -> None:
    config, root = tmp_path / "config", tmp_path / "root"
    config.mkdir()
    root.mkdir()
    (config / "config.toml").write_text(f'[trust]\nfolders = ["{root}"]\n')
    (root / ".spark.toml").write_text('model = "spark-practice"\n')
    with pytest.raises(ConfigError, match="cannot change the provider"):
        load_settings(root, config, {}, Flags())


def test_an_effort_that_the_model_does_not_know_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[models."slow"]\nefforts = ["low"]\nprovider = "openai"\n')
    with pytest.raises(ConfigError, match="it has low"):
        load_settings(tmp_path, tmp_path, {}, Flags(model="slow", effort="high"))


def test_the_model_may_be_kept_from_writing_the_ledger(setup: Setup) -> None:
    assert setup.load().compact_with_model
    setup.user("[context]\ncompact_with_model = false\n")
    assert not setup.load().compact_with_model


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[context]\ncompact_with_model = "no"\n', "must be true or false, not 'no'"),
        (
            "[context]\ncompact = true\n",
            "[context] has no key 'compact' (did you mean 'compact_",
        ),
        ("context = 3\n", "[context] must be a table"),
    ],
)
def test_a_wrong_setting_for_long_dialogues_is_named(setup: Setup, text: str, why: str) -> None:
    setup.user(text)
    assert why in setup.problem()


def test_a_key_of_an_earlier_version_is_accepted_and_its_lack_of_effect_is_told(setup: Setup) -> None:
    mine = '[providers.mine]\nbase_url = "https://m.example"\n'
    setup.user(f"[providers.openai]\nlanes = true\n{mine}lanes = 4\n")
    settings, catalogue = setup.both()
    file = setup.config / "config.toml"
    assert settings.notes == (
        f"{file}: lanes of [providers.openai] has no effect any more; remove it",
        f"{file}: lanes of [providers.mine] has no effect any more; remove it",
    )
    assert catalogue.provider("mine").base_url == "https://m.example"
    setup.user(f"{mine}lane = 4\n")
    assert "has no key 'lane'" in setup.problem()
