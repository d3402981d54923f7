"""A Llama in plain PyTorch, written for comparison: f32, eager, one optimizer step a call."""
import json
import math
import os

import torch
import torch.nn.functional as F


class Llama:
    """Weights under their Hugging Face names; rows of a batch are sequences from position 0."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.width = config.get("head_dim") or config["hidden_size"] // self.heads
        if config.get("rope_scaling"):
            raise ValueError("rope_scaling is not part of this comparison")

    def norm(self, x, name):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.config["rms_norm_eps"])
        return x * scale * self.weights[name]

    def rotate(self, x, cos, sin):
        half = self.width // 2
        return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin

    def logits(self, ids):
        w, config = self.weights, self.config
        batch, length = ids.shape
        frequencies = config["rope_theta"] ** (-torch.arange(0, self.width, 2, dtype=torch.float64) / self.width)
        angles = torch.outer(torch.arange(length, dtype=torch.float64), frequencies)
        cos, sin = (torch.cat([f(angles)] * 2, -1).float() for f in (torch.cos, torch.sin))
        mask = torch.full((length, length), -math.inf).triu(1)
        x = w["model.embed_tokens.weight"][ids]
        for i in range(config["num_hidden_layers"]):
            name = f"model.layers.{i}."
            h = self.norm(x, name + "input_layernorm.weight")

            def heads(which, count):
                y = F.linear(h, w[f"{name}self_attn.{which}_proj.weight"])
                return y.view(batch, length, count, self.width).transpose(1, 2)
            q = self.rotate(heads("q", self.heads), cos, sin)
            k, v = self.rotate(heads("k", self.kv_heads), cos, sin), heads("v", self.kv_heads)
            if self.heads != self.kv_heads:
                k, v = (t.repeat_interleave(self.heads // self.kv_heads, 1) for t in (k, v))
            p = (q @ k.transpose(-1, -2) / math.sqrt(self.width) + mask).softmax(-1)
            y = (p @ v).transpose(1, 2).reshape(batch, length, -1)
            x = x + F.linear(y, w[name + "self_attn.o_proj.weight"])
            h = self.norm(x, name + "post_attention_layernorm.weight")
            gate, up = (F.linear(h, w[f"{name}mlp.{which}_proj.weight"]) for which in ("gate", "up"))
            x = x + F.linear(F.silu(gate) * up, w[name + "mlp.down_proj.weight"])
        head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
        return F.linear(self.norm(x, "model.norm.weight"), head)

    def loss(self, ids, targets):
        return F.cross_entropy(self.logits(ids).flatten(0, 1), targets.flatten(), ignore_index=-100)


class Trainer:
    """AdamW with decay on tensors of two or more dims, and a clip of the global norm without epsilon."""

    def __init__(self, model, lr, weight_decay=0.1, clip=1.0):
        self.model, self.clip = model, clip
        tensors = list(model.weights.values())
        self.optimizer = torch.optim.AdamW(
            [{"params": [t for t in tensors if t.dim() >= 2], "weight_decay": weight_decay},
             {"params": [t for t in tensors if t.dim() < 2], "weight_decay": 0.0}],
            lr=lr, betas=(0.9, 0.95), eps=1e-8)

    def step(self, ids, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model.loss(ids, targets)
        loss.backward()
        gradients = [t.grad for t in self.model.weights.values()]
        norm = torch.stack([g.norm() for g in gradients]).norm()
        if self.clip and norm > self.clip:
            for g in gradients:
                g.mul_(self.clip / norm)
        self.optimizer.step()
        return loss.item()


def load_config(folder):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        return json.load(file)
