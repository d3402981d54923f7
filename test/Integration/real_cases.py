"""The cases that need the models of the data folder."""
import json
import os
import shutil
import struct
import tempfile

import numpy

from gguf_rewrite import Gguf
from support import DATA, Case, data_or_skip, good, load_json, logits, main
from training_support import read_safetensors

data_or_skip()
STORIES = os.path.join(DATA, "models", "stories260K")
GGUF = os.path.join(STORIES, "stories260K-f32.gguf")


class Stories(Case):
    def test_any_alignment_and_size_of_metadata_gives_the_same_logits(self):
        source = Gguf(GGUF)
        ids = [1, 403, 407, 261]
        expected = logits(GGUF, ids)
        with tempfile.TemporaryDirectory() as folder:
            for alignment in (16, 64, 4096):
                for padding in (0, 13, 5000):
                    path = os.path.join(folder, f"{alignment}-{padding}.gguf")
                    self.assertEqual(source.write(path, alignment, padding)[0], 0)
                    self.assert_same_bits(logits(path, ids), expected, path)

    def test_activations_take_hardly_more_than_what_lives_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            graph = os.path.join(folder, "graph.mlir")
            good("ck-translate", "--import-gguf", GGUF, "-o", graph)
            good("ck-opt", graph, "--ck-inference-pipeline", "--ck-verify-plan=max-ratio=1.05", "-o", os.devnull)


class OddVocabulary(Case):
    """101 tokens, which no vector divides, and a final norm that makes the real logits lose against a padded zero."""

    def test_padding_enters_neither_argmax_nor_softmax_nor_loss(self):
        source = os.path.join(DATA, "models", "tiny-random", "llama-odd")
        vocab = load_json(os.path.join(source, "config.json"))["vocab_size"]
        self.assertEqual(vocab % 16, 5)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(source, "config.json"), folder)
            with open(os.path.join(source, "model.safetensors"), "rb") as file:
                data = bytearray(file.read())
            size = struct.unpack("<Q", data[:8])[0]
            begin, end = json.loads(data[8:8 + size])["model.norm.weight"]["data_offsets"]
            gains = numpy.frombuffer(data, "<f4", (end - begin) // 4, 8 + size + begin)
            data[8 + size + begin:8 + size + end] = (-gains).tobytes()
            with open(os.path.join(folder, "model.safetensors"), "wb") as file:
                file.write(data)
            ids = [1, 5, 100, 99, 64, 31, 7, 2, 17]
            rows = logits(folder, ids[:-1]).astype(numpy.float64)
            self.assertEqual(rows.shape, (len(ids) - 1, vocab))
            self.assert_close(rows, -logits(source, ids[:-1]).astype(numpy.float64), 1e-5)
            top = rows.max(1, keepdims=True)
            loss = (numpy.log(numpy.exp(rows - top).sum(1)) + top[:, 0] - rows[range(len(ids) - 1), ids[1:]]).mean()
            batch, out = os.path.join(folder, "batch.json"), os.path.join(folder, "G.safetensors")
            with open(batch, "w", encoding="utf-8") as file:
                json.dump({"input_ids": [ids[:-1]], "targets": [ids[1:]]}, file)
            good("ck-run", "grad", folder, "--batch", batch, "--out", out)
            self.assertAlmostEqual(float(read_safetensors(out)[0]["loss"]), loss, delta=1e-5)


if __name__ == "__main__":
    main()
