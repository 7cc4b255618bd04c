/* routing.h - rows of conf_statements.h: whose mail this is, where it goes
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "domain", DOMAIN, domain, "domain+", "",
    "domain NAME... [{ users ...; aliases ...; deliver ... }]",
    "the host's name and localhost, unless a domain or route statement "
    "names them",
    "Mail for these domains ends here.  .example.org stands for everything "
    "below example.org.  The block says who exists, which aliases apply and "
    "how mail is delivered.",
    "domain example.org example.net\n"
    "domain lists.example.org { users any; deliver lmtp inet:127.0.0.1:8024 }")

STATEMENT(DOMAIN, "users", NONE, users, "users", "",
    "users passwd | any | <table>", "passwd",
    "Who has a mailbox: the accounts of the system, everybody (the next "
    "program decides), or the keys of a table.",
    "table people file:/etc/zmailer/people\n"
    "domain example.org { users <people> }")

STATEMENT(DOMAIN, "aliases", NONE, aliases, "table", "",
    "aliases <table>",
    "the table called aliases, else /etc/aliases where there is one",
    "Names that stand for other addresses, looked up before users.",
    "table ours file:/etc/zmailer/aliases\n"
    "domain example.org { aliases <ours> }")

STATEMENT(DOMAIN, "deliver", NONE, deliver,
    "choice:local,lmtp,smtp,pipe,hold word?", "",
    "deliver CHANNEL [HOST]", "local",
    "How mail reaches a mailbox: local (see mailbox), lmtp unix:/PATH or "
    "lmtp inet:HOST:PORT, smtp HOST:PORT, pipe, hold.",
    "domain example.org { deliver lmtp unix:/run/dovecot/lmtp }\n"
    "domain example.net { deliver smtp inside.example.net:25 }")

STATEMENT(TOP, "table", LINES, table, "word spec?", "",
    "table NAME TYPE:PATH | table NAME { KEY VALUE... }", "none",
    "A list to look things up in; other statements refer to it as <NAME>.  "
    "A file is watched for change.  file: holds one entry a line: key, blank, "
    "value; # begins a comment line; a line that begins with a blank "
    "continues the one before.  pcre: holds patterns, cidr: networks; cdb: "
    "and lmdb: are databases that zmailer table build makes; passwd: (no "
    "path) are the accounts of the system.  zmailer-table(8) tells more.",
    "table aliases file:/etc/aliases\n"
    "table people cdb:/etc/zmailer/people.cdb\n"
    "table partners {\n"
    "\t192.0.2.0/24\n"
    "\t2001:db8::/32\n"
    "}")

STATEMENT(TOP, "route", NONE, route, "routepattern", "via!=target",
    "route PATTERN via TARGET", "via mx",
    "Where mail for other domains goes; the first match in the file wins.  "
    "PATTERN is a domain, .DOMAIN for everything below it, or *.  TARGET is "
    "mx (what the DNS says), HOST[:PORT] or [ADDRESS]:PORT (that host, no "
    "look at MX records), smtps:HOST[:PORT] (the same with TLS from the "
    "first byte, which port 465 means, too), lmtp HOST, local, hold (wait "
    "for a person), or error \"TEXT\" (refuse with these words).",
    "route partner.example via relay.isp.example:587\n"
    "route backup.example via smtps:backup.isp.example\n"
    "route .old.example via error \"5.1.2 this domain was given up\"\n"
    "route * via mx")

STATEMENT(TOP, "routes", NONE, routes, "table", "",
    "routes <table>", "none",
    "Routes in a table, tried in this place of the order.  A key is a "
    "domain, .DOMAIN for what is below it, or a dot for all others; a value "
    "is mx, HOST (its MX is asked), [HOST]:PORT, CHANNEL!HOST or "
    "error!WORDS.",
    "table routes { partner.example [relay.isp.example]:587 }\n"
    "routes <routes>")
