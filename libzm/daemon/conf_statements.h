/* conf_statements.h - every statement of zmailer.conf, one row each
 *
 * STATEMENT(group, name, block, apply, args, keywords, usage, preset,
 *     text, example)
 *   group     where it may stand: TOP, or inside the block of DOMAIN,
 *             SCHEDULE
 *   block     what its own { } holds: NONE, LINES (keys and values), or
 *             the group of its items
 *   apply     function in conf_apply.c that turns it into settings
 *   args      types of the words behind the name; "?" may be missing,
 *             "+" one or more; what stands behind ":" narrows the type
 *   keywords  "word=type" pairs in any order; "!" must be there; a word
 *             without type is a flag
 *   preset    what holds when nothing is said, for people; "" when the
 *             SETTING rows tell
 *   text      a paragraph for people (help and manual)
 *   example   lines that parse
 *
 * SETTING(statement, key, field, type, preset, text)
 *   a plain value: `statement VALUE`, or with a key `statement KEY VALUE`.
 *   preset is parsed like what a person writes.
 *
 * Parser, `zmailer check`, `zmailer help`, `zmailer config show` and
 * zmailer.conf(5) come from these rows.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef STATEMENT
#define STATEMENT(group, name, block, apply, args, keywords, usage, preset, \
    text, example)
#endif
#ifndef SETTING
#define SETTING(statement, key, field, type, preset, text)
#endif

STATEMENT(TOP, "host", NONE, setting, "setting", "",
    "host NAME", "",
    "The name of this machine in mail: in greetings, in Received fields, and "
    "behind the @ of addresses that were written without a domain.  Other "
    "mail servers want it to be a name that the DNS knows.",
    "host mx.example.org")
SETTING("host", "", host, "name", "",
    "name of this machine; as a preset what the system calls itself")

STATEMENT(TOP, "postmaster", NONE, setting, "setting", "",
    "postmaster ADDRESS", "",
    "Who gets the mail for postmaster, and the reports that have nobody "
    "else to go to.",
    "postmaster alice@example.org")
SETTING("postmaster", "", postmaster, "mail", "postmaster",
    "local part or address")

STATEMENT(TOP, "listen", NONE, listen, "listen", "submission",
    "listen [ADDRESS:]PORT [submission]", "listen 127.0.0.1:25",
    "Accept connections here.  A port alone means all addresses, IPv4 and "
    "IPv6.  submission marks a port for our own users' programs: mail is "
    "taken for submission (RFC 6409) there, not for relaying between "
    "servers.",
    "listen 25\n"
    "listen 127.0.0.1:587 submission\n"
    "listen [::1]:2525")

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
    "table NAME file:PATH | table NAME { KEY VALUE... }", "none",
    "A list to look things up in; other statements refer to it as <NAME>.  "
    "A file is watched for change.  It holds one entry a line: key, blank, "
    "value; # begins a comment line; a line that begins with a blank "
    "continues the one before.",
    "table aliases file:/etc/aliases\n"
    "table partners {\n"
    "\t192.0.2.0/24\n"
    "\t2001:db8::/32\n"
    "}")

STATEMENT(TOP, "route", NONE, route, "routepattern", "via!=target",
    "route PATTERN via TARGET", "via mx",
    "Where mail for other domains goes; the first match in the file wins.  "
    "PATTERN is a domain, .DOMAIN for everything below it, or *.  TARGET is "
    "mx (what the DNS says), HOST[:PORT] or [ADDRESS]:PORT (that host, no "
    "look at MX records), lmtp HOST, local, hold (wait for a person), or "
    "error \"TEXT\" (refuse with these words).",
    "route partner.example via relay.isp.example:587\n"
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

STATEMENT(TOP, "accept", NONE, accept, "",
    "from=net sender=pattern to=pattern for=choice:any",
    "accept [from NET|<table>|any] [sender PATTERN] [to PATTERN] [for any]",
    "after all others: accept from 127.0.0.0/8 for any; accept from ::1 for "
    "any; then mail for our own domains is taken and relaying refused",
    "A rule: mail that meets all its conditions is taken.  for any allows "
    "relaying to any domain, to PATTERN to these; without them the rule "
    "speaks of mail for our own domains.  accept and reject rules are tried "
    "in file order for each recipient, and the first match wins.  Mail for "
    "our own postmaster is always taken.  PATTERN is user@domain, @domain, "
    "<> (the null sender), or has * and ? in it.",
    "accept from 192.0.2.0/24 for any\n"
    "accept to *@backup.example")
STATEMENT(TOP, "reject", NONE, reject, "",
    "from=net sender=pattern to=pattern text=text",
    "reject [from NET|<table>] [sender PATTERN] [to PATTERN] "
    "[text \"WORDS\"]", "none",
    "A rule: the recipient is refused with 550 and these words.",
    "reject from 198.51.100.0/24 text \"mail from here is not wanted\"\n"
    "reject sender @spam.example")
STATEMENT(TOP, "freeze", NONE, freeze, "",
    "from=net sender=pattern to=pattern",
    "freeze [from NET|<table>] [sender PATTERN] [to PATTERN]", "none",
    "A rule: a message that is taken goes into freezer/, for a person to "
    "look at; accept and reject rules decide beside it whether it is taken.",
    "freeze sender *@odd.example")

STATEMENT(TOP, "mailbox", NONE, mailbox, "choice:maildir,mbox template", "",
    "mailbox maildir|mbox PATH", "mbox /var/mail/{user}",
    "Where local mail is put.  {user} is the account's name, {home} its home "
    "directory.",
    "mailbox maildir {home}/Maildir")

STATEMENT(TOP, "schedule", SCHEDULE, schedule, "clause", "",
    "schedule CHANNEL/HOST { parallel ...; retry ...; ... }",
    "built-in clauses for smtp, lmtp, local, pipe, error, hold and all "
    "others",
    "How mail of a channel to a host is tried.  * and ? stand for any bytes "
    "and one byte; the first match in the file wins.  What a clause leaves "
    "unsaid is taken from the next one below that matches it, in the end "
    "from the built-in ones.",
    "schedule smtp/slow.example { parallel 2; retry 10m 1h 4h }\n"
    "schedule smtp/* { parallel 10; expire 5d }")
STATEMENT(SCHEDULE, "parallel", NONE, parallel, "number:1-10000", "",
    "parallel N", "20",
    "Sessions to one destination at a time.",
    "schedule smtp/* { parallel 10 }")
STATEMENT(SCHEDULE, "agents", NONE, agents, "number:1-10000", "",
    "agents N", "50",
    "Transport agents that this clause may run at a time.",
    "schedule smtp/* { agents 50 }")
STATEMENT(SCHEDULE, "overfeed", NONE, overfeed, "number:0-10000", "",
    "overfeed N", "20",
    "Messages given to an agent ahead of its answers, so that it need not "
    "wait for the scheduler.",
    "schedule smtp/* { overfeed 5 }")
STATEMENT(SCHEDULE, "retry", NONE, retry, "span+:1s-4w", "",
    "retry SPAN...", "1m 5m 15m 1h 4h",
    "How long to wait after the first, second, ... attempt; the last one "
    "repeats.",
    "schedule smtp/* { retry 1m 5m 15m 1h 4h }")
STATEMENT(SCHEDULE, "warn", NONE, warn, "span:0s-52w", "",
    "warn SPAN", "4h",
    "Tell the sender once when mail is this late; 0 never.",
    "schedule smtp/* { warn 4h }")
STATEMENT(SCHEDULE, "expire", NONE, expire, "span:1s-52w", "",
    "expire SPAN", "5d",
    "Give up and return the mail when it is this old.",
    "schedule smtp/* { expire 5d }")
STATEMENT(SCHEDULE, "idle", NONE, idle, "span:0s-1d", "",
    "idle SPAN", "30s",
    "How long an agent without work (and its connection) is kept.",
    "schedule smtp/* { idle 1m }")
STATEMENT(SCHEDULE, "command", NONE, command, "text", "",
    "command \"PROGRAM ARGUMENTS\"", "the channel's own agent",
    "Another transport agent: any program that speaks zmailer-agent(7).",
    "schedule fax/* { command \"/usr/local/lib/faxagent -q\" }")

STATEMENT(TOP, "size", NONE, setting, "setting", "",
    "size BYTES", "",
    "The largest message that is taken; the same as limit size.",
    "size 25M")
SETTING("size", "", limits.size_bytes, "size:1K-16G", "50M",
    "the largest message")

STATEMENT(TOP, "limit", NONE, setting, "setting", "",
    "limit NAME VALUE", "",
    "Bounds, each by its name.",
    "limit recipients 500\n"
    "limit header 128K")
SETTING("limit", "size", limits.size_bytes, "size:1K-16G", "50M",
    "the largest message that is taken")
SETTING("limit", "recipients", limits.recipients, "number:1-1000000", "1000",
    "recipients of one message over SMTP; RFC 5321 wants at least 100")
SETTING("limit", "sessions", limits.sessions, "number:1-1000000", "1000",
    "SMTP sessions at a time")
SETTING("limit", "sessions-per-client", limits.sessions_per_client,
    "number:1-1000000", "50", "SMTP sessions at a time from one address")
SETTING("limit", "session-messages", limits.session_messages,
    "number:1-1000000000", "1000", "messages in one SMTP session")
SETTING("limit", "errors", limits.errors, "number:1-1000000", "20",
    "commands refused in a session before it is ended with 421")
SETTING("limit", "command", limits.command_bytes, "size:512B-64K", "2048B",
    "bytes of an SMTP command line")
SETTING("limit", "line", limits.line_bytes, "size:1000B-1G", "1000000B",
    "bytes of one line of a message")
SETTING("limit", "header", limits.header_bytes, "size:1K-64M", "256K",
    "bytes of a message's header")
SETTING("limit", "received", limits.received, "number:5-1000", "50",
    "Received fields; more is a loop")
SETTING("limit", "expansion", limits.expansion, "number:1-10000000",
    "100000", "recipients that one alias may become")
SETTING("limit", "expansion-depth", limits.expansion_depth, "number:1-100",
    "20", "aliases that lead to aliases")
SETTING("limit", "dsn", limits.dsn_bytes, "size:1K-1G", "50K",
    "bytes of a message that are returned in a report")
SETTING("limit", "agents", limits.agents, "number:1-100000", "100",
    "transport agents, all together")

STATEMENT(TOP, "timeout", NONE, setting, "setting", "",
    "timeout NAME SPAN", "",
    "How long to wait, each by its name: first those of our server, then "
    "those of our client (RFC 5321 section 4.5.3.2).",
    "timeout command 2m\n"
    "timeout connect 15s")
SETTING("timeout", "command", timeouts.command_ms, "span:1s-1d", "5m",
    "server: the client's next command")
SETTING("timeout", "data", timeouts.data_ms, "span:1s-1d", "10m",
    "server: more of a message")
SETTING("timeout", "session", timeouts.session_ms, "span:1s-4w", "1h",
    "server: a whole session")
SETTING("timeout", "connect", timeouts.connect_ms, "span:1s-1h", "30s",
    "client: a connection to be made")
SETTING("timeout", "greeting", timeouts.greeting_ms, "span:1s-1h", "5m",
    "client: the server's greeting")
SETTING("timeout", "helo", timeouts.helo_ms, "span:1s-1h", "5m",
    "client: the answer to EHLO")
SETTING("timeout", "mail", timeouts.mail_ms, "span:1s-1h", "5m",
    "client: the answer to MAIL")
SETTING("timeout", "rcpt", timeouts.rcpt_ms, "span:1s-1h", "5m",
    "client: the answer to RCPT")
SETTING("timeout", "data-start", timeouts.data_start_ms, "span:1s-1h", "2m",
    "client: the answer to DATA")
SETTING("timeout", "data-block", timeouts.data_block_ms, "span:1s-1h", "3m",
    "client: the server to take a block of the message")
SETTING("timeout", "data-end", timeouts.data_end_ms, "span:1s-1d", "10m",
    "client: the answer to the end of the message")
SETTING("timeout", "quit", timeouts.quit_ms, "span:1s-1h", "30s",
    "client: the answer to QUIT")
SETTING("timeout", "job", timeouts.job_ms, "span:1s-4w", "30m",
    "a program that a pipe delivery runs")

STATEMENT(TOP, "bare-newline", NONE, setting, "setting", "",
    "bare-newline reject|accept", "",
    "What to do with a message that has a line feed without a carriage "
    "return in it.  accept takes it as a line end, never as the end of the "
    "message.",
    "bare-newline reject")
SETTING("bare-newline", "", bare_lf_ok, "choice:reject,accept", "reject",
    "reject or accept")

STATEMENT(TOP, "dns", NONE, setting, "setting", "",
    "dns ADDRESS[:PORT]", "",
    "Ask this name server instead of those of resolv.conf(5).",
    "dns 127.0.0.1:5353")
SETTING("dns", "", dns_server, "endpoint", "",
    "a name server; as a preset the system's own")

STATEMENT(TOP, "mx-port", NONE, setting, "setting", "",
    "mx-port PORT", "",
    "The port of next hops that the DNS names; another than 25 only behind "
    "a translating gateway, or in tests.",
    "mx-port 2525")
SETTING("mx-port", "", mx_port, "number:1-65535", "25", "a port")

STATEMENT(TOP, "spool", NONE, setting, "setting", "",
    "spool DIRECTORY", "",
    "Where the mail is kept; the whole of it lies on one local file system.",
    "spool /var/spool/zmailer")
SETTING("spool", "", spool_dir, "path", ZM_SPOOLDIR, "an absolute path")

STATEMENT(TOP, "run", NONE, setting, "setting", "",
    "run DIRECTORY", "",
    "Where sockets and pids are kept.",
    "run /run/zmailer")
SETTING("run", "", run_dir, "path", ZM_RUNDIR, "an absolute path")

STATEMENT(TOP, "log", NONE, setting, "setting", "",
    "log DIRECTORY", "",
    "Where the journal of events is written, a file a day.",
    "log /var/log/zmailer")
SETTING("log", "", log_dir, "path", ZM_LOGDIR, "an absolute path")

STATEMENT(TOP, "hash", NONE, setting, "setting", "",
    "hash 0|1|2", "",
    "Levels of directories A to Z below queue/ and transport/; for file "
    "systems that are slow with many files in one.",
    "hash 1")
SETTING("hash", "", hash_levels, "number:0-2", "0", "0, 1 or 2")

STATEMENT(TOP, "sync", NONE, setting, "setting", "",
    "sync group|strict|unsafe", "",
    "What is made durable, and when: group is right for ext4, xfs, btrfs, "
    "zfs; strict adds a sync of directories to each move, for file systems "
    "nobody knows; unsafe allows a spool on a network file system.",
    "sync strict")
SETTING("sync", "", sync, "choice:group,strict,unsafe", "group",
    "group, strict or unsafe")

STATEMENT(TOP, "group", NONE, setting, "setting", "",
    "group SPAN", "",
    "Outcomes of deliveries are made durable together, within this time.",
    "group 500ms")
SETTING("group", "", group_ms, "span:0s-1m", "1s", "0 to 1m")

STATEMENT(TOP, "workers", NONE, setting, "setting", "",
    "workers smtpserver|router N", "",
    "Processes that share the work of a daemon.",
    "workers smtpserver 4\n"
    "workers router 4")
SETTING("workers", "smtpserver", smtpserver_workers, "number:1-256", "2",
    "session workers")
SETTING("workers", "router", router_workers, "number:1-256", "2",
    "routing workers")

STATEMENT(TOP, "user", NONE, setting, "setting", "",
    "user ROLE NAME", "",
    "The account a part of the system runs as when it was started as root. "
    "- stays root: for a private instance only.",
    "user smtpserver zmsmtp")
SETTING("user", "smtpserver", accounts[ROLE_SMTPSERVER], "account", "zmsmtp",
    "SMTP sessions")
SETTING("user", "router", accounts[ROLE_ROUTER], "account", "zmrouter",
    "routing and recovery")
SETTING("user", "scheduler", accounts[ROLE_SCHEDULER], "account", "zmsched",
    "the scheduler")
SETTING("user", "agent", accounts[ROLE_AGENT], "account", "zmagent",
    "transport agents that need no privilege")

STATEMENT(TOP, "include", NONE, include, "file", "",
    "include FILE", "none",
    "Read this file here; a path that does not begin with / starts at the "
    "directory of the file it stands in.",
    "include local.conf")

#undef STATEMENT
#undef SETTING
