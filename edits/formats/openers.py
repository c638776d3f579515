"""Which lines of an answer may begin an edit, or belong to one that follows.

Prose is passed on as it is typed; only a line that may be part of an edit waits. To keep that short, each
kind of line here is recognized by its first characters.

Finds the line of an answer that names the file of the edit below it.

Models write the path on a line of its own, plain or as a heading, in bold, in backticks, as a comment, or
after the fence's language. A sentence is not a path, even if it ends in one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from edits.formats.diff_header import LONGEST
from edits.hunk import Format, Hunk

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?P<info>[^`]*)")
_TAG = re.compile(r"\s*<(?:source|code|pre|codeblock|sourcecode)>\S*\s*")
_INFO_PATH = re.compile(r"(?:[\w+#-]+(?::|\s+))?(?P<path>\S*[./]\S+)")
_INFO_NAME = re.compile(
    r"""[\w+#-]*\s*\{?\s*(?:file(?:_?name|_?path)?|path|title|name)=["']?(?P<path>[^"'\s{}=]+)["']?\s*\}?"""
)
_MARK = r"(?:#+|//|;+|\d+[.)]|[-*])?\s*"
_WORDS = (
    r"(?:(?:the )?(?:new|updated?|changed?|modified|edited|full|complete|whole) )?(?:file ?name|file|path)"
    r"|(?:new|edit|update|updated|modify|modified|change|changed|create|created|in|for)"
)
_LABEL = re.compile(
    rf"(?P<mark>{_MARK})(?:(?:{_WORDS})(?:\s*:\s*|\s+(?=[`\"'*])|(?P<bare>\s+)(?=\S+\.\w+[`*:]*$)))?",
    re.IGNORECASE,
)
"""What may stand before a name: the mark of a heading, list or comment, and a word such as ``File:``. Where
the word is ``bare``, it may as well be the beginning of a name with blanks."""
_REMARK = re.compile(r"\s*\((?:new|updated|modified|changed|edited|no changes?)[^()]*\)$", re.IGNORECASE)
_COMMENT = re.compile(
    r"\s*(?:#+|//+|--+|;+|/\*+|<!--|%)\s*(?:file(?:name)?\s*:\s*)?(?P<name>[\w.]\S*)\s*(?:\*+/|-->)?\s*", re.I
)
_NAME_WITH_BLANKS = re.compile(
    r"[\w.(\[-][^<>|\0\"*?:,;`=]{0,200}\s(?P<last>\S*(?:\.\w[\w+-]{0,11}|/\w[\w.+-]*))"
)
_QUOTED = re.compile(r"`([^`\s]+)`")
_QUOTED_BLANKS = re.compile(r"`([^`]+\s[^`]+)`")
_INTRODUCES = re.compile(
    rf"{_MARK}[*_]*(?:(?i:here(?:['’]s)?|this|that|these|let(?:['’]s)?|(?:i|we|you)(?:['’]\w+)?"
    r"|then|finally|also)\s.*"
    r"|(?:\S+\s+){4}\S.*|(?:In|For|Edit|Update|Modify|Change|Create)\s.*:)[*_]*"
)
"""A line that leads up to an edit in words, and can be no name: a sentence, or a phrase with a colon."""
_SAYS_WHAT = re.compile(
    r"^(?:run|execute|open|use|save|install|see|check|replace|rename|delete|remove|write|put|paste|add|make)\s"
    r"|\s(?:of|to|for|in|with|from|and|the|is|are|on|by|into|at)\s",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    r"(?:ada|asm|astro|awk|bash|batch|bat|bicep|c|c#|c\+\+|clj|clojure|cmake|cmd|coffeescript|console"
    r"|cpp|cs|csharp|css|csv|cuda|cython|d|dart|diff|docker|dockerfile|elixir|elm|erlang|f#|fish"
    r"|fortran|fsharp|gdscript|glsl|go|golang|gradle|graphql|groovy|h|haml|handlebars|haskell|hbs"
    r"|hcl|hlsl|hpp|html|http|ini|java|javascript|jinja|jinja2|js|json|json5|jsonc|jsx|julia|kotlin"
    r"|kt|latex|less|liquid|lisp|lua|makefile|markdown|matlab|md|mdx|mermaid|nginx|nim|nix|objc"
    r"|objective-c|ocaml|pascal|patch|perl|php|plaintext|pl|postcss|powershell|prisma|prolog"
    r"|properties|proto|protobuf|ps1|pug|puppet|py|python|python3|r|rb|react|rs|rst|ruby|rust|sass"
    r"|scala|scheme|scss|sh|shell|solidity|sql|starlark|styl|stylus|svelte|swift|tcl|terraform|tex"
    r"|text|tf|toml|ts|tsx|twig|txt|typescript|udiff|vb|vba|verilog|vhdl|vim|vue|wgsl|xml|yaml|yml"
    r"|zig|zsh)",
    re.IGNORECASE,
)
"""What stands before a path in the line of a fence and is no part of it."""
_BARE_NAMES = re.compile(
    r"[A-Z]\w*file|LICEN[CS]E|README|NOTICE|AUTHORS|CHANGELOG|CODEOWNERS|COPYING|INSTALL|VERSION|justfile|makefile"
)
# The beginning of a line that is one word so far, in any of these styles.
_MAY_BE = re.compile(
    rf"\s*{_MARK}[*_]*(?:(?:{_WORDS})\s*:?\s*)?[`*\"']*[^\s`*\"',;!?]*[`*\"':]*\s*(?:\([\w ]*\)?:?)?",
    re.IGNORECASE,
)


_QUOTES = frozenset("`\"'")


def is_fence(line: str) -> bool:
    """Whether ``line`` opens or closes a code fence."""
    if len(line) > LONGEST:
        return False
    return _FENCE.fullmatch(line) is not None or _TAG.fullmatch(line) is not None or _closes_tag(line)


def may_be_path(head: str) -> bool:
    """Whether the line that begins with ``head`` may be a path and nothing else."""
    return len(head) <= 200 and _MAY_BE.fullmatch(head) is not None


def path_of(line: str) -> str | None:
    """The path that ``line`` consists of, or None."""
    if len(line) > LONGEST:
        return None
    fence = _FENCE.fullmatch(line)
    if fence:
        text = fence["info"].strip()
        info = _INFO_NAME.fullmatch(text) or _INFO_PATH.fullmatch(text)
        return info["path"] if info and _is_path(info["path"]) else None
    for candidate in _candidates(line):
        bare, _ = _undress(candidate)
        if not re.search(r"\s", bare) and _is_path(bare):
            return bare
    return None


@dataclass(frozen=True, slots=True)
class Named:
    """The file that the lines above an edit name. ``path`` has no blanks; ``names`` are what the nearest line
    names if all its words are one name, which is ``certain`` in quotes. The project's files tell which it is;
    ``unsure`` says that nothing else does."""

    path: str | None = None
    names: tuple[str, ...] = ()
    certain: bool = False
    unsure: bool = False

    @property
    def may_be_new(self) -> bool:
        """Whether a file of this name can be made: words that lead up to an edit are no name."""
        plain = self.unsure and _SAYS_WHAT.search(self.names[-1]) is None
        return self.certain or self.path is not None or plain

    def told(self, hunk: Hunk) -> Hunk:
        """``hunk`` with what is known of its name."""
        return hunk if self.certain else replace(hunk, names=self.names, unsure=self.unsure)


def named_by(above: Sequence[str]) -> Named:
    """The file that the lines ``above`` an edit name."""
    path = nearest_path(above)
    for line in reversed(above):
        found = named_in(line)
        if found.path or found.names or (line.strip() and not is_fence(line)):
            return replace(found, path=found.path or path)
    return Named(path)


def named_in(line: str) -> Named:
    """The file that ``line`` names."""
    if len(line) > LONGEST:
        return Named()
    path = path_of(line)
    fence = _FENCE.fullmatch(line)
    if fence:
        info = fence["info"].strip()
        language, _, rest = info.partition(" ")
        known = _LANGUAGE.fullmatch(language) is not None
        names = _with_blanks((rest.strip() if known else info,))
        return Named(path, names, unsure=bool(names) and not known)
    text = _REMARK.sub("", line.strip())
    introduced = _INTRODUCES.fullmatch(text) is not None
    text, marks = _undress(text) if text.startswith("**") else (text, "")
    label = _LABEL.match(text)
    mark, begins = (
        (0, 0) if label is None else (label.end("mark"), label.end() if label["bare"] is None else 0)
    )
    (bare, _), (listed, _), (inner, inside) = map(_undress, (text, text[mark:], text[begins:]))
    names = _with_blanks((bare, listed, inner))
    if inner in names and (set(inside) & _QUOTES or (path is None and (marks or inside))):
        return Named(path, (inner,), certain=True)
    quoted = _with_blanks(_QUOTED_BLANKS.findall(text)) if path is None else ()
    if len(quoted) == 1 and len(_QUOTED.findall(text)) == 0:
        return Named(None, quoted, unsure=True)
    words = path is None or _begins_with_word(bare)
    return Named(path, names, unsure=bool(names) and words and not introduced)


def _with_blanks(texts: Sequence[str]) -> tuple[str, ...]:
    """Those of ``texts`` that may be names with blanks."""
    found = dict.fromkeys(texts)
    return tuple(
        text for text in found if (name := _NAME_WITH_BLANKS.fullmatch(text)) and _is_path(name["last"])
    )


def nearest_path(above: Sequence[str]) -> str | None:
    """The nearest path in the lines above a block, or else the only quoted path of the nearest sentence."""
    for line in reversed(above):
        path = path_of(line)
        if path:
            return path
    for line in reversed(above):
        if line.strip() and not is_fence(line):
            quoted = [text for text in _QUOTED.findall(line) if _is_path(text)]
            return quoted[0] if len(quoted) == 1 else None
    return None


def commented_path(line: str) -> str | None:
    """The path that a line of code names in a comment, and nothing else; None for any other line."""
    comment = _COMMENT.fullmatch(line) if len(line) <= LONGEST else None
    return comment["name"] if comment and _is_path(comment["name"]) else None


def _candidates(line: str) -> tuple[str, ...]:
    """The line's text, and what follows a label such as ``File:`` or the mark of a heading or comment."""
    text = _REMARK.sub("", line.strip())
    bare, marks = _undress(text)
    whole = bool(set(marks) & _QUOTES) and _begins_with_word(bare)  # a quoted name has no other word in it
    return text, text[_label_end(text) :], bare if whole else bare[_label_end(bare) :]


def _label_end(text: str) -> int:
    label = _LABEL.match(text)
    return label.end() if label else 0


def _begins_with_word(text: str) -> bool:
    """Whether what stands before the name in ``text`` may be a part of it."""
    label = _LABEL.match(text)
    return label is not None and label["bare"] is not None


def _undress(text: str) -> tuple[str, str]:
    """``text`` without bold, quotes and a final colon, and the marks that it had."""
    bare = text.removesuffix(":")
    marks = ""
    for mark in ("**", "*", "`", '"', "'"):
        if len(bare) > 2 * len(mark) and bare.startswith(mark) and bare.endswith(mark):
            bare = bare[len(mark) : -len(mark)].removesuffix(":")
            marks += mark
    return bare, marks


def _is_path(text: str) -> bool:
    if not text or len(text) > 250 or "://" in text or text.endswith((".", "/", "\\")):
        return False
    if not any(character.isalpha() for character in text) or re.search(r"[<>|\0\"*?]", text):
        return False
    if _BARE_NAMES.fullmatch(text):
        return True
    name = re.split(r"[/\\]", text)[-1]
    return (
        "/" in text
        or "\\" in text
        or re.fullmatch(r"\.?[^.\s]+[^\s]*\.[\w+-]{1,12}|\.\w[\w.-]+", name) is not None
    )


def _closes_tag(line: str) -> bool:
    return re.fullmatch(r"\s*</(?:source|code|pre|codeblock|sourcecode)>\s*", line) is not None


HEREDOC = re.compile(
    r"(?:\$\s*)?(?:(?:apply_patch|cat|(?:git apply|patch)(?:\s+-\S+)*)\s+)?"
    r"<<-?\s*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)"
)
"""A stripped line that opens a shell's here-document around a patch."""
WRAPPER = re.compile(r"%%bash|(?:\$\s*)?apply_patch")
"""A stripped line that models put above a patch."""
DIFF_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?:diff|udiff|patch)\s*")
"""A fence that contains a diff."""
_LONGEST_WRAPPER = 60
_MAY_WRAP = (
    "cat <<",
    "cat  <<",
    "apply_patch",
    "$ apply_patch",
    "$ cat <<",
    "%%bash",
    "<<",
    "git apply",
    "patch -",
    "patch <",
)
_V4A_STARTS = ("*** Begin Patch", "*** Add File:", "*** Update File:", "*** Delete File:")
_DIFF_STARTS = ("diff --git ", "--- ")
_MARKER_BEGINS = re.compile(
    r"<{7}(?: [^<>]*)?|<+(?: ?[A-Z]*>?|-*\s*[A-Z]*>?)\s*|-{2,}\s*[A-Z]*>?\s*|[>+]{2,} ?[A-Z]*\s*"
)
_TAG_BEGINS = re.compile(r"</?[a-z]{0,10}>?\S{0,30}")


def may_be_edit(head: str, formats: frozenset[Format]) -> bool:
    """Whether the prose line that begins with ``head`` may be part of an edit in one of ``formats``."""
    text = head.lstrip()
    if not text:
        return True
    if text.startswith(("```", "~~~")) or "```".startswith(text) or "~~~".startswith(text):
        return "`" not in text.lstrip("`")
    patches = formats & {Format.V4A, Format.UNIFIED}
    if patches and _agree(text, _MAY_WRAP):
        return len(text) < _LONGEST_WRAPPER
    if Format.V4A in formats and _agree(text, _V4A_STARTS):
        return True
    if Format.UNIFIED in formats and _agree(head, _DIFF_STARTS):
        return True
    if _TAG_BEGINS.fullmatch(text) is not None:
        return True
    if Format.SEARCH_REPLACE in formats and _MARKER_BEGINS.fullmatch(text) is not None:
        return True
    return bool(formats & {Format.SEARCH_REPLACE, Format.WHOLE, Format.UNIFIED}) and may_be_path(head)


def is_wrapper(line: str, formats: frozenset[Format]) -> bool:
    """Whether the line may be wrapping of a patch below it."""
    if is_fence(line):
        return True
    if Format.UNIFIED in formats and line.startswith("--- ") and line[4:].strip():
        return True
    text = line.strip()
    patches = formats & {Format.V4A, Format.UNIFIED}
    return bool(patches) and (HEREDOC.fullmatch(text) or WRAPPER.fullmatch(text)) is not None


def _agree(text: str, starts: tuple[str, ...]) -> bool:
    """Whether one of ``starts`` is the beginning of ``text``, or ``text`` the beginning of one."""
    return any(start.startswith(text) or text.startswith(start) for start in starts)
