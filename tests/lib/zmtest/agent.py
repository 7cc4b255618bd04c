"""A transport agent on its own: this is the scheduler that feeds it.

doc/protocol/agent.md has the lines, zmailer-control(5) the control file.

SPDX-License-Identifier: ISC
"""
import os
import socket
import subprocess
import tempfile

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
TABLE = []
for _n in range(256):
    _crc = _n
    for _ in range(8):
        _crc = _crc >> 1 ^ (0x82f63b78 if _crc & 1 else 0)
    TABLE.append(_crc)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


def spool_id(number):
    """Ids whose moments are some seconds apart in 2026."""
    text, value = "", number + 1
    for _ in range(4):
        text, value = LETTERS[value % 32] + text, value // 32
    return "361hm3xxx13" + text


class Job:
    """A message for recipients [(channel, host, user, uid)]."""

    def __init__(self, number, rcpts, header, body, sender="s@src.test"):
        self.id, self.rcpts = spool_id(number), rcpts
        self.body = tempfile.TemporaryFile()
        self.body.write(body)
        self.body.flush()
        self.control = tempfile.TemporaryFile("a+b")
        lines = [b"I " + self.id.encode(), b"i %d" % number, b"o 0",
                 b"z %d" % (len(header) + 1 + len(body)),
                 b"e " + sender.encode()]
        text = b"".join(line + b"\n" for line in lines)
        self.sender_at = 22 + len(text)
        text += f"s local - {sender or '-'} -2\n".encode()
        self.at = []
        for channel, host, user, uid in rcpts:
            self.at.append(22 + len(text))
            text += f"r {channel} {host} {user} {uid}\n".encode()
        self.header_at = 22 + len(text) + 2
        text += b"m\n" + header + b"\n"
        self.control.write(b"@ 1 %08d %08x\n" % (22 + len(text),
                                                 crc32c(text)) + text)
        self.control.flush()
        self.name = f"{number}"

    def line(self, tries=0):
        return "%s/%s\t%s\t%d,%d,%d\t%s\n" % (
            self.name, self.id, self.rcpts[0][1], self.sender_at,
            self.header_at, tries, ",".join(map(str, self.at)))

    def close(self):
        self.body.close()
        self.control.close()


class Agent:
    """A running agent; verdicts are (kind, status, who, text) by
    recipient."""

    def __init__(self, words, env):
        ours, theirs = socket.socketpair()
        self.socket = ours
        self.socket.settimeout(60)
        self.process = subprocess.Popen(words, env=env, stdin=theirs,
                                        stdout=theirs, close_fds=True)
        theirs.close()
        self.lines = b""

    def give(self, job, tries=0):
        try:
            socket.send_fds(self.socket, [job.line(tries).encode()],
                            [job.body.fileno(), job.control.fileno()])
        except OSError:
            pass            # it is gone: verdicts() will say so

    def verdicts(self, job, until=None):
        """Its verdicts on the job; what there is of them when the agent
        ends, or until() is true."""
        found = {}
        self.socket.settimeout(0.02 if until else 60)
        while len(found) < len(job.at):
            try:
                more = self.socket.recv(65536)
            except TimeoutError:
                if until and until():
                    return found
                continue
            except OSError:
                return found
            if not more:
                return found
            self.lines += more
            *whole, self.lines = self.lines.split(b"\n")
            for line in whole:
                if line.startswith(job.name.encode() + b"/"):
                    name, _next, kind, who, text = line.decode(
                        "utf-8", "replace").split("\t", 4)
                    found[job.at.index(int(name.split("/")[1]))] = (
                        *kind.split(" "), who, text)
        return found

    def close(self):
        self.socket.close()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
