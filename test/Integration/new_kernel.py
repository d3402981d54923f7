"""A new kernel, from its skeleton to a passed check, in a copy of the sources.

Only what a new kernel changes is compiled, with the commands of the build: the kernel, the table of kernels, the list
of references.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE, TOOLS = os.environ["CK_BUILD"], os.environ["CK_SOURCE_DIR"], os.environ["CK_TOOLS"]
CK = os.path.join(TOOLS, "ck-kernels")

KERNEL = """#include "KernelSupport.h"

CK_PORTABLE_KERNEL(%s) {
  for (int64_t i = 0; i < args->N; ++i)
    args->output[i] = %s;
  return CK_OK;
}
"""


def run(command, code=0, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == code, "%s: exit code %d, expected %d\n%s%s" % (
        command, result.returncode, code, result.stdout, result.stderr)
    return result.stdout + result.stderr


def edit(path, before, after):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert before in text, "%s has no %r" % (path, before)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(before, after))


class Copy:
    """A copy of the sources, and what a build makes of it."""

    def __init__(self, folder):
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        for part in ("kernel_maps", "lib/Runtime/Kernels", "test/reference"):
            shutil.copytree(os.path.join(SOURCE, part), os.path.join(self.source, part))
        os.makedirs(os.path.join(self.build, "bin"))
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {entry["file"]: entry for entry in json.load(file)}

    def new(self, *arguments, code=0):
        return run([CK, "new", *arguments, "--source", self.source, "--maps", self.maps()], code)

    def maps(self):
        return os.path.join(self.source, "kernel_maps")

    def path(self, *parts):
        return os.path.join(self.source, *parts)

    def compile(self, like, source, prototypes=None):
        """Compiles `source` as the build compiles `like`; the headers of the copy come first."""
        words = shlex.split(self.commands[like]["command"])
        target = os.path.join(self.build, os.path.basename(source) + ".o")
        words[words.index("-o") + 1] = target
        words[words.index(like)] = source
        words = [word.replace(SOURCE + "/lib/Runtime/Kernels", self.path("lib/Runtime/Kernels"))
                 .replace(SOURCE + "/test/reference", self.path("test/reference")) for word in words]
        if prototypes:
            words = [word for word in words if "CK_KERNEL_PROTOTYPES" not in word]
            words.insert(words.index("-o"), '-DCK_KERNEL_PROTOTYPES="%s"' % prototypes)
        first = next(i for i, word in enumerate(words) if word.startswith("-I"))
        words.insert(first, "-I" + os.path.join(self.build, "include"))
        run(words, cwd=self.commands[like]["directory"])
        return target

    def outputs(self, *targets):
        for entry in self.commands.values():
            words = shlex.split(entry["command"])
            output = words[words.index("-o") + 1]
            if any("/%s.dir/" % target in output for target in targets):
                yield entry["file"], os.path.join(entry["directory"], output)

    def rebuild(self, kernels, references):
        """libCKRuntime.so and ck-kernels with what is new."""
        include = os.path.join(self.build, "include", "ck", "Runtime")
        os.makedirs(include, exist_ok=True)
        table = os.path.join(self.build, "KernelTable.cpp")
        run([os.path.join(TOOLS, "ck-kernel-gen"), "--maps", self.maps(), "--header",
             os.path.join(include, "Kernels.h.inc"), "--registry", table, "--sources", os.path.join(include, "Kernels")])
        like = os.path.join(SOURCE, "lib/Runtime/Kernels/data/copy.cpp")
        objects = [self.compile(like, self.path("lib/Runtime/Kernels", kernel), "ck/Runtime/Kernels/%s.inc" % kernel)
                   for kernel in kernels]
        for file, output in self.outputs("CKKernels", "CKRuntimeCore", "CKRuntime"):
            objects.append(self.compile(file, table) if os.path.basename(file) == "KernelTable.cpp" else output)
        compiler = next(word for word in shlex.split(self.commands[like]["command"]) if "ccache" not in word)
        library = os.path.join(self.build, "libCKRuntime.so")
        run([compiler, "-shared", "-o", library, *objects, "-lpthread"])
        judge = os.path.join(SOURCE, "test/reference/Reference.cpp")
        objects = [self.compile(judge, self.path("test/reference", name)) for name in ["Reference.cpp"] + references]
        objects += [output for _, output in self.outputs("ck-kernels", "CKKernelCheck", "CKKernelMaps", "CKFormats")]
        objects += [output for file, output in self.outputs("CKReference") if file != judge]
        run([compiler, "-o", os.path.join(self.build, "bin", "ck-kernels"), *objects, library, "-lpthread",
             "-Wl,-rpath," + self.build])

    def tool(self, *arguments, code=0):
        return run([os.path.join(self.build, "bin", "ck-kernels"), *arguments, "--maps", self.maps()], code)


def main():
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        copy.new("my_mul", "--op", "mul", "--family", "pointwise")
        copy.new("triple_f32", "--op", "triple", "--family", "pointwise")
        assert "already" in copy.new("my_mul", "--op", "mul", "--family", "pointwise", code=1)
        kernels = ["pointwise/my_mul.cpp", "pointwise/triple_f32.cpp"]

        # Skeletons build and link, and fail with what is missing.
        copy.rebuild(kernels, ["Triple.cpp"])
        text = copy.tool("check", "my_mul", "triple_f32", code=1)
        assert "the kernel is not written yet" in text, text
        assert "the reference of triple is not written yet" in text, text
        assert "0 findings" in copy.tool("lint"), "a skeleton is no rival of other kernels"

        # Written, they pass; a wrong one does not.
        for kernel, value in (("my_mul", "args->a[i] * args->b[i]"), ("triple_f32", "3 * args->input[i]")):
            with open(copy.path("lib/Runtime/Kernels/pointwise", kernel + ".cpp"), "w", encoding="utf-8") as file:
                file.write(KERNEL % (kernel, value))
        edit(copy.path("test/reference/Triple.cpp"), 'return Error{"the reference of triple is not written yet"};',
             "for (int64_t i = 0; i < call.in(\"input\").elements(); ++i)\n"
             "    call.out(\"output\").data[i] = 3 * call.in(\"input\").data[i];\n  return Status::success();")
        copy.rebuild(kernels, ["Triple.cpp"])
        text = copy.tool("check", "my_mul", "triple_f32")
        assert "2 passed, 0 failed, 0 not checked" in text, text
        edit(copy.path("lib/Runtime/Kernels/pointwise/triple_f32.cpp"), "3 *", "2 *")
        copy.rebuild(kernels, ["Triple.cpp"])
        text = copy.tool("check", "triple_f32", code=1)
        assert "as triple: output" in text, text
    return 0


if __name__ == "__main__":
    sys.exit(main())
