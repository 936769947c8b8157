"""Configuration of the lit suite: where the tools are and what this machine has."""

import glob
import os
import shutil
import subprocess

import lit.formats

config.name = "Kina"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".kina", ".test", ".py"]
config.excludes = ["Inputs", "python", "lit.cfg.py", "lit.site.cfg.py"]
if "grid" not in lit_config.params:
    config.excludes.append("Grid")
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kina_binary_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.kina_binary_dir, "bin"), config.llvm_tools_dir, config.environment["PATH"]])
config.environment["PYTHONPATH"] = os.path.join(config.test_source_root, "python")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# What JAX compiles runs once: fast code is not worth the time of its compiler.
config.environment["XLA_FLAGS"] = ("--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
                                   "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1")
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
# glibc fills what is allocated and what is freed with rubbish: reading either shows.
config.environment["MALLOC_PERTURB_"] = "85"
if config.kina_sanitize:
    # The shared MLIR is not instrumented: what it does to containers is unknown to us. Sizes
    # that are too large fail as they do without a sanitizer. A report ends the process with a
    # signal, which a test that expects an error does not take for one, and stands in a file,
    # which utils/run-tests.py finds whatever became of the process.
    log = "log_path=" + os.path.join(config.test_exec_root, "sanitizer-report")
    config.environment["ASAN_OPTIONS"] = ("detect_leaks=1:allow_user_poisoning=0:detect_container_overflow=0:"
                                          f"allocator_may_return_null=1:abort_on_error=1:{log}")
    config.environment["UBSAN_OPTIONS"] = f"halt_on_error=1:abort_on_error=1:print_stacktrace=1:{log}"

venv_python = os.path.join(config.kina_source_dir, ".venv", "bin", "python3")
python = venv_python if os.path.exists(venv_python) else config.kina_python
config.substitutions.append(("%python", python))
config.substitutions.append(("%src", config.kina_source_dir))
config.substitutions.append(("%build", config.kina_binary_dir))
# Most tests look for diagnostics in MLIR's form, one line each; %kina-opt shows them as users see them.
config.substitutions.append(("%kina-opt", os.path.join(config.kina_binary_dir, "bin", "kina-opt")))
config.substitutions.append((r"(?<![\w/.%-])kina-opt(?![\w.-])", "kina-opt --error-format=mlir"))


def has_module(name):
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode == 0


# What a test may require; what is missing is named in the summary by lit itself
# (the tests then count as unsupported).
for module in ("numpy", "jax", "lark", "matplotlib", "sklearn"):
    if has_module(module):
        config.available_features.add(module)
    else:
        lit_config.note(f"feature '{module}' is missing: tests that require it are unsupported")
if shutil.which("cc") and shutil.which("c++"):
    config.available_features.add("cc")
else:
    lit_config.note("feature 'cc' is missing: no C and C++ compiler")
# The sanitizers of the Clang beside the LLVM tools, for programs that tests build.
sanitizers = glob.glob(os.path.join(config.llvm_tools_dir, "..", "lib", "clang", "*", "lib", "*", "libclang_rt.tsan*.a"))
if sanitizers and os.path.exists(os.path.join(config.llvm_tools_dir, "clang++")):
    config.available_features.add("clang-sanitizers")
else:
    lit_config.note("feature 'clang-sanitizers' is missing: no Clang with its sanitizers beside the LLVM tools")
if config.kina_unit_tests in ("1", "ON", "TRUE"):
    config.available_features.add("unittests")
else:
    lit_config.note("feature 'unittests' is missing: GoogleTest was not found")
if config.kina_z3 in ("1", "ON", "TRUE"):
    config.available_features.add("z3")
else:
    lit_config.note("feature 'z3' is missing: built without Z3, some refinements stay undecided")
if config.kina_sanitize:
    config.available_features.add("sanitizer")
