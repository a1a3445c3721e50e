"""interrupt_at.py FILE COMMAND...: SIGINT for the command once FILE is there; its exit code.

No time decides: the command ends long before LIMIT_S, or it does not end at all and is killed.
"""

import os
import signal
import subprocess
import sys
import time

LIMIT_S = 120

path, command = sys.argv[1], sys.argv[2:]
with subprocess.Popen(command) as process:
    while not os.path.exists(path) and process.poll() is None:
        time.sleep(0.02)
    if process.poll() is not None:
        sys.exit(f"interrupt_at.py: exit code {process.returncode} before the signal")
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("interrupt_at.py: the signal did not end it")
sys.exit(code if code >= 0 else 128 - code)
