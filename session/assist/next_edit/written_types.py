"""What written types and signatures say: the class, the result, the parameters, what a list holds."""

from __future__ import annotations

import re

_RESULT = re.compile(r"(?:->|\)\s*:)\s*(.+)$")
_WRAPPERS = re.compile(
    r"\b(?:Optional|Final|ClassVar|Annotated|Readonly|Box|Rc|Arc|RefCell|Ref|RefMut|Option|Promise|Awaitable|"
    r"Type|type|weak|mut|dyn|impl|const|readonly|struct|class|enum|Required|Partial|NonNullable|Awaited|Omit|Pick|"
    r"DeepPartial|DeepReadonly|Mutable|NoInfer|NotRequired|ReadOnly|Unpack)\b|'\w+\b(?!')"
)
BUILTIN = ""
"""The type of what is certainly no instance of a class of the project."""
_GO_ELEMENT = re.compile(r"\w+\([^:>]*\)\s*[\w*\[(][^:>]*$")
_ANY = frozenset({"Any", "any", "object", "unknown", "interface", "auto", "var", "never", "void", "this"})
_LISTED = re.compile(
    r"^(?:\[|\*?\[\]|(?:list|List|dict|Dict|set|Set|tuple|Tuple|Sequence|Iterable|Iterator|Mapping|Vec|HashMap|Array|"
    r"Map|map|Record|Callable|chan)\b)"
)
_HOLDS = re.compile(
    r"(?i:list|set|frozenset|sequence|mutablesequence|iterable|iterator|collection|deque|array|tuple|dict|map|mapping|"
    r"mutablemapping|defaultdict|ordereddict|record|vec|vecdeque|hashmap|btreemap|hashset|generator|asyncgenerator|"
    r"asynciterable|asynciterator|readonlyarray|readonlyset|readonlymap|weakmap|weakset|abstractset|iterableiterator)"
)

_MAPPINGS = re.compile(
    r"(?i:dict|map|mapping|mutablemapping|defaultdict|ordereddict|record|hashmap|btreemap|readonlymap|weakmap)"
)


def type_name(written: str) -> str | None:
    """The class that a written type means: :data:`BUILTIN` for a list and the like, None where it says
    none."""
    text = written.strip().strip("'\"").lstrip(":").strip()
    parts = [part for part in re.split(r"\s*\|\s*", text) if part not in ("None", "null", "undefined")]
    text = re.sub(r"^[&*?\s]+", "", _WRAPPERS.sub("", parts[0] if len(parts) == 1 else "").strip())
    text = text.lstrip("[<(&*? ") if not text.startswith("[]") else text
    if _LISTED.match(text):
        return BUILTIN
    found = re.match(r"[\w.]+(?:::\w+)*", text)
    name = re.split(r"\.|::", found[0])[-1] if found is not None else ""
    return None if len(name) < 2 or name in _ANY else name


def result_type(signature: str) -> str | None:
    """The type that a function gives, as its signature writes it; in Go that of its first result."""
    if (signature.startswith("func ") and "->" not in signature) or _GO_ELEMENT.match(signature):
        return _go_result(signature)
    found = _RESULT.search(signature)
    return found[1] if found is not None else None


def _go_result(signature: str) -> str | None:
    rest = re.sub(r"^(?:func\s*)?(?:\([^)]*\)\s*)?\w+(?:\[[^\]]*\])?", "", signature)
    depth = 0
    for at, char in enumerate(rest):
        depth += (char == "(") - (char == ")")
        if depth == 0 and at:
            first = rest[at + 1 :].strip().strip("()").split(",")[0].split()
            return first[-1] if first else None
    return None


def parameters_of(signature: str) -> list[str]:
    """The written types of a script's parameters, empty where none is written; of a field or a type that is a
    function those of its own."""
    text = signature.replace("=>", "\u21d2")
    if not re.match(r"[^(]*\bconst\b", text):
        text = re.sub(r"^(?:export\s+)?(?:declare\s+)?type\b[^=]*=", "", text)
    depth = 0
    for at, char in enumerate(text):
        if char == "(" and not depth:
            text = text[at + 1 :]
            break
        depth += (char == "<") - (char == ">")
    else:
        return []
    made, part = [], ""
    for char in text:
        if depth == 0 and char in "),":
            made.append(part)
            part = ""
            if char == ")":
                break
            continue
        depth += (char in "<([{") - (char in ">)]}")
        part += char
    return [_parameter_type(each) for each in made]


def _parameter_type(written: str) -> str:
    depth = 0
    for at, char in enumerate(written):
        if char == ":" and not depth:
            return re.sub(r"\s=\s.*", "", written[at + 1 :], flags=re.DOTALL).replace("\u21d2", "=>").strip()
        depth += (char in "<([{") - (char in ">)]}")
    return ""


def element_type(written: str, *, values: bool = False) -> str | None:
    """The type of what a list holds, or with ``values`` those of a mapping; None where none is written."""
    text = re.sub(
        r"^(?:\s*(?:readonly|&?\s*mut|&)\s*)+", "", written.strip().strip("'\"").lstrip(":").strip()
    )
    parts = [
        part
        for part in re.split(r"\s*\|\s*(?![^<\[(]*[>\])])", text)
        if part not in ("None", "null", "undefined")
    ]
    text = parts[0] if len(parts) == 1 else ""
    if text.startswith("map[") and not values:
        return None
    if found := re.match(r"(?:\[\]|\[\d+\]|map\[[\w.]+\]|chan )(.+)", text):  # Go
        return found[1]
    if found := re.match(r"(.+)\[\]$", text):
        return found[1].strip("()")
    found = re.match(r"(?:\w+(?:\.|::))*(\w+)\s*[<\[](.+)[>\]]$", text, re.DOTALL)
    if found is None:
        return re.sub(r";.*", "", text[1:-1]) if re.match(r"\[\w+", text) else None
    if found[1] in (
        "Optional",
        "Readonly",
        "Final",
        "ClassVar",
        "Box",
        "Rc",
        "Arc",
        "Option",
        "RefCell",
        "Promise",
    ):
        return element_type(found[2], values=values)
    if not _HOLDS.fullmatch(found[1]) or (_MAPPINGS.fullmatch(found[1]) and not values):
        return None
    return _last_argument(found[1], found[2])


def _last_argument(holder: str, arguments: str) -> str:
    """The last of some type arguments, of a tuple or a generator the first."""
    parts, depth = [""], 0
    for char in arguments:
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts[0 if holder in ("tuple", "Tuple", "Generator", "AsyncGenerator") else -1].strip()


def field_type(signature: str, name: str) -> str:
    """The type of a field as its signature writes it; empty where none is written."""
    found = re.search(rf"\b{re.escape(name)}\b[?!]?\s*:\s*((?:[^=]|=>)+)", signature)
    if found is not None:
        return found[1]
    after = re.search(rf"\b{re.escape(name)}\s+([^=\s`]+)", signature)
    before = re.search(rf"([\w.<>\[\]*]+)\s+{re.escape(name)}\b", signature)
    chosen = after or before
    return chosen[1] if chosen is not None else ""
