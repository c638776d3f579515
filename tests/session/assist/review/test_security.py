"""The security profile: each class of hole is asked for and told, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from session.assist.review.on_save import Mode
from session.base.events import FindingReported, SaveReviewed
from session.partner.server.requests import Request
from tests.session.assist.review.test_on_save import HUNK, opened

HOLES = {
    "code-injection": "eval(text)",
    "command-injection": "subprocess.run(line, shell=True)",
    "sql-injection": "cursor.execute(f\"select * from users where name = '{name}'\")",
    "path-traversal": "open(folder + request.path)",
    "unsafe-deserialisation": "pickle.load(stream)",
    "secret-in-code": "password = 'correct horse'",
    "no-authentication": "requests.get(url, verify=False)",
}
HARMLESS = ["try:", "    pass", "except:", "    mean = sum(all) / len(all)"]
SCRIPT = f'models = ["spark-practice", "spark-practice-text"]\n{HUNK}'


async def kinds(folder: Path, mode: Mode) -> tuple[dict[str, str], str]:
    """The kinds of findings on a save with every fault, each with its line; and the instructions."""
    asked: list[str] = []
    async with opened(folder, SCRIPT, 100_000.0) as it:
        answer = it.partner.model.answer

        def listening(request: Request, items: tuple[dict[str, Any], ...]) -> Any:
            asked.append(request.instructions)
            return answer(request, items)

        it.partner.model.answer = listening  # type: ignore[method-assign]
        it.session.typing()
        it.session.assist.review.use(mode)
        file = await it.session.files.read("a.py")
        await it.session.files.save(file, "\n".join([*HOLES.values(), *HARMLESS, ""]))
        await it.until(SaveReviewed)
        return {each.kind: each.lines[0] for each in it.all(FindingReported)}, asked[-1]


async def test_each_class_of_hole_is_found_and_faults_of_other_kinds_are_not(tmp_path: Path) -> None:
    found, asked = await kinds(tmp_path, Mode.SECURITY)
    assert found == HOLES
    for word in ("injection", "secrets", "identity", "deserialisation", "paths"):
        assert word in asked


async def test_without_the_profile_other_faults_are_found_too(tmp_path: Path) -> None:
    found, asked = await kinds(tmp_path, Mode.ON)
    assert set(found) == {*HOLES, "bare-except", "division-by-zero"}
    assert "Look for security holes alone" not in asked
