"""The command line: bad flags, bad ids, limits; each gives one error with what, where and what was expected."""
import json
import os
import tempfile

from support import TINY, Case, good, main, run

HF = os.path.join(TINY, "hf")


class CommandLine(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = os.path.join(self.folder.name, "x.npy")

    def tearDown(self):
        self.folder.cleanup()

    def logits(self, ids, *flags):
        return ("ck-run", "logits", HF, "--tokens", ids, "--out", self.out, *flags)

    def test_help_and_version_everywhere(self):
        for tool in ("ck-opt", "ck-translate", "ck-run", "ck-kernels"):
            good(tool, "--help")
            self.assertTrue(good(tool, "--version"))
        for command in ("generate", "logits", "tokenize", "inspect", "bench", "compile"):
            self.assertIn("--json", good("ck-run", command, "--help"))

    def test_no_command_is_an_error(self):
        code, _, err = run("ck-run")
        self.assertEqual(code, 1)
        self.assertIn("generate", err)

    def test_unknown_flags_and_engines(self):
        self.assertEqual(run("ck-run", "generate", HF, "--prompt", "x", "--frobnicate")[0], 1)
        self.assert_refused("ck-run", "generate", HF, "--prompt", "x", "--engine", "gpu", says=["gpu", "interpret"])

    def test_counts_out_of_range(self):
        for flags, text in ((("--threads", "0"), "--threads"), (("--threads", "-1"), "--threads"),
                            (("--context", "0"), "--context"), (("--chunk", "0"), "--chunk"),
                            (("--max-tokens", "-1"), "--max-tokens"), (("--top-p", "0"), "0"),
                            (("--top-p", "1.5"), "1.5"), (("--temperature", "-1"), "-1"), (("--top-k", "-2"), "-2")):
            self.assert_refused("ck-run", "generate", HF, "--prompt", "x", *flags, says=[text])

    def test_an_id_outside_the_vocabulary_names_index_id_and_vocabulary(self):
        self.assert_refused(*self.logits("1,340,5"), says=["1", "340"])
        self.assert_refused(*self.logits("1,2,-7"), says=["2", "-7", "340"])
        self.assertFalse(os.path.exists(self.out))

    def test_ids_that_are_no_integers(self):
        self.assert_refused(*self.logits("1,two"), says=["--tokens", "two"])
        self.assert_refused(*self.logits("1,99999999999"), says=["99999999999"])

    def test_a_prompt_that_fills_the_context_names_both_numbers(self):
        self.assert_refused("ck-run", "generate", HF, "--prompt", "Once upon a time, a time", "--context", "4", says=["4"])
        self.assert_refused(*self.logits("1,2,3,4,5", "--context", "4"), says=["5", "4"])

    def test_missing_files(self):
        self.assert_refused("ck-run", "generate", "/no/such/model", "--prompt", "x", says=["/no/such/model"])
        self.assert_refused("ck-run", "logits", HF, "--tokens", "1", "--out", "/no/such/folder/x.npy",
                            says=["/no/such/folder"])

    def test_an_unknown_instruction_set_or_kind_of_output(self):
        self.assert_refused(*self.logits("1"), says=["CK_ISA", "mmx", "avx2"], env={"CK_ISA": "mmx"})
        for name in ("", "x", "x.txt"):
            self.assert_refused("ck-run", "compile", HF, "-o", name, says=[".ckplan"])

    def test_errors_are_json_too(self):
        code, out, _ = run("ck-run", "inspect", "/no/such/model", "--json")
        self.assertEqual(code, 1)
        self.assertIn("error", json.loads(out))

    def test_bench_reports_rates_and_peaks_of_one_run(self):
        result = json.loads(good("ck-run", "bench", HF, "--prompt-tokens", "16", "--gen-tokens", "4", "--repeat", "1",
                                 "--threads", "1", "--json"))
        for key in ("prompt_tokens_per_s", "generated_tokens_per_s", "fma_peak_gflops", "read_gb_per_s"):
            self.assertGreater(result[key], 0, key)


if __name__ == "__main__":
    main()
