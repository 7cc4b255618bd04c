/* cluster.h - rows of statements.h: more than one machine
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "cluster", CLUSTER, cluster, "word", "",
    "cluster NAME { node NAME...; self NAME; redis HOST[:PORT]...; ... }",
    "none",
    "This machine is one of several that share numbers: a limit rate with the "
    "word shared counts in Redis what all of them accept.  While Redis does "
    "not answer, each counts for itself, COUNT divided by the nodes that were "
    "seen last; mail waits at most half a second.  Failed logins count for all "
    "of them, too, and so does what `zmailer block --cluster` says.  NAME is "
    "the prefix of the keys.  doc/CLUSTER.md has the details.",
    "cluster mx {\n"
    "    node mx1 mx2 mx3\n"
    "    self mx1\n"
    "    redis 192.0.2.20 192.0.2.21\n"
    "    password /etc/zmailer/redis.password\n"
    "}\n"
    "limit rate 1000/1h per user auth shared")

STATEMENT(CLUSTER, "node", NONE, cluster_node, "word+", "at=word",
    "node NAME... | node NAME at ADDRESS[:PORT]", "none",
    "All nodes, with this one; may be repeated.  at is where the desk of one "
    "node listens, by default at port 9025.",
    "cluster mx { node mx1 mx2; self mx1 }")

STATEMENT(CLUSTER, "self", NONE, cluster_self, "word", "",
    "self NAME", "the name of this machine, or its first label",
    "Which of them this machine is.",
    "cluster mx { node mx1 mx2; self mx2 }")

STATEMENT(CLUSTER, "redis", NONE, cluster_redis, "word+", "",
    "redis HOST[:PORT]...", "none",
    "The address of Redis, by default port 6379.  Several addresses belong to "
    "one Redis: they are tried in turn, and the one that says it is the "
    "master is used.",
    "cluster mx { node mx1 mx2; self mx1; redis [2001:db8::20]:6380 }")

STATEMENT(CLUSTER, "sentinel", NONE, cluster_sentinel, "word+", "",
    "sentinel MASTER HOST[:PORT]...", "none",
    "Instead of redis: these sentinels, by default port 26379, are asked in "
    "turn where the Redis is that they call MASTER, now and whenever it is "
    "lost.  They must tell an address, not a name (their setting "
    "resolve-hostnames no, the default).",
    "cluster mx { node mx1 mx2; self mx1; sentinel mymaster 192.0.2.20 "
    "192.0.2.21 192.0.2.22 }")

STATEMENT(CLUSTER, "sentinel-password", NONE, cluster_sentinel_password,
    "path", "",
    "sentinel-password FILE", "none",
    "The first line of this file is the password for the sentinels, if they "
    "want one (requirepass); as password otherwise.",
    "cluster mx { node mx1 mx2; self mx1; sentinel mymaster 192.0.2.20; "
    "sentinel-password /etc/zmailer/sentinel.password }")

STATEMENT(CLUSTER, "password", NONE, cluster_password, "path", "",
    "password FILE", "none",
    "The first line of this file is the password for Redis (AUTH).  Only its "
    "owner may read it (chmod 600); only the process share has it.",
    "cluster mx { node mx1 mx2; self mx1; redis 192.0.2.20; "
    "password /etc/zmailer/redis.password }")

STATEMENT(CLUSTER, "tls", NONE, cluster_tls, "",
    "ca=path certificate=path key=path",
    "tls [ca FILE] [certificate FILE [key FILE]]", "no TLS",
    "Connect to Redis over TLS.  Its certificate must lead to a root in the "
    "ca file (default: the system's) and have the name, or the address, given "
    "after redis; otherwise it counts as away.  Sentinels are asked over TLS, "
    "too, by the name given after sentinel, and a Redis that they tell must "
    "have its address in the certificate.  certificate and key are for a "
    "Redis that asks for a client certificate (tls-auth-clients); the files "
    "are read at the start and at a reload, as root.",
    "cluster mx { node mx1 mx2; self mx1; redis redis.example.org; "
    "tls ca /etc/zmailer/redis-ca.pem }")

ITEM(CLUSTER, "patience", item, patience_ms, patience_ms, "span:10ms-10s",
    "patience SPAN", "", "200ms",
    "How long Redis may take to answer; after that each node counts for "
    "itself until it answers again.  It is asked every second.  Mail waits at "
    "most 300ms longer than this.",
    "cluster mx { node mx1 mx2; self mx1; redis 192.0.2.20; patience 500ms }")

STATEMENT(CLUSTER, "postgres", NONE, cluster_postgres, "text",
    "password=path",
    "postgres WORDS [password FILE]", "no copies",
    "Each message is copied to this PostgreSQL before it is accepted, so that "
    "another node can take it over when this machine is lost.  WORDS are "
    "those of libpq for a connection: hosts, in the order in which they are "
    "tried (the one that takes writes is used), dbname, user, sslmode, "
    "sslrootcert.  The first line of FILE is the password; only its owner may "
    "read it, and only the process share has it.  `zmailer cluster init` "
    "prints the tables that the database needs.",
    "cluster mx { node mx1 mx2; self mx1; postgres \"host=192.0.2.30,"
    "192.0.2.31 dbname=zmailer user=zmailer sslmode=verify-full\" password "
    "/etc/zmailer/postgres.password }")

STATEMENT(CLUSTER, "copies", NONE, cluster_copies, "",
    "else=choice:accept,defer size=size:64K-1G lease=choice:wait,go-on",
    "copies [else accept|defer] [size SIZE] [lease wait|go-on]",
    "else accept size 25M lease wait",
    "What happens to a message that could not be copied, because PostgreSQL "
    "does not answer or the message is larger than SIZE: it is accepted "
    "without a copy, or its client tries again later (451).  A node delivers "
    "while the database says that its mail is its own (a lease of 15 "
    "seconds); with go-on it also delivers while the database does not "
    "answer, and what another node takes over meanwhile may arrive twice.",
    "cluster mx { node mx1 mx2; self mx1; postgres \"host=192.0.2.30 "
    "dbname=zmailer\"; copies else defer size 50M }")

STATEMENT(CLUSTER, "takeover", NONE, cluster_takeover, "",
    "after!=span:1m-30d",
    "takeover after SPAN", "by an order alone",
    "The mail of a node that is lost is taken over by another one without an "
    "order (see zmailer-cluster(8)), when the database says that its lease is "
    "over for so long, and has answered for so long without a break.  A node "
    "that is stopped on purpose is such a node, too: before maintenance that "
    "takes longer, `zmailer drain --to NODE`.  Not with `copies lease go-on`, "
    "where the lost node may go on to deliver what another one has taken.",
    "cluster mx { node mx1 mx2; self mx1; postgres \"host=192.0.2.30 "
    "dbname=zmailer\"; takeover after 5m }")

STATEMENT(CLUSTER, "desk", NONE, cluster_asks, "",
    "ca!=path certificate!=path key=path",
    "desk ca FILE certificate FILE [key FILE]", "none",
    "Verbs with --cluster, or --node NAME, ask the other nodes, over TLS: each "
    "node shows its certificate, which the authority in the ca file must have "
    "signed and which must have the node's name.  The key stands in the file "
    "of the certificate, unless key names another; only its owner may read "
    "it.  Every node needs its address (node NAME at ADDRESS).  Whoever has "
    "such a key may do on each node what the postmaster may.  `zmailer "
    "cluster keys` makes the files.",
    "cluster mx { node mx1 at 192.0.2.11; node mx2 at 192.0.2.12; self mx1; "
    "desk ca /etc/zmailer/desk/ca.pem certificate "
    "/etc/zmailer/desk/mx1.pem }")

STATEMENT(CLUSTER, "publish", NONE, cluster_publish,
    "choice:from word+", "",
    "publish from NODE...", "none",
    "`zmailer config publish` on one of these nodes may replace the "
    "configuration of this one: zmailer.conf and the files and tables below "
    "its directory, without secrets.  Whoever is root there, or has its key "
    "of the desk, then decides what this node does; without this line a "
    "publish is refused.  doc/CLUSTER.md has the details.",
    "cluster mx { node mx1 at 192.0.2.11; node mx2 at 192.0.2.12; self mx2; "
    "desk ca /etc/zmailer/desk/ca.pem certificate "
    "/etc/zmailer/desk/node.pem; publish from mx1 }")
