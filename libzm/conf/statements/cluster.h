/* cluster.h - rows of statements.h: more than one machine
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "cluster", CLUSTER, cluster, "word", "",
    "cluster NAME { node NAME...; self NAME; redis HOST[:PORT]...; ... }",
    "none",
    "This machine is one of several that share numbers: a limit rate with the "
    "word shared counts what all of them take, in a Redis.  While it does not "
    "answer each counts for itself, COUNT divided by the nodes that were seen "
    "last; mail waits half a second at the most.  NAME stands in front of the "
    "keys there.  doc/CLUSTER.md has the whole.",
    "cluster mx {\n"
    "    node mx1 mx2 mx3\n"
    "    self mx1\n"
    "    redis 192.0.2.20 192.0.2.21\n"
    "    password /etc/zmailer/redis.password\n"
    "}\n"
    "limit rate 1000/1h per user auth shared")

STATEMENT(CLUSTER, "node", NONE, cluster_node, "word+", "",
    "node NAME...", "none",
    "All nodes, this one too; may be said again.",
    "cluster mx { node mx1 mx2; self mx1 }")

STATEMENT(CLUSTER, "self", NONE, cluster_self, "word", "",
    "self NAME", "the name of this machine, or its first label",
    "Which of them this machine is.",
    "cluster mx { node mx1 mx2; self mx2 }")

STATEMENT(CLUSTER, "redis", NONE, cluster_redis, "word+", "",
    "redis HOST[:PORT]...", "none",
    "Where the Redis is, port 6379 unless said.  Several addresses are those "
    "of one Redis: they are tried in turn, and the one that says it is the "
    "master is taken.",
    "cluster mx { node mx1 mx2; self mx1; redis [2001:db8::20]:6380 }")

STATEMENT(CLUSTER, "password", NONE, cluster_password, "path", "",
    "password FILE", "none",
    "The first line of this file is what Redis wants to hear (AUTH).  It is "
    "its owner's alone (chmod 600); only the process share has it.",
    "cluster mx { node mx1 mx2; self mx1; redis 192.0.2.20; "
    "password /etc/zmailer/redis.password }")

STATEMENT(CLUSTER, "tls", NONE, cluster_tls, "",
    "ca=path certificate=path key=path",
    "tls [ca FILE] [certificate FILE [key FILE]]", "no TLS",
    "Redis is spoken to by TLS.  Its certificate must lead to a root in the "
    "ca file (default: the system's) and have the name, or the address, that "
    "stands after redis; else it counts as away.  certificate and key are "
    "shown where Redis wants to know us (tls-auth-clients); the files are "
    "read at the start and at a reload, as root.",
    "cluster mx { node mx1 mx2; self mx1; redis redis.example.org; "
    "tls ca /etc/zmailer/redis-ca.pem }")

ITEM(CLUSTER, "patience", item, patience_ms, patience_ms, "span:10ms-10s",
    "patience SPAN", "", "200ms",
    "How long Redis may take to answer; then each counts for itself until it "
    "answers again.  It is asked every second.  Mail waits 300ms longer than "
    "this at the most.",
    "cluster mx { node mx1 mx2; self mx1; redis 192.0.2.20; patience 500ms }")
