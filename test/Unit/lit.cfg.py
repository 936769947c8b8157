"""The unit tests: every googletest program of the build is a part of the lit suite."""

import os

import lit.formats

config.name = "Kina-Unit"
config.suffixes = []
config.test_source_root = os.path.join(config.kina_binary_dir, "unittests")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
