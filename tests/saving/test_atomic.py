"""A file is replaced whole or not at all."""

import errno
import os
import stat

import pytest

from kerata.saving import atomic


def test_replaces(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic.replacing(path) as temporary:
        assert os.path.dirname(temporary) == str(tmp_path)
        with open(temporary, "w") as file:
            file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), OSError(errno.EIO, "x")])
def test_failure_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(type(error)), atomic.replacing(path) as temporary:
        with open(temporary, "w") as file:
            file.write("half")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_full_disk_says_so(tmp_path):
    with pytest.raises(OSError, match="no space left to save .*a.txt") as caught:
        with atomic.replacing(tmp_path / "a.txt"):
            raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic.replacing(tmp_path / "link") as temporary, open(temporary, "w") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_keeps_the_mode(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    with atomic.replacing(path) as temporary, open(temporary, "w") as file:
        file.write("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "usual").write_text("")
    with atomic.replacing(tmp_path / "a") as temporary, open(temporary, "w") as file:
        file.write("new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_folder(tmp_path):
    path = tmp_path / "m"
    path.mkdir()
    (path / "old").write_text("old")
    with atomic.replacing_folder(path) as temporary:
        with open(os.path.join(temporary, "new"), "w") as file:
            file.write("new")
        assert os.listdir(path) == ["old"]
    assert os.listdir(path) == ["new"]
    assert os.listdir(tmp_path) == ["m"]


def test_folder_failure(tmp_path):
    path = tmp_path / "m"
    path.mkdir()
    (path / "old").write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic.replacing_folder(path) as temporary:
        with open(os.path.join(temporary, "new"), "w") as file:
            file.write("new")
        raise KeyboardInterrupt
    assert os.listdir(path) == ["old"]
    assert os.listdir(tmp_path) == ["m"]
