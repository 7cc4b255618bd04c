/* queue.h - rows of statements.h for scheduler: when it is tried
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "schedule", SCHEDULE, schedule, "clause", "",
    "schedule CHANNEL/HOST { parallel ...; retry ...; ... }",
    "built-in clauses for smtp, lmtp, local, pipe, error, hold and all "
    "others",
    "How mail of a channel to a host is tried.  * and ? stand for any bytes "
    "and one byte; the first match in the file wins.  What a clause does not "
    "set is taken from the next matching one below it, in the end from the "
    "built-in ones.",
    "schedule smtp/slow.example { parallel 2; retry 10m 1h 4h }\n"
    "schedule smtp/* { parallel 10; expire 5d }")

STATEMENT(TOP, "objective", NONE, objective,
    "pattern percent:1-100 span:1s-5d", "",
    "objective PATTERN PERCENT SPAN", "none",
    "How soon mail is to arrive: which share of the mail to these addresses "
    "within what time after it was accepted.  `zmailer status` warns about a "
    "missed objective, judged by the mail that arrived in the last hour and "
    "that waits for longer, with the cause and what would help; `zmailer "
    "metrics` has the numbers.  Addresses are those that the queue shows; the "
    "first statement that matches counts, for mail that is accepted from then "
    "on.  Mail that was delayed on purpose (held, scheduled, for the future) "
    "and mail that failed for good is left out.",
    "objective *@gmail.com 99% 5m\n"
    "objective @partner.example 95% 30s")

STATEMENT(TOP, "include-legacy", NONE, include_legacy, "file", "",
    "include-legacy FILE", "none",
    "Read ZMailer's scheduler.conf: its entries become schedule clauses in "
    "this place.  interval and retries become retry (the last wait repeats, "
    "ZMailer takes a random one), idlemax idle, expiry expire, expiry2 "
    "expire-untried, reporttimes warn, maxthr parallel, maxring agents, "
    "maxchannel channel-agents, overfeed, ageorder order age, queueonly; "
    "command runs as it is; if it names one of our agents, ours runs (sm with "
    "its mailer). wakeuprestartonly and bychannel are always in effect.  All "
    "other keywords and PARAMs are named in a warning and left out; unknown "
    "ones are errors.  The first entry */* has what the others inherit.  "
    "{a,b} and [a-c] in a pattern are expanded to several clauses.",
    "include-legacy scheduler.conf")

ITEM(SCHEDULE, "parallel", item, parallel, parallel, "number:1-10000",
    "parallel N", "20", "",
    "Sessions to one destination at a time.  Unless a schedule of the file "
    "matches it, a host of `route * via` (a smart host) may have 100, and as "
    "many agents; all smart hosts together at most half of `limit agents`.",
    "schedule smtp/* { parallel 10 }")

ITEM(SCHEDULE, "agents", item, agents, agents, "number:1-10000",
    "agents N", "50", "",
    "Transport agents that this clause may run at a time.",
    "schedule smtp/* { agents 50 }")

ITEM(SCHEDULE, "channel-agents", item, channel_agents, channel_agents,
    "number:0-10000",
    "channel-agents N", "0", ": no limit of its own",
    "Transport agents that all clauses of this channel may run together; "
    "`limit agents` is for all channels.",
    "schedule smtp/* { channel-agents 40 }")

ITEM(SCHEDULE, "provider", item, provider, provider, "number:0-10000",
    "provider N", "0", ": no limit",
    "Sessions at a time to all destinations together whose mail the same MX "
    "hosts take.  The transport agent names the hosts after its first session.",
    "schedule smtp/* { provider 10 }")

ITEM(SCHEDULE, "overfeed", item, overfeed, overfeed, "number:0-10000",
    "overfeed N", "20", "",
    "Messages given to an agent ahead of its answers, so that it need not "
    "wait for the scheduler.",
    "schedule smtp/* { overfeed 5 }")

ITEM(SCHEDULE, "connection-messages", item, connection_messages,
    connection_messages, "number:0-100000",
    "connection-messages N", "0", ": no limit",
    "Messages in one session with the next host; then it is closed and a "
    "new one opened.",
    "schedule smtp/* { connection-messages 100 }")

ITEM(SCHEDULE, "rate", item, rate_count, rate_per_ms, "rate",
    "rate N/SPAN", "0", ": no limit",
    "Messages to one destination in this time, evenly spread: as many as a "
    "second allows (at least one) may go at once.  After replies of the class "
    "rate it is slower for a while, see feedback.",
    "schedule smtp/* { rate 600/1m }")

ITEM(SCHEDULE, "retry", retry, retry_s, retry_stops, "word+",
    "retry SPAN...|expo(FIRST,FACTOR,COUNT) [stop], or: "
    "retry on CLASS... SPAN...|suspend SPAN|end",
    "1m 5m 15m 1h 4h", "",
    "How long to wait after the first, second, ... attempt; the last one "
    "repeats until the mail is too old (expire).  expo(12s,5,5) means five "
    "waits, the first of 12 seconds, each five times the one before: 12s 1m "
    "5m 25m 2h5m; FACTOR may have two decimals, a wait is at most 4w.  stop "
    "at the end: after the last wait and one more attempt the mail is given "
    "up as if it were too old.  retry on CLASS has other waits for this class "
    "of failure (all attempts are counted), or suspends the whole destination "
    "for a time, or makes the failure final.  Classes: zmailer-classify(8).  "
    "Rules of a clause come before those it inherits; the first that has the "
    "class wins.  A transport agent's own time (RETRY-AFTER) and the limits "
    "of expire always apply.",
    "schedule smtp/* { retry 1m 5m 15m 1h 4h }\n"
    "schedule smtp/*.example { retry expo(12s,5,5) stop }\n"
    "schedule smtp/*.test {\n"
    "    retry on greylist 5m 10m 20m\n"
    "    retry on mailbox-full,disabled-user 4h 12h\n"
    "    retry on block suspend 6h\n"
    "    retry on unknown-user end\n"
    "}")

ITEM(SCHEDULE, "jitter", item, jitter_percent, jitter_percent, "percent:0-90",
    "jitter N%", "10%", "",
    "Each wait is randomly longer or shorter by up to this share, so that "
    "mail that failed together does not come back together.",
    "schedule smtp/* { jitter 20% }")

ITEM(SCHEDULE, "warn", warn, warn_s, warn_count, "span+:0s-52w",
    "warn SPAN...", "4h", "",
    "Tell the sender when mail is this late, once for each; 0 never.",
    "schedule smtp/* { warn 4h 1d 3d }")

ITEM(SCHEDULE, "expire", item_s, expire_s, expire_s, "span:1s-52w",
    "expire SPAN", "5d", "",
    "Give up when the mail is this old, but not before at least one attempt, "
    "even after a long stop.",
    "schedule smtp/* { expire 5d }")

ITEM(SCHEDULE, "expire-untried", item_s, untried_s, untried_s, "span:0s-52w",
    "expire-untried SPAN", "2d", "",
    "Mail without any attempt (its destination is suspended, queue-only, or "
    "has no agent) is given up when it is this much older than expire, and "
    "not before the scheduler has run for so long.",
    "schedule smtp/* { expire 5d; expire-untried 1d }")

ITEM(SCHEDULE, "on-exhaust", item, exhaust, exhaust,
    "choice:bounce,freeze,reroute",
    "on-exhaust bounce|freeze|reroute", "bounce", "",
    "What becomes of mail that is given up: the sender gets a report; or it "
    "waits, frozen, for a person; or it is routed again, once, with the "
    "configuration of that moment, and starts over: if it is given up a "
    "second time, the sender gets a report.",
    "schedule smtp/partner.example { on-exhaust freeze }\n"
    "schedule smtp/moving.example { on-exhaust reroute; expire 4h }")

ITEM(SCHEDULE, "queue-only", item, is_queue_only, is_queue_only,
    "choice:no,yes",
    "queue-only yes|no", "no", "",
    "An arriving message starts nothing: it waits for its first retry time, "
    "or for a request (ETRN, zmailer etrn).",
    "schedule smtp/branch.example { queue-only yes; retry 12h }")

ITEM(SCHEDULE, "order", item, is_by_age, is_by_age, "choice:arrival,age",
    "order arrival|age", "arrival", "",
    "Which mail of a destination goes first: what was ready first, or the "
    "oldest message.  It applies within the share of one sender, see fair.",
    "schedule smtp/* { order age }")

ITEM(SCHEDULE, "fair", item, is_fair, is_fair, "choice:no,yes",
    "fair yes|no", "yes", "",
    "Senders (the authenticated user, else the client's address, else the "
    "sender's domain) take turns at a destination, however much mail each "
    "has, and mail to many recipients leaves room for other mail.",
    "schedule smtp/* { fair no; order age }")

ITEM(SCHEDULE, "feedback", item, has_feedback, has_feedback, "choice:no,yes",
    "feedback yes|no", "yes", "",
    "The number of sessions to a destination grows with its good answers up "
    "to parallel and shrinks when it says that there are too many; no fixes "
    "it at parallel.  Beyond 20 it grows by half, as long as half of that is "
    "gained.",
    "schedule smtp/relay.example { parallel 50; feedback no }")

ITEM(SCHEDULE, "idle", item, idle_ms, idle_ms, "span:0s-1d",
    "idle SPAN", "30s", "",
    "How long an agent without work (and its connection) is kept.",
    "schedule smtp/* { idle 1m }")

ITEM(SCHEDULE, "warm", item, warm, warm, "number:0-20",
    "warm N", "0", ": none",
    "The number of connections that are kept open to the one host that the "
    "clause names (smtp or lmtp, no * or ?), even without mail for it: "
    "checked with NOOP twice within idle, opened again if they are lost, less "
    "often while that fails.  Mail for other hosts comes first.",
    "schedule smtp/relay.example { warm 2 }")

ITEM(SCHEDULE, "command", item, command, command, "text",
    "command \"PROGRAM ARGUMENTS\"", "", "the channel's own agent",
    "Another transport agent: any program that speaks the protocol of "
    "doc/AGENT.md.",
    "schedule fax/* { command \"/usr/local/lib/faxagent -q\" }")

ITEM(SCHEDULE, "until", item, until_s, until_s, "moment",
    "until MOMENT", "", "for ever",
    "From this moment on the clause is ignored, and others inherit nothing "
    "from it.",
    "schedule smtp/slow.example { parallel 1; until 2026-11-23T10:00:00Z }")

STATEMENT(TOP, "classes", NONE, setting, "setting", "",
    "classes FILE", "",
    "A file of rules that say what replies mean: code, enhanced code, scope, "
    "class, words (zmailer-classify(8)).  They come before the shipped ones.",
    "classes /etc/zmailer/classes")

SETTING("classes", "", classes_path, "path", "",
    "The site's own rules about replies.")

STATEMENT(TOP, "zone", ZONE, zone, "word", "",
    "zone NAME { source ...; helo ...; ... }", "none",
    "A pool of addresses that mail is sent from.  Mail goes through a zone "
    "that its envelope names (terms zone=NAME), else through the one that its "
    "route names, else the first in the file whose `sender` and `to` match.  "
    "Each zone has its own destinations, limits and learned state; zmailer "
    "suspend zone/NAME stops one.",
    "zone news {\n"
    "    source 192.0.2.10 helo out1.example.org weight 3\n"
    "    source 192.0.2.11 helo out2.example.org\n"
    "    sender *@news.example.org\n"
    "    agents 20\n"
    "}")

STATEMENT(ZONE, "source", NONE, zone_source, "word",
    "helo=name weight=number:1-1000",
    "source ADDRESS [helo NAME] [weight N]", "whatever the system takes",
    "One of the zone's own addresses, with its name in EHLO and its weight "
    "among the others.  A host is connected to from an address of its family.",
    "zone a { source 2001:db8::10 helo out6.example.org weight 2 }")

ITEM(ZONE, "helo", item, helo, helo, "name",
    "helo NAME", "", "the host's name",
    "The name for sources that have none of their own.",
    "zone a { helo out.example.org }")

STATEMENT(ZONE, "sender", NONE, zone_sender, "pattern+", "",
    "sender PATTERN...", "any",
    "Envelope senders whose mail takes this zone: user@domain, @domain, <> or "
    "with * and ?.",
    "zone a { sender @list.example <> }")

STATEMENT(ZONE, "to", NONE, zone_to, "routepattern+", "",
    "to PATTERN...", "any",
    "Destinations whose mail takes this zone: example.org, .example.org, *.",
    "zone a { to .partner.example }")

ITEM(ZONE, "agents", item, agents, agents, "number:1-10000",
    "agents N", "", "as the clauses say",
    "Transport agents that the zone may have at a time.",
    "zone a { agents 20 }")

ITEM(ZONE, "parallel", item, parallel, parallel, "number:1-10000",
    "parallel N", "", "as the clause says",
    "Sessions to one destination at a time.",
    "zone a { parallel 2 }")

ITEM(ZONE, "rate", item, rate_count, rate_per_ms, "rate",
    "rate N/SPAN", "", "as the clause says",
    "Messages to one destination in this time.",
    "zone a { rate 60/1m }")

STATEMENT(ZONE, "warm-up", NONE, zone_warm_up, "word number+:1-100000000",
    "shared",
    "warm-up YYYY-MM-DD N... [shared]", "none",
    "Recipients that the zone may serve at each provider (or destination, "
    "while its provider is not known) on this day, the next, ... in UTC; "
    "after the last day there is no limit.  Mail above that takes the zone "
    "that `overflow` names, else it waits for the next day.  shared: of all "
    "machines of the cluster together (see cluster), who count them in Redis; "
    "the first day is the earliest one that any of them says.",
    "zone a { warm-up 2026-11-21 50 100 200 500 1000 5000 }")

ITEM(ZONE, "overflow", item, overflow, overflow, "word",
    "overflow ZONE", "", "none: it waits",
    "The zone for mail that exceeds the warm-up plan of the day.",
    "zone old { }\n"
    "zone a { warm-up 2026-11-21 50 100; overflow old }")
