"""Delivery reports, read with the email package and held to the RFCs.

check() raises AssertionError with what is wrong and by which rule; it
returns the report taken apart.

SPDX-License-Identifier: ISC
"""
import email
import email.header
import email.policy
import email.utils
import re

ACTIONS = {"failed": "5", "delayed": "4", "delivered": "2", "relayed": "2",
           "expanded": "2"}
MESSAGE_FIELDS = {"original-envelope-id", "reporting-mta", "dsn-gateway",
                  "received-from-mta", "arrival-date", "deliver-by-date"}
RCPT_FIELDS = {"original-recipient", "final-recipient", "action", "status",
               "remote-mta", "diagnostic-code", "last-attempt-date",
               "final-log-id", "will-retry-until"}
DATES = {"arrival-date", "deliver-by-date", "last-attempt-date",
         "will-retry-until"}
TYPED = {"reporting-mta", "remote-mta", "original-recipient",
         "final-recipient", "diagnostic-code"}


class Report:
    def __init__(self, message, text, fields, rcpts, original):
        self.message, self.text = message, text
        self.fields, self.rcpts, self.original = fields, rcpts, original


def fail_unless(condition, what, rule):
    if not condition:
        raise AssertionError(f"{what} ({rule})")


def blocks(raw):
    """The groups of fields of a delivery-status, as lists of pairs."""
    found = []
    for block in re.split(rb"\n(?:[ \t]*\n)+", raw.replace(b"\r\n", b"\n")):
        if not block.strip():
            continue
        pairs = []
        for line in block.strip(b"\n").split(b"\n"):
            if line[:1] in (b" ", b"\t"):
                pairs[-1][1] += " " + line.strip().decode()
                continue
            match = re.fullmatch(rb"([!-9;-~]+):[ \t]*(.*)", line)
            fail_unless(match, f"{line!r} is no field", "RFC 3464 2.1.1")
            pairs.append([match.group(1).decode().lower(),
                          match.group(2).decode()])
        found.append(pairs)
    return found


def check_field(name, value, known, is_global):
    fail_unless(name in known or name.startswith("x-"),
                f"field {name} is not known", "RFC 3464 2.2, 2.3")
    fail_unless(is_global or value.isascii(), f"{name}: {value!r}",
                "RFC 3464 2.1.1: ASCII")
    fail_unless(value.strip(), f"{name} is empty", "RFC 3464")
    if name in DATES:
        fail_unless(email.utils.parsedate_tz(value), f"{name}: {value}",
                    "RFC 5322 3.3")
    if name in TYPED:
        fail_unless(re.match(r"[A-Za-z0-9-]+; ?\S", value),
                    f"{name}: {value}", "RFC 3464 2.1.2: type;value")


def check_rcpt(pairs, is_global):
    fields = dict(pairs)
    fail_unless(len(fields) == len(pairs), "a field twice", "RFC 3464 2.3")
    for name in ("final-recipient", "action", "status"):
        fail_unless(name in fields, f"no {name}", "RFC 3464 2.3")
    for name, value in pairs:
        check_field(name, value, RCPT_FIELDS, is_global)
    names = [name for name, _ in pairs]
    if "original-recipient" in names:
        fail_unless(names.index("original-recipient") <
                    names.index("final-recipient"), "order", "2.3.1")
    action, status = fields["action"], fields["status"]
    fail_unless(action in ACTIONS, f"action {action}", "RFC 3464 2.3.3")
    fail_unless(re.fullmatch(r"[245]\.\d{1,3}\.\d{1,3}", status),
                f"status {status}", "RFC 3463 2")
    fail_unless(status[0] == ACTIONS[action],
                f"{action} with status {status}", "RFC 3464 2.3.4")
    fail_unless(("will-retry-until" in fields) <= (action == "delayed"),
                "will-retry-until", "RFC 3464 2.3.9")
    kind = fields["final-recipient"].split(";")[0]
    fail_unless(kind in ("rfc822", "utf-8", "x-local"), kind, "2.3.2")
    fail_unless((kind == "utf-8") or fields["final-recipient"].isascii(),
                "type of a non-ASCII address", "RFC 6533 3")
    return fields


def check_top(raw, message):
    for line in raw.replace(b"\r\n", b"\n").split(b"\n"):
        fail_unless(len(line) <= 998, "a line too long", "RFC 5322 2.1.1")
    for name in ("From", "To", "Date", "Message-Id", "Subject"):
        fail_unless(len(message.get_all(name, [])) == 1, name, "RFC 5322 3.6")
    fail_unless(message["Auto-Submitted"] == "auto-replied",
                "Auto-Submitted", "RFC 3834 5")
    fail_unless(message["MIME-Version"] == "1.0", "MIME-Version", "RFC 2045")
    fail_unless((message["Return-Path"] or "<>") == "<>", "Return-Path",
                "RFC 3461 6.1: the null sender")
    fail_unless(message.get_content_type() == "multipart/report" and
                message.get_param("report-type") == "delivery-status",
                message["Content-Type"], "RFC 6522 3, RFC 3464 2")
    fail_unless(not message.defects, f"{message.defects}", "RFC 2046")


def payload(part):
    """Bytes of a part, whatever the email package made of its type."""
    inner = part.get_payload()
    if isinstance(inner, list):
        return b"\n".join(p.as_bytes(policy=email.policy.compat32)
                          for p in inner)
    return part.get_payload(decode=True)


def part_bytes(raw, message):
    """The three parts as they stand in the message, header cut off."""
    mark = b"--" + message.get_boundary().encode()
    raw = raw.replace(b"\r\n", b"\n")
    pieces = raw.split(b"\n" + mark)
    fail_unless(len(pieces) == 5 and pieces[4].startswith(b"--"),
                f"{len(pieces)} pieces", "RFC 6522 3: three parts")
    return [piece[1:].split(b"\n\n", 1) for piece in pieces[1:4]]


def check(raw):
    """raw: bytes of the message.  returns a Report."""
    message = email.message_from_bytes(raw)
    check_top(raw, message)
    parts = message.get_payload()
    kinds = [part.get_content_type() for part in parts]
    fail_unless(len(parts) == 3, kinds, "RFC 6522 3")
    fail_unless(kinds[0] == "text/plain", kinds[0], "RFC 6522 3")
    fail_unless(kinds[1] in ("message/delivery-status",
                             "message/global-delivery-status"), kinds[1],
                "RFC 3464 2, RFC 6533 4")
    is_global = kinds[1] == "message/global-delivery-status"
    fail_unless(kinds[2] in ("message/rfc822", "text/rfc822-headers") or
                (is_global and kinds[2] in ("message/global",
                                            "message/global-headers")),
                kinds[2], "RFC 6522 3, RFC 6533 5")
    pieces = part_bytes(raw, message)
    for head, body in pieces:
        has_8bit = any(b > 127 for b in body)
        fail_unless(not has_8bit or b"8bit" in head,
                    "8bit without saying so", "RFC 2045 6")
    groups = blocks(pieces[1][1])
    fail_unless(len(groups) >= 2, "no recipient", "RFC 3464 2.1")
    fields = dict(groups[0])
    fail_unless("reporting-mta" in fields, "Reporting-MTA", "RFC 3464 2.2.2")
    for name, value in groups[0]:
        check_field(name, value, MESSAGE_FIELDS, is_global)
    rcpts = [check_rcpt(pairs, is_global) for pairs in groups[1:]]
    return Report(message, pieces[0][1].decode("utf-8"), fields, rcpts,
                  pieces[2][1])


def rows(raw):
    """What it says of each recipient, checked."""
    one = check(raw)
    subject = str(email.header.make_header(email.header.decode_header(
        one.message["Subject"])))
    return [dict(one.fields, **rcpt, text=one.text, subject=subject,
                 original=one.original.decode("utf-8", "replace"),
                 type=one.message.get_payload()[1].get_content_type())
            for rcpt in one.rcpts]
