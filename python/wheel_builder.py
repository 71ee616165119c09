"""Builds the wheel of ml_operator with the standard library. The same source gives the same bytes.

pip calls `build_wheel` (PEP 517); `python3 wheel_builder.py DIRECTORY` does the same without pip.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

METADATA = """\
Metadata-Version: 2.1
Name: ml-operator
Version: {version}
Summary: Progress reports and complete checkpoints for training jobs of ml-operator
License: Apache-2.0
Requires-Python: >=3.9
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: ml-operator wheel_builder
Root-Is-Purelib: true
Tag: py3-none-any
"""


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    module = (HERE / "ml_operator.py").read_bytes()
    version = version_of(module.decode("utf-8"))
    info = f"ml_operator-{version}.dist-info"
    files = {
        "ml_operator.py": module,
        f"{info}/LICENSE": (HERE.parent / "LICENSE").read_bytes(),
        f"{info}/METADATA": METADATA.format(version=version).encode("utf-8"),
        f"{info}/WHEEL": WHEEL.encode("utf-8"),
    }
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    name = f"ml_operator-{version}-py3-none-any.whl"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    write_zip(Path(wheel_directory, name), files)
    return name


def version_of(source: str) -> str:
    found = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    if found is None:
        raise ValueError("ml_operator.py has no __version__")
    return found[1]


def record(files: dict[str, bytes], own_name: str) -> bytes:
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own_name},,\n"]).encode("ascii")


def write_zip(path: Path, files: dict[str, bytes]) -> None:
    """Fixed times and modes. Stored, because the output of a compressor depends on its version."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
