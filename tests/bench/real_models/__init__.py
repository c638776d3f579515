"""Small requests put to real models behind a real engine: ``python3 -m tests.bench.real_models``."""
