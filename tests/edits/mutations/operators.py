"""The ways to damage an edit: those of its lines come before it is written, those of its markup after.

Each returns the damaged answer, or None where it does not apply. The right result is always the file of the
commit. ``held`` marks answers which a rule may refuse: they must not land as they were typed.
"""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.edits.mutations.answers import Answer, Edit, signed, written

Operator = Callable[[Answer, random.Random], Answer | None]
_SIGNED = ("v4a", "unified")
PLACEHOLDERS = """\
# ... existing code ...
// ... rest of the function unchanged ...
... (the other code) ...
/* … existing code … */
// rest of the file remains the same
<!-- ... rest of page ... -->
-- ... other statements unchanged
# (rest unchanged)
[... unchanged ...]
""".splitlines()
MARKS = """\
</diff>
</new_string>
*** End Patch
>>>>>>> UPDATED
<<<<<<< HEAD
```
</content>
@@ -1,3 +1,4 @@
*** End of File
\\ No newline at end of file
</parameter>
|||||||
""".splitlines()


def _typed(answer: Answer, old: Sequence[str], new: Sequence[str], *, held: bool = False) -> Answer | None:
    edit = replace(answer.edit, old=tuple(old), new=tuple(new))
    if answer.format == "whole" or (edit.old, edit.new) == (answer.edit.old, answer.edit.new):
        return None
    return None if edit.old == edit.new else replace(answer, edit=edit, held=answer.held or held)


def _depth(lines: Sequence[str]) -> str:
    """The indentation that all lines have."""
    depths = [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()]
    least = min(depths, key=len, default="")
    return least if all(depth.startswith(least) for depth in depths) else ""


def _shallower(lines: Sequence[str], depth: str) -> list[str]:
    return [line.removeprefix(depth) for line in lines]


def both_shallower(answer: Answer, chance: random.Random) -> Answer | None:
    """Both sides lack the indentation that all lines have."""
    del chance
    depth = _depth((*answer.edit.old, *answer.edit.new))
    return _typed(answer, _shallower(answer.edit.old, depth), _shallower(answer.edit.new, depth))


def both_deeper(answer: Answer, chance: random.Random) -> Answer | None:
    """Both sides have more indentation than the file."""
    more = chance.choice(("  ", "    "))
    sides = [[more + line if line else line for line in side] for side in (answer.edit.old, answer.edit.new)]
    return None if "\t" in "".join(answer.edit.old) else _typed(answer, *sides)


def old_shallower(answer: Answer, chance: random.Random) -> Answer | None:
    """The old text lacks the indentation that the new text has."""
    del chance
    old = _shallower(answer.edit.old, _depth(answer.edit.old))
    return _typed(answer, old, answer.edit.new)


def first_line_bare(answer: Answer, chance: random.Random) -> Answer | None:
    """The first line of both sides lacks its indentation, as after a fence that was cut off too far."""
    del chance
    old, new = answer.edit.old, answer.edit.new
    return _typed(answer, (old[0].lstrip(), *old[1:]), (new[0].lstrip(), *new[1:]))


def first_new_line_bare(answer: Answer, chance: random.Random) -> Answer | None:
    """Only the first line of the new text lacks its indentation."""
    del chance
    new = answer.edit.new
    tells = any(map(str.isalnum, new[0]))
    return _typed(answer, answer.edit.old, (new[0].lstrip(), *new[1:]), held=True) if tells else None


def new_shallower(answer: Answer, chance: random.Random) -> Answer | None:
    """The new text lacks the indentation that the old text has."""
    del chance
    depth = _depth(answer.edit.new)
    return _typed(answer, answer.edit.old, _shallower(answer.edit.new, depth), held=True)


def half_width(answer: Answer, chance: random.Random) -> Answer | None:
    """Both sides are indented by two blanks a level where the file has four."""
    del chance
    lines = [line for line in (*answer.edit.old, *answer.edit.new) if line.strip()]
    depths = [len(line) - len(line.lstrip(" ")) for line in lines]
    if any(line.startswith("\t") for line in lines) or any(depth % 4 for depth in depths) or not all(depths):
        return None
    if len({len(line) - len(line.lstrip(" ")) for line in answer.edit.old if line.strip()}) < 2:
        return None
    sides = [
        [" " * ((len(line) - len(line.lstrip(" "))) // 2) + line.lstrip(" ") for line in side]
        for side in (answer.edit.old, answer.edit.new)
    ]
    return _typed(answer, *sides)


def trailing_blanks(answer: Answer, chance: random.Random) -> Answer | None:
    """Some old lines have trailing space that the file has not; what stays has it on both sides."""
    new = set(answer.edit.new)
    old = [f"{line}  " if line not in new and chance.random() < 0.6 else line for line in answer.edit.old]
    return _typed(answer, old, answer.edit.new)


def curly_quotes(answer: Answer, chance: random.Random) -> Answer | None:
    """Straight quotes are curly on both sides."""
    table = str.maketrans(*chance.choice((("'", "’"), ('"', "”"), ("'\"", "‘“"))))
    sides = [[line.translate(table) for line in side] for side in (answer.edit.old, answer.edit.new)]
    return None if sides[0] == list(answer.edit.old) else _typed(answer, *sides)


def invisible(answer: Answer, chance: random.Random) -> Answer | None:
    """Lines that stay have characters that nobody sees."""
    mark = chance.choice("\u200b\u200c\u200d\u2060\u00ad")
    stay = set(answer.edit.old) & set(answer.edit.new)
    sides = [
        [line[:-1] + mark + line[-1:] if line in stay and line[-1:].isalnum() else line for line in side]
        for side in (answer.edit.old, answer.edit.new)
    ]
    return _typed(answer, *sides)


def numbered(answer: Answer, chance: random.Random) -> Answer | None:
    """The lines have their numbers before them: the old ones, or all."""
    gutter = chance.choice(("{} | {}", "{}| {}", "{}|{}", "{}\t{}", "{}: {}"))
    old = [gutter.format(answer.edit.start + 1 + at, line) for at, line in enumerate(answer.edit.old)]
    new: Sequence[str] = answer.edit.new
    if chance.random() < 0.5:
        new = [gutter.format(answer.edit.start + 1 + at, line) for at, line in enumerate(new)]
    return None if answer.format in _SIGNED else _typed(answer, old, new)


def new_numbered(answer: Answer, chance: random.Random) -> Answer | None:
    """Only the new lines have numbers before them."""
    del chance
    new = [f"{answer.edit.start + 1 + at} | {line}" for at, line in enumerate(answer.edit.new)]
    return _typed(answer, answer.edit.old, new, held=True) if len(new) > 1 else None


def both_escaped(answer: Answer, chance: random.Random) -> Answer | None:
    """Both sides have entities for the characters that markup reserves."""
    del chance
    old, new = ([html.escape(line) for line in side] for side in (answer.edit.old, answer.edit.new))
    return None if tuple(old) == answer.edit.old else _typed(answer, old, new)


def new_escaped(answer: Answer, chance: random.Random) -> Answer | None:
    """Only the lines that come have entities."""
    del chance
    stay = set(answer.edit.old)
    new = [line if line in stay else html.escape(line, quote=False) for line in answer.edit.new]
    markup = answer.edit.path.endswith((".md", ".tsx", ".jsx", ".html"))
    entities = any("&" in line for line in answer.edit.before)
    in_string = any(re.search(r"['\"`].*&.*['\"`]|<\w", line) for line in new)
    return None if markup or entities or in_string else _typed(answer, answer.edit.old, new, held=True)


def placeholder(answer: Answer, chance: random.Random) -> Answer | None:
    """The end of the new text is left out."""
    new = answer.edit.new
    mark = chance.choice(PLACEHOLDERS)
    cut = chance.randrange(1, len(new)) if len(new) > 1 else 0
    depth = _depth(new)
    return _typed(answer, answer.edit.old, (*new[:cut], depth + mark), held=True)


def marker_in_text(answer: Answer, chance: random.Random) -> Answer | None:
    """A line of markup is among the new lines."""
    new = list(answer.edit.new)
    mark = chance.choice(MARKS)
    new.insert(chance.choice((0, len(new), len(new))), mark)
    if answer.format == "unified" and mark.startswith("\\"):
        return None
    if mark in (">>>>>>> UPDATED", "```") and answer.format == "search-replace" and "```" in mark:
        return None
    return _typed(answer, answer.edit.old, new, held=True)


def signs_in_text(answer: Answer, chance: random.Random) -> Answer | None:
    """Each new line begins with the plus of a diff."""
    del chance
    new = [f"+{line}" for line in answer.edit.new]
    return None if answer.format in _SIGNED else _typed(answer, answer.edit.old, new, held=True)


def lost_blank_lines(answer: Answer, chance: random.Random) -> Answer | None:
    """Blank lines that stay are left out on both sides."""
    del chance
    if not all(line in answer.edit.new for line in answer.edit.old) or answer.format == "json":
        return None
    blanks = [index for index, line in enumerate(answer.edit.old) if not line]
    if len(blanks) != 1 or [line for line in answer.edit.new if not line] != [""]:
        return None
    return _typed(answer, list(filter(None, answer.edit.old)), list(filter(None, answer.edit.new)), held=True)


LINES: tuple[Operator, ...] = (
    both_shallower, both_deeper, old_shallower, first_line_bare, first_new_line_bare, new_shallower,
    half_width,
    trailing_blanks, curly_quotes, invisible, numbered, new_numbered, both_escaped, new_escaped, placeholder,
    marker_in_text, signs_in_text, lost_blank_lines,
)  # fmt: skip


def _text(answer: Answer, text: str, *, held: bool = False) -> Answer | None:
    return replace(answer, text=text, held=answer.held or held) if text != answer.text else None


def glued_end(answer: Answer, chance: random.Random) -> Answer | None:
    """The last marker stands at the end of a line."""
    del chance
    if answer.format != "search-replace" or answer.text.count("\n>>>>>>> REPLACE") != 1:
        return None
    return _text(answer, answer.text.replace("\n>>>>>>> REPLACE", ">>>>>>> REPLACE"))


def more_separators(answer: Answer, chance: random.Random) -> Answer | None:
    """There is a second separator, at the end of the new text or at its beginning."""
    if answer.format != "search-replace":
        return None
    end = answer.text.replace("\n>>>>>>> REPLACE", "\n=======\n>>>>>>> REPLACE")
    begin = answer.text.replace(
        "\n=======\n", chance.choice(("\n=======\n=======\n", "\n=======\n\n=======\n")), 1
    )
    return _text(answer, chance.choice((begin, end)))


def bent_markers(answer: Answer, chance: random.Random) -> Answer | None:
    """The markers have a ``>`` more, or other lengths."""
    if answer.format != "search-replace":
        return None
    end, begin = chance.choice((("REPLACE>", "SEARCH>"), ("REPLACE ", "SEARCH "), ("REPLACE>", "SEARCH")))
    text = answer.text.replace("> REPLACE", f"> {end}").replace("< SEARCH", f"< {begin}")
    return _text(answer, text)


def no_end_marker(answer: Answer, chance: random.Random) -> Answer | None:
    """The last marker is missing: the answer ends there, or prose follows."""
    prose = chance.choice(("", "\nThis should fix the problem.\n", "\n```sh\nmake test\n```\n"))
    if answer.format == "search-replace":
        text = answer.text.replace(">>>>>>> REPLACE\n```\n", "").replace("```\n", "", 1)
        return _text(answer, text + prose, held=True)
    if answer.format == "v4a" and not prose.endswith("```\n"):
        return _text(answer, answer.text.removesuffix("*** End Patch\n") + prose)
    return None


def bare_context(answer: Answer, chance: random.Random) -> Answer | None:
    """Lines of context have lost the blank before them."""
    del chance
    if answer.format not in _SIGNED:
        return None
    body = signed(answer.edit)
    lost = "".join(line[1:] if line[0] == " " else line for line in body.splitlines(keepends=True))
    listed = any(line[:2] in (" -", " +") for line in body.splitlines())
    return None if listed else _text(answer, answer.text.replace(body, lost), held="\n\n" in lost)


def blank_after_signs(answer: Answer, chance: random.Random) -> Answer | None:
    """A blank follows each sign, or each plus."""
    if answer.format not in _SIGNED:
        return None
    body = signed(answer.edit)
    signs = chance.choice((" -+", "+"))
    lines = body.splitlines(keepends=True)
    more = "".join(
        f"{line[0]} {line[1:]}" if line[0] in signs and line[1:].strip() else line for line in lines
    )
    return _text(answer, answer.text.replace(body, more), held=signs == "+")


def bullets_after(answer: Answer, chance: random.Random) -> Answer | None:
    """Prose with bullets follows the patch."""
    gap = chance.choice(("\n", ""))
    if answer.format not in _SIGNED or (answer.format == "v4a" and not answer.text.endswith("Patch\n")):
        return None
    return _text(
        answer, f"{answer.text}{gap}- Removed the old line here.\n- This should fix it.\n", held=not gap
    )


def twice(answer: Answer, chance: random.Random) -> Answer | None:
    """The same answer is given again at the end."""
    del chance
    return _text(answer, f"{answer.text}\nTo sum up:\n\n{answer.text}")


def byte_order_mark(answer: Answer, chance: random.Random) -> Answer | None:
    """The answer begins with a byte order mark."""
    del chance
    return _text(answer, f"\ufeff{answer.text}")


def carriage_returns(answer: Answer, chance: random.Random) -> Answer | None:
    """The lines of the answer end in CR LF."""
    del chance
    return None if answer.format == "json" else _text(answer, answer.text.replace("\n", "\r\n"))


def draft_before(answer: Answer, chance: random.Random) -> Answer | None:
    """Another version of the edit is in the reasoning before it."""
    tag = chance.choice(("think", "thinking", "reasoning", "scratchpad"))
    drafted = replace(answer.edit, new=(*answer.edit.new, "a draft"), after=(*answer.edit.after, "a draft"))
    return _text(
        answer, f"<{tag}>\nPerhaps:\n\n{written(drafted, answer.format)}\nNo.\n</{tag}>\n{answer.text}"
    )


def fewer_newlines(answer: Answer, chance: random.Random) -> Answer | None:
    """The new text of a JSON edit lacks its last line end."""
    del chance
    if answer.format != "json":
        return None
    old, new = ("".join(f"{line}\n" for line in side) for side in (answer.edit.old, answer.edit.new))
    edit = {"path": answer.edit.path, "old_string": old, "new_string": new.removesuffix("\n")}
    return _text(
        answer, answer.text.replace(json.dumps(edit | {"new_string": new}), json.dumps(edit)), held=True
    )


def wrong_counts(answer: Answer, chance: random.Random) -> Answer | None:
    """The counts of a diff are wrong."""
    if answer.format != "unified":
        return None
    head, mark, rest = answer.text.rpartition("@@ -")
    counts = re.sub(r",\d+", lambda _: f",{chance.randrange(1, 20)}", rest.split("\n")[0])
    return _text(answer, f"{head}{mark}{counts}\n{rest.partition(chr(10))[2]}")


def plain_git_header(answer: Answer, chance: random.Random) -> Answer | None:
    """A diff has git's header alone, without prefixes."""
    del chance
    path = answer.edit.path
    header = f"--- a/{path}\n+++ b/{path}\n"
    if answer.format != "unified":
        return None
    return _text(answer, answer.text.replace(header, f"diff --git {path} {path}\n"))


def left_out(answer: Answer, chance: random.Random) -> Answer | None:
    """A whole file has comments in place of the parts that stay."""
    edit = answer.edit
    end = edit.start + len(edit.old)
    if answer.format != "whole" or edit.start < 2 or end > len(edit.before) - 2:
        return None
    mark = chance.choice(
        ("# ... existing code ...", "// rest of the file unchanged", "# ... rest unchanged …")
    )
    part = "\n".join((mark, *edit.new, mark))
    return _text(answer, f"{edit.path}\n```\n{part}\n```\n", held=True)


def inner_fence(answer: Answer, chance: random.Random) -> Answer | None:
    """A whole file has a code fence in its text, which the file has too."""
    del chance
    edit = answer.edit
    if answer.format != "whole" or edit.start < 1:
        return None
    fence = ("```", "run it", "```")
    changed = replace(
        edit,
        before=(edit.before[0], *fence, *edit.before[1:]),
        after=(edit.after[0], *fence, *edit.after[1:]),
    )
    return _text(replace(answer, edit=changed), written(changed, "whole"), held=True)


def cut(answer: Answer, chance: random.Random) -> Answer | None:
    """The answer ends inside a line."""
    inside = [index + 1 for index, character in enumerate(answer.text[:-1]) if character != "\n"]
    return _text(answer, answer.text[: chance.choice(inside)], held=True)


MARKUP: tuple[Operator, ...] = (
    glued_end, more_separators, bent_markers, no_end_marker, bare_context, blank_after_signs, bullets_after,
    twice,
    carriage_returns, draft_before, byte_order_mark, fewer_newlines, wrong_counts, plain_git_header, left_out,
    inner_fence, cut,
)  # fmt: skip


INDENTATION = frozenset(LINES[:7]) | {bare_context, blank_after_signs, numbered, new_numbered}
"""Two of these make one indentation of which nobody can tell what it was."""


def damaged(
    edit: Edit, format: str, first: Operator, second: Operator, chance: random.Random
) -> Answer | None:
    """The answer with both damages, in the order in which they can be made; None if one does not apply."""
    answer: Answer | None = Answer(edit, format)
    if first is not second and {first, second} <= INDENTATION:
        return None
    for operator in dict.fromkeys((first, second)):
        if operator in LINES and answer is not None:
            answer = operator(answer, chance)
    if answer is None:
        return None
    answer = replace(answer, text=written(answer.edit, format))
    for operator in sorted({first, second} & set(MARKUP), key=MARKUP.index):
        answer = operator(answer, chance) if answer is not None else None
    return answer
