"""The models' rows are made from a pinned public table and spark's own rows, and each default can be had."""

from __future__ import annotations

import json
import tomllib
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from session.base.text.tables import TableError
from session.models.catalogue import Price, load_catalogue
from session.models.rows.__main__ import MODELS, OWN, main, models_text, pinned
from session.models.rows.making import differences, made, names_in
from session.models.rows.public_table import PublicTable, read_wheel, values_of


def own() -> dict[str, Any]:
    return tomllib.loads(OWN.read_text("utf-8"))


def wheel(folder: Path, rows: Any) -> Path:
    file = folder / "litellm-9.9.9-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("litellm/model_prices_and_context_window_backup.json", json.dumps(rows))
    return file


def test_the_rows_are_what_the_command_makes_of_the_pinned_table() -> None:
    text = models_text(own(), pinned())
    assert MODELS.read_text("utf-8") == text
    assert f"litellm {pinned().version} ({pinned().date})" in text
    date.fromisoformat(pinned().date)


def test_each_default_has_a_row_and_is_not_past_its_end() -> None:
    catalogue = load_catalogue()
    for name in catalogue.key_order:
        coding = catalogue.provider(name).coding
        for model in coding:
            row = catalogue.row(model, name)
            plan = catalogue.provider(name).plan
            if name in ("vercel", "openrouter"):  # they pass on what others serve
                assert row is None or row.provider != name
                continue
            owner = plan.models_of if plan is not None else name
            assert row is not None and row.provider == owner, f"{name}: {model} has no row"
            assert not row.ends or date.fromisoformat(row.ends) > date.today(), f"{model} ended on {row.ends}"
        assert catalogue.default_model(name) in coding
        assert not catalogue.model(catalogue.default_model(name), name).preview


def test_each_own_row_says_where_it_is_from() -> None:
    for name, row in own()["models"].items():
        assert "table" in row or row.get("why") or row["provider"] == "partner", name


def test_what_a_newer_table_would_change_is_printed_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {name: dict(row) for name, row in pinned().rows.items()}
    rows["gpt-5.5"]["input_cost_per_token"] = 4e-06
    rows["gpt-5.5"]["deprecation_date"] = "2027-12-01"
    before = MODELS.read_bytes()
    assert main([str(wheel(tmp_path, rows)), "--dry-run"]) == 0
    printed = capsys.readouterr().out.splitlines()
    changed = [line for line in printed if " checked: " not in line]
    assert changed == ['gpt-5.5 ends: nothing -> "2027-12-01"', "gpt-5.5 price.input: 5.0 -> 4.0"]
    assert MODELS.read_bytes() == before


def test_a_table_without_a_row_that_is_stood_on_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {name: row for name, row in pinned().rows.items() if name != "gpt-5.5"}
    assert main([str(wheel(tmp_path, rows)), "--dry-run"]) == 1
    assert "has no row 'gpt-5.5', on which \"gpt-5.5\" stands" in capsys.readouterr().err
    with pytest.raises(TableError, match="is not a wheel of litellm"):
        read_wheel(OWN, "2026-11-27")


def test_what_a_row_of_the_table_tells() -> None:
    row = {
        "max_input_tokens": 900, "max_output_tokens": 100, "supports_reasoning": True,
        "supports_none_reasoning_effort": True, "supports_max_reasoning_effort": True,
        "supports_vision": True,
        "supports_function_calling": True, "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
        "input_cost_per_token_above_200k_tokens": 3e-06, "output_cost_per_token_above_200k_tokens": 4e-06,
        "input_cost_per_token_ultrafast": 6e-06, "output_cost_per_token_ultrafast": 12e-06,
    }  # fmt: skip
    assert values_of(row, ("priority", "ultrafast")) == {
        "limit": 900,
        "output": 100,
        "efforts": ["none", "low", "medium", "high", "max"],
        "modalities": ["text", "image"],
        "price": {"input": 1.0, "output": 2.0, "long": {"over": 200_000, "input": 3.0, "output": 4.0}},
        "ultrafast_price": {"input": 6.0, "output": 12.0},
    }


def test_own_values_count_before_the_table_and_a_lower_limit_of_input_is_kept() -> None:
    table = PublicTable("1", "2026-11-27", {"x": {"max_input_tokens": 900, "max_output_tokens": 50}})
    mine = {
        "defaults": {"p": {"window": 1000, "output_reserve": 100, "tiers": []}},
        "models": {"m": {"provider": "p", "table": "x", "why": "w", "efforts": ["low"]}},
    }
    assert made(mine, table)["m"] == {
        "checked": "2026-11",
        "efforts": ["low"],
        "input_limit": 900,
        "modalities": ["text"],
        "output": 50,
        "output_reserve": 50,
        "provider": "p",
        "window": 1000,
    }
    assert names_in(mine) == {"x"}


def test_differences_name_the_place_and_both_values() -> None:
    before, after = {"a": {"price": {"input": 1}}, "b": {}}, {"a": {"price": {"input": 2}}, "c": {"d": 1}}
    lines = list(differences(before, after))
    assert lines == ["a price.input: 1 -> 2", "b: {} -> nothing", "c: nothing -> { d = 1 }"]


NOT_NONE = ("low", "medium", "high", "xhigh", "max")
FROM_NONE = ("none", *NOT_NONE)
SOME = ("low", "medium", "high")


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # what a survey of the makers' pages found in November 2026, a line each
        ("gpt-5.3-codex-spark", {"budget": 100_000, "preview": True, "output": 32_000}),
        ("gpt-5.3-codex", {"ends": "2027-04-01", "budget": 272_000}),
        ("gpt-6.2-astra", {"ultrafast_price": (48, 240), "efforts": NOT_NONE, "input_limit": 922_000}),
        ("gpt-6.2-sol", {"ultrafast_price": (12, 60), "budget": 266_560, "input_limit": 922_000}),
        ("gpt-6.1-sol", {"ultrafast_price": (12, 60), "efforts": NOT_NONE}),
        ("gpt-6-astra", {"ultrafast_price": (60, 300), "efforts": NOT_NONE}),
        *((name, {"efforts": FROM_NONE}) for name in ("gpt-6.1-terra", "gpt-6-sol", "gpt-6-luna")),
        *((name, {"efforts": FROM_NONE}) for name in ("gpt-5.6-terra", "gpt-5.6-luna")),
        ("gpt-5.6-sol", {"efforts": FROM_NONE, "fast_price": (8, 40), "window": 1_050_000}),
        *((name, {"efforts": FROM_NONE[:5]}) for name in ("gpt-5.5", "gpt-5.4", "gpt-5.4-mini")),
        ("gpt-5.4-mini", {"budget": 272_000}),
        ("gpt-5.5-pro", {"price": (30, 180), "input_limit": 922_000, "efforts": ("medium", "high", "xhigh")}),
        ("gpt-5.4-pro", {"price": (30, 180), "input_limit": 922_000}),
        ("gpt-oss-120b", {"provider": "cerebras", "window": 131_072, "price": (0.35, 0.75)}),
        ("qwen-3.8-27b", {"window": 131_072, "efforts": ("none", *SOME), "price": (0.99, 1.49)}),
        ("openai/gpt-oss-120b", {"cached": 0.075}),
        ("openai/gpt-oss-20b", {"price": (0.075, 0.30)}),
        ("qwen/qwen3.8-27b", {"provider": "groq"}),
        ("MiniMax-M2.7", {"window": 196_608, "price": (0.6, 2.4)}),
        ("MiniMax-M3", {"provider": "sambanova", "window": 1_000_000, "price": (0.6, 2.4)}),
        ("sambanova/gpt-oss-120b", {"price": (0.22, 0.59)}),
        ("grok-4.3", {"efforts": ("none", *SOME)}),
        ("grok-build-0.1", {"provider": "xai"}),
        ("claude-fable-5-2", {"fast_price": (16, 80), "token_ratio": 1.3}),
        ("claude-haiku-5-5", {"budget": 75_384, "token_ratio": 1.3, "efforts": FROM_NONE}),
        ("claude-haiku-4-5", {"token_ratio": 1.0}),
        ("mercury-3", {"window": 1_000_000, "output": 131_000, "price": (0.1, 0.35)}),
        ("mercury-edit-2", {"window": 32_000, "price": (0.25, 0.75)}),
        ("gemini-4-argon", {"price": (2, 10)}),
        ("gemini-3.8-flash", {"price": (0.75, 3.75)}),
        ("codestral-latest", {"price": (0.3, 0.9)}),
        ("deepseek-flash", {"price": (0.3, 1.2)}),
        *((name, {}) for name in ("kimi-k3.1-pro-highspeed", "glm-5.3-flashx", "qwen3.8-flash")),
    ],
)
def test_what_is_known_of_single_models(name: str, expected: dict[str, Any]) -> None:
    model = load_catalogue().models[name]
    found = {key: getattr(model.price if key == "cached" else model, key) for key in expected}
    prices = {key: (each.input, each.output) for key, each in found.items() if isinstance(each, Price)}
    assert found | prices == expected


def test_the_price_of_haiku_is_five_times_as_high_over_100000_tokens() -> None:
    price = load_catalogue().models["claude-haiku-5-5"].price
    assert price is not None and price.long is not None
    assert price.long_over == 100_000
    assert price.long.input == pytest.approx(5 * price.input)


def test_models_that_take_no_thinking_at_all_say_so() -> None:
    models = load_catalogue().models
    for name in ("gpt-6.1-terra", "gpt-6-sol", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.5", "gpt-5.4-mini"):
        assert models[name].efforts[0] == "none"
    for name in ("gpt-6-astra", "gpt-6.1-sol"):
        assert models[name].efforts[0] == "low"


def test_the_fastest_tier_costs_what_its_table_says() -> None:
    models = load_catalogue().models
    prices = {name: row.ultrafast_price for name, row in models.items() if row.ultrafast_price}
    assert {(name, price.input, price.output) for name, price in prices.items()} == {
        ("gpt-6.1-sol", 12.0, 60.0),
        ("gpt-6.2-sol", 12.0, 60.0),
        ("gpt-6-astra", 60.0, 300.0),
        ("gpt-6.2-astra", 48.0, 240.0),
    }
    fable = models["claude-fable-5-2"].fast_price
    assert fable is not None and (fable.input, fable.output) == (16.0, 80.0)
    assert "claude-opus-4-8" not in models and "grok-code-fast-1" not in models


def test_two_providers_may_serve_a_model_of_the_same_name() -> None:
    catalogue = load_catalogue()
    prices = [catalogue.model("gpt-oss-120b", name).price for name in ("cerebras", "sambanova", "groq")]
    assert [price and price.input for price in prices] == [0.35, 0.22, None]
