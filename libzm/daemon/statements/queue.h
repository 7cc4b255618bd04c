/* queue.h - rows of conf_statements.h for scheduler: when it is tried
 *
 * SPDX-License-Identifier: ISC
 */
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
