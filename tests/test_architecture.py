"""Data flows one way: no package imports from one to its right."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ircert

ROOT = Path(__file__).parents[1]

# Left to right. A package may import from itself and from those to its left.
PACKAGES = [
    "ircert.errors",
    "ircert.files",
    "ircert.limits",
    "ircert.processes",
    "ircert.threads",
    "ircert.plugins",
    "ircert.ir",
    "ircert.exact",
    "ircert.checker",
    "ircert.geometry",
    "ircert.bounds",
    "ircert.structure",
    "ircert.programs",
    "ircert.passes",
    "ircert.frontends",
    "ircert.data",
    "ircert.questions",
    "ircert.programs.formulations",
    "ircert.relational",
    "ircert.witnesses",
    "ircert.backends",
    "ircert.result",
    "ircert.engines",
    "ircert.engines.optimum",
    "ircert.engines.instant",
    "ircert.engines.parts",
    "ircert.engines.regions",
    "ircert.engines.boxes.problem",
    "ircert.engines.boxes.enclosures",
    "ircert.engines.boxes.linear_regions",
    "ircert.engines.boxes.falsification",
    "ircert.engines.boxes.effort",
    "ircert.engines.boxes.trees",
    "ircert.engines.boxes.cutting",
    "ircert.engines.boxes.one_matrix",
    "ircert.engines.boxes.workers",
    "ircert.engines.boxes.search",
    "ircert.engines.boxes",
    "ircert.engines.milp",
    "ircert.engines.auto",
    "ircert.certificates",
    "ircert.logs",
    "ircert.answering",
    "ircert.certification",
    "ircert.vnnlib",
    "ircert.analysis",
    "ircert.atlases",
    "ircert.plotting",
    "ircert.report",
    "ircert.testing",
    "ircert.reproduction.frame",
    "ircert.reproduction.maps",
    "ircert.reproduction.experiments",
    "ircert.reproduction",
    "ircert.cli",
]
# Graph.fix and Graph.select run passes, plots draw, notebooks show results; nothing else reaches to the right.
EXCEPTIONS = {
    ("ircert/ir/graph.py", "ircert.passes"),
    ("ircert/result/result.py", "ircert.plotting"),
    ("ircert/result/result.py", "ircert.report"),
    ("ircert/atlases/table.py", "ircert.plotting"),
    ("ircert/atlases/table.py", "ircert.report"),
}
# These import modules by name: the registries' loader, what draws, and the list of experiments.
IMPORTERS = {
    "ircert/plugins.py",
    "ircert/result/result.py",
    "ircert/atlases/table.py",
    "ircert/cli/reproduce.py",
    "ircert/reproduction/__init__.py",
}
# Registries name what they load when it is first asked for; nothing else names a module in a string.
REGISTRIES = {"ircert/engines/__init__.py", "ircert/programs/formulations/__init__.py", "ircert/frontends/load.py"}


def sources() -> list[Path]:
    folders = [ROOT / "passes", ROOT / "backends", *(p for p in (ROOT / "ircert").iterdir() if not p.is_symlink())]
    files = [f for p in folders for f in (p.rglob("*.py") if p.is_dir() else [p] if p.suffix == ".py" else [])]
    return sorted(f for f in files if f not in (ROOT / "ircert" / "__init__.py", ROOT / "ircert" / "__main__.py"))


def module(path: Path) -> str:
    relative = path.relative_to(ROOT).with_suffix("")
    name = ".".join(relative.parts)
    return name if name.startswith("ircert") else f"ircert.{name}"


def package(name: str) -> str | None:
    found = [r for r in PACKAGES if name == r or name.startswith(f"{r}.")]
    return max(found, key=len, default=None)


def through_the_root() -> dict[str, str]:
    """Where the names that `import ircert` offers come from."""
    return {**ircert._MODULES, **{name: f"ircert.{name}" for name in ircert._PACKAGES}}


def named_in_strings(tree: ast.AST) -> set[str]:
    """Modules that strings name, such as "ircert.engines.auto.engine:Auto" or the code that another process runs."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    loaded = [text for text in texts if re.fullmatch(r"ircert(\.\w+)+(:\w+)?", text)]
    loaded += [found for text in texts for found in re.findall(r"(?:from|import) (ircert(?:\.\w+)+)", text)]
    return {text.split(":")[0] for text in loaded if is_module(text.split(":")[0])}


def is_module(name: str) -> bool:
    parts = name.split(".")[1:] if name.split(".")[1] in ("passes", "backends") else name.split(".")
    return ROOT.joinpath(*parts).is_dir() or ROOT.joinpath(*parts).with_suffix(".py").is_file()


def hidden(tree: ast.AST, *, may_import: bool = False) -> list[str]:
    """Ways to a module that the list of imports does not show."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"import ircert as {a.asname}" for a in node.names if a.name == "ircert" and a.asname]
        if isinstance(node, ast.ImportFrom):
            found += [f"from {node.module} import *" for alias in node.names if alias.name == "*"]
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
        if name in ("import_module", "__import__") and not may_import:
            found.append(f"{name} (see IMPORTERS)")
        found += [f"a module's name put together behind {text!r}" for text in beginnings(node)]
    return found


def beginnings(node: ast.AST) -> list[str]:
    """Texts such as "ircert.engines." to which something is added."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.JoinedStr):
        parts = [a for a, b in zip(node.values, node.values[1:], strict=False) if isinstance(b, ast.FormattedValue)]
    if isinstance(node, ast.BinOp):
        parts = [node.left]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):  # "ircert.{}".format(…), ".".join(…)
        parts = [node.func.value]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return [text for text in texts if re.search(r"\bircert(\.\w+)*\.([{%].*)?$", text)]


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    file = str(path.relative_to(ROOT))
    assert hidden(tree, may_import=file in IMPORTERS) == [], f"{file} reaches modules in ways that are not seen"
    found = named_in_strings(tree) if str(path.relative_to(ROOT)) not in REGISTRIES else set()
    homes = through_the_root()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "ircert":
            found |= {homes[alias.name] for alias in node.names if alias.name in homes}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ircert":
            found |= {homes[node.attr]} if node.attr in homes else set()
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("ircert.")}


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_package_imports_from_one_to_its_right(path: Path) -> None:
    mine = package(module(path))
    assert mine is not None, f"{path} is in no package: add it to PACKAGES"
    for name in imported(path):
        theirs = package(name)
        if theirs is None or (str(path.relative_to(ROOT)), theirs) in EXCEPTIONS:
            continue
        assert PACKAGES.index(theirs) <= PACKAGES.index(mine), f"{module(path)} imports {name}, which lies to its right"


@pytest.mark.parametrize(
    "code",
    [
        "import ircert as ic",
        "from ircert.engines import *",
        "import_module('.engine', 'ircert.engines.auto')",
        "importlib.import_module('json')",
        "__import__('ircert')",
        "f'ircert.{name}'",
        "'ircert.engines.' + name",
        "'ircert.%s' % name",
        "'ircert.{}.x'.format(name)",
    ],
)
def test_ways_around_the_list_are_seen(code: str) -> None:
    assert len(hidden(ast.parse(code))) == 1


def test_every_folder_of_engines_is_a_package_of_its_own() -> None:
    folders = [*(ROOT / "ircert/engines").glob("*/__init__.py"), *(ROOT / "ircert/engines/boxes").glob("*/__init__.py")]
    assert {module(folder.parent) for folder in folders} - set(PACKAGES) == set()


def on_the_map() -> list[str]:
    """The packages of docs/architecture.md, each behind the one that it is indented below."""
    (text,) = re.findall(r"^## Packages\n.*?^```\n(.*?)^```", (ROOT / "docs/architecture.md").read_text(), re.M | re.S)
    found, above = list[str](), [""] * 4
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        first, *more = re.split(r"\s{2,}", line.strip())[0].split(", ")
        name = first.rstrip("/").removesuffix(".py").replace("/", ".")
        above[depth] = name = f"{above[depth - 1]}.{name}" if depth else name
        found += [name, *(f"{name.rpartition('.')[0]}.{other}" for other in more)]
    return [name if name.startswith("ircert") else f"ircert.{name}" for name in found]


def test_the_map_has_the_same_packages_in_the_same_order() -> None:
    def parts(names: list[str]) -> list[str]:
        return [name for name in names if not any(other.startswith(f"{name}.") for other in names)]

    assert set(on_the_map()) == set(PACKAGES)
    assert parts(on_the_map()) == parts(PACKAGES)


def test_files_stay_small() -> None:
    large = {str(p.relative_to(ROOT)): n for p in sources() if (n := len(p.read_text().splitlines())) > 500}
    assert large == {}
