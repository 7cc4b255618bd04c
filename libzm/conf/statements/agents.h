/* agents.h - rows of statements.h for transports: how it is delivered
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "mailbox", NONE, mailbox, "choice:maildir,mbox,mmdf template",
    "as=account",
    "mailbox maildir|mbox|mmdf PATH [as ACCOUNT]", "mbox /var/mail/{user}",
    "Where local mail is put.  In PATH {user} is the account's name, {home} "
    "its home directory, {first} and {second} are the first letters of the "
    "name, {hash} and {hash2} two hexadecimal digits each of its CRC-32C, "
    "{domain} and {detail} are from the address as it came; {detail} is the "
    "part after +, or empty.  as ACCOUNT: all mailboxes belong to this "
    "account, and their users need none.",
    "mailbox maildir {home}/Maildir")

STATEMENT(TOP, "forward", NONE, forward, "template:none", "",
    "forward PATH|none", "{home}/.forward",
    "The file in which users say where their mail goes, with the same braces "
    "as in mailbox.  It is read and obeyed only with that user's rights.  "
    "Users without an account may name addresses in it, no programs and no "
    "files.  none: no such file is read.  zmailer-mailbox(8) has its format.",
    "forward none")

STATEMENT(TOP, "quota", NONE, quota, "size:0B-1024T",
    "messages=number:0-1000000000 over=choice:defer,fail",
    "quota SIZE [messages N] [over defer|fail]",
    "0: only what a Maildir's own maildirsize file says",
    "How large a mailbox may grow; 0B is no limit.  In a Maildir the limit is "
    "in the file maildirsize, which IMAP servers share (Maildir++; Trash does "
    "not count), and messages limits their number.  The size of an mbox is "
    "that of its file.  A message that does not fit waits (4.2.2), or fails "
    "with 5.2.2 if over fail is given; one that could never fit fails with "
    "5.2.3 at once.",
    "quota 2G over fail")

STATEMENT(TOP, "mx-port", NONE, setting, "setting", "",
    "mx-port PORT", "",
    "The port of next hops that the DNS names; change it only for a "
    "translating gateway, or in tests.",
    "mx-port 2525")
SETTING("mx-port", "", mx_port, "number:1-65535", "25", "a port")

STATEMENT(TOP, "tls-to", NONE, tls_to,
    "routepattern choice:" CONF_TLS_LEVEL_CHOICE,
    "name=word ca=path cert=path key=path",
    "tls-to PATTERN " CONF_TLS_LEVEL_USAGE " [name NAME,...] [ca FILE] "
    "[cert FILE [key FILE]]", "tls-to * dane",
    "How mail to a next hop is protected; the first match in the file wins.  "
    "PATTERN is compared with the domain, or the host that a route or lmtp "
    "names.  may: TLS if the host offers it, in the clear if its TLS is "
    "broken.  dane: as may, but if DNSSEC vouches for TLSA records of the "
    "host (RFC 7672), TLS with a certificate that they name, or the mail "
    "waits; a resolver on loopback must say so (AD).  sts: as dane, and "
    "without such records the domain's own policy counts (MTA-STS, RFC 8461): "
    "enforce allows only MX hosts that it names, with TLS and a certificate "
    "for that name from a trusted root, or the mail waits; testing is only "
    "noted; zmailer-sts(8).  dane-only: such records or the mail waits.  "
    "encrypt: TLS or the mail waits.  verify: also its certificate must lead "
    "to a trusted root and have one of these names: those after name "
    "(.example.org means all below it), else the domain, any name below it, "
    "or the routed host; names of MX records count only if they are among "
    "them, as anybody can forge DNS answers.  ca has the trusted roots "
    "(default: the system's), cert and key are our client certificate; the "
    "agent's account must be able to read them.",
    "tls-to partner.example verify\n"
    "tls-to .gmail.com verify name mx.google.com,.google.com\n"
    "tls-to bank.example dane-only\n"
    "tls-to legacy.example none")

STATEMENT(TOP, "sts", NONE, setting, "setting", "",
    "sts timeout SPAN | sts ca FILE | sts port PORT", "",
    "How to fetch the policies that `tls-to PATTERN sts` needs: timeout is "
    "for a whole look-up, DNS and web server; mail waits at most 10s for one, "
    "then goes as without a policy, unless one is known already.  ca has the "
    "trusted roots of the web servers (default: the system's); change port "
    "only in tests.",
    "sts timeout 30s")
SETTING("sts", "timeout", sts.timeout_ms, "span:1s-10m", "60s", "1s to 10m")
SETTING("sts", "ca", sts.roots, "path", "", "a file with roots")
SETTING("sts", "port", sts.port, "number:1-65535", "443", "a port")

STATEMENT(TOP, "tls-reports", NONE, setting, "setting", "",
    "tls-reports ADDRESS", "none are sent",
    "Domains that publish a policy for connections to their hosts (MTA-STS, "
    "TLSA) and ask for reports (TXT of _smtp._tls.DOMAIN, RFC 8460) get one a "
    "day about our connections: `zmailer report send`, by a timer or cron.  "
    "ADDRESS is their sender and contact; sign its domain, or they are not "
    "believed.",
    "tls-reports tls-reports@example.org")
SETTING("tls-reports", "", tls_reports, "mail", "",
    "an address that can be answered")

STATEMENT(TOP, "dmarc-reports", NONE, setting, "setting", "",
    "dmarc-reports ADDRESS", "none are sent",
    "Domains that ask for reports (rua in the DMARC record, RFC 9990) get one "
    "a day: which addresses sent mail as that domain that was accepted here, "
    "and what SPF, DKIM and DMARC said of it: `zmailer report send`, by a "
    "timer or cron.  Needs verify-origin; earlier mail is not counted.  "
    "ADDRESS is as in tls-reports.",
    "verify-origin yes\ndmarc-reports dmarc-reports@example.org")
SETTING("dmarc-reports", "", dmarc_reports, "mail", "",
    "an address that can be answered")

STATEMENT(TOP, "xclient-to", NONE, xclient_to, "routepattern", "",
    "xclient-to PATTERN", "none",
    "Next hops that get XCLIENT before each message, with the client that it "
    "came from: a filter, or a mail store behind this host, that decides by "
    "the client's address.  They must allow this (Postfix: "
    "smtpd_authorized_xclient_hosts; here: trust); if XCLIENT is not offered, "
    "the mail waits.  PATTERN is as in tls-to.",
    "xclient-to filter.example.org")

STATEMENT(TOP, "auth-to", NONE, auth_to, "table", "unencrypted",
    "auth-to <table> [unencrypted]", "none",
    "Names and passwords for next hops.  A key is the host that a route "
    "names, or the domain; a value is USER PASSWORD, or USER token:/PATH for "
    "a file with an OAuth 2 access token that another program keeps fresh.  A "
    "third word names the only mechanism to use.  Passwords are sent only "
    "over TLS unless unencrypted is given.  Only the agent's account needs to "
    "read the file; agents read it when they start.",
    "table secrets file:/etc/zmailer/auth-to\n"
    "auth-to <secrets>")
