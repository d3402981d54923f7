"""Writes this folder's model: a small Llama that knows one story, as a Hugging Face directory and as GGUF, with the
logits and ids that a double-precision reference computes from its weights.

    make.py [OUTPUT_DIR]    default: the folder of this script

Needs Python 3 and numpy. The files are the same, byte for byte, on every machine.
"""

import json
import os
import sys

import numpy as np

import formats
import reference
import tokenizer
import train

STORY = (
    "Once upon a time, a small fox lived under a green hill. One night, a star fell into the pond. "
    "The fox ran to the pond and saw the star at the bottom. \"I can not fly,\" said the star. "
    "The fox gave the star a push. Now every night the star tells the fox a story."
)

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "bos_token_id": tokenizer.BEGIN,
    "eos_token_id": tokenizer.END,
    "hidden_act": "silu",
    "hidden_size": 48,
    "initializer_range": 0.02,
    "intermediate_size": 84,
    "max_position_embeddings": 256,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 6,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
    "use_cache": True,
    "vocab_size": 340,
}


def adjacent_pairs(rows, heads):
    """Reorders the rows of a projection so that RoPE pairs (i, i + D/2) of each head become (2i, 2i + 1)."""
    width = rows.shape[0] // heads
    return rows.reshape(heads, 2, width // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def gguf_tensors(weights):
    names = {
        "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
        "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    }
    heads = {"self_attn.q_proj": CONFIG["num_attention_heads"], "self_attn.k_proj": CONFIG["num_key_value_heads"]}
    tensors = {"token_embd.weight": weights["embed_tokens"]}
    for layer in range(CONFIG["num_hidden_layers"]):
        for ours, theirs in names.items():
            rows = weights["layers.%d.%s" % (layer, ours)]
            if ours in heads:
                rows = adjacent_pairs(rows, heads[ours])
            tensors["blk.%d.%s.weight" % (layer, theirs)] = rows
    tensors["output_norm.weight"] = weights["norm"]
    return tensors


def gguf_metadata(vocabulary):
    return [
        ("general.architecture", "string", "llama"),
        ("general.name", "string", "tiny-llama"),
        ("general.alignment", "u32", 32),
        ("general.file_type", "u32", 0),
        ("llama.context_length", "u32", CONFIG["max_position_embeddings"]),
        ("llama.embedding_length", "u32", CONFIG["hidden_size"]),
        ("llama.block_count", "u32", CONFIG["num_hidden_layers"]),
        ("llama.feed_forward_length", "u32", CONFIG["intermediate_size"]),
        ("llama.rope.dimension_count", "u32", CONFIG["hidden_size"] // CONFIG["num_attention_heads"]),
        ("llama.rope.freq_base", "f32", CONFIG["rope_theta"]),
        ("llama.attention.head_count", "u32", CONFIG["num_attention_heads"]),
        ("llama.attention.head_count_kv", "u32", CONFIG["num_key_value_heads"]),
        ("llama.attention.layer_norm_rms_epsilon", "f32", CONFIG["rms_norm_eps"]),
        ("llama.vocab_size", "u32", CONFIG["vocab_size"]),
        ("tokenizer.ggml.model", "string", "llama"),
        ("tokenizer.ggml.tokens", "string", vocabulary.pieces),
        ("tokenizer.ggml.scores", "f32", vocabulary.scores),
        ("tokenizer.ggml.token_type", "i32", vocabulary.types),
        ("tokenizer.ggml.bos_token_id", "u32", tokenizer.BEGIN),
        ("tokenizer.ggml.eos_token_id", "u32", tokenizer.END),
        ("tokenizer.ggml.unknown_token_id", "u32", tokenizer.UNKNOWN),
        ("tokenizer.ggml.add_bos_token", "bool", True),
        ("tokenizer.ggml.add_space_prefix", "bool", True),
    ]


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")


def write_golden(directory, name, vocabulary, prompt, new_tokens, stop_id):
    """Records what the reference makes of the files just written: greedy ids, and the logits of the first 8 rows."""
    config, weights = reference.load(os.path.join(directory, "hf"))
    prompt_ids = vocabulary.encode(prompt)
    ids, gap = reference.greedy(config, weights, prompt_ids, new_tokens, stop_id)
    if gap < 1e-2:
        sys.exit("the two best logits after '%s' come as close as %g: rounding could change the text" % (prompt, gap))
    inputs = (prompt_ids + ids)[:8]
    logits_file = name + ".logits8.npy"
    np.save(os.path.join(directory, logits_file), reference.logits(config, weights, inputs).astype(np.float32))
    write_json(os.path.join(directory, name + ".json"), {
        "prompt": prompt,
        "add_bos": True,
        "bos_id": tokenizer.BEGIN,
        "prompt_ids": prompt_ids,
        "new_tokens": len(ids),
        "greedy_ids": ids,
        "stop": "eos" if ids[-1] == stop_id else "length",
        "text": prompt + vocabulary.decode(ids),
        "min_top1_top2_gap": round(gap, 4),
        "logits8_file": logits_file,
        "logits8_inputs": inputs,
    })
    return ids, gap


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    directory = arguments[0] if arguments else os.path.dirname(os.path.abspath(__file__))
    hf = os.path.join(directory, "hf")
    os.makedirs(hf, exist_ok=True)

    vocabulary = tokenizer.learn(STORY, CONFIG["vocab_size"])
    ids = vocabulary.encode(STORY) + [tokenizer.END]
    weights, loss = train.train(CONFIG, ids, seed=1, steps=60, rate=0.01)
    print("%d tokens, loss %.4f nats per token" % (len(ids), loss))

    write_json(os.path.join(hf, "config.json"), CONFIG)
    write_json(os.path.join(hf, "generation_config.json"),
               {"_from_model_config": True, "bos_token_id": tokenizer.BEGIN, "eos_token_id": tokenizer.END})
    write_json(os.path.join(hf, "tokenizer.json"), tokenizer.to_hugging_face(vocabulary))
    write_json(os.path.join(hf, "tokenizer_config.json"), {
        "add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
        "legacy": True, "model_max_length": CONFIG["max_position_embeddings"], "tokenizer_class": "LlamaTokenizer",
    })
    formats.write_safetensors(os.path.join(hf, "model.safetensors"),
                              {"model.%s.weight" % name: w for name, w in sorted(weights.items())})
    formats.write_gguf(os.path.join(directory, "tiny-llama-f32.gguf"), gguf_metadata(vocabulary),
                       gguf_tensors(weights))

    for name, prompt, new_tokens, stop_id in (("golden_once", "Once upon a time", 200, tokenizer.END),
                                              ("golden_star", "The star said", 48, None)):
        ids, gap = write_golden(directory, name, vocabulary, prompt, new_tokens, stop_id)
        print("%s: %d ids, %d different, smallest gap of the two best logits %.3f: %r"
              % (name, len(ids), len(set(ids)), gap, prompt + vocabulary.decode(ids)))


if __name__ == "__main__":
    main(sys.argv[1:])
