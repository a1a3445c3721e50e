"""interrupt_at.py [--no-grace] [--kill] FILE COMMAND...: SIGINT for the command once FILE is there; its exit code.

--no-grace  the tool's timer, which ends a command that does not stop in time, never fires: SIGALRM is blocked
--kill      SIGKILL instead; the exit code is then 137

The limits are far above what a busy machine needs: a command that meets one hangs.
"""

import os
import signal
import subprocess
import sys
import time

BEGIN_LIMIT_S = 300
END_LIMIT_S = 120

arguments = sys.argv[1:]
options = set()
while arguments[0].startswith("--"):
    options.add(arguments.pop(0))
path, command = arguments[0], arguments[1:]


def prepare():
    """In the child: the mask outlives exec."""
    if "--no-grace" in options:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})


with subprocess.Popen(command, preexec_fn=prepare) as process:
    until = time.monotonic() + BEGIN_LIMIT_S
    while not os.path.exists(path) and process.poll() is None:
        if time.monotonic() > until:
            process.kill()
            sys.exit("interrupt_at.py: the command does not begin")
        time.sleep(0.005)
    if process.poll() is not None:
        sys.exit(f"interrupt_at.py: exit code {process.returncode} before the signal")
    process.send_signal(signal.SIGKILL if "--kill" in options else signal.SIGINT)
    try:
        code = process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("interrupt_at.py: the signal did not end it")
if "--kill" in options and code == -signal.SIGKILL:
    sys.exit(137)
sys.exit(code if code >= 0 else f"interrupt_at.py: it died of signal {-code}")
