"""The README shows what the tools print: each block after a comment `<!-- prints: COMMAND -->` is that command's output.

With CK_UPDATE_README=1 the blocks are rewritten instead of compared.
"""
import os
import re
import shlex
import subprocess

from support import SOURCE, TOOLS, Case, main

BLOCK = re.compile(r"<!-- prints: (.*?) -->\n```\w*\n(.*?)```", re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


class Readme(Case):
    def setUp(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            self.text = file.read()

    def output(self, command):
        environment = dict(os.environ, PATH=os.pathsep.join([TOOLS, os.environ["PATH"]]))
        piped = b""
        for stage in command.split(" | "):
            done = subprocess.run(shlex.split(stage), input=piped, capture_output=True, cwd=SOURCE, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            piped = done.stdout
        return piped.decode().strip()

    def test_every_shown_output_is_what_the_command_prints(self):
        self.assertGreaterEqual(len(BLOCK.findall(self.text)), 3)
        if os.environ.get("CK_UPDATE_README") == "1":
            rewrite = lambda match: f"<!-- prints: {match[1]} -->\n```mlir\n{self.output(match[1])}\n```"
            with open(os.path.join(SOURCE, "README.md"), "w", encoding="utf-8") as file:
                file.write(BLOCK.sub(rewrite, self.text))
            return
        for command, expected in BLOCK.findall(self.text):
            self.assertEqual(expected.strip(), self.output(command), command)

    def test_links_lead_to_files(self):
        for link in LINK.findall(self.text):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, link)), link)


if __name__ == "__main__":
    main()
