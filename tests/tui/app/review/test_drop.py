"""Dropping a landed hunk in the app: by command and from the review, with those that depend on it."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import Stage, stage
from tui.app.review.review_screen import ReviewScreen

FILES = {
    "paint.py": "def red():\n    return 1\n\n\ndef green():\n    return 2\n",
    "wall.py": "def wall():\n    return 0\n",
}
SCRIPT = '''
models = ["spark-practice"]
[[scenario]]
id = "paint"
match = ["brushes"]

[[scenario.hunk]]
id = "shade"
path = "paint.py"
lines = """
 def red():
-    return 1
+    return shade(1)
+
+
+def shade(colour):
+    return colour * 2
"""

[[scenario.hunk]]
id = "wall"
path = "wall.py"
lines = """
-def wall():
-    return 0
+from paint import shade
+
+
+def wall():
+    return shade(3)
"""

[[scenario.hunk]]
id = "green"
path = "paint.py"
lines = """
 def green():
-    return 2
+    return 20
"""

[[scenario.step]]
patch = ["shade", "wall", "green"]

[[scenario]]
id = "again"
match = ["Do again"]

[[scenario.hunk]]
id = "plain"
path = "wall.py"
lines = """
 def wall():
-    return 0
+    return 6
"""

[[scenario.step]]
patch = ["plain"]
'''


async def painted(it: Stage) -> dict[str, str]:
    it.app.composer.focus()
    it.app.composer.put("take the brushes")
    it.key("enter")
    await it.until(lambda: "return 20" in (it.root / "paint.py").read_text(), "the hunks")
    await it.done()
    return {name: (it.root / name).read_text() for name in FILES}


async def test_the_dependent_hunk_goes_too_and_is_asked_for_again(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=SCRIPT) as it:
        await painted(it)
        it.app.composer.put("/drop 1 no helper please")
        it.key("enter")
        await it.until(lambda: "Drop h1 with one that depends on it?" in it.screen, "the question")
        assert "h2 wall.py: uses shade of h1" in it.screen
        await it.answer("y")
        await it.until(lambda: "return 6" in (it.root / "wall.py").read_text(), "the hunk asked for again")
        await it.done()
        assert (it.root / "paint.py").read_text() == FILES["paint.py"].replace("return 2", "return 20")
        assert it.partner is not None
        sent = str([each.body["input"] for each in it.partner.requests])
        assert "I took h1 out because: no helper please." in sent and "+    return shade(3)" in sent
        assert it.session.prompts.read() == ["take the brushes", "no helper please"]


async def test_from_the_review_it_can_be_kept_or_only_dropped_and_brought_back(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=SCRIPT) as it:
        before = await painted(it)
        for answer in ("n", "a"):
            it.key("shift+f8")
            await it.until(lambda: isinstance(it.app.screen, ReviewScreen), "the review")
            await it.until(lambda: "depends on it: h2 wall.py" in it.screen, "the mark")
            it.key("d")
            await it.until(lambda: "Drop h1 with one" in it.screen, "the question")
            await it.answer(answer)
            if answer == "n":
                await it.until(lambda: "Drop h1 with one" not in it.screen, "the answer")
                assert {name: (it.root / name).read_text() for name in FILES} == before
        await it.until(lambda: (it.root / "wall.py").read_text() == FILES["wall.py"], "the drop")
        await it.until(lambda: "/redo 2 times" in it.screen, "what brings it back")
        assert "return 20" in (it.root / "paint.py").read_text()
        it.key("f10")
        await it.until(lambda: "shade" in (it.root / "paint.py").read_text(), "h1")
        it.key("f10")
        await it.until(lambda: "shade" in (it.root / "wall.py").read_text(), "h2")
        assert {name: (it.root / name).read_text() for name in FILES} == before


async def test_a_hunk_alone_goes_at_once_and_a_path_is_still_a_path(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=SCRIPT) as it:
        await painted(it)
        it.app.composer.put("/drop h3")
        it.key("enter")
        await it.until(lambda: "dropped h3; /redo brings it back" in it.screen, "the drop")
        assert "return 20" not in (it.root / "paint.py").read_text()
        it.app.composer.put("/drop h9")
        it.key("enter")
        await it.until(lambda: "h9 is not a landed hunk of this session" in it.screen, "the refusal")
        it.app.composer.put("/drop wall.py")
        it.key("enter")
        await it.until(lambda: "wall.py" in it.session.context.removed, "the path")


async def test_each_dependent_can_be_answered_for_by_itself(tmp_path: Path) -> None:
    door = (
        SCRIPT.replace('id = "green"\npath = "paint.py"', 'id = "green"\npath = "door.py"')
        .replace(
            " def green():\n-    return 2\n+    return 20",
            " def door():\n-    return 0\n+    return shade(4)",
        )
        .replace("return 20", "return shade(4)")
    )
    files = {**FILES, "door.py": "def door():\n    return 0\n"}
    async with stage(tmp_path, files=files, script=door) as it:
        it.app.composer.put("take the brushes")
        it.key("enter")
        await it.until(lambda: "shade(4)" in (it.root / "door.py").read_text(), "the hunks")
        await it.done()
        it.app.composer.put("/drop h1")
        it.key("enter")
        await it.until(lambda: "Drop h1 with 2 that depend on it?" in it.screen, "the question")
        await it.answer("e")
        await it.until(lambda: "Drop h2 too? (1 of 2)" in it.screen, "the first of them")
        assert "h2 wall.py: uses shade of h1" in it.screen
        await it.answer("n")
        await it.until(lambda: "Drop h3 too? (2 of 2)" in it.screen, "the second")
        await it.answer("y")
        await it.until(lambda: "dropped h1 and h3" in it.screen, "the drop")
        assert (it.root / "door.py").read_text() == files["door.py"]
        assert "shade(3)" in (it.root / "wall.py").read_text(), "it was kept"
