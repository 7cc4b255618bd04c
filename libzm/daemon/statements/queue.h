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

STATEMENT(TOP, "include-legacy", NONE, include_legacy, "file", "",
    "include-legacy FILE", "none",
    "Read ZMailer's scheduler.conf: its entries become schedule clauses that "
    "stand here.  interval and retries become retry (the last wait repeats, "
    "ZMailer takes a random one), idlemax idle, expiry expire, expiry2 "
    "expire-untried, reporttimes warn, maxthr parallel, maxring agents, "
    "maxchannel channel-agents, overfeed, ageorder order age, queueonly; "
    "command runs as it is, where it names an agent of ours that one runs. "
    "wakeuprestartonly and bychannel hold in any case.  All other keywords "
    "and PARAMs are named in a warning and left out; unknown ones are "
    "errors.  The first entry */* holds what the others inherit.  {a,b} and "
    "[a-c] of a pattern are written out as several clauses.",
    "include-legacy scheduler.conf")

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

STATEMENT(SCHEDULE, "channel-agents", NONE, channel_agents, "number:0-10000",
    "", "channel-agents N", "0: no limit of its own",
    "Transport agents that all clauses of this channel may run together; "
    "`limit agents` bounds all channels.",
    "schedule smtp/* { channel-agents 40 }")

STATEMENT(SCHEDULE, "provider", NONE, provider, "number:0-10000", "",
    "provider N", "0: no limit",
    "Sessions at a time to all destinations together whose mail the same "
    "MX hosts take.  The transport agent tells which they are after its "
    "first session.",
    "schedule smtp/* { provider 10 }")

STATEMENT(SCHEDULE, "rate", NONE, rate, "rate", "",
    "rate N/SPAN", "0: no limit",
    "Messages to one destination in this time, evenly spread: up to what a "
    "second allows (at least one) may go at once.  After replies of the class "
    "rate it goes slower for a while, see feedback.",
    "schedule smtp/* { rate 600/1m }")

STATEMENT(SCHEDULE, "connection-messages", NONE, connection_messages,
    "number:0-100000", "", "connection-messages N", "0: no limit",
    "Messages in one session with the next host; then it is closed and a "
    "new one opened.",
    "schedule smtp/* { connection-messages 100 }")

STATEMENT(SCHEDULE, "retry", NONE, retry, "word+", "",
    "retry SPAN...|expo(FIRST,FACTOR,COUNT) [stop], or: "
    "retry on CLASS... SPAN...|suspend SPAN|end",
    "1m 5m 15m 1h 4h",
    "How long to wait after the first, second, ... attempt; the last one "
    "repeats until the mail is too old (expire).  expo(12s,5,5) stands for "
    "five waits, the first of 12 seconds, each five times the one before: "
    "12s 1m 5m 25m 2h5m; FACTOR may have two decimals, no wait is over 4w.  "
    "stop at the end: after the last wait and one more attempt the mail is "
    "given up as if it were too old.  "
    "retry on CLASS has other waits for what went wrong in this way (an "
    "attempt's number counts all attempts), or suspends the whole "
    "destination for a time, or makes it final.  "
    "Classes: zmailer-classify(8).  "
    "Rules of a clause come before those it inherits; the first that has the "
    "class wins.  A transport agent's own wish (RETRY-AFTER) and the limits "
    "of expire hold in any case.",
    "schedule smtp/* { retry 1m 5m 15m 1h 4h }\n"
    "schedule smtp/*.example { retry expo(12s,5,5) stop }\n"
    "schedule smtp/*.test {\n"
    "    retry on greylist 5m 10m 20m\n"
    "    retry on mailbox-full,disabled-user 4h 12h\n"
    "    retry on block suspend 6h\n"
    "    retry on unknown-user end\n"
    "}")

STATEMENT(SCHEDULE, "jitter", NONE, jitter, "percent:0-90", "",
    "jitter N%", "10%",
    "Each wait is longer or shorter by up to this share, by random, so that "
    "what failed together does not come back together.",
    "schedule smtp/* { jitter 20% }")

STATEMENT(SCHEDULE, "warn", NONE, warn, "span+:0s-52w", "",
    "warn SPAN...", "4h",
    "Tell the sender when mail is this late, once for each; 0 never.",
    "schedule smtp/* { warn 4h 1d 3d }")

STATEMENT(SCHEDULE, "expire", NONE, expire, "span:1s-52w", "",
    "expire SPAN", "5d",
    "Give up when the mail is this old.  At least one attempt comes first, "
    "also after a long stop.",
    "schedule smtp/* { expire 5d }")

STATEMENT(SCHEDULE, "expire-untried", NONE, expire_untried, "span:0s-52w", "",
    "expire-untried SPAN", "2d",
    "Mail that no attempt was made for (a destination that is suspended, "
    "queue-only, or has no agent) is given up when it is this much older "
    "than expire, and not before the scheduler has run for so long.",
    "schedule smtp/* { expire 5d; expire-untried 1d }")

STATEMENT(SCHEDULE, "on-exhaust", NONE, on_exhaust, "choice:bounce,freeze", "",
    "on-exhaust bounce|freeze", "bounce",
    "What becomes of mail that is given up: the sender gets a report, or it "
    "waits, frozen, for a person.",
    "schedule smtp/partner.example { on-exhaust freeze }")

STATEMENT(SCHEDULE, "queue-only", NONE, queue_only, "choice:no,yes", "",
    "queue-only yes|no", "no",
    "An arriving message starts nothing: it waits for its first retry time, "
    "or for somebody who asks (ETRN, zmailer kick).",
    "schedule smtp/branch.example { queue-only yes; retry 12h }")

STATEMENT(SCHEDULE, "order", NONE, order, "choice:arrival,age", "",
    "order arrival|age", "arrival",
    "Who of a destination's mail goes first: what was ready first, or the "
    "oldest message.  Within the share of one sender, see fair.",
    "schedule smtp/* { order age }")

STATEMENT(SCHEDULE, "fair", NONE, fair, "choice:no,yes", "",
    "fair yes|no", "yes",
    "Senders (the authenticated user, else the client's address, else the "
    "sender's domain) take turns at a destination, whatever each has waiting, "
    "and mail to many recipients leaves room for the other.",
    "schedule smtp/* { fair no; order age }")

STATEMENT(SCHEDULE, "feedback", NONE, feedback, "choice:no,yes", "",
    "feedback yes|no", "yes",
    "Sessions to a destination grow with its good answers up to parallel "
    "and shrink when it says that it is too much; no pins them to parallel.",
    "schedule smtp/relay.example { parallel 50; feedback no }")

STATEMENT(SCHEDULE, "idle", NONE, idle, "span:0s-1d", "",
    "idle SPAN", "30s",
    "How long an agent without work (and its connection) is kept.",
    "schedule smtp/* { idle 1m }")

STATEMENT(SCHEDULE, "command", NONE, command, "text", "",
    "command \"PROGRAM ARGUMENTS\"", "the channel's own agent",
    "Another transport agent: any program that speaks zmailer-agent(7).",
    "schedule fax/* { command \"/usr/local/lib/faxagent -q\" }")

STATEMENT(TOP, "classes", NONE, setting, "setting", "",
    "classes FILE", "",
    "A file of rules that say what replies mean: code, enhanced code, scope, "
    "class, words (zmailer-classify(8)).  They come before the shipped ones.",
    "classes /etc/zmailer/classes")

SETTING("classes", "", classes_path, "path", "",
    "The site's own rules about replies.")
