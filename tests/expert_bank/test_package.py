"""The package, its metadata and the list of requirements fit together."""

import ast
import configparser
import re
from email.parser import Parser
from pathlib import Path

import expert_bank

ROOT = Path(__file__).parents[2]
OVERLAY = ROOT / "overlay"
PACKAGE = OVERLAY / "expert_bank"
METADATA = OVERLAY / f"expert_bank-{expert_bank.__version__}.dist-info"
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_metadata_has_the_packages_version() -> None:
    assert [path.name for path in OVERLAY.glob("*.dist-info")] == [METADATA.name]
    headers = Parser().parsestr((METADATA / "METADATA").read_text())
    assert (headers["Name"], headers["Version"]) == ("expert_bank", expert_bank.__version__)


def test_the_entry_point_is_there() -> None:
    points = configparser.ConfigParser()
    points.read(METADATA / "entry_points.txt")
    module, _, function = points["vllm.general_plugins"]["expert_bank"].partition(":")
    source = (OVERLAY / module.replace(".", "/")).with_suffix(".py")
    defined = {
        node.name
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert function in defined


def test_one_module_loads_the_c_library() -> None:
    loading = [path.name for path in MODULES if "CDLL(None" in path.read_text()]
    assert loading == ["libc.py"]


def test_only_glue_imports_vllm() -> None:
    importing = {
        path.relative_to(PACKAGE).parts[0]
        for path in MODULES
        if re.search(r"^\s*(?:from|import) vllm\b", path.read_text(), re.MULTILINE)
    }
    assert importing == {"glue"}


def test_every_file_says_its_licence() -> None:
    for path in MODULES:
        assert path.read_text().startswith(
            "# SPDX-License-Identifier: Apache-2.0\n"
            "# SPDX-FileCopyrightText: Copyright contributors to the lanewright project\n"
        ), path


def test_requirements_are_pinned_hashed_and_name_no_host() -> None:
    text = (ROOT / "environments" / "cpu.txt").read_text()
    blocks = re.split(r"\n(?=\S)", text.strip())
    packages = [block for block in blocks if not block.startswith("#")]
    assert len(packages) > 100
    for block in packages:
        assert re.match(r"[a-z0-9.-]+==\S+", block), block
        assert "--hash=sha256:" in block, block
    assert "://" not in text
