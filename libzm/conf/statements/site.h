/* site.h - rows of statements.h: names, places, accounts, bounds
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "host", NONE, setting, "setting", "",
    "host NAME", "",
    "The name of this machine in mail: in greetings, in Received fields, and "
    "after the @ of addresses that were written without a domain.  Other mail "
    "servers expect it to be a name in the DNS.",
    "host mx.example.org")
SETTING("host", "", host, "name", "",
    "name of this machine; as a preset the system's host name; if that has no "
    "dot, the name in /etc/mailname")

STATEMENT(TOP, "postmaster", NONE, setting, "setting", "",
    "postmaster ADDRESS", "",
    "Who gets the mail for postmaster, and the reports without another "
    "recipient.",
    "postmaster alice@example.org")
SETTING("postmaster", "", postmaster, "mail", "postmaster",
    "local part or address")

STATEMENT(TOP, "limit", NONE, setting, "setting", "",
    "limit NAME VALUE", "",
    "Bounds, each by its name.",
    "limit recipients 500\n"
    "limit header 128K")
SETTING("limit", "size", limits.size_bytes, "size:1K-16G", "50M",
    "the largest message that is accepted")
SETTING("limit", "recipients", limits.recipients, "number:1-1000000", "1000",
    "recipients of one message over SMTP; RFC 5321 requires at least 100")
SETTING("limit", "recipient-domains", limits.recipient_domains,
    "number:0-1000", "0", "different domains among the recipients of one "
    "message over SMTP; 0: any number")
SETTING("limit", "hold", limits.hold_ms, "span:0s-365d", "30d",
    "how long a submitted message may be held back when its sender asks for "
    "it (FUTURERELEASE, RFC 4865); 0s: not at all")
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
SETTING("limit", "table-memory", limits.table_memory_bytes, "size:1K-1G",
    "16M", "bytes of a plain table that each process holds in memory; larger "
    "ones become a database in the run directory that all share")
SETTING("limit", "dsn", limits.dsn_bytes, "size:1K-1G", "50K",
    "bytes of a message that are returned in a report")
SETTING("limit", "auth-failures", limits.auth_failures, "number:1-100000",
    "10", "failed logins from an address within a quarter of an hour")
SETTING("limit", "auth-failures-user", limits.auth_failures_user,
    "number:1-1000000", "100",
    "failed logins of a user within a quarter of an hour")
SETTING("limit", "agents", limits.agents, "number:1-100000", "200",
    "transport agents, all together: each has one connection")
SETTING("limit", "processes", limits.processes, "number:1-10000", "16",
    "processes of smtp, and of lmtp: agents beyond that number share them "
    "evenly; one that dies costs each of its agents a try")
SETTING("limit", "router-share", limits.router_share, "number:0-1000", "0",
    "one of so many routed messages is from the last of router.1 to router.9 "
    "that has mail; 0: only when those before it are empty")
SETTING("limit", "program-memory", limits.program_memory_bytes,
    "size:0B-1024G", "2G", "address space of a program that gets mail; 0B: no "
    "limit")
SETTING("limit", "program-output", limits.program_output_bytes,
    "size:1K-1G", "1M", "what such a program may write before it is killed")

STATEMENT(TOP, "timeout", NONE, setting, "setting", "",
    "timeout NAME SPAN", "",
    "How long to wait, each by its name: first for our server, then for our "
    "client (RFC 5321 section 4.5.3.2).",
    "timeout command 2m\n"
    "timeout connect 15s")
SETTING("timeout", "command", timeouts.command_ms, "span:1s-1d", "5m",
    "server: the client's next command")
SETTING("timeout", "data", timeouts.data_ms, "span:1s-1d", "10m",
    "server: more of a message")
SETTING("timeout", "handshake", timeouts.handshake_ms, "span:1s-1h", "1m",
    "server: a TLS handshake")
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
SETTING("timeout", "cut-through", timeouts.cut_through_ms, "span:1s-9m", "30s",
    "server: the next hop's reply to a message of a route with cut-through; "
    "then the client gets 250")

STATEMENT(TOP, "dns", NONE, setting, "setting", "",
    "dns ADDRESS[:PORT]", "",
    "Ask this name server instead of those of resolv.conf(5).  The statement "
    "resolver makes one of our own.",
    "dns 127.0.0.1:5353")
SETTING("dns", "", dns_server, "endpoint", "",
    "a name server; as a preset the system's own")

STATEMENT(TOP, "spool", NONE, setting, "setting", "",
    "spool DIRECTORY", "",
    "Where the mail is kept; all of it must be on one local file system.",
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

STATEMENT(TOP, "log-level", NONE, log_level, "choice:normal,debug",
    "client=net dest=routepattern until=moment",
    "log-level normal|debug [client NET | dest PATTERN] [until MOMENT]",
    "normal",
    "debug: each command and reply with a client, or with a next hop, is an "
    "event (session.said, peer.said), the first 500 lines of a connection, "
    "without passwords and without mail.  The first line that matches "
    "decides; one whose MOMENT is over matches nothing.  client alone is "
    "about clients, dest (as in tls-to) about next hops; without either it is "
    "about all of both.  A reload takes it over for new connections; zmailer "
    "log level writes it.",
    "log-level debug client 192.0.2.0/24 until 2026-11-23T10:00:00Z\n"
    "log-level debug dest .example.org")

STATEMENT(TOP, "log-to", NONE, log_to, "choice:none,syslog,journald",
    "facility=choice:mail,daemon,user,auth,local0,local1,local2,local3,"
    "local4,local5,local6,local7 at=path",
    "log-to none|syslog [facility NAME] [at PATH]|journald [at PATH]",
    "none",
    "Copy events: each line of the journal is sent on, to syslog at /dev/log "
    "(facility mail) or with its fields to journald at "
    "/run/systemd/journal/socket.  Mail never waits for it: unsent lines wait "
    "in the journal, and beyond 16 MB they are dropped and counted (events "
    "log.stalled, log.dropped).",
    "log-to syslog facility local3\n"
    "log-to journald")

STATEMENT(TOP, "hash", NONE, setting, "setting", "",
    "hash 0|1|2", "",
    "Levels of directories A to Z below queue/ and transport/; for file "
    "systems that are slow with many files in a directory.",
    "hash 1")
SETTING("hash", "", hash_levels, "number:0-2", "0", "0, 1 or 2")

STATEMENT(TOP, "sync", NONE, setting, "setting", "",
    "sync group|strict|unsafe|ephemeral", "",
    "What is made durable, and when: group is right for ext4, xfs, btrfs, "
    "zfs; strict adds a sync of directories to each move, for unknown file "
    "systems; unsafe allows a spool on a network file system; ephemeral is "
    "for mail that may be lost with the machine: the spool must be in memory "
    "(tmpfs), which survives a restart of zmailer but not of the machine, and "
    "status says so.",
    "sync strict")
SETTING("sync", "", sync, "choice:group,strict,unsafe,ephemeral", "group",
    "group, strict, unsafe or ephemeral")

STATEMENT(TOP, "group", NONE, setting, "setting", "",
    "group SPAN", "",
    "Make outcomes of deliveries durable together, within this time.",
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
    "The account that a part of the system runs as if it was started as root. "
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
SETTING("user", "tables", accounts[ROLE_TABLES], "account", "zmtables",
    "the process that queries databases, if a table is in one")
SETTING("user", "sts", accounts[ROLE_STS], "account", "zmsts",
    "the process that fetches MTA-STS policies, if tls-to needs them")
SETTING("user", "share", accounts[ROLE_SHARE], "account", "zmshare",
    "the process that counts with other machines, if there is a cluster")
SETTING("user", "resolver", accounts[ROLE_RESOLVER], "account", "zmresolver",
    "the process that answers about names, where there is a resolver")
SETTING("user", "web", accounts[ROLE_WEB], "account", "zmweb",
    "the process that serves the pages of zmailer web")
SETTING("user", "notify", accounts[ROLE_NOTIFY], "account", "zmnotify",
    "the process that posts events, if there is a notify")
SETTING("user", "nodes", accounts[ROLE_NODES], "account", "zmnodes",
    "the process that answers other nodes, if a cluster has a desk")

STATEMENT(TOP, "keep", NONE, setting, "setting", "",
    "keep trash|journal|failed SPAN | keep journal-size|journal-part SIZE",
    "",
    "How long to keep: trash, deleted mail that zmailer undelete can restore; "
    "failed, a recipient that failed, before its sender gets the report: "
    "until then zmailer list state=failed shows it, and zmailer retry "
    "--failed, reroute, bounce and delete decide about it; journal, the "
    "events that zmailer trace reads.  The oldest events are removed earlier "
    "if all together are larger than journal-size.  Events are written to a "
    "file a day; a file larger than journal-part (or a quarter of "
    "journal-size) is closed and a new one begun; closed ones are compressed.",
    "keep trash 2d\n"
    "keep failed 4h\n"
    "keep journal 90d\n"
    "keep journal-size 4G")
SETTING("keep", "trash", trash_ms, "span:1m-52w", "1d", "1m to 52w")
SETTING("keep", "failed", keep_failed_ms, "span:0-4w", "0",
    "0 to 4w; 0: reported at once; in steps of a minute")
SETTING("keep", "journal", journal_keep_ms, "span:1h-520w", "14d",
    "1h to 520w")
SETTING("keep", "journal-size", journal_max_bytes, "size:64K-16384G", "1G",
    "64K to 16384G; all files together")
SETTING("keep", "journal-part", journal_part_bytes, "size:4K-16G", "64M",
    "4K to 16G; one file before it is packed")

STATEMENT(TOP, "record", NONE, record, "setting", "bodies=?size:1M-16384G",
    "record for SPAN [bodies [SIZE]] | record size SIZE", "",
    "How long to keep what clients said and the answers, so that zmailer "
    "replay can try another configuration on it: addresses, names, users, "
    "what the DNS, filters and next hops said, but no password and no message "
    "(zmailer-replay(8) has the list).  With bodies the messages are kept, "
    "too, even those that were refused at their end: in SPOOL/record, "
    "readable only by smtpserver's account and root, all days together up to "
    "SIZE (1G).  By default nothing is recorded; 0 removes the record within "
    "a minute.",
    "record for 2d bodies 4G\n"
    "record size 1G")
SETTING("record", "for", record_ms, "span:0-52w", "0",
    "0 to 52w; 0: not at all")
SETTING("record", "size", record_max_bytes, "size:4K-1024G", "256M",
    "4K to 1024G; all days together")
SETTING("record", "bodies", record_bodies_max_bytes, "size:0-16384G", "0",
    "1M to 16384G, all days together; 0: no messages; as after for")

STATEMENT(TOP, "include", NONE, include, "file", "",
    "include FILE", "none",
    "Read this file here; a path that does not begin with / is relative to "
    "the directory of the file that names it.",
    "include local.conf")
