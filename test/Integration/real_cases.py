"""The cases that need the trained model of the data folder."""
import os
import tempfile

from gguf_rewrite import Gguf
from support import DATA, Case, data_or_skip, good, logits, main

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


if __name__ == "__main__":
    main()
