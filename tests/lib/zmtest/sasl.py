"""AUTH as a client speaks it, and entries for tables of users.

SPDX-License-Identifier: ISC
"""
import base64
import hashlib
import hmac
import os
import subprocess


def b64(data):
    return base64.b64encode(data).decode("ascii")


def digest(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def salted(password, salt, rounds):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)


def scram_entry(password, salt=b"salt of the test", rounds=4096):
    key = salted(password, salt, rounds)
    stored = hashlib.sha256(digest(key, b"Client Key")).digest()
    return (f"{{SCRAM-SHA-256}}{rounds},{b64(salt)},{b64(stored)},"
            f"{b64(digest(key, b'Server Key'))}")


def crypt_entry(password):
    """An entry with few rounds, so that it is quick."""
    return subprocess.run(
        ["openssl", "passwd", "-6", "-salt", "zmtest", password], check=True,
        capture_output=True, text=True).stdout.strip()


def challenge(reply):
    """The bytes after 334; None for any other reply."""
    if not reply.startswith("334"):
        return None
    return base64.b64decode(reply[4:])


def plain(line, _peer, user, password):
    token = b64(f"\0{user}\0{password}".encode())
    return line("AUTH PLAIN " + token)


def login(line, peer, mechanism, user, password, *more):
    """Speak; line(text) sends one and returns the reply.  The last reply."""
    mechanism = mechanism.upper()
    if mechanism == "PLAIN":
        return plain(line, peer, user, password)
    if mechanism == "LOGIN":
        reply = line("AUTH LOGIN")
        for word in (user, password):
            if challenge(reply) is None:
                return reply
            reply = line(b64(word.encode()))
        return reply
    if mechanism == "XOAUTH2":
        return line("AUTH XOAUTH2 " + b64(
            f"user={user}\1auth=Bearer {password}\1\1".encode()))
    return scram(line, peer, mechanism, user, password, *more)


def binding_of(peer, kind):
    """Channel binding data.  Python knows no exporter: end point only."""
    cert = peer.getpeercert(binary_form=True)
    return hashlib.sha256(cert).digest() if kind == "tls-server-end-point" \
        else b"?" * 32


def scram(line, peer, mechanism, user, password, kind=None):
    """kind: the channel to bind; "y": we could, were it offered; "bad": an
    end point that is another's; "nonce": a nonce that is."""
    plus = mechanism.endswith("-PLUS")
    name = kind if plus and kind and kind.startswith("tls-") else \
        "tls-server-end-point"
    gs2 = f"p={name},," if plus else "y,," if kind == "y" else "n,,"
    data = binding_of(peer, name) if plus and kind != "bad" else \
        b"!" * 32 if plus else b""
    nonce = b64(os.urandom(18))
    user = user.replace("=", "=3D").replace(",", "=2C")
    first = f"n={user},r={nonce}"
    reply = line(f"AUTH {mechanism} {b64((gs2 + first).encode())}")
    said = challenge(reply)
    if said is None:
        return reply
    server_first = said.decode()
    parts = dict(p.split("=", 1) for p in server_first.split(","))
    if not parts["r"].startswith(nonce):
        raise AssertionError("the server has another nonce")
    final = f"c={b64(gs2.encode() + data)},r=" + \
        (nonce if kind == "nonce" else parts["r"])
    message = f"{first},{server_first},{final}".encode()
    key = salted(password, base64.b64decode(parts["s"]), int(parts["i"]))
    client = digest(key, b"Client Key")
    stored = hashlib.sha256(client).digest()
    proof = bytes(a ^ b for a, b in zip(client, digest(stored, message)))
    reply = line(b64(f"{final},p={b64(proof)}".encode()))
    said = challenge(reply)
    if said is None:
        return reply
    want = digest(digest(key, b"Server Key"), message)
    if said != b"v=" + b64(want).encode():
        raise AssertionError("the server does not know the password")
    return line("")
