"""A PostgreSQL of our own, as nobody.

SPDX-License-Identifier: ISC
"""
import glob
import os
import signal

from servers import Base


class Postgres(Base):
    """By TCP it wants TLS and a password; by its socket nothing."""
    kind, user, stop_signal = "pgsql", "nobody", signal.SIGINT
    settings = ()           # further ones: "fsync=on"

    def make(self):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.host = f"{self.top}:{self.port}"
        self.tool(f"{self.bin}/initdb", "-D", self.data, "-U", "nobody",
                  "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.certify()
        with open(self.data + "/pg_hba.conf", "w", encoding="ascii") as file:
            file.write("local all all trust\n"
                       "local replication all trust\n"
                       "hostssl all all 127.0.0.1/32 scram-sha-256\n")

    def start(self):
        words = ["ssl=on", f"ssl_cert_file={self.top}/ca.pem",
                 f"ssl_key_file={self.top}/server.key", "fsync=off",
                 "unix_socket_permissions=0777", *self.settings]
        self.spawn(f"{self.bin}/postgres", "-D", self.data, "-k", self.top,
                   "-p", str(self.port), "-h", "127.0.0.1",
                   *(word for one in words for word in ("-c", one)))

    def answers(self):
        return self.tool(f"{self.bin}/pg_isready", "-h", self.top, "-p",
                         str(self.port), check=False).returncode == 0

    def fill(self):
        pass

    def standby(self):
        """Another one that follows this one, and can take its place."""
        return Standby(self)

    def sql(self, text, base="mail", check=True):
        """What it says, without heads and blanks."""
        return self.tool(f"{self.bin}/psql", "-h", self.top, "-p",
                         str(self.port), "-U", "nobody", "-d", base, "-v",
                         "ON_ERROR_STOP=1", "-At", "-c", text,
                         check=check).stdout.decode().strip()

    def query(self, text):
        return text

    def kill(self):
        """All of it at once, as when the machine loses its power."""
        self.signal(signal.SIGKILL)
        self.child.wait()
        self.child = None


class Standby(Postgres):
    """As it was when it was made; it ends before its primary does."""

    def __init__(self, primary):
        self.primary = primary
        super().__init__()

    def make(self):
        self.bin = self.primary.bin
        self.tool(f"{self.bin}/pg_basebackup", "-h", self.primary.top, "-p",
                  str(self.primary.port), "-U", "nobody", "-D", self.data,
                  "-R", "-X", "stream", "-c", "fast")
        self.certify()

    def promote(self):
        self.tool(f"{self.bin}/pg_ctl", "promote", "-D", self.data, "-w")
