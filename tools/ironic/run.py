"""Runs a command of the environment, and ends it with all its processes when the parent process has gone.

usage: run.py COMMAND [ARGUMENT...], in a separate process group, with a pipe as standard input that the parent process keeps open.
"""

import os
import runpy
import signal
import sys
import threading


def end_with_starter():
    # The kernel closes the pipe however the parent process dies.
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == '__main__':
    threading.Thread(target=end_with_starter, daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name='__main__')
