"""The rows of a node that is lost, answered as share answers `zmailer cluster
takeover` (doc/protocol/share.md section 4), without a database.

SPDX-License-Identifier: ISC
"""
import os
import socket
import threading


class Row:
    def __init__(self, area, body, control=b""):
        self.node, self.area = "mx1", area
        self.body, self.control, self.since = body, control, 1


class LostNode:
    """At RUN/share.sock; rows: {id: Row}.  What is in refusals is said to
    the next `took` questions, before they have an effect."""

    def __init__(self, run, rows):
        self.rows, self.refusals = rows, []
        self.path = os.path.join(run, "share.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener.bind(self.path)
        self.listener.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,),
                             daemon=True).start()

    def talk(self, peer):
        data, files = b"", []
        with peer:
            while True:
                try:
                    got, fds, _, _ = socket.recv_fds(peer, 1 << 16, 2)
                except OSError:
                    return
                if not got:
                    return
                data, files = data + got, files + fds
                while b"\n" in data:
                    line, _, data = data.partition(b"\n")
                    token, verb, *words = line.decode().split()
                    fd = files.pop(0) if verb == "fetch" else None
                    said = getattr(self, verb)(*words, *(
                        [] if fd is None else [fd]))
                    if fd is not None:
                        os.close(fd)
                    peer.sendall(f"{token} ok {said}\n".encode())

    def owned(self, node):
        return sorted(id for id, row in self.rows.items() if row.node == node)

    def takeover(self, node):
        return f"ok {len(self.owned(node))}"

    def fetch(self, node, after, fd):
        for id in self.owned(node):
            if after == "-" or id > after:
                row = self.rows[id]
                os.pwrite(fd, row.body + row.control, 0)
                return (f"message {id} {row.area} {len(row.body)} "
                        f"{len(row.control)} {row.since}")
        return "end"

    def took(self, node, *ids):
        if self.refusals:
            return self.refusals.pop(0)
        for id in ids:
            if self.rows[id].node == node:
                self.rows[id].node, self.rows[id].since = "mx2", 2
        return "ok"

    def close(self):
        self.listener.close()
