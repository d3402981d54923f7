"""Malformed files are refused with the class that their list expects; damaged models are refused by name."""
import json
import os
import shutil
import struct
import tempfile
import time

from support import DATA, Case, data_or_skip, load_json, main, run, tool

data_or_skip()
MALFORMED = os.path.join(DATA, "malformed")
HF = os.path.join(DATA, "models", "stories260K", "hf")
SANITIZED = "ASAN_OPTIONS" in os.environ


def edit_safetensors(folder, edit):
    """Rewrites the header of folder/model.safetensors; the data stays where it is."""
    path = os.path.join(folder, "model.safetensors")
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    edit(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + content[8 + length:])


class Malformed(Case):
    def test_every_file_gives_its_class_in_time_and_space(self):
        files = load_json(os.path.join(MALFORMED, "expected.json"))["files"]
        for name, file in files.items():
            begin = time.time()
            code, out, err = run("ck-run", "inspect", os.path.join(MALFORMED, name), "--json")
            self.assertLess(time.time() - begin, 60 if SANITIZED else 2, name)
            if file["expect"] == "OK":
                self.assertEqual(code, 0, f"{name}: {err}")
                json.loads(out)
                continue
            self.assertEqual(code, 1, name)
            self.assertTrue(err.rstrip().endswith(f"[{file['expect']}]"), f"{name}: {err}")
            self.assertIn(name, err)
            self.assertEqual(json.loads(out)["code"], file["expect"], name)

    def test_refusing_takes_little_memory(self):
        if SANITIZED:
            return
        def peak(*arguments):
            pid = os.fork()
            if pid == 0:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                path = tool("ck-run")
                os.execv(path, [path, *arguments])
            _, _, usage = os.wait4(pid, 0)
            return usage.ru_maxrss
        idle = peak("--version")
        for name in load_json(os.path.join(MALFORMED, "expected.json"))["files"]:
            used = peak("inspect", os.path.join(MALFORMED, name))
            self.assertLess(used - idle, 64 * 1024, name)

    def test_generate_refuses_what_inspect_refuses(self):
        for name in ("g01-bad-magic.gguf", "g08-offset-past-end.gguf", "j03-zero-heads.json", "s07-data-cut.safetensors"):
            self.assert_refused("ck-run", "generate", os.path.join(MALFORMED, name), "--prompt", "x")


class DamagedModel(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.model = os.path.join(self.folder, "model")
        shutil.copytree(HF, self.model)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def test_a_missing_tensor_is_named(self):
        edit_safetensors(self.model, lambda header: header.__setitem__(
            "renamed.weight", header.pop("model.layers.2.mlp.up_proj.weight")))
        self.assert_refused("ck-run", "logits", self.model, "--tokens", "1", "--out",
                            os.path.join(self.folder, "x.npy"), says=["model.layers.2.mlp.up_proj.weight"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "x.npy")))

    def test_an_unused_tensor_is_a_warning(self):
        def add(header):
            last = max(header[name]["data_offsets"][1] for name in header if name != "__metadata__")
            header["extra.weight"] = {"dtype": "F32", "shape": [4], "data_offsets": [last, last + 16]}
        edit_safetensors(self.model, add)
        with open(os.path.join(self.model, "model.safetensors"), "ab") as file:
            file.write(b"\0" * 16)
        code, _, err = run("ck-run", "logits", self.model, "--tokens", "1", "--out", os.path.join(self.folder, "x.npy"))
        self.assertEqual(code, 0, err)
        self.assertIn("extra.weight", err)
        self.assertIn("warning", err)

    def test_a_key_that_changes_the_mathematics_is_refused(self):
        path = os.path.join(self.model, "config.json")
        config = load_json(path)
        for key, value in (("attention_sinks", True), ("hidden_act", "mystery"), ("rope_scaling", {"rope_type": "magic"})):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(dict(config, **{key: value}), file)
            self.assert_refused("ck-run", "inspect", self.model, says=["config.json"])



if __name__ == "__main__":
    main()
