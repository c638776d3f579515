"""Whether a file parses: the first fault that its grammar finds, for a guard to tell."""

from __future__ import annotations

from context.code.languages import language_of, load

LARGEST = 400_000
"""Characters above which a file is not checked: parsing holds up every other thread."""


def fault(path: str, text: str) -> str | None:
    """The first place where ``text`` does not parse, in a few words; None where it does, or where the
    language is not known."""
    language = language_of(path)
    if language is None or len(text) > LARGEST:
        return None
    from tree_sitter import Parser

    grammar = load(language).grammar
    node = Parser(grammar).parse(text.encode("utf-8", "surrogatepass")).root_node
    if not node.has_error:
        return None
    while not (node.is_error or node.is_missing):
        node = next(child for child in node.children if child.has_error or child.is_missing)
    return f"line {node.start_point.row + 1} {'lacks ' + node.type if node.is_missing else 'makes no sense'}"
