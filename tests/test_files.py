"""Files that are not what they say: one line, exit code 2, and no memory taken on a file's word."""

from __future__ import annotations

import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ircert
from ircert import files
from ircert.cli.main import run
from ircert.errors import FileError
from ircert.files import read_npy, read_npz, read_text
from tests.result.support import fold

MEGABYTE = 2**20


@contextmanager
def at_most(megabytes: float) -> Iterator[None]:
    """Fail where more memory is taken at any moment than this."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes * MEGABYTE


def header(shape: str, dtype: str = "'<f8'", length: int = 117) -> bytes:
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(length) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(path: Path, *members: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as target:
        for name, content in members:
            target.writestr(name, content)
    return path


def of_zeros(path: Path, count: int, member: str = "W0.npy") -> Path:
    """An archive of one array (count, 1) of zeros, a thousandth of its size."""
    return archive(path, (member, header(f"({count}, 1)") + bytes(8 * count)))


def refused(path: Path, capsys: pytest.CaptureFixture[str], *says: str, center: str = "0") -> None:
    capsys.readouterr()
    assert run(["certify", str(path), "--center", center, "--radius", "1"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("ircert: error: ")
    assert shown.err.count("\n") == 1
    for text in says:
        assert text in shown.err


@pytest.fixture
def net(tmp_path: Path) -> Path:
    ircert.save(fold(), tmp_path / "net.ir")
    return tmp_path / "net.ir"


# --- pipes, devices and folders ------------------------------------------------------------------------------------


@pytest.mark.rule("F-9")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="optional: pipes with names")
@pytest.mark.parametrize("name", ["pipe.ir", "pipe.npz", "pipe.onnx"])
def test_a_pipe_is_no_model(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / name)
    refused(tmp_path / name, capsys, "a pipe or device, not a file; write what it gives to a file first")


@pytest.mark.rule("F-9")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="optional: pipes with names")
@pytest.mark.parametrize("name", ["pipe.npy", "pipe.csv"])
def test_a_pipe_is_no_centre(tmp_path: Path, net: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / name)
    refused(net, capsys, "a pipe or device", center=f"@{tmp_path / name}")


@pytest.mark.rule("F-9")
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="optional: devices")
def test_a_device_is_no_file(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(net, capsys, "a pipe or device", center="@/dev/zero")
    assert run(["check", "/dev/zero"]) == 2


def test_a_folder_is_no_centre(tmp_path: Path, net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.npy").mkdir()
    for name in (".", "c.npy"):
        refused(net, capsys, "this is a folder, not a file", center=f"@{tmp_path / name}")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="optional: Linux's list of open files")
def test_a_file_is_closed_whatever_happens(tmp_path: Path) -> None:
    (tmp_path / "damaged").write_bytes(b"PK\x03\x04\xff")
    open_before = len(os.listdir("/proc/self/fd"))
    for path in (tmp_path, tmp_path / "damaged", tmp_path / "none", Path("/dev/null")):
        for read in (read_npz, read_npy, read_text):
            with pytest.raises(FileError):
                read(path)
    assert len(os.listdir("/proc/self/fd")) == open_before


@pytest.mark.rule("F-6")
def test_a_text_of_gigabytes_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("huge.ir", "huge.json", "huge.csv"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(2**40)
    with at_most(1):
        refused(tmp_path / "huge.ir", capsys, f"it has more than {files.LARGEST_TEXT} bytes")
        assert run(["check", str(tmp_path / "huge.json")]) == 2


# --- centres in .npy files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, ">f8", ">i4"], ids=lambda d: np.dtype(d).str
)
def test_numbers_of_any_width_are_a_centre(tmp_path: Path, net: Path, dtype: Any) -> None:
    np.save(tmp_path / "c.npy", np.array([[3]], dtype=dtype))
    assert run(["certify", str(net), "--center", f"@{tmp_path / 'c.npy'}", "--radius", "1"]) == 0


def _zip(path: Path) -> None:
    archive(path, ("a.npy", header("(1,)") + bytes(8)))


def _bytes(content: bytes) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(content)


@pytest.mark.rule("F-6")
@pytest.mark.parametrize(
    "write",
    [
        _zip,
        _bytes(b""),
        _bytes(b"\x93NUM"),
        _bytes(b"1.0,2.0"),
        _bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f"),
        _bytes(b"\x93NUMPY\x09\x09" + header("(1,)")[8:] + bytes(8)),
        _bytes(header("(1000000000000,)") + bytes(16)),
        _bytes(header("(-1, -2)") + bytes(16)),
        _bytes(header("(9**9**9,)") + bytes(16)),
        _bytes(header("(1,)", "'|O'") + bytes(8)),
        _bytes(header("(1,)", "'|V16'") + bytes(16)),
        _bytes(header("(1,)", "'|S16'") + b"1" * 16),
        _bytes(header("(1,)", "'<U4'") + b"1\0\0\0" * 4),
        _bytes(header("(1,)", "[('a', '<f8'), ('b', '<f8')]") + bytes(16)),
        _bytes(header("(1000000000000,)", "'|V0'")),
        _bytes(header("(1,)", "'<c16'") + bytes(16)),
        _bytes(header("(1,)", "'|b1'") + b"\1"),
        _bytes(header("(1,)", "'<M8[s]'") + bytes(8)),
        _bytes(header("(0, 1000000000000)")),
        _bytes(header("(1,)", "'<i8'") + struct.pack("<q", 2**53 + 1)),
        _bytes(header("(1,)") + struct.pack("<d", np.nan)),
    ],
)
def test_what_is_no_centre(
    tmp_path: Path, net: Path, write: Callable[[Path], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "c.npy")
    with at_most(1):
        refused(net, capsys, center=f"@{tmp_path / 'c.npy'}")


# --- archives ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("F-6")
def test_an_archive_that_fills_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bomb = of_zeros(tmp_path / "net.npz", files.UNPACKED // 8)
    assert bomb.stat().st_size < files.UNPACKED / 500
    with at_most(1):
        refused(bomb, capsys, f"{bomb.stat().st_size} bytes claim to hold", "store it uncompressed")


@pytest.mark.rule("F-6", "IR-16")
def test_a_sidecar_that_fills_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_zeros(tmp_path / "net.ir.npz", files.UNPACKED // 8, "w.npy")
    (tmp_path / "net.ir").write_text(
        'ircert.ir/1\nx = input(length=1)\ny = affine(x, weight=@"net.ir.npz:w")\nreturn y\n'
    )
    with at_most(1):
        refused(tmp_path / "net.ir", capsys, "net.ir.npz", "claim to hold", "keep both files together")


@pytest.mark.rule("F-6")
def test_many_small_arrays_that_fill_memory_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = header(f"({MEGABYTE // 8}, 1)") + bytes(MEGABYTE)
    archive(tmp_path / "net.npz", *((f"W{k}.npy", part) for k in range(1 + files.UNPACKED // MEGABYTE)))
    with at_most(2):
        refused(tmp_path / "net.npz", capsys, "claim to hold")


@pytest.mark.rule("F-6")
def test_an_archive_that_lies_about_its_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes stand twice in an archive, and neither is believed beyond what the file's own size makes possible."""
    path = of_zeros(tmp_path / "net.npz", 1000)
    data, true = path.read_bytes(), struct.pack("<I", 8128)
    for claimed in (2**31 + 128, 2**20 + 128, 100):
        path.write_bytes(data.replace(true, struct.pack("<I", claimed)))
        with at_most(2):
            refused(path, capsys, "not a readable .npz file")


def test_pruned_weights_may_be_compressed(tmp_path: Path) -> None:
    weight = np.zeros((1000, 1000))
    weight[0, :] = np.random.default_rng(0).standard_normal(1000)
    np.savez_compressed(tmp_path / "net.npz", W0=weight)
    assert ircert.load(tmp_path / "net.npz").input_dim == 1000


@pytest.mark.parametrize("kind", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_compressions_are_refused(tmp_path: Path, kind: int) -> None:
    archive(tmp_path / "net.npz", ("W0.npy", header("(1, 1)") + bytes(8)), kind=kind)
    with pytest.raises(FileError, match="compressed as numpy does not"):
        read_npz(tmp_path / "net.npz")


@pytest.mark.rule("F-6")
def test_numbers_of_one_byte_take_eight(tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", W0=np.zeros((1, 1000), dtype=np.int8), b0=np.zeros(1))
    assert len(read_npz(tmp_path / "net.npz", 8008)) == 2
    with pytest.raises(FileError, match="its arrays take more than 8007 bytes"):
        read_npz(tmp_path / "net.npz", 8007)
    with pytest.raises(FileError, match="it has more than 1000 bytes"):
        read_npz(tmp_path / "net.npz", 1000)


def test_two_arrays_of_one_name_are_refused(tmp_path: Path) -> None:
    archive(tmp_path / "net.npz", ("W0.npy", header("(1, 1)") + bytes(8)), ("W0", header("(1, 1)") + b"\1" * 8))
    with pytest.raises(FileError, match="the same name"):
        read_npz(tmp_path / "net.npz")


# --- links ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("IR-16", "F-5")
def test_a_sidecar_that_is_a_link_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    np.savez(tmp_path / "secret.npz", w=np.ones((1, 1)))
    os.symlink(tmp_path / "secret.npz", inner / "net.ir.npz")
    text = 'ircert.ir/1\nx = input(length=1)\ny = affine(x, weight=@"net.ir.npz:w")\nreturn y\n'
    (inner / "net.ir").write_text(text)
    refused(inner / "net.ir", capsys, "outside the model's folder", "keep both files together")
    (tmp_path / "net.ir").write_text(text.replace("net.ir.npz", "link.npz"))
    os.symlink("secret.npz", tmp_path / "link.npz")
    assert ircert.load(tmp_path / "net.ir").output_dim == 1
