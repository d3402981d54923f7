"""tiny_llama.py reproduces|reference MODEL_FOLDER DATA_FOLDER

reproduces  the script of the folder writes, byte for byte, the files that lie beside it
reference   its double-precision reference gives the recorded ids and logits of a real trained model

Exit code 77: skipped, with the reason.
"""

import filecmp
import os
import subprocess
import sys
import tempfile


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def reproduces(folder):
    sources = {"README.md", "make.py", "train.py", "reference.py", "tokenizer.py", "formats.py", "__pycache__"}
    expected = {os.path.relpath(os.path.join(parent, name), folder)
                for parent, _, names in os.walk(folder) for name in names}
    expected = {name for name in expected if name.split(os.sep)[0] not in sources}
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, "-B", os.path.join(folder, "make.py"), out], check=True)
        written = {os.path.relpath(os.path.join(parent, name), out)
                   for parent, _, names in os.walk(out) for name in names}
        different = sorted(name for name in expected & written
                           if not filecmp.cmp(os.path.join(folder, name), os.path.join(out, name), shallow=False))
    if expected != written or different:
        sys.exit("only in the folder: %s; only written: %s; different: %s"
                 % (sorted(expected - written), sorted(written - expected), different))
    print("%d files equal" % len(written))


def reference(folder, data):
    model = os.path.join(data, "models", "stories260K")
    if not os.path.isdir(model):
        skip("no model at " + model)
    subprocess.run([sys.executable, "-B", os.path.join(folder, "reference.py"), os.path.join(model, "hf"),
                    os.path.join(model, "golden_once.json")], check=True)


def main(what, folder, data):
    try:
        import numpy  # noqa: F401
    except ImportError:
        skip("this Python has no numpy: " + sys.executable)
    if what == "reproduces":
        reproduces(folder)
    elif what == "reference":
        reference(folder, data)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
