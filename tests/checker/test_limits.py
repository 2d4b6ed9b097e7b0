"""Numbers, networks and files as an attacker writes them: read exactly or refused, within bounds of time and memory."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ircert
from ircert import checker
from ircert.checker import check_file
from ircert.checker.__main__ import main
from ircert.cli.main import run
from ircert.files import LARGEST_TEXT
from ircert.ir.build import Builder
from ircert.ir.fractions_text import from_text
from ircert.ir.ops.curves import Tanh
from ircert.ir.ops.smooth import Softmax
from tests.checker.test_checker import LINE, certificate, embedded, written
from tests.checker.truth import is_true, verdict
from tests.test_files import at_most

# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("C-2")
@pytest.mark.parametrize(
    "changes",
    [
        {"center": ["0"], "x": ["1/2"], "y": ["-1/2"], "radius": "0x0.7fffffffffffffffffffp0"},
        {"center": ["0"], "x": ["1/2"], "y": ["-1/2"], "radius": "0x1.fffffffffffffffffp-2"},
        {"center": ["0"], "x": ["0x1.00000000000000000001p-2"], "y": ["-0x1p-2"]},
        {"domain": {"low": ["-1"], "high": ["0x0.55555555555555555555p0"]}},
        {"radius": "0x1p-9999"},
        {"radius": "0x0.0000000000001p-1022"},
    ],
)
def test_every_hexadecimal_digit_counts(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert not is_true(json.dumps(certificate(**changes)))
    assert verdict(tmp_path, certificate(**changes)) == 4


@pytest.mark.rule("C-2")
@pytest.mark.parametrize("radius", ["0x1p9999", "0x0.e", "0xep-4", "+1", "001", "5/6", "10/12", "0x1.p0", "9" * 10**6])
def test_numbers_that_are_read(tmp_path: Path, radius: str) -> None:
    assert verdict(tmp_path, certificate(radius=radius)) == 0


@pytest.mark.rule("C-2")
@pytest.mark.parametrize(
    "radius",
    [
        *(
            "",
            "1.5",
            "1e5",
            "1e999999999",
            "inf",
            "nan",
            "-inf",
            "Infinity",
            "1/0",
            "1/-2",
            "1//2",
            "1/2/3",
            "/2",
            "1/",
        ),
        *(
            "0x",
            "0x.8p0",
            "0x1p",
            "0x1p99999",
            "0x1p999999999",
            "0x1p-999999999",
            "0x1p1_0",
            "0x1p+-1",
            "0X1P0",
            "0xAp0",
        ),
        *(
            "1_0",
            " 1",
            "1 ",
            "1\n",
            "\t1",
            "１",
            "٣",
            "²",
            "½",
            "−1",
            "1\u00a0",
            "+-1",
            "--1",
            "0b1",
            "0o7",
            "1j",
            "0x1/2",
        ),
        *(" 0x1p0", "0x1p0\n", "0x1_0p0", "0x１p0", "1\x00", "\ud800", "9" * (2**20 + 1), "0x" + "f" * 2**20),
        *(True, False, None, 1, 1.0, 10**400, float("nan"), float("inf"), [], ["1"], {}, {"p": 1}),
        *("0", "-1", "-0", "0x0p0", "-0x1p0", "0/5"),
    ],
)
def test_numbers_that_are_not(tmp_path: Path, radius: Any) -> None:
    assert verdict(tmp_path, certificate(radius=radius)) == 2


@pytest.mark.rule("C-2")
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_as_they_are(value: float) -> None:
    assert from_text(value.hex()) == Fraction(value)


# --- networks ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("C-3")
def test_network_files_lie_beside_the_certificate(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    (inner / "nets").mkdir(parents=True)
    graph = ircert.parse(certificate()["model"]["ir"])
    for path in (tmp_path / "net.ir", inner / "net.ir", inner / "nets" / "net.ir"):
        ircert.save(graph, path)
    os.symlink(tmp_path / "net.ir", inner / "link.ir")
    for name, expected in (
        *(("net.ir", 0), ("nets/net.ir", 0), ("link.ir", 2), ("../net.ir", 2), (str(tmp_path / "net.ir"), 2), ("", 2)),
        *((".", 2), ("\0", 2), ("/dev/zero", 2), ("a" * 10**5, 2), ("\ud800", 2), ("c.json", 2)),
    ):
        model = {"file": name, "sha256": graph.sha256}
        assert verdict(inner, certificate(model=model)) == expected, name


@pytest.mark.rule("C-3")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="optional: pipes with names")
def test_a_network_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "net.ir")
    assert verdict(tmp_path, certificate(model={"file": "net.ir", "sha256": "0"})) == 2


@pytest.mark.rule("C-3")
def test_a_text_has_no_arrays_in_other_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.ones((1, 1)))
    text = 'ircert.ir/1\nx = input(length=1)\ny = affine(x, weight=@"a.npz:w")\nreturn y\n'
    assert verdict(tmp_path, certificate(model={"ir": text, "sha256": LINE.sha256})) == 2


@pytest.mark.rule("C-4")
def test_networks_without_exact_values_prove_nothing(tmp_path: Path) -> None:
    for op in (Tanh(), Softmax(1)):
        build = Builder(1)
        graph = build.graph(build.node(op, build.input))
        assert verdict(tmp_path, certificate(model=embedded(graph))) == 4


# --- bombs ---------------------------------------------------------------------------------------------------------

HEAD = "ircert.ir/1\nx = input(length=1)\n"
SQUARES = HEAD + "a0 = product(x, x)\n" + "".join(f"a{k} = product(a{k - 1}, a{k - 1})\n" for k in range(1, 3000))
DOUBLES = HEAD + "a0 = concat(x, x)\n" + "".join(f"a{k} = concat(a{k - 1}, a{k - 1})\n" for k in range(1, 22))


@pytest.mark.rule("C-6")
@pytest.mark.parametrize("name", ["squares", "doubles"])
def test_a_few_lines_that_take_for_ever(tmp_path: Path, name: str) -> None:
    text = f"{SQUARES}return a2999\n" if name == "squares" else f"{DOUBLES}return a21\n"
    content = json.dumps(certificate(model=embedded(ircert.parse(text))))
    with at_most(20):
        assert verdict(tmp_path, content) == 2


@pytest.mark.rule("C-6", "IR-16")
def test_one_file_of_arrays_under_many_names(tmp_path: Path) -> None:
    """Links within the folder are allowed, and what lies behind them is counted once for each."""
    np.savez_compressed(tmp_path / "a.npz", w=np.ones((1, 1)), rest=np.zeros(2**22))
    count = 2 + checker.MOST_IN_ARRAYS // 2**25
    for k in range(count):
        os.symlink("a.npz", tmp_path / f"{k}.npz")
    lines = [f'y{k} = affine(x, weight=@"{k}.npz:w")\n' for k in range(count)]
    for some in (2, count):
        sums = f"y = add({', '.join(f'y{k}' for k in range(some))})\nreturn y\n"
        (tmp_path / "net.ir").write_text(HEAD + "".join(lines[:some]) + sums)
        model = {"file": "net.ir", "sha256": "0"}
        with at_most(2 * checker.MOST_IN_ARRAYS / 2**20):
            assert verdict(tmp_path, certificate(model=model)) == (4 if some == 2 else 2)


@pytest.mark.rule("C-6")
def test_long_denominators_that_have_nothing_in_common(tmp_path: Path) -> None:
    count = 32
    text = f"ircert.ir/1\nx = input(length={count})\ny = relu(x)\nreturn y\n"
    points = [[f"-1/{3**4000 * 2 ** (i + 64 * k) + 1}" for i in range(count)] for k in range(2)]
    model = embedded(ircert.parse(text))
    made = certificate(model=model, center=["0"] * count, x=points[0], y=points[1])
    assert verdict(tmp_path, made) == 0
    long = [[f"-1/{'1' * (100_000 + i + 64 * k)}" for i in range(count)] for k in range(2)]
    assert verdict(tmp_path, {**made, "x": long[0], "y": long[1]}) == 2


@pytest.mark.rule("C-6")
@pytest.mark.parametrize(
    "content",
    ["[" * 10**6, '{"a":' * 10**6, "[" + "[]," * 5 * 10**6 + "[]]", "9" * 10**6, "-" * 10**6, '"' * 10**6, " " * 10**6],
    ids=["lists", "objects", "siblings", "digits", "signs", "quotes", "spaces"],
)
def test_texts_that_only_look_like_json(tmp_path: Path, content: str) -> None:
    with at_most(200):
        assert verdict(tmp_path, content) == 2


@pytest.mark.rule("C-6")
def test_a_file_that_is_too_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, certificate())
    os.truncate(path, LARGEST_TEXT + 1)
    with at_most(1):
        assert run(["check", str(path)]) == 2
    assert "more than" in capsys.readouterr().err


# --- what is said --------------------------------------------------------------------------------------------------


@pytest.mark.rule("C-5")
def test_the_claim_names_all_that_it_is_about(tmp_path: Path) -> None:
    made = certificate(problem="transform", other=embedded(LINE), domain={"low": ["-1"], "high": [None]})
    claim, _ = check_file(written(tmp_path, made))
    model, other = made["model"]["sha256"], LINE.sha256
    assert claim == (
        "f(x) = f(y) with g(x) != g(y) in the closed ball of radius 1 around (1/2) (norm inf), "
        f"cut with the given domain; model sha256 {model}, other sha256 {other}"
    )


@pytest.mark.rule("C-5")
@pytest.mark.parametrize(
    ("radius", "says"),
    [
        ("1" + "0" * 300 + "1/1" + "0" * 299 + "1", "radius at most 10.000000000000002"),
        ("1" + "0" * 400, "radius at most 2**"),
        ("3/2", "radius 3/2 around (1/2)"),
    ],
)
def test_a_long_radius_is_not_shown_in_part(tmp_path: Path, radius: str, says: str) -> None:
    claim, fault = check_file(written(tmp_path, certificate(radius=radius)))
    assert fault is None
    assert says in claim


def test_the_bounds_are_those_of_the_specification() -> None:
    assert checker.MOST_IN_ARRAYS == 2**29
    assert (checker.MOST_PARTS, checker.LONGEST_DENOMINATOR, checker.MOST_BITS) == (2**22, 2**23, 2**31)


@pytest.mark.rule("C-6")
@pytest.mark.parametrize(
    ("error", "code", "says"),
    [(MemoryError, 2, "more memory"), (RecursionError, 2, "not a certificate"), (KeyboardInterrupt, 3, "interrupted")],
)
def test_what_stops_the_checker_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    code: int,
    says: str,
) -> None:
    path = written(tmp_path, certificate())

    def stopped(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("ircert.checker.collision.Collision.fault", stopped)
    assert main([str(path)]) == code
    alone = capsys.readouterr().out
    assert run(["check", str(path)]) == code
    streams = capsys.readouterr()
    for said in (alone, streams.out + streams.err):
        assert says in said
        assert said.count("\n") == 1


def test_characters_that_a_stream_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [written(tmp_path, certificate(radius="\xe9")), written(tmp_path, {**certificate(), "\u2026": ""}, "b")]
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main([*map(str, paths), str(tmp_path / "\u2026")]) == 2
    stream.seek(0)
    assert [line.split(":")[0] for line in stream.read().splitlines()] == ["unreadable"] * 3


def test_nothing_to_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().out


@pytest.mark.parametrize(("radius", "code"), [("1", 0), ("1/8", 4), ("x", 2)])
def test_a_reader_that_has_gone(tmp_path: Path, radius: str, code: int) -> None:
    path = written(tmp_path, certificate(radius=radius))
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "ircert.checker", str(path)]
    found = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (found.returncode, found.stderr) == (code, b"")
