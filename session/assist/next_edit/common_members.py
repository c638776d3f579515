"""Names of members that the languages' own types have too, so that a name alone says nothing."""

from __future__ import annotations

import io
import pathlib
import re
import tomllib
from collections import OrderedDict, deque
from importlib import resources
from itertools import chain

_PYTHON = (str, bytes, list, dict, set, tuple, int, float, object, type, OrderedDict, deque, pathlib.Path,
           io.TextIOWrapper, io.BytesIO, re.Pattern, re.Match, Exception)  # fmt: skip

_TABLE = (resources.files("session.assist.next_edit") / "common_members.toml").read_text("utf-8")
_OTHERS = [name for names in tomllib.loads(_TABLE).values() for name in names.split()]

COMMON_MEMBERS = frozenset(chain(_OTHERS, *(dir(each) for each in _PYTHON)))
