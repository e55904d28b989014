"""The zip and HDF5 below a `.keras` file: exact, and unimpressed by hostile files."""

import errno
import json
import os
import struct
import zipfile

import h5py
import ml_dtypes
import numpy as np
import pytest

from kerata.saving import archive, atomic
from kerata.saving.store import Reader, ShardedReader, ShardedWriter, Writer
from kerata.saving.window import Window

VALUES = {
    "": {"0": np.arange(3, dtype="float32")},
    "layers/dense": {"0": np.arange(6, dtype="float64").reshape(2, 3), "1": np.float32(2.5)},
    "layers/half": {"0": np.array([1.5, -2], ml_dtypes.bfloat16), "1": np.array([True, False])},
    "layers/empty": {},
    "layers/none": {"0": np.zeros((0, 4), "int8")},
    "layers/text": {"0": np.array(["a", "ü"])},
}


def fill(writer):
    for path, values in VALUES.items():
        store = writer.store(path, path or "root")
        for key, value in values.items():
            store[key] = value


def write(path, assets=()):
    def fill_assets(folder):
        for name in assets:
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(name)

    archive.write_zip(path, {"metadata.json": "{}", "config.json": "[1]"}, fill, fill_assets)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.keras"
    write(path, ["layers/x/a.txt"])
    return path


def check(reader):
    for path, values in VALUES.items():
        entries = reader.entries(path)
        assert set(entries) == set(values)
        for key, value in values.items():
            read = entries[key].read()
            assert entries[key].shape == np.shape(value)
            if read.dtype == object:
                read = np.array([s.decode() for s in read])
            assert read.dtype == np.asarray(value).dtype
            np.testing.assert_array_equal(read, value)


def test_round_trip(path):
    with archive.Archive(path) as opened:
        assert opened.text("config.json") == "[1]"
        check(opened.weights())
        with opened.assets() as folder:
            with open(os.path.join(folder, "layers", "x", "a.txt")) as file:
                assert file.read() == "layers/x/a.txt"


def test_round_trip_of_a_folder(tmp_path):
    archive.write_folder(tmp_path, {"config.json": "[1]"}, fill, lambda folder: None)
    assert sorted(os.listdir(tmp_path)) == ["config.json", "model.weights.h5"]
    with archive.Archive(tmp_path) as opened:
        assert opened.text("config.json") == "[1]"
        check(opened.weights())


def test_other_readers_read_it(path):
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        assert all(info.compress_type == zipfile.ZIP_STORED for info in opened.infolist())
        opened.extract("model.weights.h5", path.parent)
    with h5py.File(path.parent / "model.weights.h5") as file:
        assert file["layers/dense/vars"].attrs["name"] == "layers/dense"
        assert file["layers/half/vars/0"].attrs["dtype"] == "bfloat16"
        assert file["layers/half/vars/0"].dtype == "V2"
        assert len(file["layers/empty/vars"]) == 0


def test_same_content_same_bytes(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_packed_by_another_tool(path, tmp_path):
    packed = tmp_path / "packed.keras"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with archive.Archive(packed) as opened:
        check(opened.weights())


# Damage


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_cut_off(path, part):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(ValueError, match="damaged, cut off"):
        archive.Archive(path)


def test_empty_file(tmp_path):
    (tmp_path / "m.keras").touch()
    with pytest.raises(ValueError, match="damaged, cut off"):
        archive.Archive(tmp_path / "m.keras")


def test_a_flipped_bit(path):
    data = bytearray(path.read_bytes())
    at = data.index(np.arange(6, dtype="float64").tobytes())
    data[at + 20] ^= 1
    path.write_bytes(data)
    with archive.Archive(path) as opened, pytest.raises(ValueError, match="check sum"):
        opened.weights()


def test_a_flipped_bit_in_the_config(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"[1]") + 1] ^= 1
    path.write_bytes(data)
    with archive.Archive(path) as opened, pytest.raises(ValueError, match="config.json is damaged"):
        opened.text("config.json")


def test_weights_cut_off(tmp_path):
    path = tmp_path / "m.weights.h5"
    archive.write_weights_file(path, fill)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="damaged, cut off"):
        Reader(path, "m.weights.h5")


def test_no_model(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as file:
        file.writestr("hello.txt", "x")
    with archive.Archive(tmp_path / "m.keras") as opened:
        with pytest.raises(ValueError, match="no model file.*hello.txt"):
            opened.text("config.json")


# Traps


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "assets/../../evil", "c:/evil", "assets\\..\\..\\evil"])
def test_paths_that_lead_out(tmp_path, name):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("x")
        info.filename = name
        file.writestr(info, "x")
    with pytest.raises(ValueError, match="outside the archive"):
        archive.Archive(path)


def test_links(tmp_path):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("config.json")
        info.external_attr = 0o120777 << 16
        file.writestr(info, "/etc/passwd")
    with pytest.raises(ValueError, match="is a link"):
        archive.Archive(path)


def test_two_entries_of_one_name(tmp_path):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("config.json", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("config.json", "2")
    with pytest.raises(ValueError, match="two entries"):
        archive.Archive(path)


def test_a_zip_bomb(tmp_path):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("config.json", b" " * 50_000_000)
    with pytest.raises(ValueError, match="exhaust memory"):
        archive.Archive(path)
    with archive.Archive(path, trusted=True) as opened:
        assert len(opened.text("config.json")) == 50_000_000


def test_a_size_that_lies(path):
    """The directory says that the weights are larger than the file."""
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"model.weights.h5"))
    struct.pack_into("<II", data, entry + 20, 2**31, 2**31)
    path.write_bytes(data)
    with archive.Archive(path) as opened, pytest.raises(ValueError, match="cut off|damaged"):
        opened.weights()


def hdf5(tmp_path, fill_file):
    path = tmp_path / "m.weights.h5"
    with h5py.File(path, "w") as file:
        fill_file(file.create_group("layers/dense/vars"))
    return path


def read(path):
    with Reader(path, "m.weights.h5") as reader:
        return [e.read() for e in reader.entries("layers/dense").values()]


def test_external_link(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.ones(3)

    def fill_file(group):
        group["0"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")

    with pytest.raises(ValueError, match="ExternalLink.*refused"):
        read(hdf5(tmp_path, fill_file))


def test_soft_link(tmp_path):
    def fill_file(group):
        group["0"] = h5py.SoftLink("/layers")

    with pytest.raises(ValueError, match="SoftLink.*refused"):
        read(hdf5(tmp_path, fill_file))


def test_external_storage(tmp_path):
    (tmp_path / "secret").write_bytes(b"\0" * 12)

    def fill_file(group):
        group.create_dataset("0", (3,), "float32", external=[(str(tmp_path / "secret"), 0, 12)])

    with pytest.raises(ValueError, match="another file"):
        read(hdf5(tmp_path, fill_file))


def test_virtual_dataset(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.ones(3)
    layout = h5py.VirtualLayout(shape=(3,), dtype="float64")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", shape=(3,))
    with pytest.raises(ValueError, match="another file"):
        read(hdf5(tmp_path, lambda group: group.create_virtual_dataset("0", layout)))


def test_a_shape_without_values(tmp_path):
    def fill_file(group):
        group.create_dataset("0", (10**6, 10**6), "float32", chunks=(1000, 1000))

    with pytest.raises(ValueError, match="claims to hold"):
        read(hdf5(tmp_path, fill_file))


def test_references(tmp_path):
    def fill_file(group):
        group.create_dataset("0", (2,), h5py.ref_dtype)

    with pytest.raises(ValueError, match="references"):
        read(hdf5(tmp_path, fill_file))


def test_unknown_dtype(tmp_path):
    def fill_file(group):
        group.create_dataset("0", data=np.zeros(2, "V2")).attrs["dtype"] = "os.system"

    with pytest.raises(ValueError, match="unknown dtype"):
        read(hdf5(tmp_path, fill_file))


# Shards


def write_shards(folder, size):
    files = []

    def open_shard(number):
        name = f"m_{number:05d}.weights.h5"
        files.append(open(folder / name, "w+b", buffering=0))  # noqa: SIM115
        return name, files[-1]

    writer = ShardedWriter(open_shard, size / 1024**3)
    fill(writer)
    (folder / "m.weights.json").write_text(writer.close())
    for file in files:
        file.close()
    return len(files)


@pytest.mark.parametrize("size", [1, 30, 10_000])
def test_shards(tmp_path, size):
    count = write_shards(tmp_path, size)
    assert (count == 1) == (size == 10_000)
    with ShardedReader(tmp_path / "m.weights.json") as reader:
        for path, values in VALUES.items():
            assert set(reader.entries(path)) == set(values)


@pytest.mark.parametrize("name", ["../m.weights.h5", "/etc/passwd", ".."])
def test_shards_elsewhere(tmp_path, name):
    (tmp_path / "m.weights.json").write_text(json.dumps({"weight_map": {"/a/vars": [name]}}))
    with pytest.raises(ValueError, match="outside the index's folder"):
        ShardedReader(tmp_path / "m.weights.json")


def test_a_missing_shard(tmp_path):
    (tmp_path / "m.weights.json").write_text('{"weight_map": {"/a/vars": ["m_00000.weights.h5"]}}')
    with pytest.raises(FileNotFoundError, match="m_00000"):
        ShardedReader(tmp_path / "m.weights.json")


@pytest.mark.parametrize("text", ["", "[]", '{"weight_map": 3}', '{"weight_map": {"a": [3]}}'])
def test_no_index(tmp_path, text):
    (tmp_path / "m.weights.json").write_text(text)
    with pytest.raises(ValueError, match="no index"):
        ShardedReader(tmp_path / "m.weights.json")


# Errors inside HDF5's own calls


class Broken:
    """A file whose disk is full after some bytes."""

    def __init__(self, file, room, error):
        self._file, self._room, self._error = file, room, error

    def write(self, data):
        if self._room < len(data):
            raise self._error
        self._room -= len(data)
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("room", [0, 500, 3_000])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_the_error_comes_out_as_it_was(tmp_path, room, error):
    path = tmp_path / "m.weights.h5"
    path.write_text("old")
    with pytest.raises(type(error)) as caught, atomic.replacing(path) as temporary:
        with open(temporary, "w+b", buffering=0) as file:
            writer = Writer(Broken(file, room, error))
            try:
                fill(writer)
                writer.close()
            except BaseException:
                writer.abandon()
                raise
    assert getattr(caught.value, "errno", None) == getattr(error, "errno", None)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["m.weights.h5"]


def test_window(tmp_path):
    with open(tmp_path / "f", "w+b", buffering=0) as file:
        file.write(b"0123456789")
        window = Window(file, 2, 5)
        assert window.read(3) == b"234"
        assert window.read() == b"56"
        assert window.seek(-1, os.SEEK_END) == 4
        assert window.read(10) == b"6"
