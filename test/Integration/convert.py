"""ck-run convert: one model in every format and type, and what runs of it must give."""
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

import numpy

from gguf_rewrite import Gguf
from support import DATA, TINY, Case, good, load_json, logits, main, run, tool

HF = os.path.join(TINY, "hf")
GGUF = os.path.join(TINY, "tiny-llama-f32.gguf")
STORIES = os.path.join(DATA, "models", "stories260K")
BLOCKS = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k", "q4_k_m", "q5_k_m")


def safetensors(path):
    """Tensors by name: (type, shape, bytes)."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    data = data[8 + size:]
    return {name: (info["dtype"], info["shape"], data[slice(*info["data_offsets"])]) for name, info in header.items()}


class FolderCase(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def convert(self, model, name, target, *flags):
        """Converts; returns the path, the JSON report and the notes."""
        code, out, err = run("ck-run", "convert", model, "--to", target, "--out", self.path(name), "--json", *flags)
        self.assertEqual(code, 0, err)
        return self.path(name), json.loads(out), [line for line in err.splitlines() if "note:" in line]


class Example(FolderCase):
    def test_either_form_becomes_the_other(self):
        gguf, report, notes = self.convert(HF, "m.gguf", "gguf")
        self.assertEqual((report["tensors"], report["types"], notes), (29, {"f32": 29}, []))
        self.assertEqual(Gguf(gguf).tensors, Gguf(GGUF).tensors)
        hf, _, _ = self.convert(GGUF, "hf", "hf")
        self.assertEqual(safetensors(os.path.join(hf, "model.safetensors")),
                         safetensors(os.path.join(HF, "model.safetensors")))
        ids = [1, 5, 9, 2]
        for made, original in ((gguf, GGUF), (hf, HF)):
            self.assert_same_bits(logits(made, ids), logits(original, ids), made)

    def test_rows_that_no_block_divides_are_named_and_become_f16(self):
        for kind in BLOCKS:
            model, report, notes = self.convert(HF, kind + ".gguf", "gguf", "--type", kind)
            self.assertEqual(report["types"], {"f16": 22, "f32": 7}, kind)
            self.assertEqual(len(notes), 22, kind)
            self.assertEqual(len(report["fallbacks"]), 22, kind)
            self.assertIn("'blk.2.ffn_down.weight' becomes f16: rows of 84 elements are no multiple of ", notes[-1])
            listed = json.loads(good("ck-run", "inspect", model, "--json"))["tensors"]
            self.assertEqual({t["dtype"] for t in listed if len(t["shape"]) == 2}, {"f16"})


class Refusals(FolderCase):
    def refused(self, *arguments, says, **options):
        before = sorted(os.listdir(self.folder.name))
        self.assert_refused("ck-run", "convert", *arguments, says=says, **options)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before, arguments)

    def test_bad_requests_write_nothing(self):
        model = shutil.copy(GGUF, self.path("m.gguf"))
        out = self.path("out")
        self.refused(model, "--to", "gguf", "--type", "q9", "--out", out, says=["'q9' is not known; expected one of f32"])
        self.refused(model, "--to", "hf", "--type", "q4_k", "--out", out, says=["cannot hold the type q4_k"])
        self.refused(model, "--to", "onnx", "--out", out, says=["--to must be gguf or hf, got 'onnx'"])
        self.refused(model, "--to", "gguf", "--out", model, says=["m.gguf: is the model that is to be converted"])
        self.refused(HF, "--to", "gguf", "--out", model, says=["m.gguf: exists already"])
        self.refused(HF, "--to", "gguf", "--out", "/dev/full", says=["/dev/full: exists already"])
        self.refused(self.path("none.gguf"), "--to", "hf", "--out", out, says=["none.gguf"])

    def test_a_model_cut_anywhere_is_refused(self):
        with open(GGUF, "rb") as file:
            data = file.read()
        for size in (0, 3, 100, 5000, len(data) // 2, len(data) - 64):
            with open(self.path("cut.gguf"), "wb") as file:
                file.write(data[:size])
            for target in ("gguf", "hf"):
                self.refused(self.path("cut.gguf"), "--to", target, "--out", self.path("out"), says=["cut.gguf"])

    def test_a_full_disk_leaves_nothing(self):
        def limit():
            # A file size limit stands for a full disk.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        for target in ("gguf", "hf"):
            done = subprocess.run([tool("ck-run"), "convert", HF, "--to", target, "--out", self.path("out")],
                                  capture_output=True, preexec_fn=limit)
            err = done.stderr.decode()
            self.assertEqual((done.returncode, err.count("error:")), (1, 1), err)
            self.assertIn("cannot be written: File too large", err)
            self.assertEqual(os.listdir(self.folder.name), [])


@unittest.skipUnless(os.path.isdir(STORIES), f"there is no {STORIES} (CMake option CK_TEST_DATA)")
class Stories(FolderCase):
    def test_rows_of_keys_change_places_by_key_heads(self):
        hf, _, _ = self.convert(os.path.join(STORIES, "stories260K-f32.gguf"), "hf", "hf")
        expected = safetensors(os.path.join(STORIES, "hf", "model.safetensors"))
        self.assertEqual(safetensors(os.path.join(hf, "model.safetensors")), expected)
        back, _, _ = self.convert(hf, "back.gguf", "gguf")
        original = Gguf(os.path.join(STORIES, "stories260K-f32.gguf"))
        self.assertEqual(Gguf(back).tensors, original.tensors)

    def test_types_give_the_logits_of_double_precision(self):
        golden = load_json(os.path.join(STORIES, "golden_gguf.json"))["files"]
        for kind in ("f32", "f16", "q8_0", "q4_0"):
            entry = golden[f"stories260K-{kind}.gguf"]
            expected = numpy.load(os.path.join(STORIES, entry["logits8"]))
            model, _, _ = self.convert(os.path.join(STORIES, "hf"), kind + ".gguf", "gguf", "--type", kind)
            actual = logits(model, entry["ids"][:8])
            if kind in ("f32", "f16"):
                self.assert_close(actual, expected, 2e-5, kind)
            error = numpy.sqrt(numpy.mean((actual - expected) ** 2)) / expected.std()
            self.assertLessEqual(error, 5e-2, kind)

    def test_kernels_read_what_the_converter_wrote(self):
        """A file of blocks and the same values widened into a folder are one model."""
        ids = [1, 403, 407, 261, 378, 432, 383, 286]
        for kind in BLOCKS:
            model, _, notes = self.convert(os.path.join(STORIES, "hf"), kind + ".gguf", "gguf", "--type", kind)
            # Rows of 172 elements are no blocks at all, rows of 64 no blocks of 256.
            self.assertTrue(any("ffn_down.weight' becomes f16: rows of 172" in note for note in notes), kind)
            wide, report, _ = self.convert(model, kind + "-hf", "hf", "--type", "f32")
            self.assertEqual(report["types"], {"f32": 47})
            exact, stored = logits(wide, ids), logits(model, ids)
            error = numpy.sqrt(numpy.mean((stored - exact) ** 2)) / exact.std()
            self.assertLessEqual(error, 5e-2, kind)


WHOLE_BLOCKS = os.path.join(DATA, "golden", "llamacpp", "llama-F16.gguf")


@unittest.skipUnless(os.path.isfile(WHOLE_BLOCKS), f"there is no {WHOLE_BLOCKS} (CMake option CK_TEST_DATA)")
class RowsOfWholeBlocks(FolderCase):
    def test_blocks_of_256_run_and_are_as_near_the_original_as_the_peers(self):
        ids = [1, 300, 17, 44, 260, 8, 9, 511]
        original = logits(WHOLE_BLOCKS, ids)

        def error(actual, exact):
            return numpy.sqrt(numpy.mean((actual - exact) ** 2)) / exact.std()

        peer = {kind.lower(): error(logits(WHOLE_BLOCKS.replace("F16", kind), ids), original) for kind in ("Q4_K_M", "Q6_K")}
        for kind in ("q4_k", "q5_k", "q6_k", "q4_k_m", "q5_k_m"):
            model, report, notes = self.convert(WHOLE_BLOCKS, kind + ".gguf", "gguf", "--type", kind)
            self.assertEqual(notes, [])
            mixed = {"q6_k": 5, kind[:4]: 11} if kind.endswith("_m") else {kind: 16}
            self.assertEqual(report["types"], {"f32": 5, **mixed})
            wide, _, _ = self.convert(model, kind + "-hf", "hf", "--type", "f32")
            stored = logits(model, ids)
            self.assertLessEqual(error(stored, logits(wide, ids)), 5e-2, kind)
            # Random weights are harder than trained ones; no peer's file has only one of the smaller types.
            bound = peer.get(kind, 0.3 if kind == "q4_k" else 0.15)
            self.assertLessEqual(error(stored, original), bound, kind)


if __name__ == "__main__":
    main()
