"""Plans stacks of feed-forward layers with and without recomputation and prints by how many bytes the arena grows with a
layer.

usage: checkpoint_memory.py CK_OPT KERNEL_MAPS
"""
import json
import subprocess
import sys

ck_opt, maps = sys.argv[1:]
X, H, W1, W2 = "tensor<64x32xf32>", "tensor<64x256xf32>", "tensor<256x32xf32>", "tensor<32x256xf32>"


def layer(i):
    tag = f"ck.layer = {i} : i64"
    return f"""
  %u{i} = ck.param @u{i} : {W1}
  %d{i} = ck.param @d{i} : {W2}
  %n{i} = ck.rms_norm %x{i} {{eps = 1.0e-5 : f64, gain = "none", {tag}}} : ({X}) -> {X}
  %h{i} = ck.linear %n{i}, %u{i} {{{tag}}} : ({X}, {W1}) -> {H}
  %a{i} = ck.activation %h{i} {{kind = "silu", {tag}}} : ({H}) -> {H}
  %p{i} = ck.linear %a{i}, %d{i} {{{tag}}} : ({H}, {W2}) -> {X}
  %x{i + 1} = ck.add %x{i}, %p{i} {{{tag}}} : ({X}, {X}) -> {X}"""


def module(layers):
    return "\n".join(
        [f"ck.buffer @u{i} weight : {W1} {{trainable}}\nck.buffer @d{i} weight : {W2} {{trainable}}"
         for i in range(layers)]
        + [f'func.func @step(%x0: {X} {{ck.input = "x"}}, %t: tensor<64xi32> {{ck.input = "t"}})'
           ' -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {']
        + [layer(i) for i in range(layers)]
        + [f"  %loss = ck.cross_entropy %x{layers}, %t : ({X}, tensor<64xi32>) -> tensor<1xf32>",
           "  return %loss : tensor<1xf32>\n}"])


def arena(policy, layers):
    passes = f"builtin.module(ck-autodiff,ck-checkpoint{{policy={policy}}},ck-fold-accumulate,cse,"
    passes += f"ck-inference-pipeline{{maps={maps} report=-}})"
    run = subprocess.run([ck_opt, f"--pass-pipeline={passes}", "-", "-o", "/dev/null"], input=module(layers),
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["arena_bytes"]


for policy in "none", "layer":
    print(policy, (arena(policy, 24) - arena(policy, 12)) / 12)
