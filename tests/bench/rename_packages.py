"""Fetches the public packages in which renames are tried, each in a version that does not change."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).parent / "rename_packages.toml"


@dataclass(frozen=True, slots=True)
class Package:
    """A package: the registry's name and version, and the folder of it that is looked at. ``half`` is the
    half of the list it belongs to: rules are tuned on one, and judged on the other."""

    name: str
    language: str
    source: str
    folder: str
    half: str

    def fetched(self, work: Path) -> Path:
        """The package's folder below ``work``, fetched unless it is there. Of a crate in Rust only the crate
        itself, since its tests and examples are crates of their own, which a server sees with Cargo alone."""
        root = work / self.language / self.name
        if not root.exists():
            with tempfile.TemporaryDirectory() as folder:
                _fetch(self, Path(folder))
                root.parent.mkdir(parents=True, exist_ok=True)
                other = (
                    shutil.ignore_patterns("benches", "tests", "examples")
                    if self.language == "rust"
                    else None
                )
                shutil.copytree(Path(folder) / "all" / self.folder, root, symlinks=True, ignore=other)
        return root


def packages() -> tuple[Package, ...]:
    """All packages of the list."""
    tables = tomllib.loads(LIST.read_text())
    return tuple(
        Package(name, language, **table) for language, all in tables.items() for name, table in all.items()
    )


def _fetch(package: Package, folder: Path) -> None:
    every = folder / "all"
    every.mkdir()
    if package.language == "python":
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "-d", str(folder), package.source], check=True)
        shutil.unpack_archive(next(folder.glob("*.whl")), every, "zip")
    elif package.language == "typescript":
        subprocess.run(["npm", "pack", "--silent", package.source], cwd=folder, check=True, stdout=-3)
        shutil.unpack_archive(next(folder.glob("*.tgz")), every, "gztar")
    else:
        subprocess.run(["apt-get", "download", "-qq", package.source], cwd=folder, check=True)
        subprocess.run(["dpkg", "-x", str(next(folder.glob("*.deb"))), str(every)], check=True)
