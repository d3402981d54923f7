"""What the integration tests share: the tools, the models, and running one against the other."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy

TOOLS = os.environ["CK_TOOLS"]
DATA = os.environ["CK_TEST_DATA"]
SOURCE = os.environ["CK_SOURCE_DIR"]
TINY = os.path.join(SOURCE, "examples", "models", "tiny-llama")
ENGINES = ("jit", "aot", "interpret")


def tool(name):
    return os.path.join(TOOLS, name)


def run(name, *arguments, timeout=120, env=None, cwd=None):
    """Runs a tool; returns (exit code, stdout, stderr). A signal is a failed test, never a result."""
    environment = dict(os.environ, **(env or {}))
    done = subprocess.run([tool(name), *map(str, arguments)], capture_output=True, timeout=timeout, env=environment,
                          cwd=cwd)
    if done.returncode < 0:
        raise AssertionError(f"{name} {arguments} died of signal {-done.returncode}\n{done.stderr.decode()}")
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace")


def good(name, *arguments, **options):
    """Runs a tool that must succeed; returns its stdout."""
    code, out, err = run(name, *arguments, **options)
    if code != 0:
        raise AssertionError(f"{name} {arguments} failed with {code}: {err}")
    return out


def generate(model, prompt, *flags, **options):
    return json.loads(good("ck-run", "generate", model, "--prompt", prompt, "--json", *flags, **options))


def logits(model, ids, *flags, **options):
    """Logits of every position, [tokens, vocabulary]."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "logits.npy")
        good("ck-run", "logits", model, "--tokens", ",".join(map(str, ids)), "--out", path, *flags, **options)
        return numpy.load(path)


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def data_or_skip():
    """Ends the program with the code that ctest counts as skipped if the real models are absent."""
    if not os.path.isdir(DATA):
        print(f"skipped: there is no folder of real models at {DATA} (CMake option CK_TEST_DATA)")
        sys.exit(77)


class Case(unittest.TestCase):
    """Adds comparisons of arrays and of refusals."""

    maxDiff = None

    def assert_close(self, actual, expected, tolerance, what=""):
        self.assertEqual(actual.shape, expected.shape, what)
        worst = numpy.abs(actual.astype(numpy.float64) - expected).max()
        self.assertTrue(worst <= tolerance, f"{what}: differs by {worst}, more than {tolerance}")

    def assert_same_bits(self, actual, expected, what=""):
        self.assertEqual(actual.shape, expected.shape, what)
        self.assertTrue(numpy.array_equal(actual.view(numpy.uint32), expected.view(numpy.uint32)), f"{what}: bits differ")

    def assert_refused(self, name, *arguments, says=(), **options):
        """The tool must exit with 1 and one error that holds every text of `says`."""
        code, out, err = run(name, *arguments, **options)
        self.assertEqual(code, 1, f"{arguments}: exit code {code}\n{out}{err}")
        for text in says:
            self.assertIn(text, err, arguments)
        self.assertEqual(err.count("error:"), 1, f"{arguments}: not one error but\n{err}")
        return err


def main():
    unittest.main(verbosity=2)
