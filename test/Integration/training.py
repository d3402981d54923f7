"""Training runs as a user sees them: every kind of data, every way to end, and going on afterwards."""
import hashlib
import json
import os
import random
import re
import signal
import struct
import subprocess
import tempfile
import time
import xml.etree.ElementTree

import numpy

from support import DATA, SOURCE, TINY, Case, generate, good, load_json, logits, main, run, tool
from training_support import read_safetensors, train

HF = os.path.join(TINY, "hf")
GGUF = os.path.join(TINY, "tiny-llama-f32.gguf")
SANITIZED = bool(os.environ.get("CK_SANITIZE"))
SLOW_WRITES = os.path.join(os.environ["CK_BUILD"], "test", "Integration", "libslow-writes.so")

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16, "intermediate_size": 24,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256,
          "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False}
TEXT = "".join(f"{n} green bottles hanging on the wall, and if one should fall: {n - 1} left.\n"
               for n in range(30, 0, -1))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digests(folder, names=("training.safetensors", "model.safetensors", "loss.csv")):
    result = {}
    for name in names:
        result[name] = hashlib.sha256(read(os.path.join(folder, name))).hexdigest()
    return result


class Training(Case):
    """A byte-level model of 14,000 parameters and a text of 2 KB."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.config = self.write("small/config.json", json.dumps(CONFIG))
        self.text = self.write("text.txt", TEXT)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def flags(self, *more):
        """Of a run without its length and its folder."""
        return ["--config", self.config, "--text", self.text, "--batch-size", 2, "--seq", 16, "--lr", 0.01, "--warmup",
                3, "--schedule", "constant", "--seed", 5, *more]

    def start(self, out, *arguments, env=None):
        """A training in the background; its steps come as lines."""
        return subprocess.Popen([tool("ck-run"), "train", *map(str, arguments), "--out", out, "--json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **(env or {})))


class Runs(Training):
    def test_learns_and_writes_a_model_that_the_other_commands_open(self):
        out = self.path("out")
        steps = train(out, *self.flags("--steps", 60, "--eval-every", 20))
        self.assertEqual([step["step"] for step in steps], list(range(1, 61)))
        self.assertLess(steps[-1]["loss"], steps[0]["loss"] - 1)
        self.assertAlmostEqual(steps[0]["loss"], numpy.log(256), delta=0.1)
        self.assertIsNone(steps[0]["val_loss"])
        self.assertLess(steps[59]["val_loss"], steps[19]["val_loss"])
        for key in ("lr", "grad_norm", "seconds", "tokens_per_s", "tokens"):
            self.assertGreater(steps[5][key], 0, key)
        self.assertAlmostEqual(steps[0]["lr"], 0.01 / 3)

        result = generate(out, "10 green", "--max-tokens", 8)
        self.assertEqual(result["prompt_ids"], list(b"10 green"))
        self.assertEqual(json.loads(good("ck-run", "tokenize", out, "--text", " <s> \u00e9", "--json"))["ids"],
                         list(" <s> \u00e9".encode()))
        table = read(os.path.join(out, "loss.csv")).decode().splitlines()
        self.assertEqual(table[0], "step,loss,lr,grad_norm,val_loss")
        self.assertEqual(len(table), 61)
        self.assertEqual(float(table[60].split(",")[1]), steps[59]["loss"])
        self.assertEqual(float(table[60].split(",")[4]), steps[59]["val_loss"])
        picture = read(os.path.join(out, "loss.svg")).decode()
        self.assertIn("validation", picture)
        self.assertTrue(xml.etree.ElementTree.fromstring(picture).tag.endswith("svg"))

        # Validation is what `loss` says of the last tenth.
        tail = self.write("tail.txt", TEXT.encode()[-((len(TEXT) + 9) // 10):])
        loss = json.loads(good("ck-run", "loss", out, "--text", tail, "--seq", 16, "--json"))
        self.assertEqual(loss["tokens"], (len(TEXT) + 9) // 10 - 1)
        self.assertAlmostEqual(loss["loss"], steps[59]["val_loss"], delta=1e-5)
        again = json.loads(good("ck-run", "loss", out, "--text", tail, "--seq", 16, "--batch-size", 3, "--json"))
        self.assertAlmostEqual(again["loss"], loss["loss"], delta=1e-5)

    def test_bits_depend_on_neither_threads_nor_engine(self):
        train(self.path("a"), *self.flags("--steps", 6, "--accumulate", 2, "--threads", 1))
        others = (("--threads", 3), ("--engine", "interpret"), ("--threads", 2, "--engine", "aot"))
        for index, flags in enumerate(others):
            out = self.path(f"b{index}")
            train(out, *self.flags("--steps", 6, "--accumulate", 2, *flags))
            self.assertEqual(digests(out), digests(self.path("a")), flags)

    def test_raw_ids_are_the_same_text(self):
        ids = self.write("ids.bin", numpy.frombuffer(TEXT.encode(), numpy.uint8).astype("<u2").tobytes())
        flags = self.flags("--steps", 5)
        flags[flags.index("--text"):flags.index("--text") + 2] = ["--tokens", ids]
        train(self.path("ids"), *flags)
        train(self.path("text"), *self.flags("--steps", 5))
        self.assertEqual(digests(self.path("ids")), digests(self.path("text")))

    def test_short_batches_leave_nothing_behind(self):
        """Five windows in batches of two: 2, 2, and one that is short. Each step in a process of its own, where no
        memory is left of the step before, gives the bits of one process over two epochs."""
        short = self.write("short.txt", TEXT[:79])  # 72 train: 15 + 15 + 15 + 15 + 11
        flags = self.flags("--seq", 15)
        flags[flags.index("--text") + 1] = short
        steps = train(self.path("one"), *flags, "--steps", 6)
        self.assertEqual(sorted(step["tokens"] for step in steps[:3])[0] < 30, True)
        self.assertEqual(sum(step["tokens"] for step in steps[:3]), 70)
        self.assertEqual([step["epoch"] for step in steps], [0, 0, 0, 1, 1, 1])
        for count in range(1, 7):
            train(self.path("many"), *flags, "--steps", count, "--resume")
        self.assertEqual(digests(self.path("many")), digests(self.path("one")))

    def test_sequences_of_one_and_a_short_text(self):
        for text, seq in ((TEXT, 1), ("ab", 16), ("a" * 30, 16)):
            flags = self.flags("--steps", 3)
            flags[flags.index("--text") + 1] = self.write("t.txt", text)
            flags[flags.index("--seq") + 1] = seq
            out = self.path(f"seq{len(text)}")
            steps = train(out, *flags)
            self.assertEqual(len(steps), 3)
            self.assertTrue(all(numpy.isfinite(step["loss"]) for step in steps))

    def test_ragged_batches_one_then_two(self):
        one = self.write("one.json", json.dumps({"input_ids": [[1, 2, 3]], "targets": [[2, 3, 4]]}))
        two = self.write("two.json", json.dumps({"input_ids": [[1, 2, 3], [9]], "targets": [[2, 3, 4], [8]]}))
        losses = []
        for name in (one, two, one):
            model = ["--config", self.config] if not losses else ["--model", self.path(f"m{len(losses) - 1}")]
            steps = train(self.path(f"m{len(losses)}"), *model, "--batch", name, "--steps", 4, "--lr", 0.01)
            losses.append([step["loss"] for step in steps])
            self.assertLess(losses[-1][-1], losses[-1][0])

    def test_a_batch_without_targets_changes_nothing(self):
        batch = self.write("none.json", json.dumps({"input_ids": [[1, 2]], "targets": [[-100, -100]]}))
        code, out, err = run("ck-run", "train", "--model", HF, "--batch", batch, "--steps", 2, "--out",
                             self.path("out"), "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(err.count("every target is ignored"), 2)
        self.assertEqual([json.loads(line)["loss"] for line in out.splitlines()], [0, 0])
        _, before = read_safetensors(os.path.join(HF, "model.safetensors"))
        _, after = read_safetensors(os.path.join(self.path("out"), "model.safetensors"))
        for name, value in before.items():
            self.assert_same_bits(after[name], value, name)
        good("ck-run", "grad", HF, "--batch", batch, "--out", self.path("g.safetensors"))
        metadata, grads = read_safetensors(self.path("g.safetensors"))
        self.assertEqual(float(metadata["loss"]), 0)
        self.assertEqual(sorted(grads), sorted(before))
        self.assertTrue(all(not value.any() for value in grads.values()))

    def test_lengths_around_every_tile(self):
        """The first row's loss does not depend on how many rows follow it, and all lengths train in one batch."""
        config = self.write("long/config.json", json.dumps(dict(CONFIG, max_position_embeddings=300)))
        ids = [(7 * i * i + 3 * i + 1) % 256 for i in range(258)]
        lengths = (1, 2, 3, 7, 255, 257)
        mixed = self.write("mixed.json", json.dumps({"input_ids": [ids[:n] for n in lengths],
                                                     "targets": [ids[1:n + 1] for n in lengths]}))
        steps = train(self.path("mixed"), "--config", config, "--batch", mixed, "--steps", 3, "--lr", 0.01)
        self.assertEqual(steps[0]["tokens"], sum(lengths))
        self.assertLess(steps[2]["loss"], steps[0]["loss"])
        losses = []
        for n in lengths:
            batch = self.write("one.json", json.dumps({"input_ids": [ids[:n]],
                                                       "targets": [[ids[1]] + [-100] * (n - 1)]}))
            losses.append(json.loads(good("ck-run", "grad", self.path("mixed"), "--batch", batch, "--out",
                                          self.path("g.safetensors"), "--json"))["loss"])
            _, grads = read_safetensors(self.path("g.safetensors"))
            if n == 1:
                first = grads
            for name, value in first.items():
                self.assert_close(grads[name], value, 1e-5 * max(numpy.abs(value).max(), 1e-3), f"{name} T={n}")
        for loss in losses:
            self.assertAlmostEqual(loss, losses[0], delta=1e-5)

    def remade(self, name, change):
        """A copy of the example model, its tensors changed; change(name, array) gives (dtype, bytes)."""
        with open(os.path.join(HF, "model.safetensors"), "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            body = file.read()
        header.pop("__metadata__", None)
        data = b""
        for tensor, info in header.items():
            begin, end = info["data_offsets"]
            dtype, content = change(tensor, numpy.frombuffer(body[begin:end], "<f4"))
            info.update(dtype=dtype, data_offsets=[len(data), len(data) + len(content)])
            data += content
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        self.write(f"{name}/model.safetensors", struct.pack("<Q", len(text)) + text + data)
        return os.path.dirname(self.write(f"{name}/config.json", read(os.path.join(HF, "config.json"))))

    def test_half_precision_models_are_widened(self):
        def wide(_, values):
            return "F32", (values.view("<u4") & 0xffff0000).tobytes()

        def narrow(_, values):
            return "BF16", (values.view("<u4") >> 16).astype("<u2").tobytes()
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9]], "targets": [[5, 9, 30]]}))
        ids = self.write("ids.bin", numpy.arange(1, 40, dtype="<u2").tobytes())
        results = []
        for model in (self.remade("wide", wide), self.remade("narrow", narrow)):
            out = self.path("g.safetensors")
            good("ck-run", "grad", model, "--batch", batch, "--out", out)
            loss = json.loads(good("ck-run", "loss", model, "--tokens", ids, "--json"))
            train(model + "-out", "--model", model, "--batch", batch, "--steps", 2)
            results.append((read_safetensors(out), loss, digests(model + "-out", ("model.safetensors", "loss.csv"))))
        self.assertEqual(results[0][1:], results[1][1:])
        self.assertEqual(results[0][0][0], results[1][0][0])
        for name, value in results[0][0][1].items():
            self.assert_close(results[1][0][1][name], value, 1e-6 * max(1, numpy.abs(value).max()), name)

    def test_weights_of_zero_train(self):
        model = self.remade("zero", lambda name, values: (
            "F32", (values * 0 if "up_proj" in name or "layers.1.input_layernorm" in name else values).tobytes()))
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9]], "targets": [[5, 9, 30]]}))
        good("ck-run", "grad", model, "--batch", batch, "--out", self.path("g.safetensors"))
        _, grads = read_safetensors(self.path("g.safetensors"))
        for name, value in grads.items():
            self.assertTrue(numpy.isfinite(value).all(), name)
            # What is multiplied by zero has no gradient; the zero itself has one.
            if "gate_proj" in name or "down_proj" in name or "layers.1.self_attn" in name:
                self.assertFalse(value.any(), name)
            elif "up_proj" in name:
                self.assertTrue(value.any(), name)
        steps = train(self.path("out"), "--model", model, "--batch", batch, "--steps", 3, "--lr", 0.01)
        self.assertLess(steps[-1]["loss"], steps[0]["loss"])

    def test_a_model_from_gguf_becomes_a_hugging_face_folder(self):
        text = self.write("t.txt", "Once upon a time there was a tiny model. " * 8)
        out = self.path("out")
        train(out, "--model", GGUF, "--text", text, "--steps", 1, "--lr", 0, "--min-lr", 0, "--seq", 16)
        ids = [1, 20, 7, 33, 5]
        self.assert_close(logits(out, ids), logits(GGUF, ids), 1e-5)
        for sample in ("Once upon a time", " two  spaces", "\u20ac"):
            ours, theirs = (json.loads(good("ck-run", "tokenize", model, "--text", sample, "--json"))
                            for model in (out, GGUF))
            self.assertEqual(ours, theirs)

    def test_sgd_is_plain_arithmetic(self):
        """One step of SGD moves each weight by the rate times the gradient that `grad` writes."""
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9, 30]], "targets": [[5, 9, 30, 2]]}))
        train(self.path("out"), "--model", HF, "--batch", batch, "--steps", 1, "--optimizer", "sgd", "--lr", 0.1,
              "--warmup", 0, "--clip", 0, "--weight-decay", 0, "--schedule", "constant")
        good("ck-run", "grad", HF, "--batch", batch, "--out", self.path("g.safetensors"))
        _, grads = read_safetensors(self.path("g.safetensors"))
        _, before = read_safetensors(os.path.join(HF, "model.safetensors"))
        _, after = read_safetensors(os.path.join(self.path("out"), "model.safetensors"))
        for name, gradient in grads.items():
            self.assert_close(after[name], before[name].astype(numpy.float64) - 0.1 * gradient,
                              1e-6 * max(1, numpy.abs(before[name]).max()), name)

    def test_gradients_of_the_users_own_model_are_checked(self):
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9, 30, 44, 7], [1, 3]],
                                                 "targets": [[5, 9, 30, 44, 7, 2], [3, -100]]}))
        result = json.loads(good("ck-run", "grad", HF, "--batch", batch, "--grad-check", "--json"))
        self.assertEqual(result["wrong"], [])
        self.assertGreaterEqual(result["right"], 0.8 * result["tensors"], result)
        self.assertEqual(result["right"] + len(result["too_small"]), result["tensors"])
        code, _, err = run("ck-run", "train", *self.flags("--steps", 1, "--grad-check"), "--out", self.path("out"))
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"grad-check: \d+ of 21 tensors right to 0.01 .*, 0 wrong")

    def test_the_mean_loss_of_a_known_text(self):
        stories = os.path.join(DATA, "models", "stories260K")
        if not os.path.isdir(stories):
            self.skipTest("no real models")
        golden = load_json(os.path.join(stories, "golden_once.json"))
        text = golden["prompt_ids"] + golden["greedy_ids"]
        ids = self.write("ids.bin", numpy.array(text, "<u2").tobytes())
        for model in ("hf", "stories260K-f32.gguf"):
            loss = json.loads(good("ck-run", "loss", os.path.join(stories, model), "--tokens", ids, "--json"))
            self.assertEqual(loss["tokens"], len(text) - 1)
            self.assertAlmostEqual(loss["loss"], golden["mean_nll_of_all_ids"], delta=2e-5)


class GoingOn(Training):
    def test_a_resumed_run_equals_an_unbroken_one(self):
        flags = self.flags("--eval-every", 4, "--save-every", 5, "--accumulate", 2)
        train(self.path("one"), *flags, "--steps", 12)
        for count in (3, 7, 12):
            train(self.path("two"), *flags, "--steps", count, "--resume")
        self.assertEqual(digests(self.path("two")), digests(self.path("one")))

    def test_interrupts_save_and_say_how_to_go_on(self):
        flags = self.flags("--steps", 400, "--schedule", "cosine")
        train(self.path("one"), *flags)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(self.path("two"), *flags, "--resume")
            for _ in range(5):
                process.stdout.readline()
            process.send_signal(number)
            rest, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn(b"--resume goes on", err)
            step = int(re.search(rb"stopped after step (\d+)", err).group(1))
            self.assertEqual(json.loads(rest.splitlines()[-1] if rest else "{}").get("step", step), step)
        train(self.path("two"), *flags, "--resume")
        self.assertEqual(digests(self.path("two")), digests(self.path("one")))

    def test_twenty_kills_change_nothing(self):
        """Killed at seeded moments, every other one inside the write of a checkpoint, a run ends as an unbroken one."""
        flags = self.flags("--steps", 40, "--save-every", 2, "--eval-every", 10, "--threads", 1)
        train(self.path("one"), *flags)
        expected = digests(self.path("one"))
        moments = random.Random(20261130)
        env = {} if SANITIZED else {"LD_PRELOAD": SLOW_WRITES, "CK_SLOW_MS": "4"}
        kills = inside = folders = 0
        while kills < 20:
            out = self.path(f"killed{folders}")
            folders += 1
            finished = False
            while not finished and kills < 20:
                process = self.start(out, *flags, "--resume", env=env)
                half = os.path.join(out, "training.safetensors.tmp")
                if kills % 2 == 0:
                    wanted = moments.randrange(1, 4)
                    for _ in range(wanted):  # into the write of one of the next checkpoints
                        self.wait_until(process, lambda: os.path.exists(half))
                        if _ + 1 < wanted:
                            self.wait_until(process, lambda: not os.path.exists(half))
                    time.sleep(moments.random() * 0.05)
                else:
                    for _ in range(moments.randrange(1, 8)):
                        process.stdout.readline()
                    time.sleep(moments.random() * 0.02)
                finished = process.poll() is not None
                process.kill()
                _, err = process.communicate(timeout=60)
                if finished:
                    self.assertEqual(process.returncode, 0, err)
                else:
                    kills += 1
                    inside += os.path.exists(half)
            train(out, *flags, "--resume")
            self.assertEqual(digests(out), expected, f"after {kills} kills")
            self.assertFalse(os.path.exists(os.path.join(out, "training.safetensors.tmp")))
        if not SANITIZED:
            self.assertGreaterEqual(inside, 5)

    def wait_until(self, process, condition):
        end = time.time() + 60
        while not condition() and process.poll() is None:
            self.assertLess(time.time(), end)
            time.sleep(0.0005)

    def test_refuses_to_mix_runs(self):
        flags = self.flags("--steps", 2)
        out = self.path("out")
        train(out, *flags)
        before = digests(out)
        self.assert_refused("ck-run", "train", *flags, "--out", out, says=("checkpoint of step 2", "--resume"))
        changed = [0.02 if flag == 0.01 else flag for flag in flags]
        self.assert_refused("ck-run", "train", *changed, "--out", out, "--resume", says=("--lr was 0.01, now 0.02",))
        other = self.write("other.txt", TEXT[1:])
        changed = [other if flag == self.text else flag for flag in flags]
        self.assert_refused("ck-run", "train", *changed, "--out", out, "--resume", says=("the data was",))
        self.assert_refused("ck-run", "train", *flags, "--out", HF, says=("holds a model",))
        self.assertEqual(digests(out), before)
        code, out_text, err = run("ck-run", "train", *flags, "--out", out, "--resume", "--json")
        self.assertEqual((code, out_text), (0, ""), err)
        self.assertEqual(digests(out), before)


class Failures(Training):
    def test_numbers_that_overflow_stop_the_run_with_step_and_op(self):
        flags = [1e38 if flag == 0.01 else flag for flag in self.flags("--steps", 20, "--save-every", 1, "--clip", 0)]
        flags[flags.index("--warmup") + 1] = 12
        code, out, err = run("ck-run", "train", *flags, "--optimizer", "sgd", "--out", self.path("out"), "--json")
        self.assertEqual(code, 1, err)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertRegex(err, r"step \d+: ")
        self.assertRegex(err, r"nan|inf")
        self.assertTrue(re.search(r"first op at fault: |not written at step", err), err)

    def test_a_model_with_nan_names_the_op(self):
        source = os.path.join(HF, "model.safetensors")
        folder = os.path.dirname(self.write("bad/config.json", read(os.path.join(HF, "config.json"))))
        content = bytearray(read(source))
        length = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8:8 + length])
        name = next(name for name in header if name.endswith("layers.0.mlp.up_proj.weight"))
        at = 8 + length + header[name]["data_offsets"][0]
        content[at:at + 4] = struct.pack("<f", float("nan"))
        self.write("bad/model.safetensors", bytes(content))
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5]], "targets": [[5, 9]]}))
        for command in (("train", "--model", folder, "--steps", 1, "--out", self.path("out")),
                        ("grad", folder, "--out", self.path("g.safetensors"))):
            self.assert_refused("ck-run", *command, "--batch", batch,
                                says=("first op at fault", "(layers.0.up): ", "result 'output' holds nan",
                                      "'layers.0.w_up' holds nan at element 0"))
        self.assertFalse(os.path.exists(self.path("g.safetensors")))
        self.assertFalse(os.path.exists(os.path.join(self.path("out"), "training.safetensors")))

    def test_bad_inputs_are_one_error(self):
        flags = self.flags("--steps", 2)

        def refused(changes, says, drop=()):
            arguments = [str(flag) for flag in flags]
            for name, value in {"--out": self.path("refused"), **changes}.items():
                if name in arguments:
                    arguments[arguments.index(name) + 1] = str(value)
                else:
                    arguments += [name] if value is None else [name, str(value)]
            for name in drop:
                at = arguments.index(name)
                del arguments[at:at + 2]
            self.assert_refused("ck-run", "train", *arguments, says=says)

        small = dict(CONFIG, vocab_size=255)
        refused({"--config": self.write("v/config.json", json.dumps(small))}, ("at least 256",))
        refused({"--config": self.path("absent.json")}, ("absent.json",))
        refused({"--model": HF}, ("--config", "--model"))
        refused({"--tokens": self.text}, ("one of --text, --tokens and --batch",))
        refused({"--text": self.path("absent.txt")}, ("absent.txt",))
        refused({"--text": self.write("empty.txt", "")}, ("empty.txt", "empty"))
        refused({"--text": self.write("one.txt", "a")}, ("has 1 tokens", "at least 2"))
        refused({"--text": self.write("ten.txt", "abcdefghij"), "--eval-every": 1}, ("--eval-every", "too few"))
        odd = self.write("odd.bin", b"abc")
        refused({"--tokens": odd}, ("odd.bin", "little-endian u16"), drop=("--text",))
        far = self.write("far.bin", struct.pack("<3H", 1, 2, 256))
        refused({"--tokens": far}, ("far.bin: token 2 has the id 256", "vocabulary has 256"), drop=("--text",))
        bad = self.write("bad.json", json.dumps({"input_ids": [[1, 300]], "targets": [[1, 1]]}))
        refused({"--batch": bad}, ("bad.json: input_ids[0][1] is 300",), drop=("--text", "--seq"))
        long = self.write("long.json", json.dumps({"input_ids": [[1] * 65], "targets": [[1] * 65]}))
        refused({"--batch": long}, ("65 tokens", "made for 64"), drop=("--text", "--seq"))
        three = self.write("three.json", json.dumps({"input_ids": [[1]] * 3, "targets": [[1]] * 3}))
        refused({"--batch": three, "--accumulate": 1}, ("3 sequences", "holds only 2"), drop=("--text", "--seq"))
        refused({"--batch": three}, ("--seq has no meaning with --batch",), drop=("--text",))
        refused({"--seq": 65}, ("--seq is 65", "made for 64"))
        for name, value in (("--steps", 0), ("--batch-size", 0), ("--seq", 0), ("--accumulate", 0), ("--warmup", -1),
                            ("--eval-every", 0), ("--save-every", 0), ("--threads", 0), ("--lr", "nan"), ("--lr", -1),
                            ("--clip", -1), ("--weight-decay", "inf"), ("--beta1", 1), ("--schedule", "linear"),
                            ("--optimizer", "adam"), ("--checkpoint", "all"), ("--engine", "gpu"), ("--momentum", 0.9),
                            ("--min-lr", 0.1)):
            refused({name: value}, (name,))
        refused({"--no-decay": "("}, ("no-decay",))
        refused({"--out": self.text}, ("text.txt",))
        self.assertFalse(os.path.exists(os.path.join(self.path("refused"), "model.safetensors")))
        for command, says in ((["grad", HF, "--batch", bad], "--out"),
                              (["grad", HF, "--batch", self.path("no.json"), "--out", "x"], "no.json"),
                              (["loss", HF], "--text or --tokens"), (["loss", HF, "--text", self.path("no")], "no"),
                              (["loss", HF, "--text", self.text, "--seq", 0], "--seq"),
                              (["loss", os.path.dirname(self.config), "--text", self.text], "model.safetensors")):
            self.assert_refused("ck-run", *command, says=(says,))

    def test_a_full_disk_leaves_the_last_checkpoint(self):
        out = self.path("out")
        flags = self.flags("--save-every", 1)
        train(out, *flags, "--steps", 2)
        before = digests(out, ("training.safetensors",))
        limit = os.path.getsize(os.path.join(out, "training.safetensors")) // 2 // 1024
        command = " ".join(f"'{part}'" for part in map(str, [tool("ck-run"), "train", *flags, "--steps", 4, "--resume",
                                                              "--out", out]))
        done = subprocess.run(["bash", "-c", f"trap '' XFSZ; ulimit -f {limit}; exec {command}"], capture_output=True,
                              timeout=60)
        err = done.stderr.decode()
        self.assertEqual(done.returncode, 1, err)
        self.assertIn("training.safetensors: cannot be written: File too large", err)
        self.assertIn("checkpoint of step 2 is intact", err)
        self.assertEqual(digests(out, ("training.safetensors",)), before)
        train(out, *flags, "--steps", 4, "--resume")


if __name__ == "__main__":
    main()
