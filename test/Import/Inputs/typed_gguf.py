"""Writes a GGUF of a decoder of one layer, all zeros, whose tensors have the types that the command line names.

    typed_gguf.py FILE [tied] [TENSOR=TYPE ...]     f32 where nothing is said; TENSOR is a name or its last part
"""
import struct
import sys

# Number in GGUF, elements and bytes of a block.
TYPES = {"f32": (0, 1, 4), "f16": (1, 1, 2), "bf16": (30, 1, 2), "q4_0": (2, 32, 18), "q4_1": (3, 32, 20),
         "q5_0": (6, 32, 22), "q5_1": (7, 32, 24), "q8_0": (8, 32, 34), "q3_k": (11, 256, 110), "q4_k": (12, 256, 144),
         "q5_k": (13, 256, 176), "q6_k": (14, 256, 210)}
WIDTH, HEADS, FEED, VOCAB = 256, 4, 512, 40
SHAPES = {"token_embd": (VOCAB, WIDTH), "blk.0.attn_norm": (WIDTH,), "blk.0.attn_q": (WIDTH, WIDTH),
          "blk.0.attn_k": (WIDTH // 2, WIDTH), "blk.0.attn_v": (WIDTH // 2, WIDTH), "blk.0.attn_output": (WIDTH, WIDTH),
          "blk.0.ffn_norm": (WIDTH,), "blk.0.ffn_gate": (FEED, WIDTH), "blk.0.ffn_up": (FEED, WIDTH),
          "blk.0.ffn_down": (WIDTH, FEED), "output_norm": (WIDTH,), "output": (VOCAB, WIDTH)}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def main():
    file, *words = sys.argv[1:]
    shapes = dict(SHAPES)
    if "tied" in words:
        del shapes["output"]
    chosen = dict(word.split("=") for word in words if "=" in word)
    entries = [("architecture", 8, text("llama")), ("name", 8, text("typed"))]
    settings = {"context_length": 64, "embedding_length": WIDTH, "block_count": 1, "feed_forward_length": FEED,
                "attention.head_count": HEADS, "attention.head_count_kv": HEADS // 2, "vocab_size": VOCAB}
    meta = [("general." + key, kind, value) for key, kind, value in entries]
    meta += [("llama." + key, 4, struct.pack("<I", value)) for key, value in settings.items()]
    meta += [("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5)),
             ("llama.rope.freq_base", 6, struct.pack("<f", 1e4))]
    header = struct.pack("<IIQQ", 0x46554747, 3, len(shapes), len(meta))
    header += b"".join(text(key) + struct.pack("<I", kind) + value for key, kind, value in meta)
    size = 0
    for name, shape in shapes.items():
        number, block, length = TYPES[chosen.get(name, chosen.get(name.split(".")[-1], "f32"))]
        header += text(name + ".weight") + struct.pack("<I", len(shape))
        header += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        header += struct.pack("<IQ", number, size)
        rows = shape[0] if len(shape) > 1 else 1
        size += -(-rows * (shape[-1] // block) * length // 32) * 32
    header += b"\0" * (-len(header) % 32)
    with open(file, "wb") as out:
        out.write(header + b"\0" * size)


main()
