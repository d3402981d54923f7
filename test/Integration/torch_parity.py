"""The same model trained by PyTorch and by CK: the losses go together."""
import importlib.util
import json
import os
import sys
import tempfile

import numpy

from support import SOURCE, TINY, Case, good, main

if importlib.util.find_spec("torch") is None:
    print("skipped: python3-torch is not installed")
    sys.exit(77)
import torch  # noqa: E402  (its absence is handled above)

from training_support import read_safetensors, train  # noqa: E402
from torch_llama import Llama, Trainer, load_config  # noqa: E402


class Parity(Case):
    def compare(self, model, steps, batch, length, rate):
        config = load_config(model)
        _, weights = read_safetensors(os.path.join(model, "model.safetensors"))
        random = numpy.random.default_rng(7)
        ids = random.integers(0, config["vocab_size"], (batch, length + 1))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "batch.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"input_ids": ids[:, :-1].tolist(), "targets": ids[:, 1:].tolist()}, file)
            ours = train(os.path.join(folder, "out"), "--model", model, "--batch", path, "--steps", steps, "--lr", rate,
                         "--warmup", 0, "--schedule", "constant")
        torch.manual_seed(0)
        trainer = Trainer(Llama(config, weights), rate)
        for step in ours:
            theirs = trainer.step(torch.tensor(ids[:, :-1]), torch.tensor(ids[:, 1:]))
            self.assertLessEqual(abs(step["loss"] - theirs), 1e-5 * max(1.0, theirs),
                                 f"step {step['step']}: {step['loss']} and {theirs}")

    def test_twenty_steps_of_the_example_model(self):
        self.compare(os.path.join(TINY, "hf"), 20, 3, 29, 1e-3)


if __name__ == "__main__":
    main()
