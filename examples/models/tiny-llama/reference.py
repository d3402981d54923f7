"""A Llama in double precision, from its published formulas; it shares nothing with CK's kernels.

    reference.py MODEL_DIR GOLDEN_JSON    compares a model in the Hugging Face layout with recorded ids and logits
"""

import json
import os
import sys

import numpy as np

import formats


def rms_norm(x, gain, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * gain


def rotate(x, theta):
    """Rotates x[position, head, :] with pairs (i, i + width/2)."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[0])[:, None, None] * theta ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=-1)


def attend(q, k, v):
    """Causal attention of q[T,H,D] over k, v[T,KV,D]."""
    tokens, heads, width = q.shape
    out = np.empty_like(q)
    for h in range(heads):
        g = h // (heads // k.shape[1])
        scores = q[:, h] @ k[:, g].T / np.sqrt(width)
        scores[np.triu_indices(tokens, 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        out[:, h] = weights / weights.sum(axis=1, keepdims=True) @ v[:, g]
    return out.reshape(tokens, heads * width)


def logits(config, weights, ids):
    """Logits [len(ids), vocabulary] of a model in the Hugging Face layout."""
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    width, eps, theta = config["hidden_size"] // heads, config["rms_norm_eps"], config["rope_theta"]
    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(config["num_hidden_layers"]):
        w = lambda name: weights["model.layers.%d.%s.weight" % (layer, name)]
        h = rms_norm(x, w("input_layernorm"), eps)
        q = (h @ w("self_attn.q_proj").T).reshape(-1, heads, width)
        k = (h @ w("self_attn.k_proj").T).reshape(-1, kv_heads, width)
        v = (h @ w("self_attn.v_proj").T).reshape(-1, kv_heads, width)
        x = x + attend(rotate(q, theta), rotate(k, theta), v) @ w("self_attn.o_proj").T
        h = rms_norm(x, w("post_attention_layernorm"), eps)
        gate = h @ w("mlp.gate_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w("mlp.up_proj").T)) @ w("mlp.down_proj").T
    head = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    return rms_norm(x, weights["model.norm.weight"], eps) @ weights[head].T


def greedy(config, weights, prompt_ids, new_tokens, stop_id=None):
    """The likeliest continuation, and the smallest gap between the two best logits on the way."""
    ids, gap = list(prompt_ids), np.inf
    while len(ids) < len(prompt_ids) + new_tokens:
        last = logits(config, weights, ids)[-1]
        second, first = np.sort(last)[-2:]
        gap = min(gap, first - second)
        ids.append(int(np.argmax(last)))
        if ids[-1] == stop_id:
            break
    return ids[len(prompt_ids) :], float(gap)


def load(directory):
    with open(os.path.join(directory, "config.json")) as file:
        config = json.load(file)
    return config, formats.read_safetensors(os.path.join(directory, "model.safetensors"))


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    config, weights = load(arguments[0])
    with open(arguments[1]) as file:
        golden = json.load(file)
    rows = np.load(os.path.join(os.path.dirname(arguments[1]), golden["logits8_file"]))
    ours = logits(config, weights, golden["logits8_inputs"])
    error = np.abs(ours - rows).max() / np.abs(rows).max()
    ids, gap = greedy(config, weights, golden["prompt_ids"], len(golden["greedy_ids"]))
    print("logits: largest error %.2g of the largest logit; ids %s; smallest gap of the two best logits %.4f"
          % (error, "equal" if ids == golden["greedy_ids"] else "DIFFER", gap))
    if error > 1e-6 or ids != golden["greedy_ids"]:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
