"""Gradients and training steps of whole models against double-precision goldens."""
import json
import os
import tempfile

import numpy

from training_support import read_safetensors, train
from support import DATA, ENGINES, Case, data_or_skip, good, load_json, main

data_or_skip()
LLAMA = os.path.join(DATA, "golden", "train", "llama-tied")
STORIES = os.path.join(DATA, "models", "stories260K")


class LlamaTied(Case):
    """Two layers, three query heads for each key head, the embedding is the head."""

    @classmethod
    def setUpClass(cls):
        cls.golden = load_json(os.path.join(LLAMA, "train.json"))
        cls.deviation = cls.golden["f32_torch_deviation"]
        cls.batch = os.path.join(LLAMA, "train.json")

    def grad(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "G.safetensors")
            good("ck-run", "grad", LLAMA, "--batch", self.batch, "--out", out, *flags)
            return read_safetensors(out)

    def assert_gradients(self, metadata, grads):
        _, expected = read_safetensors(os.path.join(LLAMA, "grads.safetensors"))
        expected = {name: value for name, value in expected.items() if not name.endswith(".f32")}
        self.assertEqual(sorted(grads), sorted(expected))
        self.assertLessEqual(abs(float(metadata["loss"]) - self.golden["loss_before_step"][0]),
                             10 * self.deviation["loss"])
        for name, value in expected.items():
            bound = 10 * self.deviation["grad_max_rel_to_tensor_max"] * numpy.abs(value).max()
            self.assert_close(grads[name], value, bound, name)

    def test_every_gradient(self):
        for engine in ENGINES:
            self.assert_gradients(*self.grad("--engine", engine))

    def test_every_gradient_with_recomputed_layers(self):
        self.assert_gradients(*self.grad("--checkpoint", "layer"))

    def test_bits_do_not_depend_on_threads_or_engine(self):
        _, first = self.grad("--threads", 1)
        for flags in (("--threads", 2), ("--threads", 3), ("--threads", 8), ("--engine", "interpret")):
            _, grads = self.grad(*flags)
            for name, value in first.items():
                self.assert_same_bits(grads[name], value, f"{name} {flags}")

    def test_five_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            steps = train(folder, "--model", LLAMA, "--batch", self.batch, "--steps", 5, "--lr", 1e-3, "--warmup", 0,
                          "--schedule", "constant", "--clip", 1, "--weight-decay", 0.1)
            self.assertEqual([step["step"] for step in steps], [1, 2, 3, 4, 5])
            for step, loss, norm in zip(steps, self.golden["loss_before_step"],
                                        self.golden["grad_norm_before_clip"]):
                self.assertLessEqual(abs(step["loss"] - loss), 10 * self.deviation["loss"] * max(1, loss))
                self.assertLessEqual(abs(step["grad_norm"] - norm), 1e-5 * norm)
            _, weights = read_safetensors(os.path.join(folder, "model.safetensors"))
            _, expected = read_safetensors(os.path.join(LLAMA, "weights_after5.safetensors"))
            for name, value in expected.items():
                self.assert_close(weights[name], value, 10 * self.deviation["weights_max_abs"], name)

    def test_micro_batches_give_the_step_of_the_whole_batch(self):
        with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as parts:
            common = ("--model", LLAMA, "--batch", self.batch, "--steps", 3, "--lr", 1e-3, "--warmup", 0, "--schedule",
                      "constant")
            one = train(whole, *common)
            two = train(parts, *common, "--batch-size", 1, "--accumulate", 2)
            for a, b in zip(one, two):
                self.assertLessEqual(abs(a["loss"] - b["loss"]), 1e-5)
                self.assertLessEqual(abs(a["grad_norm"] - b["grad_norm"]), 1e-4)


class Stories(Case):
    """A trained model, its embedding tied: gradients of both row orders of wq and wk, from both containers."""

    NAMES = {"emb": "model.embed_tokens", "rms_f": "model.norm", "rms_att": "input_layernorm",
             "rms_ffn": "post_attention_layernorm", "wq": "self_attn.q_proj", "wk": "self_attn.k_proj",
             "wv": "self_attn.v_proj", "wo": "self_attn.o_proj", "w1": "mlp.gate_proj", "w2": "mlp.down_proj",
             "w3": "mlp.up_proj"}
    GGUF = {"emb": "token_embd", "rms_f": "output_norm", "rms_att": "attn_norm", "rms_ffn": "ffn_norm", "wq": "attn_q",
            "wk": "attn_k", "wv": "attn_v", "wo": "attn_output", "w1": "ffn_gate", "w2": "ffn_down", "w3": "ffn_up"}

    @classmethod
    def setUpClass(cls):
        cls.golden = load_json(os.path.join(STORIES, "golden_grad.json"))

    def gradients(self, model):
        with tempfile.TemporaryDirectory() as folder:
            batch, out = os.path.join(folder, "batch.json"), os.path.join(folder, "G.safetensors")
            ids = self.golden["ids"]
            with open(batch, "w", encoding="utf-8") as file:
                json.dump({"input_ids": [ids[:-1]], "targets": [ids[1:]]}, file)
            good("ck-run", "grad", os.path.join(STORIES, model), "--batch", batch, "--out", out)
            return read_safetensors(out)

    def check(self, model, tensor_of, row_of):
        metadata, grads = self.gradients(model)
        self.assertLessEqual(abs(float(metadata["loss"]) - self.golden["mean_loss"]), 1e-5)
        for short, golden in self.golden["grads"].items():
            for index, value in golden["points"]:
                layered = len(golden["shape"]) > len(index) or short not in ("emb", "rms_f")
                layer, place = (index[0], index[1:]) if layered else (None, index)
                gradient = grads[tensor_of(short, layer)]
                if short in ("wq", "wk"):
                    place = [row_of(place[0]), *place[1:]]
                self.assertLessEqual(abs(gradient[tuple(place)] - value), 1e-4 * numpy.abs(gradient).max(),
                                     f"{model} {short} {index}")

    def test_hugging_face_layout_pairs_half_a_head_apart(self):
        def half(row, width=8):
            head, lane = divmod(row, width)
            return head * width + lane % 2 * (width // 2) + lane // 2

        def tensor(short, layer):
            name = self.NAMES[short] + ".weight"
            return name if layer is None else f"model.layers.{layer}.{name}"
        self.check("hf", tensor, half)

    def test_gguf_layout_pairs_neighbours(self):
        def tensor(short, layer):
            name = self.GGUF[short] + ".weight"
            return name if layer is None else f"blk.{layer}.{name}"
        self.check("stories260K-f32.gguf", tensor, lambda row: row)

    def test_the_tied_embedding_stays_one_tensor(self):
        ids = self.golden["ids"]
        with tempfile.TemporaryDirectory() as folder:
            batch = os.path.join(folder, "batch.json")
            with open(batch, "w", encoding="utf-8") as file:
                json.dump({"input_ids": [ids[:-1]], "targets": [ids[1:]]}, file)
            out = os.path.join(folder, "out")
            steps = train(out, "--model", os.path.join(STORIES, "hf"), "--batch", batch, "--steps", 3, "--lr", 1e-3,
                          "--warmup", 0, "--schedule", "constant")
            self.assertLess(steps[-1]["loss"], steps[0]["loss"])
            _, weights = read_safetensors(os.path.join(out, "model.safetensors"))
            self.assertNotIn("lm_head.weight", weights)
            _, before = read_safetensors(os.path.join(STORIES, "hf", "model.safetensors"))
            self.assertEqual(sorted(weights), sorted(before))
            _, state = read_safetensors(os.path.join(out, "training.safetensors"))
            self.assertFalse([name for name in state if "lm_head" in name])


if __name__ == "__main__":
    main()
