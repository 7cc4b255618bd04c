"""unixserver.py - a server of a flow at a Unix socket, in the background

SPDX-License-Identifier: ISC
"""
import os
import signal
import socket
import threading


def run(serve, path, pidfile):
    """Call serve(link) in a thread for each connection; returns in no
    process: the caller's ends as soon as path can be connected to."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    pid = os.fork()
    if pid > 0:
        with open(pidfile, "w", encoding="ascii") as file:
            file.write(str(pid))
        os._exit(0)
    os.setsid()
    signal.alarm(600)       # whatever becomes of the flow
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],),
                         daemon=True).start()
