import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("ouro") is None:  # Not installed: from the sources.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
pytest_plugins = ["pytester"]
