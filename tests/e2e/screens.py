"""Draws the app's screens at several sizes and themes: ``python3 -m tests.e2e.screens FOLDER [WORD…]``.

Each screen is the real app on a real session with the partner on loopback. Files are called
``SCREEN-THEME-WIDTHxHEIGHT.svg``; with words, only those whose name has one of them are drawn.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.tui.stage import TWO_HUNKS, Stage, stage

SIZES = ((40, 10), (80, 24), (120, 36), (200, 60))
THEMES = ("dark", "light", "contrast", "ansi16")
RISKY = """
[[scenario]]
match = ["add"]
[[scenario.hunk]]
id = "one"
path = "requirements.txt"
lines = '''
 one
+left-pad
'''
[[scenario.step]]
patch = ["one"]
"""


COMMAND = """
[[scenario]]
match = ["run"]
[[scenario.step]]
call = [{ tool = "run", arguments = { command = "for file in $(git ls-files); do wc $file; done; exit 1" } }]
[[scenario.step]]
say = "It failed.\\n"
"""


async def welcome(it: Stage) -> None:
    """Nothing was said yet."""
    await it.pilot.pause()


async def answered(it: Stage) -> None:
    """A turn has landed two hunks."""
    await it.ask("make it polite")
    await it.done()


async def talked(it: Stage) -> None:
    """An answer without a hunk."""
    await it.ask("just talk")
    await it.done()


async def streaming(it: Stage) -> None:
    """A hunk is being typed."""
    await it.ask("make it polite")
    await it.until(lambda: "… h2" in it.chat, "the second hunk")
    await it.pilot.pause(0.3)


async def command(it: Stage) -> None:
    """A command needs the user's OK."""
    await it.ask("run it")
    await it.until(lambda: it.app.panes.held.question is not None, "the question")
    await it.pilot.press("shift+tab")
    await it.pilot.pause(0.3)


async def failed(it: Stage) -> None:
    """A command has failed."""
    await it.ask("run it")
    await it.answer("y")
    await it.done()


async def themes(it: Stage) -> None:
    """The themes to choose from."""
    await it.pilot.press(*"/theme", "enter")
    await it.until(lambda: len(it.app.screen_stack) > 1, "the list")
    await it.pilot.pause(0.3)


async def held(it: Stage) -> None:
    """A hunk needs the user's OK."""
    await it.ask("add it")
    await it.until(lambda: it.app.panes.held.question is not None, "the question")
    await it.pilot.pause(0.3)


async def keys(it: Stage) -> None:
    """The help."""
    await it.pilot.press("f1")
    await it.pilot.pause(0.2)


async def context(it: Stage) -> None:
    """The context panel after a turn."""
    await answered(it)
    await it.pilot.press("ctrl+t")
    await it.pilot.pause(0.6)


async def review(it: Stage) -> None:
    """The review of the last turn."""
    await answered(it)
    await it.pilot.press("f20")
    await it.pilot.pause(0.4)


async def files(it: Stage) -> None:
    """The list of files."""
    await it.pilot.press("ctrl+p", *"gre")
    await it.until(lambda: "❯ greeter.py" in it.screen, "the file")


async def completing(it: Stage) -> None:
    """What a command could become."""
    await it.pilot.press(*"/re")
    await it.until(lambda: it.app.panes.suggestions.display, "the list")


async def finding(it: Stage) -> None:
    """Finding and replacing in the editor."""
    await answered(it)
    await it.pilot.press("f2", "ctrl+f", *"name", "tab")
    await it.pilot.pause(0.2)


SCREENS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    each.__name__: each
    for each in (
        *(welcome, streaming, answered, talked, held, command, failed),
        *(keys, context, review, files, completing, finding, themes),
    )
}
SCRIPTS = {"held": RISKY, "command": COMMAND, "failed": COMMAND}


async def draw(folder: Path, words: list[str]) -> int:
    """Draw the screens; returns how many there are."""
    count = 0
    for name, act in SCREENS.items():
        for theme in THEMES:
            for width, height in SIZES:
                file = folder / f"{name}-{theme}-{width}x{height}.svg"
                if words and not any(word in file.stem for word in words):
                    continue
                files = {"requirements.txt": "one\ntwo\n"} if act is held else None
                script, rate = SCRIPTS.get(name, TWO_HUNKS), 30.0 if act is streaming else 1000.0
                with tempfile.TemporaryDirectory(prefix="spark-screens-") as root:
                    async with stage(
                        Path(root), files=files, script=script, rate=rate, size=(width, height), theme=theme
                    ) as it:
                        await act(it)
                        file.write_text(it.app.export_screenshot(title=file.stem), "utf-8")
                count += 1
    return count


def main() -> None:
    """Draw what the command line names."""
    if len(sys.argv) < 2:
        sys.exit("usage: python3 -m tests.e2e.screens FOLDER [WORD…]")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{asyncio.run(draw(folder, sys.argv[2:]))} screens in {folder}")


if __name__ == "__main__":
    main()
