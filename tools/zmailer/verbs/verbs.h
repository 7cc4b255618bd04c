/* verbs.h - every verb of zmailer(8), one row each
 *
 * VERB(name, usage, text): verb_NAME is in a file or folder NAME (or in the
 * file of its group).  usage is written in the grammar of tools/verb/usage.h,
 * with the options of tools/verb/options.h.  The dispatcher, the reader of the
 * command line, `zmailer help`, completion and the manual come from these rows.
 *
 * SPDX-License-Identifier: ISC
 */
VERB(help, "[VERB|STATEMENT] [WORD]",
    "what a verb or a configuration statement does")
VERB(demo, "[--cluster] [--keep] [DIR]",
    "six messages with six fates, in ./demo, through the real processes; "
    "--cluster: three machines, one is lost, its mail is not")
VERB(check, "[--syntax] [--quiet] [--json] [FILE]",
    "read a configuration as the daemons would, and say what is wrong")
VERB(config, "show [--all] | history | diff [VERSION] | "
    "undo [--cluster] [VERSION] | files | "
    "publish [--canary NODE] [--for SPAN] [--without NODE]; "
    "[--yes] [--dry-run] [--reason WORDS] [--json]",
    "the settings in force; the last 20 versions, and the way back; the same "
    "files on all nodes of a cluster")
VERB(alias, "list | show NAME | add NAME TARGET... | remove NAME "
    "[TARGET...]; [--table <T>] [--yes] [--dry-run] [--reason WORDS] [--json]",
    "names that stand for other addresses, in the table of aliases")
VERB(cert, "list | check | install FILE KEY [--for NAME]; [--yes] "
    "[--dry-run] [--reason WORDS] [--json]",
    "certificates: expiry and names; install a new pair")
VERB(block, "list | NET|SENDER|user:NAME [--for SPAN] [--cluster]; [--yes] "
    "[--dry-run] [--reason WORDS] [--json]",
    "refuse a network, a sender or a user who logs in, for a while")
VERB(unblock, "NET|SENDER|user:NAME [--cluster]; [--yes] [--dry-run] "
    "[--reason WORDS] [--json]",
    "remove a block")
VERB(limit, "list | sender USER|ADDRESS|@DOMAIN RATE [--for SPAN] | dest "
    "HOST [SESSIONS] [RATE] [--for SPAN] | remove sender|dest WHOM; [--yes] "
    "[--dry-run] [--reason WORDS] [--json]",
    "limit the mail of a sender, or to a destination")
VERB(log, "show | level normal|debug [client|dest NET|PATTERN] [--for SPAN]; "
    "[--yes] [--dry-run] [--reason WORDS] [--json]",
    "log each command and reply of a client or a next hop, for a while")
VERB(domain, "list | add NAME... [--users U] [--aliases <T>] [--deliver D] | "
    "remove NAME...; [--yes] [--dry-run] [--reason WORDS] [--json]",
    "the domains whose mail is delivered here: change, check and take over")
VERB(user, "list [DOMAIN] | add NAME[@DOMAIN] [--password-stdin] | password "
    "NAME[@DOMAIN] [--password-stdin] | delete NAME[@DOMAIN]; "
    "[--table <T>|TYPE:PATH] [--yes] [--dry-run] [--reason WORDS] [--json]",
    "who may log in and has a mailbox, in a table: add, delete, list")
VERB(smarthost, "HOST[:PORT] [--user NAME [--password FILE]] [--tls LEVEL] "
    "[--ca FILE] [--untested] | show | test | remove; [--yes] [--dry-run] "
    "[--reason WORDS] [--json]",
    "send all other mail through a host: test it, then write it")
VERB(dkim, "new DOMAIN [--selector S] [--bits N] [--ed25519] "
    "[--socket SOCKET] | publish DOMAIN [--selector S] | rotate DOMAIN [S] | "
    "retire DOMAIN [S] | use DOMAIN S | remove DOMAIN [S] | record DOMAIN "
    "[S] | list | check [DOMAIN]; [--yes] [--dry-run] [--reason WORDS] "
    "[--json]",
    "keys that sign our mail: make, publish, compare with the DNS")
VERB(sts, "show DOMAIN | list | refresh DOMAIN | publish DOMAIN "
    "[--mode testing|enforce] [--mx HOSTS] [--max-age SPAN] [--dir WEB-DIR]; "
    "[--json]",
    "MTA-STS policies: the known ones of other domains, and our own")
VERB(dns, "NAME [TYPE] [--json]",
    "what the DNS says of a name, and what the answer is worth")
VERB(cluster, "status | init | takeover NODE | sweep | keys DIR; [--yes] "
    "[--dry-run] [--json]",
    "the machines that share numbers and mail, and what is between them")
VERB(init, "DIR [--port N] [--sink PORT]",
    "make a private instance that any user can start")
VERB(run, "[--foreground] [--take-over FD] [--try]",
    "run the mail system in the foreground, for systemd and containers")
VERB(start, "",
    "run the mail system in the background; returns when it is ready")
VERB(stop, "",
    "stop smtpserver, router and scheduler, in this order")
VERB(restart, "",
    "stop, then start")
VERB(upgrade, "[--check] [--again]",
    "the programs that lie installed take the place of those that run; no "
    "session is cut")
VERB(reload, "",
    "check the configuration and, if it is good, take it over")
VERB(status, "[--cluster | --node NAME] [--json]",
    "processes and files; exit 0 ok, 1 warning, 2 critical, 3 not running")
VERB(watch, "[LIMIT...] [--every SPAN] [--once] [--exec COMMAND]",
    "alert when something stands still, or waits for too long")
VERB(web, "[--port N | --listen ADDRESS:PORT --roles FILE] "
    "[--send DIR [--submit unix:/PATH|HOST:PORT]]",
    "serve the desk to a browser, until Ctrl-C: on this machine, through a "
    "printed link; or on a network, with TLS, for users who log in")
VERB(setup, "[--host NAME] [--domain NAME] [--listen all|local|ADDRESS:PORT] "
    "[--via HOST[:PORT]] [--postmaster ADDRESS] [--certificate FILE --key "
    "FILE] [--submission HOW] [--spool DIR] [--run DIR] [--log DIR] "
    "[--mailbox PATH] [--for-now] [--yes] [--dry-run]",
    "make the first configuration, from questions or flags")
VERB(import, "postfix [DIR] [--to NEW-DIR] [--dry-run] | "
    "exim|sendmail|opensmtpd|zmailer [FILE|DIR] [--to NEW-DIR] [--dry-run] | "
    "queue postfix|exim|sendmail DIR [--yes]; [--compare] [--addresses FILE] "
    "[--with PROGRAM] [--json]",
    "convert the configuration of another mailer, setting by setting; compare "
    "where both send mail; take over its waiting mail")
VERB(hello, "[ADDRESS] [--from ADDRESS] [--timeout SPAN] [--json]",
    "send one message and follow it to its end")
VERB(doctor, "[--quiet] [--json] [--timeout SPAN] [--outbound HOST] "
    "[AREA|DOMAIN...]",
    "is this machine ready to carry mail?  exit 0 yes, 1 warnings, 2 no")
VERB(trace, "[--day DAY] [--since MOMENT] [--until MOMENT] [--json] "
    "[--cluster | --node NAME] "
    "[ID|ADDRESS|'<MESSAGE-ID>'|client:NET|SELECTOR]",
    "the life of messages, finished ones too, from the journal (14 days)")
VERB(events, "[-f] [-n COUNT] [--json] "
    "[--cluster | --node NAME] [SELECTOR]",
    "the last events of the journal; -f goes on with new ones")
VERB(logrotate, "[--now] [--json]",
    "close, compress and remove files of the journal, by its limits")
VERB(list, "[--cluster | --node NAME] [--json] "
    "[--limit N] [--after ID] [SELECTOR]",
    "every message in the spool: where it is, why, when it is tried next")
VERB(show, "[--json | --raw] ID|FILE|SELECTOR",
    "one message: envelope, recipients, last replies, header; --raw: header "
    "and text as they came")
VERB(sink, "[--port N] [--lmtp] [--dir DIR] [--json] [--count] [--expect N] "
    "[--timeout SPAN]",
    "an SMTP server that accepts everything, or fails as the recipient asks")
VERB(fsck, "[--repair] [--json]",
    "list files of the spool that match no state; --repair fixes them, with "
    "the daemons stopped")
VERB(backup, "[--keys] [--json] FILE|-",
    "put all mail and the configuration into one archive, even while zmailer "
    "runs")
VERB(restore, "[--dry-run | --list] [--since MOMENT] [--skip-done] "
    "[--partial] [--config DIR] [--yes] [--json] FILE|- [ID...]",
    "put mail of an archive back into the spool, with the daemons stopped")
VERB(auth, "[--ip ADDRESS] [--helo NAME] [--from ADDRESS] [--to ADDRESS] "
    "[--now MOMENT] [--dns FILE] [--dkim2 strict|lenient] [--json] FILE|ID|-",
    "check SPF, DKIM and DMARC of a message, step by step")
VERB(classify, "[--json] [--to CHANNEL/HOST] [--list | --rules] ['REPLY'|-]",
    "how a reply of another host is classified, and what follows from it")
VERB(resubmit, "[--from deferred|freezer|postman] [--dry-run | --yes] "
    "[--json] [ID|FILE|SELECTOR]",
    "route set-aside messages again; without names all of deferred/")
VERB(hold, "[--for SPAN] [--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "keep queued mail from being tried, until release")
VERB(release, "[--allow] [--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "try held mail, and route mail in freezer/ and postman/; --allow: also "
    "accept its senders from now on")
VERB(freeze, "[--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "treat queued mail as if its retries were exhausted")
VERB(thaw, "[--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "try frozen mail again, from the start")
VERB(retry, "[--per-second N] [--failed] [--reason WORDS] [--yes] "
    "[--dry-run] [--quiet] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "try queued mail now, paced; --failed: mail that has failed")
VERB(reroute, "[--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "route queued mail again, with the current configuration")
VERB(move, "[--wait SPAN] [--undo] [--reason WORDS] [--yes] [--dry-run] "
    "[--json] [SELECTOR] [to NODE]",
    "give queued mail to another node of the cluster, and wait until it has it")
VERB(bounce, "[--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "give mail up now, queued or set aside, with a report to its sender")
VERB(forward, "--to ADDRESS [--reason WORDS] [--yes] [--dry-run] [--json] "
    "SELECTOR",
    "send set-aside mail to somebody, as a part of a new message")
VERB(note, "--reason WORDS [--yes] [--dry-run] [--json] SELECTOR",
    "write a note about set-aside mail; review shows it")
VERB(learn, "spam SELECTOR | ham SELECTOR; [--reason WORDS] [--yes] "
    "[--dry-run] [--json]",
    "hand messages to the site's filter as spam, or as good mail")
VERB(schedule, "[--next MOMENT] [--expire MOMENT] [--yes] [--dry-run] "
    "[--json] "
    "[--cluster | --node NAME] SELECTOR",
    "set when queued mail is tried or given up")
VERB(delete, "[--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "put messages into trash/, without a report; for a day")
VERB(undelete, "[--reason WORDS] [--yes] [--dry-run] [--json] "
    "[--cluster | --node NAME] SELECTOR",
    "bring deleted messages back to where they were")
VERB(table, "get [--json] TABLE KEY... | test [--json] [--from FILE] TABLE "
    "[KEY...] | list [--json] [TABLE] | build [--from FILE] [TABLE...]",
    "query tables and time them, list them, build their databases")
VERB(review, "[--list | --batch] [--json] [SELECTOR]",
    "inspect mail in freezer/, postman/ and deferred/, and decide")
VERB(top, "[--batch] [-n TIMES] [--json] [--cluster | --node NAME]",
    "rates, directories and destinations at a glance, live")
VERB(completion, "bash|zsh|fish",
    "a script for the shell that completes verbs, keys and ids")
VERB(replay, "--config FILE [--policy] [--routes] [--shape] [--ask-dns] "
    "[--json] DAY|SPAN",
    "what another configuration would have decided of mail that came")
VERB(audit, "[DAY|SPAN] [--seal SUM] [--json]",
    "check that every recipient has one fate and the journal is whole")
VERB(report, "[--cluster | --node NAME] [--days N] "
    "[--capacity | --arrivals | --past SPAN] "
    "[--top senders|users|clients|domains] [--by count|bytes|failures] | "
    "send [--day DAY] [--dry-run] [--own] | dmarc PATH... | tls PATH...; "
    "[--json]",
    "volume, times, destinations, troubles and top senders of some days, from "
    "the journal; or how much mail the machine can take, and its bottleneck; "
    "or how long mail takes to arrive; or the past, step by step; send: "
    "report to domains that ask for it about connections to their hosts and "
    "mail in their name; dmarc, tls: read the reports of others")
VERB(metrics, "[--prometheus | --listen [ADDRESS:]PORT|unix:/PATH]",
    "counters and the state of the spool as OpenMetrics text, or in the "
    "format of Prometheus; once, or for requests to /metrics")
VERB(why, "[--cluster | --node NAME] [--json] ID|SELECTOR",
    "what keeps each recipient of a message, and what would help")
VERB(whynot, "[--from ADDRESS] [--to ADDRESS] [--client ADDRESS] "
    "[--helo NAME] [--login USER] [--ask-dns] [--json] [ID]",
    "the smallest change of the configuration that would have let a mail "
    "pass; also: why-not")
VERB(count, "[--cluster | --node NAME] [--json] [SELECTOR]",
    "count queued mail by state; with a selector, mail in all directories; "
    "from the files, without the scheduler")
VERB(queue,
    "[--by provider|domain|sender|user|client|hop] [--json] "
    "[--cluster | --node NAME] [CHANNEL/HOST]",
    "destinations that have mail, the fullest first; or mail summed by "
    "receiver, sender or client")
VERB(connections, "[-f] [--json] "
    "[--cluster | --node NAME] [CHANNEL/HOST]",
    "the connections of our agents, how long they have been open, and what "
    "they do")
VERB(zones, "[--cluster | --node NAME] [--json]",
    "the state of each sending zone; suspend and resume take zone/NAME")
VERB(suspend, "[--for SPAN] [--reason WORDS] [--yes] [--json] "
    "[--cluster | --node NAME] CHANNEL/HOST",
    "begin no deliveries to destinations; globs allowed")
VERB(resume, "[--yes] [--json] "
    "[--cluster | --node NAME] CHANNEL/HOST|all",
    "end a suspension")
VERB(pin, "--limit AGENTS [--for SPAN] [--reason WORDS] [--yes] [--json] "
    "[--cluster | --node NAME] CHANNEL/HOST",
    "limit the agents at a time for destinations; 0 ends it")
VERB(etrn, "[--reason WORDS] [--yes] [--json] "
    "DOMAIN|HOST|@DOMAIN|#CHANNEL/HOST",
    "make all mail for this domain or next hop due now, even queue-only mail")
VERB(drain, "[--timeout SPAN] [--to NODE] [--reason WORDS] [--yes] [--json]",
    "begin no deliveries anywhere, and wait until none runs")
VERB(undrain, "[--yes] [--json]",
    "deliver again")
VERB(orders, "[--cluster | --node NAME] [--json]",
    "the suspensions, pins and drain in force")
VERB(search, "list | save NAME SELECTOR | remove NAME; [--json]",
    "selectors that you saved under a name: the desk shows them as links")
VERB(test, "smtp [--to ADDRESS | --session] [--ip ADDRESS] [--name NAME] "
    "[--helo NAME] "
    "[--from ADDRESS] [--user USER] [--listener WHERE] [--service NAME] "
    "[--cert NAME] [--issuer NAME] [--fingerprint HEX] [--size SIZE] "
    "[--spf RESULT] [--dkim RESULT|DOMAIN] [--dmarc RESULT] [--policy WORD] "
    "[--dkim2 RESULT] "
    "[--listed LIST=ANSWER] [--submission] [--tls] [--over] [--greylisted] "
    "[--sender-unknown] [--dns] | [--quiet] [--dns] FILE...",
    "how a mail would be answered, and by which rule; or check expectations "
    "in files")
VERB(route, "[-v] [--config FILE] [--mx] [--from ADDRESS] [--as USER] [--ip "
    "IP] [--json] [--diff OLD NEW] [--addresses FILE] [ADDRESS...]",
    "where mail for an address would go, and every table look-up")
