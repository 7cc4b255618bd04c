"""The rows of a node that is lost, answered as share answers `zmailer cluster
takeover` (doc/protocol/share.md section 4), without a database.

SPDX-License-Identifier: ISC
"""
import os
import socket
import threading


TAKES = 3           # rows of a `take`, so that there is more than one


class Row:
    def __init__(self, area, body, control=b""):
        self.node, self.area, self.is_arriving = "mx1", area, False
        self.body, self.control, self.since = body, control, 1


class LostNode:
    """At RUN/share.sock; rows: {id: Row}.  is_back: since it was taken over,
    it has a lease again."""

    def __init__(self, run, rows):
        self.rows, self.is_back = rows, False
        self.path = os.path.join(run, "share.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

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
                    fd = files.pop(0) if verb == "arriving" else None
                    said = getattr(self, verb)(*words, *(
                        [] if fd is None else [fd]))
                    if fd is not None:
                        os.close(fd)
                    peer.sendall(f"{token} ok {said}\n".encode())

    def owned(self, node):
        return sorted(id for id, row in self.rows.items() if row.node == node)

    def takeover(self, node):
        rows = [self.rows[id] for id in self.owned(node)]
        return (f"ok {len(rows)} "
                f"{sum(len(row.body) + len(row.control) for row in rows)}")

    def take(self, node):
        found = [] if self.is_back else self.owned(node)[:TAKES]
        for id in found:
            self.rows[id].node, self.rows[id].is_arriving = "mx2", True
        return f"ok {len(found)} {'more' if self.owned(node) else 'all'}"

    def arriving(self, after, fd):
        for id in self.owned("mx2"):
            row = self.rows[id]
            if row.is_arriving and (after == "-" or id > after):
                os.pwrite(fd, row.body + row.control, 0)
                return (f"message {id} {row.area} {len(row.body)} "
                        f"{len(row.control)} {row.since}")
        return "end"

    def arrived(self, *ids):
        for id in ids:
            row = self.rows[id]
            if row.is_arriving:
                row.is_arriving, row.since = False, row.since + 1
        return "ok"

    def close(self):
        """The thread must be gone before the descriptor's number is used
        again: who was stopped in accept() takes it up by its number."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
