"""Prints what llvm-symbolizer says of the addresses of symbols: symbolize.py FILE SYMBOL..."""

import subprocess
import sys

file, wanted = sys.argv[1], sys.argv[2:]
table = subprocess.run(["llvm-nm", file], capture_output=True, text=True, check=True).stdout
addresses = {words[-1]: words[0] for words in map(str.split, table.splitlines())}
for symbol in wanted:
    print(symbol, subprocess.run(["llvm-symbolizer", "--functions=none", "-e", file, "0x" + addresses[symbol]],
                                 capture_output=True, text=True, check=True).stdout.strip())
