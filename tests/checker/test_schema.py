"""The schema of certificates knows the kinds and fields that the checker knows, and takes what is written."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import ircert
from ircert.checker import KINDS
from ircert.checker.reading import KEYS
from ircert.data.networks import bundled

SCHEMA = json.loads((files("ircert.data") / "schemas" / "certificate-1.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FOLD = ircert.parse("ircert.ir/1\nx = input(length=2)\na = abs(x)\nreturn a\n")


def test_kinds_and_fields_are_the_checkers() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for kind, claim in KINDS.items():
        fields = set(claim.fields)
        assert set(SCHEMA["$defs"][kind]["required"]) == KEYS | fields
        assert set(SCHEMA["$defs"][f"part-{kind}"]["required"]) == {"kind", "radius"} | fields
    assert {each["$ref"].rpartition("/")[2] for each in SCHEMA["oneOf"]} == {*KINDS, "bracket"}


@pytest.mark.parametrize(
    ("graph", "options"),
    [
        (FOLD, {"center": [0.5, 0.25]}),
        (FOLD, {"center": [0.5, 0.25], "radius": 1.0, "domain": (-1, [2, 3])}),
        (FOLD, {"center": [2.0, 2.0], "radius": 1.0, "norm": 2}),
        (ircert.load([([[2.0, 0.0], [1.0, 1.0]], None)]), {"center": [0, 0]}),
        (bundled("vanderpol-tanh-2-32-32-2"), {"center": [0, 0], "radius": 1.0}),
    ],
)
def test_what_is_written_keeps_it(graph: ircert.Graph, options: dict[str, object], tmp_path: Path) -> None:
    found = ircert.certify(graph, **options, certificate=tmp_path / "proof.json", time_limit=20)  # type: ignore[arg-type]
    assert found.certificate is not None
    assert found.certificate.sha256 is not None, found.certificate.reason
    fields = json.loads((tmp_path / "proof.json").read_text())
    VALIDATOR.validate(fields)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({**fields, "kind": "other"})
