"""What `ck-kernels golden` says of files made here: right, wrong, unknown and broken ones."""
import json
import os
import struct
import tempfile

import numpy

from support import Case, main, run


def write(path, metadata, tensors):
    """A safetensors file."""
    header, offset = {"__metadata__": metadata}, 0
    names = {"float64": "F64", "float32": "F32", "int32": "I32", "float16": "F16", "uint16": "BF16"}
    for name, array in tensors.items():
        header[name] = {"dtype": names[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(array.tobytes())


def relu2(scale=1.0, op="relu2", case=None):
    """A file of one case; a scale other than 1 makes its gradient wrong."""
    x, d = numpy.array([[-1.0, 0.5, 2.0]]), numpy.array([[1.0, -3.0, 0.25]])
    out = numpy.maximum(x, 0) ** 2
    grad = 2 * numpy.maximum(x, 0) * d * scale
    case = case or {"params": {}, "note": "made", "inputs": ["x"], "outputs": ["out"], "saved": [],
                    "upstream": ["d_out"], "grads": ["d_x"], "f32_torch_err": {"out": 0.0, "d_x": 0.0}}
    return ({"op": op, "format": "ck-golden-1", "cases": "1", "case0": json.dumps(case)},
            {"case0.x": x, "case0.d_out": d, "case0.out": out, "case0.d_x": grad})


class GoldenMade(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def golden(self, metadata, tensors, *flags):
        self.path = os.path.join(self.folder.name, "file.safetensors")
        write(self.path, metadata, tensors)
        return run("ck-kernels", "golden", self.path, *flags)

    def test_right_results_pass(self):
        code, out, err = self.golden(*relu2(), "--json")
        self.assertEqual((code, err), (0, ""))
        report = json.loads(out)
        self.assertEqual((report["passed"], report["failed"], report["not_run"]), (1, 0, 0))
        tensors = report["files"][0]["cases"][0]["tensors"]
        self.assertEqual([tensor["name"] for tensor in tensors], ["out", "d_x"])
        self.assertEqual([tensor["bound"] for tensor in tensors], [1e-6, 1e-6])

    def test_a_gradient_beyond_its_bound_fails(self):
        code, out, _ = self.golden(*relu2(1 + 1e-5))
        self.assertEqual(code, 1)
        self.assertRegex(out, r"relu2 case 0: failed: out 0 \(bound 1e-06\), d_x 1e-05 \(bound 1e-06\) OVER")
        self.assertIn("0 cases passed, 1 failed", out)

    def test_the_bound_widens_with_the_error_of_plain_float(self):
        metadata, tensors = relu2(1 + 1e-5)
        case = json.loads(metadata["case0"])
        case["f32_torch_err"]["d_x"] = 1e-5
        self.assertEqual(self.golden({**metadata, "case0": json.dumps(case)}, tensors)[0], 0)

    def test_an_unknown_operation_is_not_run(self):
        code, out, _ = self.golden(*relu2(op="wobble"))
        self.assertEqual(code, 0)
        self.assertIn("wobble: not run: CK has no operation for it", out)
        self.assertIn("0 cases passed, 0 failed, 1 not run", out)

    def test_a_result_that_nothing_computes_fails(self):
        metadata, tensors = relu2()
        case = json.loads(metadata["case0"])
        case["saved"] = ["mask"]
        tensors["case0.mask"] = numpy.zeros((1, 3))
        code, out, _ = self.golden({**metadata, "case0": json.dumps(case)}, tensors)
        self.assertEqual(code, 1)
        self.assertIn("mask is expected, but nothing was computed for it", out)

    def test_an_operand_of_another_type_is_not_run(self):
        metadata, tensors = relu2()
        tensors["case0.x"] = tensors["case0.x"].astype(numpy.float16)
        code, out, _ = self.golden(metadata, tensors)
        self.assertEqual(code, 0)
        self.assertIn("not run: x is stored as f16", out)

    def test_results_of_a_peer_have_its_bound(self):
        x = numpy.array([0.5, -2.0], numpy.float32)
        y = (numpy.maximum(x, 0) ** 2).astype(numpy.float32)
        metadata = {"op": "relu2", "peer": "made", "cases": "1", "case0.shape": "(2,)", "case0.peer_err_abs.y": "0",
                    "case0.peer_err_rel.y": "1e-6"}
        code, out, _ = self.golden(metadata, {"case0.x": x, "case0.y": y})
        self.assertEqual(code, 0)
        self.assertIn("y 0 (bound 1e-05)", out)

    def test_products_of_bf16_are_those_of_the_widened_numbers_at_every_depth(self):
        """Depths and widths around the sizes of tiles, odd ones among them; small numbers make float sums exact."""
        random = numpy.random.default_rng(46)
        metadata = {"op": "mul_mat_bf16", "peer": "made", "cases": "36"}
        tensors = {}
        shapes = [(depth, width) for depth in (1, 2, 3, 63, 64, 65) for width in (1, 31, 32, 33, 64, 65)]
        for i, (depth, width) in enumerate(shapes):
            wide = random.integers(-64, 65, (width, depth)).astype(numpy.float32) / 32
            x = random.integers(-64, 65, (32, depth)).astype(numpy.float32) / 32
            # Few bits: nothing is lost where the upper half of a float is a bf16.
            tensors[f"case{i}.w"] = (wide.view(numpy.uint32) >> 16).astype(numpy.uint16)
            tensors[f"case{i}.x"] = x
            metadata.update({f"case{i}.K": str(depth), f"case{i}.N": str(width), f"case{i}.Ms": "(1, 3, 32)",
                             f"case{i}.type": "bf16", f"case{i}.model_err_rel": "0"})
            for rows in (1, 3, 32):
                tensors[f"case{i}.y_m{rows}"] = x[:rows] @ wide.T
                metadata.update({f"case{i}.peer_err_abs.y_m{rows}": "0", f"case{i}.peer_err_rel.y_m{rows}": "0"})
        for threads in (1, 3):
            code, out, _ = self.golden(metadata, tensors, "--threads", threads, "--json")
            self.assertEqual(code, 0, out)
            report = json.loads(out)
            self.assertEqual((report["passed"], report["failed"], report["not_run"]), (len(shapes), 0, 0))
            errors = {t["error"] for case in report["files"][0]["cases"] for t in case["tensors"]}
            self.assertEqual(errors, {0})

    def test_broken_files_are_refused(self):
        metadata, tensors = relu2()
        for broken, says in [({"op": "relu2"}, "no golden file"), ({**metadata, "cases": "-1"}, "no golden file"),
                             ({**metadata, "case0": "{"}, "case0 has no params"),
                             ({**metadata, "cases": "2"}, "case1 are missing")]:
            path = os.path.join(self.folder.name, "broken.safetensors")
            write(path, broken, tensors)
            self.assert_refused("ck-kernels", "golden", path, says=[path, says])
        self.assert_refused("ck-kernels", "golden", says=["golden needs files"])
        self.assert_refused("ck-kernels", "golden", os.path.join(self.folder.name, "absent.safetensors"), says=["absent"])


if __name__ == "__main__":
    main()
