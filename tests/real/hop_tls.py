"""Our side of TLS as Postfix and Exim see it: a session resumed by a second
connection, a certificate that they ask for, and mail that waits where we have
none to show; and their certificate held against TLSA records (DANE).

SPDX-License-Identifier: ISC
"""
import re

from hop import arrived, send
from zmtest import mta

AGAIN, ASKS, REFUSES = ADDRESSES = "127.0.0.13", "127.0.0.14", "127.0.0.15"
SHOWN = "/etc/me.pem"           # what the servers believe us
DANE = ("dane", "rolled", "stale", "bogus")     # by what the DNS says
DOMAINS = ", ".join(f"{name}-{letter}.test" for letter in "pe"
                    for name in ("again", "asks", "refuses", *DANE))
POSTFIX = " -o smtpd_tls_security_level=encrypt -o smtpd_tls_req_ccert=yes"
EXIM = f"""tls_verify_certificates = {SHOWN}
tls_verify_hosts = ${{if inlist{{$received_ip_address}}{{{ASKS}:{REFUSES}}}\
{{*}}{{}}}}
tls_resumption_hosts = *
log_selector = +tls_cipher +tls_certificate_verified +tls_peerdn \
+tls_resumption
"""


def configuration(cert, ours, ports):
    """Lines for our instance; ports by the letter of the server."""
    verify = f"verify name mx.test ca {cert.pem}"
    lines = [f"tls-to {AGAIN} {verify}", f"tls-to {REFUSES} {verify}",
             f"tls-to {ASKS} {verify} cert {ours.pem} key {ours.key}",
             # one that ends forgets its sessions
             f"schedule smtp/*{AGAIN}* {{ connection-messages 1; parallel 1; "
             "idle 1h }"]
    for letter, port in ports.items():
        lines += [f"route {name}-{letter}.test via {address}:{port}"
                  for name, address in (("again", AGAIN), ("asks", ASKS),
                                        ("refuses", REFUSES))]
    return "\n".join(lines) + "\n"


def zone(cert, ours, ports):
    """Signed: a host of its own for each domain, all on loopback."""
    rows = [("test", "SIGNED", None)]
    for letter, port in ports.items():
        records = {"dane": [cert.tlsa311], "rolled": [ours.tlsa311,
                                                      cert.tlsa302],
                   "stale": [ours.tlsa311]}
        for name in DANE:
            host = f"mx-{name}-{letter}.test"
            rows.append((host, "A", "127.0.0.1"))
            rows += [(f"_{port}._tcp.{host}", "TLSA", one.split())
                     for one in records.get(name, [])]
        rows.append((f"_{port}._tcp.mx-bogus-{letter}.test", "BOGUS", None))
    return rows


def dane_routes(ports):
    return "".join(f"route {name}-{letter}.test via "
                   f"mx-{name}-{letter}.test:{port}\n"
                   for letter, port in ports.items() for name in DANE)


def check_dane(hop, instance):
    """What goes, and what waits, by the TLSA records of zone()."""
    letter = hop.domain[0]
    for name, words in (("dane", "TLSA 3 1 1 matched"),
                        ("rolled", "TLSA 3 0 2 matched"),
                        ("stale", "(TLSA of mx-stale"),
                        ("bogus", "could not be had: SERVFAIL")):
        text = f"Subject: {name}\n\nhello\n".encode()
        domain = f"{name}-{letter}.test"
        send(instance, [f"u0@{domain}"], text)

        def told():
            """A server that had no time puts it off, too, and is tried
            again."""
            return [event for event in outcomes(instance, domain) if words in
                    event.get("tls", "") + event["reply"]]
        mta.wait_for(f"{words} of {domain}", told)
        assert {event["ev"] for event in told()} == {
            "rcpt.ok" if "matched" in words else "rcpt.defer"}, told()
        assert all(event in told() for event in outcomes(instance, domain)
                   if event["ev"] == "rcpt.ok"), outcomes(instance, domain)
        if "matched" in words:
            arrived(hop, text)


def log_of(hop, path):
    try:
        with open(hop.root.root + path, errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def outcomes(instance, domain):
    return [e for e in instance.events() if e["ev"] in ("rcpt.ok",
            "rcpt.defer") and e["to"].endswith("@" + domain)]


def check(hop, instance, log, resumed, header, line=None):
    """resumed: what the server's log says of a resumed session; header and
    line: what its Received field or its log says of our certificate."""
    letter = hop.domain[0]
    before = len(re.findall(resumed, log_of(hop, log)))
    for i in range(3):
        text = b"Subject: again%d\n\nhello\n" % i
        send(instance, [f"u0@again-{letter}.test"], text)
        arrived(hop, text)
    try:
        mta.wait_for("resumed sessions in the server's log", lambda: len(
            re.findall(resumed, log_of(hop, log))) - before >= 2)
    except AssertionError as error:
        raise AssertionError(f"{error}:\n{log_of(hop, log)[-9000:]}") \
            from None
    text = b"Subject: asks\n\nhello\n"
    send(instance, [f"u0@asks-{letter}.test"], text)
    arrived(hop, text)
    if header:
        mine = [m.decode() for m in hop.messages()
                if b"\nSubject: asks\n" in m]
        assert re.search(header, mine[0]), mine[0]
    if line:
        assert re.search(line, log_of(hop, log)), log_of(hop, log)[-2000:]
    send(instance, [f"u0@refuses-{letter}.test"],
         b"Subject: refuses\n\nhello\n")
    mta.wait_for("a refusal", lambda: outcomes(
        instance, f"refuses-{letter}.test"))
    assert all(e["ev"] == "rcpt.defer" for e in outcomes(
        instance, f"refuses-{letter}.test")), "taken without a certificate"
