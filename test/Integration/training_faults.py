"""What a training run must say instead of going on: tensors that nobody reads, other data, damaged checkpoints."""
import json
import os
import struct

import numpy

from support import TINY, good, main, run
from training import Training, read
from training_support import read_safetensors, train

HF = os.path.join(TINY, "hf")


def rewrite(path, change):
    """Rewrites a safetensors file: `change` gets metadata and a dict of (dtype, shape, bytes)."""
    data = read(path)
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {name: [info["dtype"], info["shape"], data[8 + size:][slice(*info["data_offsets"])]]
               for name, info in header.items()}
    change(metadata, tensors)
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


class Faults(Training):
    def copy_of_model(self):
        for name in os.listdir(HF):
            self.write("model/" + name, read(os.path.join(HF, name)))
        return self.path("model")

    def test_tensors_that_nobody_reads_are_named(self):
        model = self.copy_of_model()
        rewrite(os.path.join(model, "model.safetensors"), lambda _, tensors: tensors.update(
            {"model.layers.0.self_attn.q_proj.bias": ["F32", [48], bytes(192)]}))
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9]], "targets": [[5, 9, 2]]}))
        for arguments in (("grad", model, "--batch", batch, "--out", self.path("g.safetensors")),
                          ("train", "--model", model, "--batch", batch, "--steps", 1, "--out", self.path("out"))):
            code, _, err = run("ck-run", *arguments)
            self.assertEqual(code, 0, err)
            self.assertIn("warning: " + model + ": tensor 'model.layers.0.self_attn.q_proj.bias' is not used", err)

    def test_gradients_never_replace_the_model(self):
        model = self.copy_of_model()
        weights = os.path.join(model, "model.safetensors")
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9]], "targets": [[5, 9, 2]]}))
        before = read(weights)
        self.assert_refused("ck-run", "grad", model, "--batch", batch, "--out", weights,
                            says=["the file with the weights"])
        self.assertEqual(read(weights), before)

    def test_no_decay_knows_both_names_and_refuses_what_matches_nothing(self):
        batch = self.write("b.json", json.dumps({"input_ids": [[1, 5, 9]], "targets": [[5, 9, 2]]}))
        common = ("--model", HF, "--batch", batch, "--steps", 2, "--lr", 0.01, "--weight-decay", 0.5)
        for name, flags in (("all", ()), ("ours", ("--no-decay", "tok_emb")), ("file", ("--no-decay", "embed_tokens"))):
            train(self.path(name), *common, *flags)
        every, ours, file = (read_safetensors(self.path(name + "/model.safetensors"))[1] for name in ("all", "ours", "file"))
        embedding = "model.embed_tokens.weight"
        self.assert_same_bits(ours[embedding], file[embedding])
        self.assertFalse(numpy.array_equal(every[embedding], ours[embedding]))
        self.assert_refused("ck-run", "train", *common, "--no-decay", "nobody", "--out", self.path("none"),
                            says=["--no-decay 'nobody' matches no parameter"])
        self.assertFalse(os.path.exists(self.path("none")))

    def test_going_on_with_other_data_is_refused(self):
        rows = {"a": [[1], [2]], "b": [[1, 3]]}
        for name, ids in rows.items():
            self.write(name + ".json", json.dumps({"input_ids": ids, "targets": [[4] * len(row) for row in ids]}))
        flags = ("--batch-size", 1, "--accumulate", 2, "--out", self.path("out"), "--model", HF)
        good("ck-run", "train", *flags, "--steps", 2, "--batch", self.path("a.json"))
        self.assert_refused("ck-run", "train", *flags, "--steps", 2, "--batch", self.path("b.json"), "--resume",
                            says=["the data was"])

    def test_a_damaged_checkpoint_is_refused(self):
        out = self.path("out")
        good("ck-run", "train", *self.flags("--steps", 4, "--out", out))
        checkpoint = os.path.join(out, "training.safetensors")
        whole = read(checkpoint)

        def state(**values):
            def change(metadata, _):
                metadata["training"] = json.dumps(dict(json.loads(metadata["training"]), **values))
            return change

        def poison(_, tensors):
            tensors["tok_emb.m"][2] = struct.pack("<f", float("inf")) + tensors["tok_emb.m"][2][4:]
        for change, says in ((state(index=999999), "is behind the last one"), (state(updates=5), "counts 5 updates"),
                             (poison, "is damaged")):
            rewrite(checkpoint, change)
            damaged = read(checkpoint)
            self.assert_refused("ck-run", "train", *self.flags("--steps", 6, "--out", out, "--resume"), says=[says])
            self.assertEqual(read(checkpoint), damaged)
            with open(checkpoint, "wb") as file:
                file.write(whole)
        good("ck-run", "train", *self.flags("--steps", 6, "--out", out, "--resume"))

    def test_a_constant_rate_can_go_on_for_longer(self):
        flags = ("--config", self.config, "--text", self.text, "--batch-size", 2, "--seq", 16, "--schedule", "constant",
                 "--out", self.path("out"))
        good("ck-run", "train", *flags, "--steps", 3)
        good("ck-run", "train", *flags, "--steps", 60, "--resume")


del Training  # its tests run with their own file

if __name__ == "__main__":
    main()
