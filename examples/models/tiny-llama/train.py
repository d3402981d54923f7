"""Trains a small Llama on one text, bit for bit the same everywhere.

Only additions, multiplications, divisions, square roots and roundings of IEEE doubles are used, in an order that this
file fixes: no BLAS, no library exp, no reduction whose order depends on vector width. A weight file made here is
therefore equal to the one that is checked in, on any machine.
"""

import math

import numpy as np


def matmul(a, b):
    """a[..., n, k] @ b[..., k, m], summed in the order of k."""
    out = np.zeros(a.shape[:-1] + b.shape[-1:])
    product = np.empty_like(out)
    for k in range(a.shape[-1]):
        np.multiply(a[..., :, k, None], b[..., k, None, :], out=product)
        out += product
    return out


def total(x):
    """The sum over the last axis, kept as an axis of extent 1."""
    out = np.zeros(x.shape[:-1])
    for i in range(x.shape[-1]):
        out += x[..., i]
    return out[..., None]


def exp(x):
    """e^x to about one unit in the last place: 2^n times a Taylor polynomial."""
    x = np.maximum(x, -700.0)
    n = np.rint(x * 1.4426950408889634)
    r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10
    y = np.ones_like(r)
    for k in range(13, 0, -1):
        y = y * r / k + 1.0
    return np.ldexp(y, n.astype(np.int32))


def transposed(x):
    return np.ascontiguousarray(np.swapaxes(x, -1, -2))


def initial_weights(config, seed):
    """Uniform weights with the variance 1 / inputs; gains of 1."""
    random = np.random.Generator(np.random.PCG64(seed))
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    kv = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
    shapes = {"embed_tokens": (config["vocab_size"], hidden)}
    for layer in range(config["num_hidden_layers"]):
        prefix = "layers.%d." % layer
        shapes.update({
            prefix + "input_layernorm": (hidden,),
            prefix + "self_attn.q_proj": (hidden, hidden),
            prefix + "self_attn.k_proj": (kv, hidden),
            prefix + "self_attn.v_proj": (kv, hidden),
            prefix + "self_attn.o_proj": (hidden, hidden),
            prefix + "post_attention_layernorm": (hidden,),
            prefix + "mlp.gate_proj": (inner, hidden),
            prefix + "mlp.up_proj": (inner, hidden),
            prefix + "mlp.down_proj": (hidden, inner),
        })
    shapes["norm"] = (hidden,)
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            weights[name] = np.ones(shape)
        else:
            weights[name] = (random.random(shape) * 2 - 1) * math.sqrt(3 / shape[1])
    return weights


class Tape:
    """Forward and backward of one sequence; `gradients` fills as the backward functions run, last to first."""

    def __init__(self, config, weights, tokens):
        self.config, self.weights = config, weights
        self.gradients, self.backward = {}, []
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.width = config["hidden_size"] // self.heads
        pairs = self.width // 2
        frequency = np.array([config["rope_theta"] ** (-i / pairs) for i in range(pairs)])
        angle = np.arange(tokens)[:, None] * frequency
        # Rounding to float32 hides the last bit of the library's cosine, which may differ between machines.
        self.cos = np.cos(angle).astype(np.float32).astype(np.float64)
        self.sin = np.sin(angle).astype(np.float32).astype(np.float64)

    def add_gradient(self, name, value):
        self.gradients[name] = self.gradients[name] + value if name in self.gradients else value

    def linear(self, x, name):
        weight = self.weights[name]
        y = matmul(x, transposed(weight))

        def back(dy):
            self.add_gradient(name, matmul(transposed(dy), x))
            return matmul(dy, weight)

        return y, back

    def norm(self, x, name):
        gain = self.weights[name]
        r = 1 / np.sqrt(total(x * x) / x.shape[1] + self.config["rms_norm_eps"])

        def back(dy):
            self.add_gradient(name, total(transposed(dy * x * r))[:, 0])
            scaled = dy * gain
            return r * (scaled - x * r * r * total(scaled * x) / x.shape[1])

        return x * r * gain, back

    def rotate(self, x, sign=1):
        """Pairs (i, i + width/2) of x[heads, T, width]; sign -1 is the inverse and the adjoint."""
        half = self.width // 2
        a, b, sin = x[..., :half], x[..., half:], sign * self.sin
        return np.concatenate([a * self.cos - b * sin, a * sin + b * self.cos], axis=-1)

    def split_heads(self, x, heads):
        return np.ascontiguousarray(x.reshape(-1, heads, self.width).swapaxes(0, 1))

    def join_heads(self, x):
        return np.ascontiguousarray(x.swapaxes(0, 1)).reshape(x.shape[1], -1)

    def attention(self, q, k, v):
        """q[T, H*D], k and v[T, KV*D], causal."""
        group = self.heads // self.kv_heads
        scale = 1 / math.sqrt(self.width)
        q = self.rotate(self.split_heads(q, self.heads))
        k = np.repeat(self.rotate(self.split_heads(k, self.kv_heads)), group, axis=0)
        v = np.repeat(self.split_heads(v, self.kv_heads), group, axis=0)
        scores = matmul(q, transposed(k)) * scale
        scores[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = -1e300
        p = exp(scores - scores.max(axis=-1, keepdims=True))
        p[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = 0
        p = p / total(p)

        def sum_groups(x):
            parts = x.reshape(self.kv_heads, group, *x.shape[1:])
            out = parts[:, 0]
            for i in range(1, group):
                out = out + parts[:, i]
            return out

        def back(dy):
            dy = self.split_heads(dy, self.heads)
            dp = matmul(dy, transposed(v))
            ds = p * (dp - total(p * dp)) * scale
            dq = self.rotate(matmul(ds, k), -1)
            dk = self.rotate(sum_groups(matmul(transposed(ds), q)), -1)
            dv = sum_groups(matmul(transposed(p), dy))
            return self.join_heads(dq), self.join_heads(dk), self.join_heads(dv)

        return self.join_heads(matmul(p, v)), back


def attention_block(tape, x, prefix):
    h, norm_back = tape.norm(x, prefix + "input_layernorm")
    q, q_back = tape.linear(h, prefix + "self_attn.q_proj")
    k, k_back = tape.linear(h, prefix + "self_attn.k_proj")
    v, v_back = tape.linear(h, prefix + "self_attn.v_proj")
    mixed, attention_back = tape.attention(q, k, v)
    y, o_back = tape.linear(mixed, prefix + "self_attn.o_proj")

    def back(dy):
        dq, dk, dv = attention_back(o_back(dy))
        return dy + norm_back(q_back(dq) + k_back(dk) + v_back(dv))

    return x + y, back


def feed_forward_block(tape, x, prefix):
    h, norm_back = tape.norm(x, prefix + "post_attention_layernorm")
    gate, gate_back = tape.linear(h, prefix + "mlp.gate_proj")
    up, up_back = tape.linear(h, prefix + "mlp.up_proj")
    s = 1 / (1 + exp(-gate))
    y, down_back = tape.linear(gate * s * up, prefix + "mlp.down_proj")

    def back(dy):
        d = down_back(dy)
        return dy + norm_back(gate_back(d * up * s * (1 + gate * (1 - s))) + up_back(d * gate * s))

    return x + y, back


def loss_and_gradients(config, weights, ids):
    """Mean negative log-likelihood of ids[1:] in nats, and its gradients by weight name."""
    inputs, targets = np.array(ids[:-1]), np.array(ids[1:])
    tape = Tape(config, weights, len(inputs))
    x, steps = weights["embed_tokens"][inputs], []
    for layer in range(config["num_hidden_layers"]):
        for block in (attention_block, feed_forward_block):
            x, back = block(tape, x, "layers.%d." % layer)
            steps.append(back)
    h, norm_back = tape.norm(x, "norm")
    scores, head_back = tape.linear(h, "embed_tokens")
    p = exp(scores - scores.max(axis=1, keepdims=True))
    p = p / total(p)
    rows = np.arange(len(targets))
    loss = float(np.mean(-np.log(p[rows, targets])))  # for the reader only
    p[rows, targets] -= 1
    d = norm_back(head_back(p / len(targets)))
    for back in reversed(steps):
        d = back(d)
    for t, i in enumerate(inputs):  # the tied embedding has two uses and one gradient
        tape.gradients["embed_tokens"][i] += d[t]
    return loss, tape.gradients


def train(config, ids, seed, steps, rate):
    """AdamW with a linearly falling rate; returns float32 weights by short name and the last loss."""
    weights = initial_weights(config, seed)
    first = {name: np.zeros_like(w) for name, w in weights.items()}
    second = {name: np.zeros_like(w) for name, w in weights.items()}
    decay1, decay2, loss = 1.0, 1.0, math.nan
    for step in range(steps):
        loss, gradients = loss_and_gradients(config, weights, ids)
        decay1, decay2 = decay1 * 0.9, decay2 * 0.95
        now = rate * (1 - step / steps)
        for name, gradient in gradients.items():
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.95 * second[name] + 0.05 * gradient * gradient
            change = first[name] / (1 - decay1) / (np.sqrt(second[name] / (1 - decay2)) + 1e-8)
            if weights[name].ndim == 2:
                change = change + 0.05 * weights[name]
            weights[name] = weights[name] - now * change
    return {name: w.astype(np.float32) for name, w in weights.items()}, loss
