"""Recognizes lines that stand for text which the model left out: ``# ... existing code ...``.

Models write them in any comment syntax or bare, with dots or in words only. A comment that merely ends in
dots, or speaks of *other* or *remaining* things, is none: it has to say that code is left as it was.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from edits.files.folding import fold

PROSE_SUFFIXES = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc", ".tex", ".org", ""})
"""Files in which dots alone on a line are text."""
_LEADER = re.compile(
    r"(?:#+|//+|--+|/\*+|\*+|<!--+|\{/\*+|;+|%+|'''|\"\"\"|REM\b|\.\.(?=\s))\s*", re.IGNORECASE
)
_TRAILER = re.compile(r"\s*(?:\*+/\}?|--+>|'''|\"\"\")$")
_PLAIN = re.compile(r"[\w\s.,:;'/()\[\]<>&=-]*")
_EDGES = " \t.,:;()[]<>=-"

_NOUN = (
    r"(?:code|file|functions?|methods?|class(?:es)?|implementations?|contents?|components?|modules?|scripts?"
    r"|body|program|document|page|template|styles?|tests?|definitions?|imports?|logic|lines?|fields?"
    r"|propert(?:y|ies)|props|attributes?|rules?|routes?|handlers?|config(?:uration)?|settings|options"
    r"|variables?|statements?|items|entries|cases|elements?|parts?|sections?|text|stuff|block|loop|jsx|html|markup)"
)
_TAIL = (
    r"(?: (?:here|unchanged|unmodified|untouched|intact|remains?|stays?|the|same|as|is|are|was|it|before"
    r"|goes?|continues?|continued|omitted|elided|follows?|above|below|for|brevity|now|to|be|kept|left|in|place))"
)
_OF = r"(?:of(?: the| your| this| my| that)? )?"
_ANY = r"(?:all |the |any |your |my |other |of )*"
_KEPT = r"(?:existing|remaining|previous|original|unchanged|unmodified|current|old)"
_LEFT = (
    r"(?:rest|existing|remaining|previous|original|unchanged|unmodified|current|old|other|more|same|omitted)"
)
_REST = r"(?:rest|remainder|everything else)"
_GONE = r"(?:omitted|elided|truncated|snipped|skipped)"
_SAYS_SO = re.compile(
    "|".join(
        (
            rf"{_ANY}{_REST} {_OF}(?:\w+ ){{0,2}}?{_NOUN}{_TAIL}*",
            rf"{_ANY}{_REST}(?: {_OF}(?:\w+ ?){{1,3}}?)?{_TAIL}+",
            rf"{_ANY}{_KEPT} (?:\w+ ){{0,2}}?{_NOUN}{_TAIL}+",
            rf"{_ANY}other (?:\w+ ){{0,2}}?{_NOUN}{_TAIL}+",
            r"(?:your |the )?(?:existing|unchanged|unmodified) code(?: below| above)?",
            r"code continues(?: here| as before| unchanged)?",
            rf"{_NOUN} (?:is |are )?(?:{_GONE}|unchanged|remains?|stays?){_TAIL}*",
            rf"(?:unchanged|unmodified|snip|{_GONE})(?: for brevity| here| below| above)?",
            r"no (?:other |further )?changes?(?: (?:here|below|above|needed|required|in between))*",
            r"(?:same|all|everything)(?: else)? (?:as|is|stays|remains) (?:the same|unchanged|before|above)",
            rf"keep(?:ing)? {_ANY}{_LEFT} {_ANY}(?:\w+ )?{_NOUN}{_TAIL}*",
            rf"keep(?:ing)? {_ANY}{_REST}{_TAIL}+",
            rf"keep(?:ing)? {_ANY}{_REST}",
        )
    )
)
_KEPT_AS_IT_WAS = re.compile(
    r"(?:\w+ ){1,4}?(?:(?:remains?|stays?|is|are|kept|left) )?"
    r"(?:unchanged|unmodified|untouched|intact|omitted|as (?:before|above|is))(?: for brevity| here)?"
)
_WITH_DOTS = re.compile(
    "|".join(
        (
            rf"{_ANY}{_LEFT}(?: \w+){{0,7}}",
            rf"{_ANY}{_NOUN}(?: \w+){{0,6}}",
            r"(?:snip|etc|and so on|as before|continue[sd]?|cut|skip(?:ped)?)(?: \w+){0,3}",
        )
    )
)


def is_placeholder(text: str) -> bool:
    """Whether a line says, with or without dots, that other lines are left out where it stands."""
    core, marked = _core(text)
    if not core or not _PLAIN.fullmatch(core):
        return False
    words = " ".join(core.lower().replace("...", " ").strip(_EDGES).translate(_NO_BRACKETS).split())
    dotted = core.strip("([<{ ").startswith("...") or core.endswith(("...)", "...]", "...>"))
    if not words or len(words.split()) > _MOST_WORDS:
        return False
    if _SAYS_SO.fullmatch(words):
        return marked or "..." in core or core[0] in "([<" or len(words.split()) > 2
    if not (dotted or (marked and core.endswith("..."))) or not _WITH_DOTS.fullmatch(words):
        return False
    if not dotted:
        return "..." not in core[:-3] and _LEFT_OUT.match(words) is not None
    bare = _LEFT_OUT.search(words) is not None and re.match(r"[(\[<{ ]*\.\.\.\s", core) is not None
    return marked or bare or core[0] in "([<"


def says_kept(text: str) -> bool:
    """Whether a comment, or a line in brackets, says of something that it stays as it was: in a whole file,
    on a line alone, it stands for that."""
    core, marked = _core(text)
    words = " ".join(core.lower().strip(_EDGES).translate(_NO_BRACKETS).split())
    return (marked or core[:1] in ("(", "[", "<")) and _KEPT_AS_IT_WAS.fullmatch(words) is not None


def is_comment(text: str) -> bool:
    """Whether a line begins as a comment does."""
    return _core(text)[1]


def is_dots(text: str) -> bool:
    """Whether a line is three dots and nothing else, bare or in a comment."""
    core, _ = _core(text)
    return "..." in core and not core.strip(_EDGES)


def in_prose(path: str) -> bool:
    """Whether the file is one in which dots alone on a line are text."""
    return PurePosixPath(path).suffix.lower() in PROSE_SUFFIXES | {".yaml", ".yml"}


def are_code(text: str, above: str, path: str) -> bool:
    """Whether dots alone are text: a body in Python below its head or docstring, or in a file of prose."""
    if in_prose(path):
        return True
    bare = fold([text])[0].strip() == "..."
    return (
        bare
        and PurePosixPath(path).suffix.lower() in (".py", ".pyi")
        and above.rstrip().endswith((":", '"""', "'''", "..."))
    )


_LEFT_OUT = re.compile(r"(?:(?<!\w)the )?(?:rest|existing|remaining|unchanged|omitted|previous|same|code)\b")
_MOST_WORDS = 12
_NO_BRACKETS = str.maketrans("()[]<>,:;/", "          ")


def _core(text: str) -> tuple[str, bool]:
    """The text without the marks of a comment around it, and whether there were any."""
    line = fold([text])[0].strip()
    leader = _LEADER.match(line)
    if leader is None or line.startswith("..."):
        return line, False
    return _TRAILER.sub("", line[leader.end() :]).strip(), True
