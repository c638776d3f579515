"""Imports one module from another text than that of its file."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


class Finder(MetaPathFinder):
    """Finds the one module with a fault in it."""

    def __init__(self, name: str, path: Path, code: bytes) -> None:
        self._name = name
        self._path = path
        self._code = code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The changed module, and nothing for any other name."""
        if fullname != self._name:
            return None
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        loader = _Loader(fullname, str(self._path), self._code)
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=loader, submodule_search_locations=places
        )


class _Loader(SourceFileLoader):
    """Loads a module from another text than that of its file."""

    def __init__(self, name: str, path: str, code: bytes) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """The changed code."""
        return compile(self._code, self.path, "exec", dont_inherit=True)
