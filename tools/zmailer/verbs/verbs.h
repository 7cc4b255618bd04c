/* verbs.h - every verb of zmailer(8), one row each
 *
 * VERB(name, usage, text): verb_NAME in a file or folder NAME (or the file of
 * its group).  usage is written in the grammar of tools/verb/usage.h, with
 * the options of tools/verb/options.h.  The dispatcher, the reader of the
 * command line, `zmailer help`, completion and the manual come from these
 * rows.
 *
 * SPDX-License-Identifier: ISC
 */
VERB(help, "[VERB|STATEMENT]",
    "what a verb or a configuration statement does")
VERB(demo, "[--keep] [DIR]",
    "six messages with six fates, in ./demo, through the real processes")
VERB(check, "[--syntax] [--quiet] [--json] [FILE]",
    "read a configuration as the daemons would, and say what is wrong")
VERB(config, "show [--all] | history | diff [VERSION] | undo [VERSION]; "
    "[--yes] [--dry-run] [--reason WORDS] [--json]",
    "the settings in force; the last 20 versions, and the way back")
VERB(alias, "list | show NAME | add NAME TARGET... | remove NAME "
    "[TARGET...]; [--table <T>] [--yes] [--dry-run] [--reason WORDS] [--json]",
    "names that stand for others, in the table of aliases")
VERB(cert, "list | check | install FILE KEY [--for NAME]; [--yes] "
    "[--dry-run] [--reason WORDS] [--json]",
    "certificates: how long, for which names; put a new pair in place")
VERB(block, "list | NET|SENDER|user:NAME [--for SPAN]; [--yes] [--dry-run] "
    "[--reason WORDS] [--json]",
    "refuse a network, a sender or a user who logs in, for a while")
VERB(unblock, "NET|SENDER|user:NAME; [--yes] [--dry-run] [--reason WORDS] "
    "[--json]",
    "take a block back")
VERB(limit, "list | sender USER|ADDRESS|@DOMAIN RATE [--for SPAN] | dest "
    "HOST [SESSIONS] [RATE] [--for SPAN] | remove sender|dest WHOM; [--yes] "
    "[--dry-run] [--reason WORDS] [--json]",
    "so much and no more: of a sender, or to a destination")
VERB(log, "show | level normal|debug [client|dest NET|PATTERN] [--for SPAN]; "
    "[--yes] [--dry-run] [--reason WORDS] [--json]",
    "note each command and reply of a client or a next hop, for a while")
VERB(domain, "list | add NAME... [--users U] [--aliases <T>] [--deliver D] | "
    "remove NAME...; [--yes] [--dry-run] [--reason WORDS] [--json]",
    "whose mail ends here: in the configuration, checked and taken over")
VERB(smarthost, "HOST[:PORT] [--user NAME [--password FILE]] [--tls LEVEL] "
    "[--ca FILE] [--untested] | show | test | remove; [--yes] [--dry-run] "
    "[--reason WORDS] [--json]",
    "all other mail goes through a host: tested, then written")
VERB(dkim, "new DOMAIN [--selector S] [--bits N] [--ed25519] "
    "[--socket SOCKET] | publish DOMAIN [--selector S] | rotate DOMAIN [S] | "
    "retire DOMAIN [S] | use DOMAIN S | remove DOMAIN [S] | record DOMAIN "
    "[S] | list | check [DOMAIN]; [--yes] [--dry-run] [--reason WORDS] "
    "[--json]",
    "keys that sign our mail: made, published, compared with the DNS")
VERB(sts, "show DOMAIN | list | refresh DOMAIN | publish DOMAIN "
    "[--mode testing|enforce] [--mx HOSTS] [--max-age SPAN] [--dir WEB-DIR]; "
    "[--json]",
    "policies of MTA-STS: those of others that are known, and our own")
VERB(dns, "NAME [TYPE] [--json]",
    "what the DNS says of a name, and what the answer is worth")
VERB(cluster, "status [--json]",
    "the machines that share numbers, and the Redis between them")
VERB(init, "DIR [--port N] [--sink PORT]",
    "make a private instance that any user can start")
VERB(run, "[--foreground]",
    "run the mail system in the foreground, for systemd and containers")
VERB(start, "",
    "run it in the background; returns when it is ready")
VERB(stop, "",
    "stop smtpserver, router and scheduler, in this order")
VERB(restart, "",
    "stop, then start")
VERB(reload, "",
    "check the configuration and, when it is good, take it over")
VERB(status, "[--json]",
    "processes and files; exit 0 ok, 1 warning, 2 critical, 3 not running")
VERB(watch, "[LIMIT...] [--every SPAN] [--once] [--exec COMMAND]",
    "ring while something stands still, or waits for too long")
VERB(web, "[--port N | --listen ADDRESS:PORT --roles FILE]",
    "the desk in a browser, until Ctrl-C: on this machine, by a link that is "
    "printed; or on a network, with TLS, for users who log in")
VERB(setup, "[--host NAME] [--domain NAME] [--listen all|local|ADDRESS:PORT] "
    "[--via HOST[:PORT]] [--postmaster ADDRESS] [--certificate FILE --key "
    "FILE] [--submission HOW] [--spool DIR] [--run DIR] [--log DIR] "
    "[--mailbox PATH] [--for-now] [--yes] [--dry-run]",
    "the first configuration, by questions or flags")
VERB(import, "postfix [DIR] [--to NEW-DIR] [--dry-run] | "
    "exim|sendmail|opensmtpd [FILE|DIR] [--to NEW-DIR] [--dry-run] | queue "
    "postfix|exim|sendmail DIR [--yes]; [--compare] [--addresses FILE] "
    "[--with PROGRAM] [--json]",
    "the configuration of another mailer as one of ours, setting by setting; "
    "whether both send the same way; its waiting mail as our messages")
VERB(hello, "[ADDRESS] [--from ADDRESS] [--timeout SPAN] [--json]",
    "send one message and follow it to its end")
VERB(doctor, "[--quiet] [--json] [--timeout SPAN] [--outbound HOST] "
    "[AREA|DOMAIN...]",
    "is this machine fit to carry mail; exit 0 it is, 1 warnings, 2 bad")
VERB(trace, "[--day DAY] [--since MOMENT] [--until MOMENT] [--json] "
    "[ID|ADDRESS|'<MESSAGE-ID>'|client:NET|SELECTOR]",
    "the life of messages, from the journal (14 days), also of those gone")
VERB(events, "[-f] [-n COUNT] [--json] [SELECTOR]",
    "the last events of the journal; -f goes on with new ones")
VERB(logrotate, "[--now] [--json]",
    "close, pack and remove files of the journal, as its limits say")
VERB(list, "[--json] [--limit N] [--after ID] [SELECTOR]",
    "every message in the spool: where it is, why, when it is tried next")
VERB(show, "[--json | --raw] ID|FILE|SELECTOR",
    "one message: envelope, recipients, last words, header; --raw: header and "
    "text as they came")
VERB(sink, "[--port N] [--lmtp] [--dir DIR] [--json] [--count] [--expect N] "
    "[--timeout SPAN]",
    "an SMTP server that takes everything, or fails as the recipient says")
VERB(fsck, "[--repair] [--json]",
    "every file of the spool that fits no state; --repair mends, with the "
    "daemons stopped")
VERB(backup, "[--keys] [--json] FILE|-",
    "all mail and the configuration into one archive, also while they run")
VERB(restore, "[--dry-run | --list] [--since MOMENT] [--skip-done] "
    "[--partial] [--config DIR] [--yes] [--json] FILE|- [ID...]",
    "put mail of an archive back into the spool, with the daemons stopped")
VERB(auth, "[--ip ADDRESS] [--helo NAME] [--from ADDRESS] [--to ADDRESS] "
    "[--now MOMENT] [--dns FILE] [--dkim2 strict|lenient] [--json] FILE|-",
    "whose mail is it: what SPF, DKIM and DMARC say, step by step")
VERB(classify, "[--json] [--to CHANNEL/HOST] [--list | --rules] ['REPLY'|-]",
    "what a reply of another host is taken for, and what follows from it")
VERB(resubmit, "[--from deferred|freezer|postman] [--dry-run | --yes] "
    "[--json] [ID|FILE|SELECTOR]",
    "route messages again that were set aside; without names all of deferred/")
VERB(hold, "[--for SPAN] [--reason WORDS] [--yes] [--dry-run] [--json] "
    "SELECTOR",
    "keep queued mail from being tried, until release")
VERB(release, "[--allow] [--reason WORDS] [--yes] [--dry-run] [--json] "
    "SELECTOR",
    "let held mail go, and what waits in freezer/ and postman/; --allow: and "
    "accept its senders from now on")
VERB(freeze, "[--reason WORDS] [--yes] [--dry-run] [--json] SELECTOR",
    "treat queued mail as if its retries were exhausted")
VERB(thaw, "[--reason WORDS] [--yes] [--dry-run] [--json] SELECTOR",
    "try frozen mail again, from the start")
VERB(retry, "[--per-second N] [--failed] [--reason WORDS] [--yes] "
    "[--dry-run] [--quiet] [--json] SELECTOR",
    "try queued mail now, paced; --failed: what has failed")
VERB(reroute, "[--reason WORDS] [--yes] [--dry-run] [--json] SELECTOR",
    "route queued mail again, as the configuration is now")
VERB(bounce, "[--reason WORDS] [--yes] [--dry-run] [--json] SELECTOR",
    "give mail up now, queued or set aside, with a report to its sender")
VERB(forward, "--to ADDRESS [--reason WORDS] [--yes] [--dry-run] [--json] "
    "SELECTOR",
    "send what was set aside to somebody, as a part of a new mail")
VERB(note, "--reason WORDS [--yes] [--dry-run] [--json] SELECTOR",
    "write a note beside what was set aside; review shows it")
VERB(schedule, "[--next MOMENT] [--expire MOMENT] [--yes] [--dry-run] "
    "[--json] SELECTOR",
    "say when queued mail is tried or given up")
VERB(delete, "[--reason WORDS] [--yes] [--dry-run] [--json] SELECTOR",
    "put messages into trash/, without a report; for a day")
VERB(undelete, "[--reason WORDS] [--yes] [--dry-run] [--json] SELECTOR",
    "bring deleted messages back to where they were")
VERB(table, "get [--json] TABLE KEY... | test [--json] [--from FILE] TABLE "
    "[KEY...] | list [--json] [TABLE] | build [--from FILE] [TABLE...]",
    "what a table answers and how fast, which tables there are, make their "
    "databases")
VERB(review, "[--list | --batch] [--json] [SELECTOR]",
    "look at what waits in freezer/, postman/ and deferred/, and decide")
VERB(top, "[--batch] [-n TIMES]",
    "rates, directories and destinations at a glance, live")
VERB(completion, "bash|zsh|fish",
    "a script for the shell that completes verbs, keys and ids")
VERB(replay, "--config FILE [--policy] [--routes] [--shape] [--ask-dns] "
    "[--json] DAY|SPAN",
    "what another configuration would have decided of mail that came")
VERB(audit, "[DAY|SPAN] [--seal SUM] [--json]",
    "does every recipient have one fate, and is the journal whole?")
VERB(report, "[--days N] [--capacity | --arrivals | --past SPAN] "
    "[--top senders|users|clients|domains] [--by count|bytes|failures] | "
    "send [--day DAY] [--dry-run] [--own] | dmarc PATH... | tls PATH...; "
    "[--json]",
    "volume, times, destinations, troubles and who has most, of days, from "
    "the journal; or how much mail the machine can take, and what ends it "
    "first; or how long mail takes to arrive; or the past, step by step; "
    "send: tell domains that ask for it how connections to their hosts went, "
    "and mail that says it is their own; "
    "dmarc, tls: read what others reported to us")
VERB(metrics, "[--prometheus | --listen [ADDRESS:]PORT|unix:/PATH]",
    "counters and the state of the spool as OpenMetrics text, or as that of "
    "Prometheus; once, or to whoever asks for /metrics")
VERB(why, "[--json] ID|SELECTOR",
    "what keeps each recipient of a message, and what would help")
VERB(whynot, "[--from ADDRESS] [--to ADDRESS] [--client ADDRESS] "
    "[--helo NAME] [--login USER] [--ask-dns] [--json] [ID]",
    "the smallest change of the configuration that would have let a mail "
    "pass; also: why-not")
VERB(count, "[--json] [SELECTOR]",
    "queued mail by state; with a selector, mail of all directories; counted "
    "in the files, needs no scheduler")
VERB(queue,
    "[--by provider|domain|sender|user|client|hop] [--json] [CHANNEL/HOST]",
    "destinations that have mail, the fullest first; or mail summed by who "
    "takes it, sent it or brought it")
VERB(connections, "[-f] [--json] [CHANNEL/HOST]",
    "who our agents are connected to, for how long, and what they do there")
VERB(zones, "[--json]",
    "what each sending zone does; suspend and resume take zone/NAME")
VERB(suspend, "[--for SPAN] [--reason WORDS] [--yes] [--json] CHANNEL/HOST",
    "begin no deliveries to destinations; globs allowed")
VERB(resume, "[--yes] [--json] CHANNEL/HOST|all",
    "take a suspension back")
VERB(pin, "--limit AGENTS [--for SPAN] [--reason WORDS] [--yes] [--json] "
    "CHANNEL/HOST",
    "so many agents at a time for destinations; 0 takes it back")
VERB(etrn, "[--reason WORDS] [--yes] [--json] "
    "DOMAIN|HOST|@DOMAIN|#CHANNEL/HOST",
    "all mail for this domain or next hop is due now, also what is queue-only")
VERB(drain, "[--timeout SPAN] [--reason WORDS] [--yes] [--json]",
    "begin no deliveries anywhere, and wait until none runs")
VERB(undrain, "[--yes] [--json]",
    "deliver again")
VERB(orders, "[--json]",
    "suspensions, pins and drain that are in force")
VERB(test, "smtp [--to ADDRESS | --session] [--ip ADDRESS] [--name NAME] "
    "[--helo NAME] "
    "[--from ADDRESS] [--user USER] [--listener WHERE] [--service NAME] "
    "[--cert NAME] [--issuer NAME] [--fingerprint HEX] [--size SIZE] "
    "[--spf RESULT] [--dkim RESULT|DOMAIN] [--dmarc RESULT] [--policy WORD] "
    "[--listed LIST=ANSWER] [--submission] [--tls] [--over] [--greylisted] "
    "[--sender-unknown] [--dns] | [--quiet] [--dns] FILE...",
    "what would be said to a mail, and by which rule; expectations in files")
VERB(route, "[-v] [--config FILE] [--mx] [--from ADDRESS] [--as USER] [--ip "
    "IP] [--json] [--diff OLD NEW] [--addresses FILE] [ADDRESS...]",
    "where mail for an address would go, and every table that was asked")
