"""interrupt_at.py FILE COMMAND...: SIGINT for the command once FILE is there; its exit code.

The limits are far above what a busy machine needs: a command that meets one hangs.
"""

import os
import signal
import subprocess
import sys
import time

BEGIN_LIMIT_S = 120
END_LIMIT_S = 30

path, command = sys.argv[1], sys.argv[2:]
with subprocess.Popen(command) as process:
    until = time.monotonic() + BEGIN_LIMIT_S
    while not os.path.exists(path) and process.poll() is None:
        if time.monotonic() > until:
            process.kill()
            sys.exit("interrupt_at.py: the command does not begin")
        time.sleep(0.02)
    if process.poll() is not None:
        sys.exit(f"interrupt_at.py: exit code {process.returncode} before the signal")
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("interrupt_at.py: the signal did not end it")
sys.exit(code if code >= 0 else f"interrupt_at.py: it died of signal {-code}")
