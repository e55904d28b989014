"""The documentation's table of ops."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import table


def test_is_up_to_date():
    # When this fails: python tests/ops/table.py
    assert table.PAGE.read_text() == table.page()
