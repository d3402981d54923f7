"""Operations, forward and backward, against the results that others computed."""
import glob
import json
import os
import random
import struct
import tempfile

from support import DATA, Case, data_or_skip, main, run

data_or_skip()
GOLDEN = os.path.join(DATA, "golden")

TORCH = """adamw_update attention_causal attention_full attention_sinks attention_sliding embedding
    final_logit_softcap geglu_erf geglu_tanh gelu_erf gelu_quick gelu_tanh gradient_clip_norm layernorm linear qk_norm
    relu2 residual_add rmsnorm unweighted_rmsnorm rope_adjacent rope_half_split rope_partial softmax_cross_entropy
    split_qkv_packed_head_major swiglu""".split()
GGML = """argmax cross_entropy_loss exp geglu geglu_erf geglu_quick gelu gelu_erf gelu_quick get_rows get_rows_back
    leaky_relu mul_mat_f32 norm opt_step_adamw opt_step_sgd relu relu2 rms_norm rms_norm_back rope rope_back sigmoid silu
    silu_back swiglu tanh
    mul_mat_f16 mul_mat_bf16 mul_mat_q4_0 mul_mat_q4_1 mul_mat_q4_K mul_mat_q5_0 mul_mat_q5_1 mul_mat_q5_K mul_mat_q6_K
    mul_mat_q8_0 quantize_act_q8_0 quantize_act_q8_1 quantize_act_q8_K quantize_q4_0 quantize_q4_1 quantize_q4_K
    quantize_q5_0 quantize_q5_1 quantize_q5_K quantize_q6_K quantize_q8_0""".split()


class Golden(Case):
    def run_all(self, maker, must_run, may_refuse):
        """Runs every file of a folder; cases of `must_run` pass, but for those that `may_refuse` admits."""
        files = sorted(glob.glob(os.path.join(GOLDEN, maker, "*.safetensors")))
        self.assertTrue(files, maker)
        code, out, err = run("ck-kernels", "golden", *files, "--json", timeout=600)
        self.assertEqual(err, "")
        report = json.loads(out)
        failed = [(file["op"], case) for file in report["files"] for case in file["cases"] if case["result"] == "failed"]
        self.assertEqual(failed, [])
        self.assertEqual(code, 0)
        by_op = {file["op"]: file for file in report["files"]}
        for op in must_run:
            self.assertTrue(by_op[op]["run"], op)
            for case in by_op[op]["cases"]:
                if case["result"] != "passed":
                    self.assertTrue(may_refuse(op, case), (op, case))
                else:
                    self.assertTrue(case["tensors"], (op, case))
        for file in report["files"]:
            self.assertTrue(file["run"] or file["reason"], file["op"])

    def test_results_of_autograd(self):
        self.run_all("torch", TORCH, lambda op, case: (op, case["case"]) == ("embedding", 3))

    def test_results_of_ggml(self):
        reasons = ("stored as", "stretched waves", "yarn", "has no op", "not one of the classes",
                   "does not start at the first column")
        self.run_all("ggml", GGML, lambda op, case: any(text in case["reason"] for text in reasons))

    def test_a_tensor_that_the_metadata_list_must_be_there(self):
        with tempfile.TemporaryDirectory() as folder:
            for op, tensor in (("attention_causal", "case0.d_q"), ("layernorm", "case1.rstd"), ("rmsnorm", "case0.x")):
                with open(os.path.join(GOLDEN, "torch", f"{op}.safetensors"), "rb") as source:
                    data = source.read()
                size = struct.unpack("<Q", data[:8])[0]
                header = json.loads(data[8:8 + size])
                header[tensor + ".lost"] = header.pop(tensor)
                text = json.dumps(header).encode()
                path = os.path.join(folder, f"{op}.safetensors")
                with open(path, "wb") as file:
                    file.write(struct.pack("<Q", len(text)) + text + data[8 + size:])
                code, out, err = run("ck-kernels", "golden", path)
                self.assertEqual(code, 1, out)
                self.assertIn(f"has no tensor {tensor}", out + err)

    def test_damaged_cases_never_crash(self):
        """Tensors left out, with dims swapped or put together: a failed case or one error, and no signal."""
        random.seed(3)
        files = [os.path.join(GOLDEN, "torch", f"{op}.safetensors") for op in TORCH]
        files += [os.path.join(GOLDEN, "ggml", f"{op}.safetensors") for op in GGML]
        with tempfile.TemporaryDirectory() as folder:
            damaged = []
            for file in files:
                with open(file, "rb") as source:
                    data = source.read()
                size = struct.unpack("<Q", data[:8])[0]
                for number in range(4):
                    header = json.loads(data[8:8 + size])
                    names = [name for name in header if not name.startswith("__") and not name.endswith(".f32")]
                    for name in random.sample(names, max(1, len(names) // 6)):
                        shape = header[name]["shape"]
                        kind = random.randrange(3)
                        if kind == 0:
                            # Its bytes stay, under a name that nothing asks for.
                            header["unused." + name] = header.pop(name)
                        elif kind == 1:
                            shape.reverse()
                        else:
                            elements = 1
                            for extent in shape:
                                elements *= extent
                            header[name]["shape"] = [elements]
                    text = json.dumps(header).encode()
                    text += b" " * (-len(text) % 8)
                    path = os.path.join(folder, f"{len(damaged)}-{os.path.basename(file)}")
                    with open(path, "wb") as target:
                        target.write(struct.pack("<Q", len(text)) + text + data[8 + size:])
                    damaged.append(path)
            for path in damaged:
                code, out, err = run("ck-kernels", "golden", path, "--isa", "avx2")
                self.assertIn(code, (0, 1), path)
                self.assertTrue(out or err.count("error:") == 1, path)


if __name__ == "__main__":
    main()
