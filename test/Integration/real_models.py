"""Trained and random models from the data folder, against their double-precision goldens."""
import os

import numpy

from support import DATA, ENGINES, Case, data_or_skip, generate, load_json, logits, main

data_or_skip()
STORIES = os.path.join(DATA, "models", "stories260K")
RANDOM = os.path.join(DATA, "models", "tiny-random")
MODELS = {"hf": os.path.join(STORIES, "hf"), "gguf": os.path.join(STORIES, "stories260K-f32.gguf")}


class Stories(Case):
    @classmethod
    def setUpClass(cls):
        cls.once = load_json(os.path.join(STORIES, "golden_once.json"))
        cls.rows = numpy.load(os.path.join(STORIES, "golden_once.logits8.npy"))

    def test_two_hundred_greedy_tokens_on_every_engine(self):
        for kind, model in MODELS.items():
            for engine in ENGINES:
                result = generate(model, "Once upon a time", "--max-tokens", 200, "--engine", engine)
                self.assertEqual(result["prompt_ids"], self.once["prompt_ids"])
                self.assertEqual(result["ids"], self.once["greedy_ids"], f"{kind} {engine}")
                self.assertEqual("Once upon a time" + result["text"], self.once["text"])

    def test_the_second_prompt(self):
        tim = load_json(os.path.join(STORIES, "golden_tim.json"))
        rows = numpy.load(os.path.join(STORIES, "golden_tim.logits8.npy"))
        for model in MODELS.values():
            self.assertEqual(generate(model, tim["prompt"], "--max-tokens", 64)["ids"], tim["greedy_ids"])
            self.assert_close(logits(model, tim["logits8_inputs"]), rows, 2e-5)

    def test_first_rows_of_logits_for_every_engine_and_thread_count(self):
        for kind, model in MODELS.items():
            expected = None
            for engine in ENGINES:
                for threads in (1, 2, 3, 8):
                    actual = logits(model, self.once["logits8_inputs"], "--engine", engine, "--threads", threads)
                    self.assert_close(actual, self.rows, 2e-5, f"{kind} {engine} {threads}")
                    if expected is None:
                        expected = actual
                    self.assert_same_bits(actual, expected, f"{kind} {engine} {threads}")

    def test_chunks_give_the_same_ids_and_logits(self):
        for model in MODELS.values():
            for chunk in (1, 3, 64):
                result = generate(model, "Once upon a time", "--max-tokens", 200, "--chunk", chunk)
                self.assertEqual(result["ids"], self.once["greedy_ids"])
                self.assert_close(logits(model, self.once["logits8_inputs"], "--chunk", chunk), self.rows, 2e-5)

    def test_one_token_equals_the_first_row_of_seven(self):
        ids = self.once["logits8_inputs"][:7]
        for model in MODELS.values():
            self.assert_close(logits(model, ids[:1]), logits(model, ids)[:1], 2e-5)

    def test_lengths_around_tiles(self):
        all_ids = (self.once["prompt_ids"] + self.once["greedy_ids"])
        ids = (all_ids * 2)[:257]
        expected = logits(MODELS["hf"], ids)
        for length in (1, 2, 3, 7, 255, 256):
            self.assert_close(logits(MODELS["hf"], ids[:length]), expected[:length], 5e-5, str(length))


class TinyRandom(Case):
    def test_logits_equal_the_double_precision_goldens(self):
        for name in ("llama-odd", "llama3-rope"):
            folder = os.path.join(RANDOM, name)
            golden = load_json(os.path.join(folder, "golden.json"))
            expected = numpy.load(os.path.join(folder, "logits.npy"))
            for engine in ENGINES:
                actual = logits(folder, golden["input_ids"], "--engine", engine)
                self.assert_close(actual, expected, 1e-4, f"{name} {engine}")
            for chunk in (1, 7):
                actual = logits(folder, golden["input_ids"], "--chunk", chunk)
                self.assert_close(actual, expected, 1e-4, f"{name} chunk {chunk}")


if __name__ == "__main__":
    main()
