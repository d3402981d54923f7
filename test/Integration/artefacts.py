"""What ahead-of-time compilation leaves behind: objects, shared libraries, tables; and that they are used only if they fit."""
import os
import shutil
import subprocess
import tempfile

from support import TINY, Case, generate, good, load_json, logits, main

HF = os.path.join(TINY, "hf")
GGUF = os.path.join(TINY, "tiny-llama-f32.gguf")


class Artefacts(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = os.path.join(self.folder.name, "model")
        shutil.copytree(HF, self.model)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_a_library_beside_the_model_is_used_if_its_digest_fits(self):
        good("ck-run", "compile", self.model, "-o", self.model + ".so")
        ids = [1, 5, 9]
        self.assert_same_bits(logits(self.model, ids, "--engine", "aot"), logits(self.model, ids))
        # Another context is another plan: the library does not fit and is not used.
        generate(self.model, "Once", "--engine", "aot", "--context", "32", "--max-tokens", "4")

    def test_exported_symbols_are_the_model_alone(self):
        good("ck-run", "compile", self.model, "-o", self.path("m.so"))
        symbols = subprocess.run(["nm", "-D", "--defined-only", self.path("m.so")], capture_output=True, text=True,
                                 check=True).stdout.split("\n")
        names = [line.split()[-1] for line in symbols if line]
        self.assertEqual([name for name in names if not name.startswith("ckm_")], [])
        self.assertEqual(len(names), 1)

    def test_a_module_keeps_its_weights_relative_to_its_file(self):
        good("ck-translate", "--import-hf", os.path.join(self.model, "config.json"), "-o", self.path("graph.mlir"))
        with open(self.path("graph.mlir"), encoding="utf-8") as file:
            self.assertIn('from "model/model.safetensors"', file.read())
        good("ck-opt", self.path("graph.mlir"), "--ck-inference-pipeline", "-o", self.path("plan.mlir"))
        self.assert_same_bits(logits(self.path("plan.mlir"), [1, 5], "--chunk", "1"), logits(HF, [1, 5], "--chunk", "1"))
        os.rename(self.path("graph.mlir"), self.path("model/graph.mlir"))
        self.assert_same_bits(logits(self.path("model/graph.mlir"), [1], "--weights", self.model), logits(HF, [1]))

    def test_a_module_runs_with_fewer_positions_than_it_has_and_never_with_more(self):
        good("ck-translate", "--import-hf", os.path.join(self.model, "config.json"), "-o", self.path("graph.mlir"))
        self.assert_same_bits(logits(self.path("graph.mlir"), [1, 5], "--context", "2"),
                              logits(HF, [1, 5], "--chunk", "1"))
        for context, text in ((1, "the context holds 1"), (257, "planned for 256 positions")):
            self.assert_refused("ck-run", "logits", self.path("graph.mlir"), "--tokens", "1,5", "--out",
                                self.path("x.npy"), "--context", context, says=[text])

    def test_hf_and_gguf_give_one_graph_but_for_pairing_and_files(self):
        def graph(flag, file):
            text = good("ck-translate", flag, file)
            kept = []
            for line in text.replace('"adjacent"', '"half"').split("\n"):
                line = line.split(" from ")[0] if line.lstrip().startswith("ck.buffer") else line
                kept.append(line if not line.startswith("module") else "module")
            return [line.split(" {scope")[0] for line in kept]
        self.assertEqual(graph("--import-hf", os.path.join(HF, "config.json")), graph("--import-gguf", GGUF))

    def test_a_configuration_alone_becomes_buffers_without_files(self):
        os.remove(os.path.join(self.model, "model.safetensors"))
        text = good("ck-translate", "--import-hf", os.path.join(self.model, "config.json"))
        self.assertNotIn(" from ", text)
        self.assert_refused("ck-run", "logits", self.model, "--tokens", "1", "--out", self.path("x.npy"), says=["weights"])

    def test_names_of_the_c_library_and_odd_characters(self):
        for index, name in enumerate(("free", "memcpy", "exp", "main", "a model.v2 \u00fc")):
            folder = self.path(name)
            shutil.copytree(HF, folder)
            library = self.path(f"{index}.so")
            good("ck-run", "compile", folder, "-o", library)
            self.assert_same_bits(logits(folder, [1, 2, 3], "--engine", "aot"), logits(HF, [1, 2, 3]), name)

    def test_tables_and_objects_from_graphs_and_plans(self):
        good("ck-translate", "--import-hf", os.path.join(self.model, "config.json"), "-o", self.path("g.mlir"))
        # Tables and objects name their steps after locations, which text keeps only when told to.
        good("ck-opt", self.path("g.mlir"), "--ck-inference-pipeline", "--mlir-print-debuginfo", "-o", self.path("p.mlir"))
        for name in ("g", "p"):
            good("ck-translate", "--ck-to-table", self.path(name + ".mlir"), "-o", self.path(name + ".ckplan"))
            good("ck-translate", "--ck-to-object", self.path(name + ".mlir"), "-o", self.path(name + ".o"))
        good("ck-opt", self.path("g.mlir"), "--ck-inference-pipeline", "-o", self.path("n.mlir"))
        good("ck-translate", "--ck-to-table", self.path("n.mlir"), "-o", self.path("n.ckplan"))
        digests = [load_json(self.path(name + ".ckplan"))["digest"] for name in ("g", "p", "n")]
        self.assertEqual(len(set(digests)), 1)  # of which names are no part
        with open(self.path("g.o"), "rb") as graph, open(self.path("p.o"), "rb") as plan:
            self.assertEqual(graph.read(), plan.read())

    def test_a_table_runs_without_llvm(self):
        runner = os.path.join(os.environ["CK_BUILD"], "test", "Integration", "table-runner")
        libraries = subprocess.run(["ldd", runner], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(libraries, "LLVM|MLIR")
        good("ck-run", "compile", GGUF, "-o", self.path("m.ckplan"))
        text = subprocess.run([runner, self.path("m.ckplan"), TINY, GGUF, "The star said", "20"], capture_output=True,
                              text=True, check=True).stdout
        self.assertEqual(text, generate(GGUF, "The star said", "--max-tokens", "20")["text"] + "\n")

    def test_two_models_link_into_one_program(self):
        other = self.path("second")
        shutil.copytree(HF, other)
        for name in ("model", "second"):
            good("ck-run", "compile", self.path(name), "-o", self.path(name + ".o"))
        main_c = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "two_models.c")
        runtime = os.path.join(os.environ["CK_BUILD"], "lib", "Runtime")
        program = self.path("program")
        include = os.path.join(os.environ["CK_SOURCE_DIR"], "include")
        # A sanitized runtime needs its sanitizers in the program too.
        sanitize = [f"-fsanitize={os.environ['CK_SANITIZE']}"] if os.environ["CK_SANITIZE"] else []
        subprocess.run([os.environ["CK_CC"], *sanitize, "-I", include, main_c, self.path("model.o"),
                        self.path("second.o"), "-L", runtime, "-lCKRuntime", f"-Wl,-rpath,{runtime}", "-o", program], check=True)
        self.assertEqual(subprocess.run([program], capture_output=True, text=True, check=True).stdout, "model second\n")


if __name__ == "__main__":
    main()
