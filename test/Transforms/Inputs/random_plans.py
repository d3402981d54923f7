"""Random programs against the planner and the judge of plans.

    random_plans.py CK_OPT FOLDER

Writes random straight-line programs, lets ck-plan-memory place their buffers and ck-verify-plan confirm it. Then moves
buffers at random and compares the judge's verdict on each plan with that of a simulation here, byte by byte.
"""
import random
import re
import subprocess
import sys

PROVIDERS = """
  ck.provider @mix {digest = "", numerics = "f32", inventory_op = "mix", signature = "a[M]:f32, b[N]:f32 -> output[K]:f32"}
  ck.provider @neg {digest = "", numerics = "f32", inventory_op = "neg", signature = "a[N]:f32 -> output[N]:f32", inplace = ["a=output"]}
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "a[M]:f32 -> output[K]:f32+="}
  ck.provider @work {digest = "", numerics = "f32", inventory_op = "work", signature = "a[M]:f32 -> output[K]:f32", scratch = ["s[M]:f32"]}
"""


def make_program(rng):
    """Calls (kind, inputs, output) over buffers 0, 1, ... with their numbers of floats; "x" and "y" are arguments."""
    floats, calls, written = [], [], []

    def fresh(count=None):
        floats.append(count or 16 * rng.randint(1, 6))
        return len(floats) - 1

    for _ in range(rng.randint(2, 14)):
        pick = lambda: rng.choice(written) if written and rng.random() < 0.9 else "x"
        kind = rng.choice(["mix", "neg", "neg", "into", "work"])
        source = pick()
        others = [value for value in written if value != source]
        if kind == "into" and others:
            calls.append((kind, [source], rng.choice(others)))
            continue
        if kind == "neg" and source != "x":
            output = fresh(floats[source])
        else:
            kind = "work" if kind == "work" else "mix"
            output = fresh()
        calls.append((kind, [source, pick()] if kind == "mix" else [source], output))
        written.append(output)
    calls.append(("mix", [rng.choice(written), "x"], "y"))
    return floats, calls


def emit(name, program, views=None, arena=0):
    """The program as MLIR: bufferized, or with `views` (offsets of buffers, then of scratch by call) planned."""
    floats, calls = program
    size = lambda value: 16 if value in ("x", "y") else floats[value]
    text = "module {\n" if views is None else (
        "module attributes {ck.plan = {arena_bytes = %d : i64, const_bytes = 0 : i64, state_bytes = 0 : i64}} {\n" % arena)
    text += PROVIDERS
    attributes = "ck.entry" if views is None else (
        "ck.entry, ck.arena_bytes = %d : i64, ck.thread_scratch_bytes = 0 : i64" % arena)
    text += '  func.func @f(%%x: memref<16xf32> {ck.input = "x"}, %%y: memref<16xf32> {ck.output = "y"}) attributes {%s} {\n' % attributes
    for i, count in enumerate(floats):
        make = "memref.alloc()" if views is None else "ck.view activation[%d]" % views[i]
        text += '    %%%s = %s : memref<%dxf32> loc("%s.%d")\n' % ("b%d" % i, make, count, name, i)
    ref = lambda value: "%" + (value if isinstance(value, str) else "b%d" % value)
    for step, (kind, inputs, output) in enumerate(calls):
        scratch = ""
        if kind == "work" and views is not None:
            bytes_ = 4 * size(inputs[0])
            text += '    %%s%d = ck.view activation[%d] : memref<%dxi8> loc("%s.s%d")\n' % (
                step, views["s%d" % step], bytes_, name, step)
            scratch = " scratch(%%s%d : memref<%dxi8>)" % (step, bytes_)
        ins = ", ".join("%s = %s : memref<%dxf32>" % (n, ref(v), size(v)) for n, v in zip("ab", inputs))
        dims = {"mix": "M = %d, N = %d, K = %d" % (size(inputs[0]), size(inputs[-1]), size(output)),
                "neg": "N = %d" % size(output)}.get(kind, "M = %d, K = %d" % (size(inputs[0]), size(output)))
        text += "    ck.call @%s ins(%s) outs(output = %s : memref<%dxf32>)%s sizes(%s)\n" % (
            kind, ins, ref(output), size(output), scratch, dims)
    return text + "    return\n  }\n}\n"


def is_valid(program, views):
    """Runs a plan on an array that holds, for every 64 bytes, the buffer that was written there last."""
    floats, calls = program
    memory = {}

    def cells(value):
        if isinstance(value, tuple):  # scratch
            start, count = views[value[0]], value[1]
        else:
            start, count = views[value], floats[value]
        return range(start // 64, (start + 4 * count + 63) // 64)

    for step, (kind, inputs, output) in enumerate(calls):
        reads = [v for v in inputs if v != "x"] + ([output] if kind == "into" else [])
        writes = [] if output == "y" else [output]
        if kind == "work":
            writes.append(("s%d" % step, 16 if inputs[0] == "x" else floats[inputs[0]]))
        for i, a in enumerate(writes):
            for b in [v for v in inputs if v != "x"] + writes[:i]:
                pair = kind == "neg" and a == output and b == inputs[0] and views[a] == views[b]
                if not pair and set(cells(a)) & set(cells(b)):
                    return False
        if any(memory.get(cell) != value for value in reads for cell in cells(value)):
            return False
        for value in writes:
            memory.update((cell, value) for cell in cells(value))
    return True


def run(ck_opt, pipeline, path):
    return subprocess.run([ck_opt, "--pass-pipeline=builtin.module(%s)" % pipeline, "--split-input-file", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main():
    ck_opt, folder = sys.argv[1:]
    rng = random.Random(20240229)
    programs = [make_program(rng) for _ in range(150)]
    path = folder + "/programs.mlir"
    with open(path, "w") as file:
        file.write("// -----\n".join(emit("c%d" % i, program) for i, program in enumerate(programs)))
    planned = run(ck_opt, "ck-plan-memory,ck-verify-plan", path)
    assert planned.returncode == 0, planned.stderr[:2000]

    plans = []
    for program, text in zip(programs, planned.stdout.split("// -----")):
        floats, calls = program
        offsets = [int(offset) for offset in re.findall(r"ck\.view activation\[(\d+)\] : memref<\d+xf32>", text)]
        scratch = [int(offset) for offset in re.findall(r"ck\.view activation\[(\d+)\] : memref<\d+xi8>", text)]
        used = sorted({v for _, inputs, output in calls for v in inputs + [output] if isinstance(v, int)})
        assert len(offsets) == len(used), text
        views = dict(zip(used, offsets))
        views.update(("s%d" % step, scratch.pop(0)) for step, call in enumerate(calls) if call[0] == "work")
        assert is_valid(program, views), "the simulation refuses a plan:\n" + text
        plans.append((program, views, int(re.search(r"arena_bytes = (\d+)", text).group(1))))

    cases, expected = [], set()
    for i in range(400):
        program, views, arena = plans[i % len(plans)]
        views = dict(views)
        for moved in rng.sample(sorted(views, key=str), rng.randint(1, min(2, len(views)))):
            views[moved] = 64 * rng.randint(0, max(arena // 64, 1))
        cases.append(emit("c%d" % i, program, views, arena=arena + 4096))
        if not is_valid(program, views):
            expected.add(i)
    path = folder + "/moved.mlir"
    with open(path, "w") as file:
        file.write("// -----\n".join(cases))
    judged = run(ck_opt, "ck-verify-plan", path)
    errors = [line for line in judged.stderr.splitlines() if " error: " in line]
    refused = {int(re.search(r"'c(\d+)\.", line).group(1)) for line in errors}
    assert len(refused) == len(errors), "more than one error for a plan"
    assert refused == expected, "the judge and the simulation differ on %s" % sorted(refused ^ expected)[:10]
    print("%d programs planned, %d of %d moved plans refused" % (len(programs), len(refused), len(cases)))


main()
