"""Compares a buffer report of the standard decoder with its table: every buffer as declared, every step with its bindings.

usage: check_decoder.py decoder.json KERNEL_MAPS REPORT lse|probs
"""
import glob
import json
import os
import re
import sys

table_path, maps_path, report_path, save = sys.argv[1:]
table = json.load(open(table_path))
faults = []

# Twins stand for the kernel that they are the same as.
maps = {os.path.basename(p)[:-5]: json.load(open(p)) for p in glob.glob(maps_path + "/*/*.json")}
buffers, steps = {}, {"forward": [], "backward": []}
for line in open(report_path):
    words = line.split()
    if words[0] == "buffer":
        head, place = line.rstrip("\n").split(": ", 1)
        found = re.fullmatch(r"buffer (\S+) (\S+) (\S+) \[(.*?)\](?: alias=(\S+))?(?: when=(\S+))?", head)
        name, role, scope, dims, alias, when = found.groups()
        buffers[name] = dict(role=role, scope=scope, shape=dims.split(", "), alias=alias, when=when, place=place)
    elif words[0] in steps:
        steps[words[0]].append((words[2], dict(word.split("=", 1) for word in words[3:])))

# Buffers as declared. Hoisted constants are declared besides them.
for row in table["buffers"]:
    got = buffers.get(row["name"])
    want = {key: row.get(key) for key in ("role", "scope", "shape", "alias", "when")}
    if got is None or any(got[key] != value for key, value in want.items()):
        faults.append(f"buffer {row['name']}: expected {want}, found {got}")
quadratic = {"scores", "d_scores"}
for row in table["buffers"]:
    place = buffers[row["name"]]["place"]
    nothing = place.startswith("none")
    expected = row["role"] == "scratch" or (row["name"] in quadratic and save == "lse")
    if nothing != expected:
        faults.append(f"buffer {row['name']} has the place {place!r}")
for name in ("rope_cos_cache", "rope_sin_cache"):
    if not buffers[name]["place"].startswith("const arena"):
        faults.append(f"{name} is not in the const arena")
for name, other in (("d_mlp_out", "d_output"), ("d_proj_tmp", "d_residual1"), ("lm_head_weight", "token_emb"),
                    ("input", "embedded_input"), ("d_residual1", "d_output"), ("d_final_input", "d_output")):
    shared = re.search(r"\(shared with (.*)\)", buffers[name]["place"])
    if not shared or other not in shared.group(1).split(", "):
        faults.append(f"{name} is not shown as shared with {other}: {buffers[name]['place']}")


def bare(provider):
    return maps[provider].get("same_as", provider)


# Steps: the values that the table binds are among those of the call, and the kernel is the table's, its twin, or its form
# that adds or saves. Copies of gradients are no calls: they are one value with two names.
kernels = {row["kernel"]: row for row in table["kernels"]}
variants = {
    "attention": {"attention_head_major_f32", "attention_grad_head_major_f32", "attention_probs_head_major_f32",
                  "attention_forward_causal_head_major_gqa", "attention_backward_causal_head_major_gqa"},
    "rmsnorm": {"rms_norm_grad_add_input_f32"}}
absent = {"scores", "d_scores"} if save == "lse" else set()
for side in ("forward", "backward"):
    calls = iter(steps[side])
    for step in table[side]:
        kernel, bind = step["kernel"], step["bind"]
        if kernel == "residual_add" and side == "backward":
            continue
        wanted = {name for name in bind.values() if name not in absent and name != "proj_scratch"}
        for provider, operands in calls:
            names = {name for text in operands.values() for name in text.split("|")}
            if wanted <= names:
                break
        else:
            faults.append(f"{side} {kernel}: no call in order binds {sorted(wanted)}")
            break
        declared = kernels[kernel][side]["f32"]
        if declared not in maps:
            faults.append(f"{side} {kernel}: there is no kernel map {declared}")
        elif bare(declared) != bare(provider) and provider not in variants.get(kernel, ()):
            faults.append(f"{side} {kernel}: provider {provider} is not {declared}")
print("\n".join(faults) if faults else
      f"{len(table['buffers'])} buffers, {len(table['forward'])} + {len(table['backward'])} steps")
sys.exit(bool(faults))
