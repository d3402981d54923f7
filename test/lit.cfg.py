# What every lit test can rely on. RUN lines name tools by substitution, so that the same tests can run against another
# driver, and pass tests say `%ck_opt --pass-pipeline='builtin.module(...)'`, the form that works through a plugin too.
#
#   %ck_opt %ck_translate %ck_run %ck_kernels   the tools of this build
#   %kernel_maps                                the kernel maps of the source tree
#   %models                                     the models of examples/models
#   %ck_test_data                               the folder of real models; REQUIRES: data
#   %python                                     an interpreter with numpy
import os

import lit.formats
import lit.llvm

config.name = "CK"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "reference"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.ck_obj_root, "test")

for key in ("lit_tools_dir", "errc_messages"):
    if not hasattr(config, key):
        setattr(config, key, "")
lit.llvm.initialize(lit_config, config)
from lit.llvm import llvm_config  # exists only after initialize()

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.use_default_substitutions()

for tool in ("ck-opt", "ck-translate", "ck-run", "ck-kernels"):
    path = os.path.join(config.ck_obj_root, "bin", tool)
    config.substitutions.append(("%" + tool.replace("-", "_"), path))
config.substitutions += [
    ("%kernel_maps", os.path.join(config.ck_src_root, "kernel_maps")),
    ("%models", os.path.join(config.ck_src_root, "examples", "models")),
    ("%ck_test_data", config.ck_test_data),
    ("%python", config.python),
    ("%shlibext", config.shlibext),
]
# Tests choose their kernel maps by option; a user's setting must not reach them.
config.environment.pop("CK_KERNEL_MAPS", None)

if os.path.isdir(config.ck_test_data):
    config.available_features.add("data")
elif os.environ.get("CK_REQUIRE_DATA") == "1":
    lit_config.fatal("CK_REQUIRE_DATA=1, but there is no folder '%s' (CMake option CK_TEST_DATA)" % config.ck_test_data)
