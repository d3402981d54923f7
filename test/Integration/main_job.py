"""The main job on the model of our own: from a file through the compiler to the right text."""
import os

import numpy

from support import ENGINES, TINY, Case, generate, good, load_json, logits, main

HF = os.path.join(TINY, "hf")
GGUF = os.path.join(TINY, "tiny-llama-f32.gguf")


class MainJob(Case):
    @classmethod
    def setUpClass(cls):
        cls.once = load_json(os.path.join(TINY, "golden_once.json"))
        cls.star = load_json(os.path.join(TINY, "golden_star.json"))
        cls.once_logits = numpy.load(os.path.join(TINY, "golden_once.logits8.npy"))

    def test_every_engine_and_format_gives_the_golden_ids(self):
        for golden in (self.once, self.star):
            for model in (HF, GGUF):
                for engine in ENGINES:
                    result = generate(model, golden["prompt"], "--max-tokens", len(golden["greedy_ids"]), "--engine",
                                      engine)
                    self.assertEqual(result["prompt_ids"], golden["prompt_ids"])
                    self.assertEqual(result["ids"], golden["greedy_ids"], f"{model} {engine}")

    def test_the_text_is_the_continuation_only(self):
        result = generate(HF, self.star["prompt"], "--max-tokens", len(self.star["greedy_ids"]))
        self.assertEqual(self.star["prompt"] + result["text"], self.star["text"])

    def test_streamed_text_equals_the_json_text(self):
        flags = ("--prompt", self.star["prompt"], "--max-tokens", "20")
        streamed = good("ck-run", "generate", HF, *flags)
        self.assertEqual(streamed, generate(HF, self.star["prompt"], "--max-tokens", "20")["text"] + "\n")

    def test_logits_equal_the_double_precision_reference(self):
        ids = self.once["prompt_ids"] + self.once["greedy_ids"]
        for model in (HF, GGUF):
            self.assert_close(logits(model, ids[:8]), self.once_logits, 2e-5, model)

    def test_engines_give_equal_bits(self):
        ids = self.once["prompt_ids"]
        expected = logits(HF, ids)
        for engine in ENGINES[1:]:
            self.assert_same_bits(logits(HF, ids, "--engine", engine), expected, engine)

    def test_thread_counts_give_equal_bits(self):
        ids = (self.once["prompt_ids"] + self.once["greedy_ids"])[:24]
        expected = logits(HF, ids, "--threads", 1)
        for threads in (2, 3, 8):
            self.assert_same_bits(logits(HF, ids, "--threads", threads), expected, f"{threads} threads")

    def test_any_chunk_and_instruction_set_gives_the_same_logits(self):
        ids = (self.once["prompt_ids"] + self.once["greedy_ids"])[:24]
        expected = logits(HF, ids)
        for chunk in (1, 3, 7, 64):
            self.assert_close(logits(HF, ids, "--chunk", chunk), expected, 2e-5, f"chunk {chunk}")
        for isa in ("scalar", "avx2"):
            self.assert_close(logits(HF, ids, env={"CK_ISA": isa}), expected, 2e-5, isa)

    def test_generation_stops_at_an_end_token_unless_told_otherwise(self):
        result = generate(HF, self.once["prompt"], "--max-tokens", 200)
        self.assertEqual(result["stop"], "eos")
        self.assertEqual(result["ids"], self.once["greedy_ids"])
        self.assertGreater(len(generate(HF, self.once["prompt"], "--max-tokens", 200, "--ignore-eos")["ids"]),
                           len(result["ids"]))

    def test_sampling_depends_on_the_seed_alone(self):
        flags = ("--max-tokens", 30, "--temperature", "1.5", "--ignore-eos")
        first = generate(HF, "The star", *flags, "--seed", 7)["ids"]
        self.assertEqual(generate(HF, "The star", *flags, "--seed", 7, "--threads", 3)["ids"], first)
        self.assertNotEqual(generate(HF, "The star", *flags, "--seed", 8)["ids"], first)
        greedy = generate(HF, "The star", "--max-tokens", 30, "--ignore-eos")["ids"]
        self.assertEqual(generate(HF, "The star", *flags, "--top-k", 1)["ids"], greedy)

    def test_a_full_context_stops_generation(self):
        result = generate(HF, self.star["prompt"], "--context", 12, "--max-tokens", 100, "--ignore-eos")
        self.assertEqual(result["stop"], "context")
        # Positions 0..11 are computed; the last of them still gives one more id.
        self.assertEqual(len(result["prompt_ids"]) + len(result["ids"]), 13)

    def test_one_position_of_context_gives_one_row_and_stops(self):
        result = generate(HF, "", "--context", 1, "--ignore-eos")
        self.assertEqual(result["stop"], "context")
        self.assertEqual(result["prompt_ids"], [1])

    def test_an_empty_prompt_starts_from_the_begin_token(self):
        self.assertEqual(generate(HF, "", "--max-tokens", 3)["prompt_ids"], [1])

    def test_no_new_tokens_are_a_result_too(self):
        result = generate(HF, "Once", "--max-tokens", 0)
        self.assertEqual((result["ids"], result["text"], result["stop"]), ([], "", "length"))

    def test_tokenize_and_decode_are_inverse(self):
        import json
        for model in (HF, GGUF):
            ids = json.loads(good("ck-run", "tokenize", model, "--text", self.once["prompt"], "--json"))["ids"]
            self.assertEqual(ids, self.once["prompt_ids"])
            bare = json.loads(good("ck-run", "tokenize", model, "--text", self.once["prompt"], "--no-special", "--json"))
            self.assertEqual([1] + bare["ids"], ids)
            text = good("ck-run", "tokenize", model, "--decode", ",".join(map(str, ids)))
            self.assertEqual(text, self.once["prompt"] + "\n")


if __name__ == "__main__":
    main()
