"""Run one command and write down what the kernel counted for it.

A process of its own, and a small one: the kernel counts a child's peak memory from before it becomes another program,
so what starts it must be smaller than anything that is measured.
"""

import json
import os
import sys
import time

report, *command = sys.argv[1:]
started = time.perf_counter()
child = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - started
with open(report, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would cost memory
    json.dump(
        {
            "status": os.waitstatus_to_exitcode(status),
            "seconds": seconds,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mib": usage.ru_maxrss / 1024,
        },
        file,
    )
