/* routing.h - rows of statements.h: whose mail this is, where it goes
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "domain", DOMAIN, domain, "domain+:or-table", "",
    "domain NAME|<table>... [{ users ...; aliases ...; deliver ... }]",
    "the host's name and localhost, unless a domain or route statement "
    "names them",
    "Mail for these domains is delivered here.  .example.org means everything "
    "below example.org.  The keys of a table, such as ZMailer's localnames, "
    "are names, too; a changed file takes effect within a second, a broken "
    "one is refused as a whole.  A table in a database is queried for the "
    "whole name, after the configuration and files; if it does not answer, "
    "the reply is 451, and the domain is never taken for somebody else's.  "
    "The block says who exists, which aliases apply and how mail is delivered.",
    "domain example.org example.net\n"
    "domain lists.example.org { users any; deliver lmtp inet:127.0.0.1:8024 }")

STATEMENT(DOMAIN, "users", NONE, users, "users", "",
    "users passwd | any | none | <table>", "passwd",
    "Who has a mailbox: the accounts of the system, everybody (the next "
    "program decides), nobody (only aliases count), or the keys of a table: "
    "user@domain, or user; the value \\NAME may name the mailbox.",
    "table people file:/etc/zmailer/people\n"
    "domain example.org { users <people> }")

STATEMENT(DOMAIN, "aliases", NONE, aliases, "table+", "",
    "aliases <table>...",
    "the table called aliases, else /etc/aliases as soon as there is one",
    "Names that stand for other addresses, looked up before users: "
    "user@domain, then user, in one table after the other.  A value is as in "
    "aliases(5).  @domain means all names that are not found otherwise; its "
    "value @other means the same names there.",
    "table ours file:/etc/zmailer/aliases\n"
    "domain example.org { aliases <ours> }")

STATEMENT(DOMAIN, "deliver", NONE, deliver,
    "choice:local,lmtp,smtp,pipe,http,hold word?", "as=account",
    "deliver CHANNEL [HOST]", "local",
    "How mail reaches a mailbox: local (see mailbox), lmtp unix:/PATH or "
    "lmtp HOST[:PORT] (24; or inet:HOST:PORT), smtp HOST:PORT, pipe "
    "\"COMMAND\" [as ACCOUNT] (a program that gets each recipient's message "
    "on its standard input, with the address in RECIPIENT, as this "
    "account or nobody: zmailer-pipe(8)), "
    "http URL (zmailer-http(8)), hold.",
    "domain example.org { deliver lmtp unix:/run/dovecot/lmtp }\n"
    "domain desk.example.org { users any; "
    "deliver pipe \"/usr/local/bin/desk --new\" as desk }\n"
    "domain tickets.example.org { users any; "
    "deliver http https://desk.example.org/mail }\n"
    "domain example.net { deliver smtp inside.example.net:25 }")

STATEMENT(TOP, "table", LINES, table, "word spec?", "",
    "table NAME TYPE:PATH | table NAME { KEY VALUE... }", "none",
    "A lookup table; other statements refer to it as <NAME>.  Changes of a "
    "file are noticed.  file: has one entry on each line: key, blank, value; "
    "# begins a comment line; a line that begins with a blank continues the "
    "one before.  pcre: holds patterns, cidr: networks; cdb: and lmdb: are "
    "databases that zmailer table build makes; passwd: (no path) are the "
    "accounts of the system.  The file of pgsql:, mysql:, sqlite:, ldap:, "
    "redis:, socketmap: and tcp: says where a database is and what to query; "
    "only a reload reads it.  zmailer-table(8) has the details.",
    "table aliases file:/etc/aliases\n"
    "table people cdb:/etc/zmailer/people.cdb\n"
    "table mailboxes pgsql:/etc/zmailer/mailboxes\n"
    "table partners {\n"
    "\t192.0.2.0/24\n"
    "\t2001:db8::/32\n"
    "}")

STATEMENT(TOP, "route", NONE, route, "routepattern",
    "via!=target from=pattern as=userpattern zone=word cut-through",
    "route PATTERN [from SENDER] [as USER] via TARGET [login NAME] "
    "[else [after SPAN] TARGET]... [zone NAME] [cut-through]", "via mx",
    "Where mail for other domains goes; the first match in the file wins.  "
    "PATTERN is a domain, .DOMAIN for everything below it, or *.  from: only "
    "mail with this sender at that point (user@domain, @domain, <> or a "
    "<table>).  as: only mail of a user who logged in, or submitted it on "
    "this machine (any, none, a name, a <table>).  TARGET is mx (the hosts in "
    "the DNS), HOST[:PORT] or [ADDRESS]:PORT (that host, without MX records), "
    "smtps:HOST[:PORT] (the same with TLS from the first byte, as for port "
    "465), lmtp HOST[:PORT] (default port 24) or lmtp unix:/PATH, local, hold "
    "(wait for a person), defer \"TEXT\" (wait until the schedule gives it "
    "up, with this text), error \"TEXT\" (refuse with this text), discard "
    "(accept and drop), sm MAILER[/HOST] (a program of sm.conf: "
    "zmailer-sm(8)), http URL (each recipient's message is a POST: "
    "zmailer-http(8)), or channel NAME[/HOST] (an agent of your own, which a "
    "schedule clause for NAME/* starts by its command).  login NAME: log in "
    "with the entry for the key NAME in the table of auth-to, not that for "
    "the host; without that key the mail waits.  else: where mail goes after "
    "it failed at the previous target, for good or because its time was over, "
    "or (after SPAN) was tried there for that long.  Only the failure of the "
    "last one is reported.  zone: the sending zone for this mail, whatever "
    "its sender.  cut-through: at the end of its message the client gets the "
    "reply of the next hop, if that comes within timeout cut-through: 250 "
    "with its text, or its refusal, and then no report is sent.  The message "
    "is in the queue before it is sent on; if the next hop cannot be reached "
    "or defers it, the client gets 250, and the message goes on like all "
    "mail.  This needs that for the domain of each recipient this is the "
    "first route, whatever its from and as; it does not apply to routes of a "
    "table, LMTP and standard input.",
    "route partner.example via relay.isp.example:587\n"
    "route backup.example via smtps:backup.isp.example\n"
    "route .old.example via error \"5.1.2 this domain was given up\"\n"
    "route moving.example via defer \"4.4.3 back on Monday\"\n"
    "route .uucp via sm uucp/hub\n"
    "route hook.example via http https://desk.example.org/mail\n"
    "zone bulk { source 192.0.2.20 }\n"
    "route news.example via mx zone bulk\n"
    "route remote.example via mx else after 2h relay.isp.example else hold\n"
    "route * from @shop.example via smtp.isp.example:587 login shop\n"
    "route inside.example via [192.0.2.30]:25 cut-through\n"
    "route * as newsletter via bulk.isp.example\n"
    "route * via mx")

STATEMENT(TOP, "routes", NONE, routes, "table",
    "by=choice:recipient,sender,user",
    "routes <table> [by sender|user]", "none",
    "Routes in a table, tried at this place in the order.  A key is a domain, "
    ".DOMAIN for all below it, or a dot for all others; a value is mx, HOST "
    "(its MX is asked), [HOST]:PORT, CHANNEL!HOST or error!WORDS, also with "
    "login and else as in route.  by sender: the keys are the sender at that "
    "point, @DOMAIN, its domain, and so on; by user: the name of the user who "
    "sent the mail.",
    "table routes { partner.example [relay.isp.example]:587 }\n"
    "routes <routes>")

STATEMENT(TOP, "virtual", NONE, virtual, "table+", "",
    "virtual <table>...", "none",
    "Addresses that stand for others, looked up for every recipient before "
    "anything else: user@domain, then user+detail@domain without the detail, "
    "then @domain for all of a domain; its value @other means the same user "
    "there.  Tables of patterns are matched against the whole address.",
    "table moved file:/etc/zmailer/virtual\n"
    "virtual <moved>")

STATEMENT(TOP, "recipient-delimiter", NONE, setting, "setting", "",
    "recipient-delimiter BYTES|none", "",
    "Bytes that may separate a user from a detail: with +, mail for "
    "user+lists goes to the user unless that name itself is known.",
    "recipient-delimiter +-")
SETTING("recipient-delimiter", "", delimiters, "word", "+",
    "each byte of the word, or none")

STATEMENT(TOP, "list", NONE, list, "mail",
    "members!=path owner!=mail errors-to=mail verp",
    "list ADDRESS members FILE owner ADDRESS [errors-to ADDRESS] [verp]",
    "none",
    "A mailing list.  FILE has addresses, one or more on each line; lines "
    "that begin with # are comments; only its owner may be able to write it.  "
    "The list's mail is sent from owner-NAME, which goes to the owner "
    "ADDRESS, as do NAME-owner and NAME-request; our own reports go to "
    "errors-to ADDRESS, if given.  verp gives each member its own sender, "
    "owner-NAME+user=domain, so that a bounce names the member.",
    "domain lists.example.org\n"
    "list news@lists.example.org members /etc/zmailer/news "
    "owner alice@example.org verp")

STATEMENT(TOP, "srs", NONE, srs, "domain", "key!=path expire=span:1d-500d",
    "srs DOMAIN key FILE [expire SPAN]", "none; expire 21d",
    "Mail from elsewhere that an alias sends on to another system gets a "
    "sender in DOMAIN, one of ours, that leads bounces back to the original "
    "sender (sender rewriting scheme).  FILE has a label and a secret on each "
    "line: the first one signs, all of them are accepted, so put a new one "
    "first.  A rewritten sender is valid for SPAN.",
    "domain example.org srs.example.org\n"
    "srs srs.example.org key /etc/zmailer/srs-keys")
