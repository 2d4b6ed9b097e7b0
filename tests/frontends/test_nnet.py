""".nnet files: the lines, the normalisation, and what is wrong with its number of line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import ircert
from ircert.errors import FileError, UnsupportedModel

TEXT = """// a comment
  // another one
2,2,1,2,
2,2,1,
0,
-1.0,-2.0,
1.0,2.0,
0.5,0.25,3.0,
2.0,4.0,10.0,
1.0,-1.0,
0.5,2.0,
0.0,
1.0,
1.0,3.0,
0.25,
"""
LAYERS = ircert.load([([[1.0, -1.0], [0.5, 2.0]], [0.0, 1.0]), ([[1.0, 3.0]], [0.25])])


def written(folder: Path, text: str = TEXT) -> Path:
    (folder / "a.nnet").write_text(text)
    return folder / "a.nnet"


@pytest.mark.rule("F-14")
def test_the_layers_alone_by_default(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert ircert.load(path) == ircert.load(path, normalisation="none") == LAYERS


@pytest.mark.rule("F-14")
def test_units_of_inputs_and_outputs(tmp_path: Path) -> None:
    path = written(tmp_path)
    x = np.array([[0.5, 1.5], [-3.0, 9.0]])
    inner = (x - [0.5, 0.25]) / [2.0, 4.0]
    np.testing.assert_allclose(ircert.load(path, normalisation="affine")(x), LAYERS(inner) * 10 + 3)
    inner = (np.clip(x, [-1, -2], [1, 2]) - [0.5, 0.25]) / [2.0, 4.0]
    np.testing.assert_allclose(ircert.load(path, normalisation="clipped")(x), LAYERS(inner) * 10 + 3)


def test_spaces_blank_lines_and_missing_last_commas(tmp_path: Path) -> None:
    loose = TEXT.replace(",\n", "\n\n").replace(",", " , ")
    assert ircert.load(written(tmp_path, loose)) == LAYERS


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0.25,\n", "", "line 14: the file ends before an entry of the bias of layer 2"),
        ("0.25,\n", "0.25,\n1,\n", "line 16: something follows the last layer"),
        ("1.0,3.0,", "1.0,", "line 14: a row of the weights of layer 2: 1 numbers where 2 are meant"),
        ("1.0,3.0,", "1.0,x,", "line 14: a row of the weights of layer 2: '1.0,x,' are no numbers"),
        ("1.0,3.0,", "1.0,nan,", "a number is not finite"),
        ("2,2,1,2,\n", "2,3,1,3,\n", "do not fit 3 inputs and 1 outputs"),
        ("2,2,1,2,\n", "1e9,2,1,2,\n", "1e+09 where a size is meant"),
        ("2,2,1,2,\n", "4000000,2,1,2,\n", "the sizes of the layers: 3 numbers where 4000001"),
        ("2,2,1,2,\n", "2,\n", "the first line: 1 numbers where 3"),
        ("2,2,1,2,\n", "1.5,2,1,2,\n", "1.5 where a size is meant"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        ircert.load(written(tmp_path, TEXT.replace(old, new, 1) if old != "0.25,\n" else TEXT[: -len(old)] + new))
    assert says in str(caught.value)


def test_ranges_that_cannot_be(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT.replace("2.0,4.0,10.0", "2.0,0.0,10.0"))
    assert ircert.load(path) == LAYERS
    with pytest.raises(FileError, match="a range is not positive; read it with normalisation none"):
        ircert.load(path, normalisation="affine")
    with pytest.raises(FileError, match="a least input is above"):
        ircert.load(written(tmp_path, TEXT.replace("-1.0,-2.0", "5.0,-2.0")), normalisation="clipped")


def test_other_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModel, match="`normalisation` cannot be 'full'; use none, affine or clipped"):
        ircert.load(written(tmp_path), normalisation="full")
    with pytest.raises(UnsupportedModel, match=r"`normalisation` is for \.nnet files; leave it out"):
        ircert.load([(np.eye(2), None)], normalisation="affine")


@pytest.mark.rule("F-6", "F-15")
def test_a_small_file_does_not_unpack_to_a_large_one(tmp_path: Path) -> None:
    (tmp_path / "a.nnet.gz").write_bytes(gzip.compress(b"0," * 2**26))
    with pytest.raises(FileError, match="bytes unpack to more than"):
        ircert.load(tmp_path / "a.nnet.gz")
