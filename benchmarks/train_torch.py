#!/usr/bin/env python3
"""Trains one model with CK and with PyTorch side by side and prints tokens per second of both.

  OPENBLAS_CORETYPE=SKYLAKEX LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp \\
      benchmarks/train_torch.py benchmarks/models/nano --batch 4 --length 256 [--threads 2] [--steps 10] [--rounds 3]

Debian's PyTorch multiplies matrices with whatever BLAS it finds: the two variables give it the OpenMP OpenBLAS and, on
CPUs that this old OpenBLAS does not know, the kernels for AVX-512. Rounds alternate, so that both see the same machine;
the figures are medians over all steps but the first of each round.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test", "Integration"))


def random_weights(config, seed):
    """Weights of a Llama under their Hugging Face names: normal(0, 0.02), gains of 1."""
    random = numpy.random.default_rng(seed)
    hidden, ffn, heads = config["hidden_size"], config["intermediate_size"], config["num_attention_heads"]
    kv = config["num_key_value_heads"] * (hidden // heads)
    shapes = {"model.embed_tokens.weight": (config["vocab_size"], hidden), "model.norm.weight": (hidden,)}
    if not config.get("tie_word_embeddings"):
        shapes["lm_head.weight"] = (config["vocab_size"], hidden)
    for i in range(config["num_hidden_layers"]):
        for name, shape in {"input_layernorm": (hidden,), "post_attention_layernorm": (hidden,),
                            "self_attn.q_proj": (hidden, hidden), "self_attn.k_proj": (kv, hidden),
                            "self_attn.v_proj": (kv, hidden), "self_attn.o_proj": (hidden, hidden),
                            "mlp.gate_proj": (ffn, hidden), "mlp.up_proj": (ffn, hidden),
                            "mlp.down_proj": (hidden, ffn)}.items():
            shapes[f"model.layers.{i}.{name}.weight"] = shape
    return {name: numpy.ones(shape, numpy.float32) if len(shape) == 1
            else random.normal(0, 0.02, shape).astype(numpy.float32) for name, shape in shapes.items()}


def time_torch(config, args, steps):
    import torch
    from torch_llama import Llama, Trainer
    torch.set_num_threads(args.threads)
    trainer = Trainer(Llama(config, random_weights(config, 1)), 1e-4)
    ids = torch.randint(0, config["vocab_size"], (args.batch, args.length + 1))
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        trainer.step(ids[:, :-1], ids[:, 1:])
        times.append(time.perf_counter() - start)
    return times[1:]


def time_ck(args, steps, folder):
    out = subprocess.run(
        [args.ck_run, "train", "--config", os.path.join(args.model, "config.json"), "--batch",
         os.path.join(folder, "batch.json"), "--out", os.path.join(folder, "out"), "--steps", str(steps), "--lr", "1e-4",
         "--warmup", "0", "--schedule", "constant", "--threads", str(args.threads), "--engine", args.engine, "--json"],
        check=True, capture_output=True, text=True).stdout
    subprocess.run(["rm", "-rf", os.path.join(folder, "out")], check=True)
    return [json.loads(line)["seconds"] for line in out.splitlines()][1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder with config.json")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--ck-run", default=os.path.join(HERE, "..", "build", "release", "bin", "ck-run"))
    parser.add_argument("--torch-child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    with open(os.path.join(args.model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    if args.torch_child:
        print(json.dumps(time_torch(config, args, args.steps)))
        return
    tokens, ours, theirs = args.batch * args.length, [], []
    with tempfile.TemporaryDirectory() as folder:
        ids = numpy.random.default_rng(2).integers(0, config["vocab_size"], (args.batch, args.length + 1))
        with open(os.path.join(folder, "batch.json"), "w", encoding="utf-8") as file:
            json.dump({"input_ids": ids[:, :-1].tolist(), "targets": ids[:, 1:].tolist()}, file)
        for _ in range(args.rounds):
            ours += time_ck(args, args.steps, folder)
            child = subprocess.run([sys.executable, *sys.argv, "--torch-child"], check=True, capture_output=True, text=True)
            theirs += json.loads(child.stdout)
    rate = {name: tokens / statistics.median(times) for name, times in (("ck", ours), ("torch", theirs))}
    print(f"{os.path.basename(args.model.rstrip('/'))}: B={args.batch} T={args.length}, {args.threads} threads, medians of "
          f"{len(ours)} steps: CK {rate['ck']:.0f} tokens/s, PyTorch {rate['torch']:.0f} tokens/s, "
          f"ratio {rate['ck'] / rate['torch']:.2f}")


if __name__ == "__main__":
    main()
