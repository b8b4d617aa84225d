"""A GTP program with the fault that its first argument names; the second is a folder where it notes what it was
asked."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

how, notes = sys.argv[1], Path(sys.argv[2])
asked = 0
for line in sys.stdin:
    number, command = line.split(" ", 1)
    if command.startswith("final_status_list dead"):
        with open(notes / "asked", "a") as file:
            file.write("x")
        asked += 1
        if how == "hang" or (how == "hang once" and not (notes / "hung").exists()):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
            (notes / "hung").write_text(f"{os.getpid()} {child.pid}")
            time.sleep(3600)
        if how == "die":
            sys.exit(3)
        if how == "refuse":
            print(f"?{number} cannot score\n", flush=True)
            continue
        if how == "rubbish":
            print(f"={number} A1 Z99 banana\n", flush=True)
            continue
        if how == "flood":
            print(f"={number} " + "x" * 100_000_000 + "\n", flush=True)
            continue
        if how == "endless":
            print(f"={number} A1", flush=True)
            while True:
                print("A1", flush=True)
        if how == "slow":
            time.sleep(0.3)
    if how == "noise":
        print("thinking...\n\n=99 an old answer\n\n?98 not now", flush=True)
        print(f"={number} B5\r\n\r", flush=True)
        continue
    print(f"={number} \n", flush=True)
    if command.strip() == "quit" and how != "stubborn":
        break
