"""Two hunks for checks to judge: ruff is content with ``fine``, and finds an unknown name in ``broken``."""

from __future__ import annotations

import sys

RUFF = f"{sys.executable} -m ruff check --isolated --no-cache {{files}}"
PAINT = '''
models = ["spark-practice"]
[[scenario]]
id = "paint"
match = ["paint"]

[[scenario.hunk]]
id = "fine"
path = "colours.py"
lines = """
 def red():
-    return 1
+    return 10
"""

[[scenario.hunk]]
id = "broken"
path = "colours.py"
lines = """
 def blue():
-    return 3
+    return violet
"""

[[scenario.step]]
patch = ["fine", "broken"]
'''
