"""Faults that users met in programs of this kind, each as a small input that would show the same fault here."""
import json
import os
import re
import shutil
import sys
import tempfile

import numpy

from gguf_rewrite import Gguf
from support import SOURCE, TINY, Case, generate, good, load_json, logits, main, run

sys.path.insert(0, TINY)
import formats  # noqa: E402
import reference  # noqa: E402

HF = os.path.join(TINY, "hf")
GGUF = os.path.join(TINY, "tiny-llama-f32.gguf")
BENCHMARKS = os.path.join(SOURCE, "benchmarks", "models")

# The shape of Llama-3.1-8B.
LLAMA_8B = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "hidden_act": "silu", "tie_word_embeddings": False,
    "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192, "rope_type": "llama3"},
}


class FolderCase(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def copy_of_tiny(self, **changes):
        """The model of our own under another name, with keys of its configuration changed."""
        shutil.copytree(HF, self.path("model"))
        config = dict(load_json(os.path.join(HF, "config.json")), **changes)
        self.write("model/config.json", json.dumps(config))
        return self.path("model")

    def plan(self, config, *flags):
        """The memory plan of a configuration, as the report gives it, and the module in PLAN."""
        good("ck-translate", "--import-hf", config, "-o", self.path("graph.mlir"), *flags)
        good("ck-opt", self.path("graph.mlir"), "--ck-inference-pipeline=report=" + self.path("plan.json"), "-o",
             self.path("plan.mlir"))
        return load_json(self.path("plan.json")), self.read("plan.mlir")


class Attention(FolderCase):
    def test_groups_of_heads_that_are_no_power_of_two(self):
        random = numpy.random.default_rng(4)
        for heads, kv_heads, width in ((28, 4, 4), (48, 2, 2)):
            hidden, kv, ffn, vocab = heads * width, kv_heads * width, 33, 50
            shapes = {"model.embed_tokens.weight": (vocab, hidden), "model.norm.weight": (hidden,),
                      "lm_head.weight": (vocab, hidden)}
            for layer in range(2):
                for name, shape in (("input_layernorm", (hidden,)), ("post_attention_layernorm", (hidden,)),
                                    ("self_attn.q_proj", (hidden, hidden)), ("self_attn.k_proj", (kv, hidden)),
                                    ("self_attn.v_proj", (kv, hidden)), ("self_attn.o_proj", (hidden, hidden)),
                                    ("mlp.gate_proj", (ffn, hidden)), ("mlp.up_proj", (ffn, hidden)),
                                    ("mlp.down_proj", (hidden, ffn))):
                    shapes[f"model.layers.{layer}.{name}.weight"] = shape
            weights = {name: random.normal(0, shape[-1] ** -0.5, shape).astype(numpy.float32)
                       for name, shape in shapes.items()}
            config = dict(load_json(os.path.join(HF, "config.json")), num_attention_heads=heads,
                          num_key_value_heads=kv_heads, hidden_size=hidden, intermediate_size=ffn, vocab_size=vocab,
                          num_hidden_layers=2, tie_word_embeddings=False)
            model = self.path(f"heads{heads}")
            os.mkdir(model)
            self.write(f"heads{heads}/config.json", json.dumps(config))
            formats.write_safetensors(os.path.join(model, "model.safetensors"), weights)
            exact = {name: array.astype(numpy.float64) for name, array in weights.items()}
            for ids in ([7], [7, 49, 0, 3, 3]):
                expected = reference.logits(config, exact, ids)
                for chunk in (1, 64):
                    self.assert_close(logits(model, ids, "--chunk", chunk), expected, 1e-5, f"{heads} {ids} {chunk}")


class Lengths(FolderCase):
    def test_prompts_around_the_sizes_of_tiles(self):
        model = self.copy_of_tiny(max_position_embeddings=300)
        config, weights = reference.load(model)
        text = "Once upon a time, there was a little star. It was happy. " * 20
        all_ids = json.loads(good("ck-run", "tokenize", model, "--text", text, "--json"))["ids"]
        seven = None
        for length in (1, 2, 3, 7, 255, 257):
            prompt = good("ck-run", "tokenize", model, "--decode", ",".join(map(str, all_ids[:length])))[:-1]
            result = generate(model, prompt, "--max-tokens", 2, "--ignore-eos")
            ids = result["prompt_ids"]
            self.assertEqual(len(ids), length)
            rows = logits(model, ids)
            exact = reference.logits(config, weights, ids)
            self.assert_close(rows, exact, 1e-4, f"{length} tokens")
            self.assertEqual(result["ids"], reference.greedy(config, weights, ids, 2)[0], f"{length} tokens")
            seven = rows if length == 7 else seven
        self.assert_close(logits(model, ids[:1]), seven[:1], 1e-5)


class Memory(FolderCase):
    def test_the_plan_of_a_large_model_is_exact_in_64_bits(self):
        config = self.write("config.json", json.dumps(LLAMA_8B))
        rows, width, kv, ffn, vocab, layers, head = 131072, 4096, 1024, 14336, 128256, 32, 128
        report, module = self.plan(config, "--context=131072", "--chunk=131072")
        # Keys and values, one row for each position.
        self.assertEqual(report["state_bytes"], 4 * 2 * layers * rows * kv)
        self.assertEqual(report["state_bytes"], 34359738368)
        # Cosines and sines of half a head.
        self.assertEqual(report["const_bytes"], 4 * 2 * rows * head // 2)
        entries = {entry["name"]: entry for entry in report["entries"]}
        # While `up` is computed there live the residual stream, its norm, gate and up; and the product packs its input.
        self.assertEqual(entries["prefill"]["arena_bytes"], 4 * rows * (2 * width + 2 * ffn + width))
        self.assertEqual(entries["prefill"]["arena_bytes"], 21474836480)
        # Attention of one row: stream, query and result, and for each head and 128 keys a maximum, a sum and a row.
        self.assertEqual(entries["decode"]["arena_bytes"], 4 * (3 * width + 32 * (rows // 128) * (head + 2)))
        for entry in entries.values():
            for buffer in entry["buffers"]:
                self.assertGreaterEqual(buffer["offset"], 0)
                self.assertLessEqual(buffer["offset"] + buffer["size"], entry["arena_bytes"])
        parameters = 0
        for shape in re.findall(r"ck\.buffer @\S+ weight : tensor<([0-9x]+)xf32>", module):
            parameters += numpy.prod([int(extent) for extent in shape.split("x")], dtype=numpy.int64)
        layer = 2 * width + 2 * width * width + 2 * kv * width + 3 * ffn * width
        self.assertEqual(parameters, 2 * vocab * width + width + layers * layer)
        self.assertEqual(parameters, 8030261248)

    def test_a_size_beyond_64_bits_is_an_error(self):
        huge = dict(LLAMA_8B, max_position_embeddings=2 ** 31 - 1, num_key_value_heads=32,
                    hidden_size=2 ** 26, num_attention_heads=32, intermediate_size=2 ** 31 - 1)
        config = self.write("config.json", json.dumps(huge))
        code, _, err = run("ck-translate", "--import-hf", config, f"--context={2 ** 31 - 1}", f"--chunk={2 ** 31 - 1}",
                           "-o", self.path("graph.mlir"))
        if code == 0:
            self.assert_refused("ck-opt", self.path("graph.mlir"), "--ck-inference-pipeline", "-o",
                                self.path("plan.mlir"), says=["64 bits"])
        else:
            self.assertEqual((code, err.count("error:")), (1, 1), err)
        self.assertFalse(os.path.exists(self.path("plan.mlir")))

    def test_activations_take_hardly_more_than_what_lives_at_once(self):
        for config in (os.path.join(HF, "config.json"), os.path.join(BENCHMARKS, "l124", "config.json")):
            report, _ = self.plan(config)
            judged = run("ck-opt", self.path("plan.mlir"), "--ck-verify-plan=remarks max-ratio=1.05", "-o", os.devnull)
            self.assertEqual(judged[0], 0, judged[2])
            remarks = dict(re.findall(r"entry '(\w+)': \d+ bytes of arena, (\d+) live at most", judged[2]))
            for entry in report["entries"]:
                # The planner's own bound is that of the judge, who shares no code with it.
                self.assertEqual(int(remarks[entry["name"]]), entry["bound"], config)
                self.assertLessEqual(entry["arena_bytes"], 1.05 * entry["bound"], config)

    def test_every_parameter_is_read_by_every_step(self):
        for name, flag in ((os.path.join(HF, "config.json"), "--import-hf"), (GGUF, "--import-gguf")):
            good("ck-translate", flag, name, "-o", self.path("g.mlir"))
            plan = good("ck-opt", self.path("g.mlir"), "--ck-inference-pipeline")
            weights = set(re.findall(r"ck\.buffer (@\S+) weight : ", plan))
            self.assertEqual(len(weights), 29)
            for entry in ("decode", "prefill"):
                body = plan.split("func.func @" + entry + "(")[1].split("func.func")[0]
                self.assertEqual(set(re.findall(r"ck\.param (@\S+)", body)), weights, f"{name} {entry}")


class DeepModel(FolderCase):
    def test_ninety_six_layers_reach_the_llvm_dialect(self):
        good("ck-translate", "--import-hf", os.path.join(BENCHMARKS, "deep96", "config.json"), "-o", self.path("g.mlir"))
        text = good("ck-opt", self.path("g.mlir"), "--ck-inference-pipeline", "--ck-lower-to-llvm")
        for entry in ("decode", "prefill", "init"):
            self.assertRegex(text, rf"llvm\.func internal @\S*{entry}\b")
        self.assertEqual(len(re.findall(r"llvm\.call @ckk_attention_\w+\(", text)), 2 * 96)


class Providers(FolderCase):
    def test_an_attribute_that_fits_no_provider_is_one_located_error_with_every_candidate(self):
        good("ck-translate", "--import-hf", os.path.join(HF, "config.json"), "-o", self.path("good.mlir"))
        lines = self.read("good.mlir").split("\n")
        number = next(i for i, line in enumerate(lines) if "ck.attention" in line)
        lines[number] = lines[number].replace("{heads", "{alibi = 8.0 : f64, heads", 1)
        module = self.write("edited.mlir", "\n".join(lines))
        folder = os.path.join(SOURCE, "kernel_maps", "attention")
        maps = [load_json(os.path.join(folder, name)) for name in os.listdir(folder)]
        candidates = sorted(m["id"] for m in maps if any(i["op"] == "attention" for i in m.get("implements", [])))
        self.assertGreater(len(candidates), 2)
        out = self.path("out")
        for command in (("ck-opt", module, "--ck-inference-pipeline", "-o", out),
                        ("ck-translate", module, "--ck-to-table", "-o", out),
                        ("ck-run", "logits", module, "--tokens", "1", "--out", out)):
            err = self.assert_refused(*command, says=[f"edited.mlir:{number + 1}:", "'ck.attention' op has no provider"])
            reasons = dict(re.findall(r"^ *(\w+): (.+)$", err, re.MULTILINE))
            for name in candidates:
                self.assertRegex(reasons.get(name, ""), "alibi|needs layout|numerics class", f"{name}: {err}")
            self.assertFalse(os.path.exists(out))

    def test_a_stricter_class_of_numerics_than_any_provider_has(self):
        good("ck-translate", "--import-hf", os.path.join(HF, "config.json"), "-o", self.path("good.mlir"))
        module = self.write("strict.mlir", self.read("good.mlir").replace('ck.numerics = "f32"', 'ck.numerics = "f64"'))
        self.assert_refused("ck-opt", module, "--ck-inference-pipeline",
                            says=["strict.mlir:", "embedding_rows_f32: its numerics class f32 is not within f64"])


class EditedPlans(FolderCase):
    def test_a_plan_is_judged_before_it_runs_or_is_written(self):
        self.plan(os.path.join(HF, "config.json"))
        text = self.read("plan.mlir")
        out = self.path("out")
        for pattern, edited, message in (
                (r"ck\.view activation\[\d+\]", "ck.view activation[99999999936]", "outside the activation arena"),
                (r"arena_bytes = \d+ : i64", "arena_bytes = 64 : i64", "arena of"),
                (r"state_bytes = \d+", "state_bytes = 64", "outside the state arena")):
            module = self.write("edited.mlir", re.sub(pattern, edited, text, count=1))
            for engine in ("jit", "aot", "interpret"):
                self.assert_refused("ck-run", "logits", module, "--tokens", "1,2", "--out", out, "--engine", engine,
                                    says=["edited.mlir:", message])
            for flag in ("--ck-to-table", "--ck-to-object"):
                self.assert_refused("ck-translate", flag, module, "-o", out, says=["edited.mlir:", message])
            self.assertFalse(os.path.exists(out))


    def test_a_plan_for_a_kernel_that_is_not_there(self):
        self.plan(os.path.join(HF, "config.json"))
        module = self.write("edited.mlir", self.read("plan.mlir").replace("@rmsnorm_forward", "@rmsnorm_unknown"))
        for engine in ("jit", "aot", "interpret"):
            self.assert_refused("ck-run", "logits", module, "--tokens", "1", "--out", self.path("out"), "--engine", engine,
                                says=["rmsnorm_unknown"])


class Names(FolderCase):
    def test_buffers_with_names_of_the_c_library(self):
        good("ck-translate", "--import-hf", os.path.join(HF, "config.json"), "-o", self.path("plain.mlir"))
        text = self.read("plain.mlir")
        for old, new in (("@tok_emb", "@free"), ("@layers.0.wq", "@memcpy"), ("@layers.0.wk", "@exp"),
                         ("@layers.0.k_cache", "@main"), ("@layers.1.wq", "@malloc"),
                         ("@layers.1.wk", '@"a name. \u00fc"'), ('ck.model = "hf"', 'ck.model = "free"')):
            self.assertIn(old, text)
            text = re.sub(re.escape(old) + r"(?![\w.])", lambda _, name=new: name, text)
        module = self.write("odd.mlir", text)
        ids = [1, 5, 9, 2]
        expected = logits(self.path("plain.mlir"), ids)
        for engine in ("jit", "aot", "interpret"):
            self.assert_same_bits(logits(module, ids, "--engine", engine), expected, engine)


class GgufFiles(FolderCase):
    def test_any_alignment_and_size_of_metadata_gives_the_same_logits(self):
        source = Gguf(GGUF)
        expected = logits(GGUF, [1, 5, 9])
        for alignment in (16, 64, 4096):
            for padding in (0, 13, 5000):
                path = self.path(f"{alignment}-{padding}.gguf")
                self.assertEqual(source.write(path, alignment, padding)[0], 0)
                self.assert_same_bits(logits(path, [1, 5, 9]), expected, path)

    def test_a_missing_tensor_is_named_and_an_unused_one_is_a_warning(self):
        file = Gguf(GGUF)
        taken = file.tensors.pop("blk.1.ffn_up.weight")
        file.write(self.path("missing.gguf"))
        out = self.path("x.npy")
        self.assert_refused("ck-run", "logits", self.path("missing.gguf"), "--tokens", "1", "--out", out,
                            says=["missing.gguf", "blk.1.ffn_up.weight"])
        self.assertFalse(os.path.exists(out))
        file.tensors["blk.1.ffn_upp.weight"] = taken
        file.write(self.path("renamed.gguf"))
        self.assert_refused("ck-run", "logits", self.path("renamed.gguf"), "--tokens", "1", "--out", out,
                            says=["blk.1.ffn_up.weight"])
        file.tensors["blk.1.ffn_up.weight"] = taken
        file.write(self.path("unused.gguf"))
        code, _, err = run("ck-run", "logits", self.path("unused.gguf"), "--tokens", "1", "--out", out)
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"warning: .*blk\.1\.ffn_upp\.weight")


if __name__ == "__main__":
    main()
