"""Five hundred kills: ``purlieu proof kill`` on ten made webs, fifty kills each; ends at the first difference.

    python bench/kills.py                    all of them; some twenty minutes on two quiet cores
    python bench/kills.py --kills 100 --webs 2 --first 5

Prints a line for each web. What is compared is the proof's own business (``purlieu.testing.kill``).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time


def main() -> int:
    """Run the proof web after web, and return 0, or 1 at the first difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500, help="how many kills in all (default: 500)")
    parser.add_argument("--webs", type=int, default=10, help="on how many webs (default: 10)")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first web (default: 0)")
    arguments = parser.parse_args()
    kills = runs = repeated = 0
    for seed in range(arguments.first, arguments.first + arguments.webs):
        began_at = time.monotonic()
        command = [sys.executable, "-m", "purlieu", "proof", "kill", "--json"]
        command += ["--seed", str(seed), "--kills", str(arguments.kills // arguments.webs)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"web {seed}: status {done.returncode}\n{done.stdout}{done.stderr}")
            return 1
        told = json.loads(done.stdout)
        kills, runs, repeated = kills + told["kills"], runs + told["rounds"], repeated + told["repeated"]
        print(
            f"web {seed}: {told['kills']} kills, {told['rounds']} runs of {told['rows']} rows, {told['repeated']} of "
            f"{told['requests']} requests again, no difference, {time.monotonic() - began_at:.0f} s",
            flush=True,
        )
    print(f"{kills} kills in {runs} runs, {repeated} requests made again, no difference")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
