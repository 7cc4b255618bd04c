/* events.h - every event of the journal, one row each
 *
 * EVENT(symbol, name, level, keys, text)
 *   name   the value of "ev" in the line
 *   level  info: a fact about mail; warn: an operator can act
 *   keys   the keys that a line of this kind may have, separated by blanks
 *   text   one sentence for zmailer-events(5)
 * Both the code that emits events and the manual use these rows; make lint
 * fails when a row is unused.
 *
 * SPDX-License-Identifier: ISC
 */
EVENT(DAEMON_START, "daemon.start", INFO, "version listen workers",
    "A process is ready.")
EVENT(DAEMON_STOP, "daemon.stop", INFO, "reason",
    "A process ends normally.")
EVENT(DAEMON_EXIT, "daemon.exit", WARN, "name child status restart",
    "The supervisor saw a process end that should not; restart= when.")
EVENT(CONF_RELOAD, "conf.reload", INFO, "file",
    "A changed configuration was taken over.")
EVENT(CONF_REFUSED, "conf.refused", WARN, "file reason",
    "A bad configuration was refused; the old one stays in force.")
EVENT(UPGRADE_DONE, "upgrade.done", INFO, "version was",
    "The programs that run are those that lie installed; no session was cut.")
EVENT(UPGRADE_REFUSED, "upgrade.refused", WARN, "program reason",
    "The program that lies installed cannot take over; what runs goes on.")
EVENT(UPGRADE_HALTED, "upgrade.halted", WARN, "name reason",
    "A daemon of the programs that lie installed does not start; those after "
    "it are still the ones of before.")
EVENT(TABLE_TROUBLE, "table.trouble", WARN, "table file reason",
    "A table cannot be read: clients that need it are told to try again "
    "(451), and mail waits in deferred/.  Each process that uses it says so "
    "once, and again when the reason changes.")
EVENT(LISTENER_UNUSED, "listener.unused", WARN, "listener",
    "The service manager gave a socket for which there is no listen "
    "statement.")
EVENT(SESSION_OPEN, "session.open", INFO, "client listener session",
    "A client connected.")
EVENT(SESSION_XCLIENT, "session.xclient", INFO,
    "client session peer name helo user",
    "A peer that may use XCLIENT said who the client is.")
EVENT(SESSION_CLOSE, "session.close", INFO,
    "client session helo messages reason commands",
    "A session ended; reason says by whom and why.")
EVENT(SESSION_SAID, "session.said", INFO, "client session by line",
    "A line of the dialogue with a client (log-level debug), by it or us.")
EVENT(PEER_SAID, "peer.said", INFO, "host by line",
    "A line of the dialogue with a next hop (log-level debug).")
EVENT(SESSION_REFUSED, "session.refused", INFO,
    "client listener code reason",
    "A connection was refused before a session began.")
EVENT(PROXY_REFUSED, "proxy.refused", WARN, "client listener reason",
    "A proxy did not begin with a valid PROXY header, and its connection was "
    "closed.")
EVENT(TLS_OPEN, "tls.open", INFO,
    "client session version cipher asked peer verified fingerprint resumed",
    "A connection is now encrypted; peer, verified and fingerprint are about "
    "the client's certificate, asked is the name that it asked for (SNI).")
EVENT(TLS_FAILED, "tls.failed", INFO, "client session reason",
    "A TLS handshake failed.")
EVENT(TLS_INJECTED, "tls.injected", WARN, "client session bytes",
    "Bytes in the clear came after STARTTLS: from a broken client, or an "
    "attacker in between; they were discarded.")
EVENT(AUTH_OK, "auth.ok", INFO, "client session mech user",
    "A user logged in.")
EVENT(AUTH_FAILED, "auth.failed", INFO,
    "client session listener mech user reason",
    "A login failed; one line, so that one pattern finds who guesses.")
EVENT(CERTIFICATE_LOADED, "certificate.loaded", INFO,
    "file subject fingerprint expires",
    "A certificate and its key are in use from now on.")
EVENT(CERTIFICATE_REFUSED, "certificate.refused", WARN, "file reason",
    "A certificate could not be used; the one before it stays.")
EVENT(CERTIFICATE_EXPIRES, "certificate.expires", WARN, "file expires days",
    "A certificate that is in use expires soon, or has expired.")
EVENT(SIGN_REFUSED, "sign.refused", WARN, "file reason",
    "A key of a sign statement could not be used; the one before it stays.")
EVENT(SESSION_PRESSURE, "session.pressure", WARN, "level sessions limit",
    "Sessions near their limit (level 1) or no longer (0): see smtpserver(8).")
EVENT(CLIENT_EARLY, "client.early", INFO, "client session",
    "A client spoke before it was greeted and was refused.")
EVENT(COMMAND_REFUSED, "command.refused", INFO,
    "client session helo from command code reply rule",
    "A command was answered with 4xx or 5xx.")
EVENT(POLICY_SHADOW, "policy.shadow", INFO,
    "client session from to would rule",
    "A shadow rule matches this recipient; it decides nothing.")
EVENT(POLICY_TROUBLE, "policy.trouble", WARN, "session rule helper reason",
    "Something that a rule or a recipient needs could not be looked up.")
EVENT(POLICY_WARNING, "policy.warning", INFO, "client session from text",
    "A policy service said WARN or INFO about a recipient.")
EVENT(DNSBL_SILENT, "dnsbl.silent", WARN, "zone reason",
    "A list of clients does not answer: for rules it lists nobody.")
EVENT(MESSAGE_ACCEPTED, "message.accepted", INFO,
    "client listener session helo from rcpts size with uid of tag forward "
    "spf dkim dmarc arc dkim2 sealer report",
    "A message is durable and was answered with 250 or exit status 0.  of: the "
    "id that it had in public/, by the word of the user whose file it was (a "
    "vacation calls it as=).  spf, "
    "dkim, dmarc, arc, dkim2: the results of checking it (verify-origin, "
    "trust arc); dmarc=several: From has several domains, which is none.  "
    "sealer: DMARC failed, but this trusted domain sealed that it had passed.  "
    "report: what the author's domain may learn about it (dmarc-reports), "
    "VALUE=...; each.")
EVENT(MESSAGE_WAITED, "message.waited", INFO,
    "client listener session verdict code reason delay",
    "The client waited for the next hop's reply (cut-through).  verdict: "
    "delivered and refused are what it was told; queued, it got 250 and the "
    "message goes on; gone, it did not wait so long, and may send the message "
    "again.  delay: how long, in ms.")
EVENT(MESSAGE_REFUSED, "message.refused", INFO,
    "client listener session from code reply rcpts rule",
    "The end of data was answered with 4xx or 5xx.")
EVENT(MESSAGE_FROZEN, "message.frozen", WARN,
    "client listener from rule text file",
    "A rule put an accepted message into freezer/; text= place and words of "
    "the rule as they were then.")
EVENT(MILTER_FAILED, "milter.failed", WARN, "session milter reason fail",
    "A milter failed; fail= what was done instead.")
EVENT(ORIGIN_FAILED, "origin.failed", WARN, "session reason",
    "The check of whose mail a message is failed (verify-origin); it was "
    "accepted without our Authentication-Results, or 451 told its client to "
    "try again.  Without an id: SPF was asked for at RCPT, and rules about "
    "SPF wait for the message.")
EVENT(COPY_MISSING, "copy.missing", WARN, "session reason",
    "A message could not be copied to the cluster's PostgreSQL before it was "
    "accepted; it was accepted without, or its client was told to try again "
    "(copies else defer).")
EVENT(NEIGHBOUR_DOWN, "neighbour.down", WARN, "kind name reason",
    "A program that mail depends on (a milter, a policy service, a content "
    "filter, who checks passwords) failed for the first time; zmailer status "
    "shows it until it works again.")
EVENT(NEIGHBOUR_UP, "neighbour.up", INFO, "kind name down_s told",
    "It works again; told= commands were refused because of it.")
EVENT(MILTER_QUARANTINE, "milter.quarantine", WARN, "session reason",
    "A milter asked for quarantine; the message goes to freezer/.")
EVENT(MILTER_LOCAL, "milter.local", INFO, "do reason changed",
    "Milters have seen a message of sendmail(1): do= pass, refuse (a report "
    "follows) or discard.")
EVENT(MESSAGE_DISCARDED, "message.discarded", WARN,
    "client listener from",
    "A milter discarded a message; the client was told 250.")
EVENT(MESSAGE_ROUTED, "message.routed", INFO,
    "from rcpts size msgid user ms file",
    "The control file is published; the scheduler owns the message; user= "
    "who submitted it, or logged in.")
EVENT(RCPT_ROUTED, "rcpt.routed", INFO, "to orcpt channel host user rule",
    "Where one recipient goes, and the rule that says so.")
EVENT(HOOK_LOADED, "hook.loaded", INFO, "file functions generation",
    "The script of the statement hooks was read.")
EVENT(HOOK_REFUSED, "hook.refused", WARN, "file reason",
    "A script is broken; the one before, if any, stays.")
EVENT(HOOK_DIED, "hook.died", WARN, "file function reason",
    "A call killed the script's process; another will be started.")
EVENT(HOOK_LOG, "hook.log", INFO, "text", "A script said this by zm.log.")
EVENT(HOOK_TROUBLE, "hook.trouble", WARN, "function reason",
    "A call that nobody waits for went wrong.")
EVENT(HOOK_FROZEN, "hook.frozen", WARN, "file reason",
    "A script put the message into freezer/.")
EVENT(LIST_LINE, "list.line", WARN, "file line reason",
    "A line of a list is not an address; the other members get the mail.")
EVENT(MESSAGE_DEFERRED, "message.deferred", WARN, "file why reason",
    "Routing had trouble; the message waits in deferred/.")
EVENT(MESSAGE_HEADER, "message.header", INFO, "field line reason repaired",
    "A field violates RFC 5322; the message goes on.")
EVENT(MESSAGE_POSTMAN, "message.postman", WARN, "file keyword reason",
    "A message (or with _ a copy of it) was put into postman/.")
EVENT(MESSAGE_RESUBMITTED, "message.resubmitted", INFO,
    "file why by reason",
    "A person moved a message back to router/.")
EVENT(MESSAGE_TAKEN, "message.taken", INFO, "node",
    "Another node of the cluster took the message over, while this one was "
    "away or by an order (zmailer move); the files here go to trash/.")
EVENT(MOVE_WITHDRAWN, "move.withdrawn", INFO, "node reason",
    "A message that was to move to another node stays, and goes on here.")
EVENT(MESSAGE_DELETED, "message.deleted", INFO, "file why by reason",
    "A message that a person deleted was moved into trash/.")
EVENT(MESSAGE_UNDELETED, "message.undeleted", INFO, "file why by reason",
    "A person brought a message back from trash/.")
EVENT(MESSAGE_NOTED, "message.noted", INFO, "file why by reason",
    "A person wrote a note about a message that was set aside.")
EVENT(MESSAGE_FORWARDED, "message.forwarded", INFO,
    "file why by reason to as",
    "A person forwarded a set-aside message to somebody, as a part of message "
    "as=.")
EVENT(MESSAGE_LEARNED, "message.learned", INFO,
    "as ok text program by reason",
    "A person called a message spam or ham, and the program of learn was given "
    "it: ok= yes or no, text= what it said, or what went wrong.")
EVENT(RCPT_OK, "rcpt.ok", INFO,
    "to orcpt channel host code reply delay tries ms tls",
    "One recipient has the message; orcpt= its address as it came, tls= how "
    "the connection was protected.")
EVENT(RCPT_DEFER, "rcpt.defer", INFO,
    "to orcpt channel host code class reply delay tries next",
    "One attempt failed for now; class= what went wrong "
    "(zmailer-classify(8)), next= when it is tried again.")
EVENT(RCPT_FAIL, "rcpt.fail", INFO,
    "to orcpt channel host code class reply delay tries",
    "One recipient will never have the message.")
EVENT(RCPT_NEXT, "rcpt.next", INFO, "channel host offset",
    "One recipient failed there and goes its next way (else of a route).")
EVENT(WARM_FAILED, "warm.failed", WARN, "channel host reason until",
    "A connection that `warm` asks for could not be opened, or was lost and "
    "not opened again; it is tried again at until=.")
EVENT(RCPT_REOPENED, "rcpt.reopened", INFO,
    "to orcpt channel host by reason",
    "One recipient that had failed, without a report so far, is open again.")
EVENT(FORWARD_IGNORED, "forward.ignored", WARN, "to reason",
    "A user's forward file, or a part of it, is not trusted or cannot be "
    "parsed; mail goes to the rest, and to the mailbox.")
EVENT(VACATION, "vacation", INFO, "to sender as reason",
    "A user is away: its sender got an answer (as), or none, and why.")
EVENT(RCPT_DELAYED, "rcpt.delayed", INFO, "to orcpt",
    "A notice of delay for the sender was written.")
EVENT(DSN_SENT, "dsn.sent", INFO, "to dsn kind code rcpts",
    "A delivery status notification was submitted as message dsn=.")
EVENT(DSN_TOLD, "dsn.told", INFO, "code rcpts",
    "The client that sent the message got the next hop's refusal while it "
    "waited (cut-through): there is no report.")
EVENT(DSN_DROPPED, "dsn.dropped", WARN, "file reason rcpts",
    "A report that nobody may get (null sender, or a DKIM2 chain that did not "
    "hold) was kept in postman/.")
EVENT(MESSAGE_DONE, "message.done", INFO, "rcpts failed delay",
    "Every recipient has its outcome; the files are unlinked.")
EVENT(MESSAGE_VANISHED, "message.vanished", WARN, "file rcpts reason",
    "Files of a message were removed while it waited; rcpts= recipients had "
    "no outcome.")
EVENT(AGENT_START, "agent.start", INFO, "channel command child",
    "The scheduler started a transport agent.")
EVENT(AGENT_EXIT, "agent.exit", WARN, "channel command child status jobs",
    "A transport agent ended with work in hand or with an error.")
EVENT(AGENT_LEFT, "agent.left", WARN, "channel host child jobs",
    "The scheduler stopped before a transport agent had finished: the agent "
    "goes on, and the next scheduler waits for the message of this line and "
    "its other jobs - 1 messages.")
EVENT(AGENT_NONSENSE, "agent.nonsense", WARN, "channel child line",
    "A transport agent broke the protocol and was killed.")
EVENT(HOST_SUSPENDED, "host.suspended", WARN,
    "channel host class reason until",
    "A rule (retry on ... suspend) suspends a destination.")
EVENT(MESSAGE_CONVERTED, "message.converted", INFO,
    "host lacks signature",
    "A message was converted for a host that lacks an extension; "
    "signature=broken if it had a DKIM signature.")
EVENT(MESSAGE_ENCODED, "message.encoded", INFO, "file",
    "A message was encoded as 7-bit text, to be signed so (sign ... 7bit); "
    "in router/ it is called file from now on.")
EVENT(TLS_BROKEN, "tls.broken", INFO, "host reason",
    "The TLS of a next hop does not work; for a while its mail goes in the "
    "clear, as tls-to may allows.")
EVENT(DANE_REFUSED, "dane.refused", WARN, "host reason",
    "A next hop gets no mail for now because of its TLSA records: they could "
    "not be looked up, none of them matches its certificate, or it offers no "
    "TLS.")
EVENT(STS_POLICY, "sts.policy", INFO, "domain mode policy max-age hosts",
    "A domain has an MTA-STS policy, or a new one: mode, id (policy), how "
    "many seconds it is valid, how many host patterns it has.")
EVENT(STS_TROUBLE, "sts.trouble", INFO, "domain result reason known",
    "A domain's MTA-STS policy could not be fetched: result is a type of RFC "
    "8460 section 4.3.  A known policy stays in force; known is its mode.")
EVENT(STS_REFUSED, "sts.refused", WARN, "domain host mode reason",
    "A next hop gets no mail for now because of its domain's MTA-STS policy; "
    "or, with mode=testing, it got mail that enforce would have stopped.")
EVENT(TLS_SESSION, "tls.session", INFO,
    "domain policy mode host result address source records",
    "A connection to a next hop whose domain says how it must be protected: "
    "policy is sts or tlsa, result success or a type of RFC 8460 section 4.3; "
    "address is the host's, source ours; records are the TLSA records as in a "
    "zone file, with commas between them.")
EVENT(REPORT_SENT, "report.sent", INFO,
    "kind domain day to file elsewhere messages omitted",
    "A domain got a report about its mail, or about connections to its hosts "
    "(zmailer report send); file is the message.  kind: tls, with the hosts "
    "of others that got it, which get so many a day; or dmarc, with how many "
    "messages it counts, and for how many it has no row.")
EVENT(SHARE_BACK, "share.back", INFO, "redis seconds",
    "The Redis of the cluster answers, after so many seconds (also at the "
    "start): shared limits are counted there.")
EVENT(COPIES_BACK, "copies.back", INFO, "postgres seconds",
    "The PostgreSQL of the cluster answers, after so many seconds (also at "
    "the start): accepted messages are copied to it.")
EVENT(COPIES_FENCED, "copies.fenced", WARN, "node",
    "Another node has taken over the mail of this one (zmailer cluster "
    "takeover), which was not heard of for too long: it delivers nothing "
    "until it knows which messages the other node has.")
EVENT(COPIES_LOST, "copies.lost", WARN, "postgres reason",
    "The PostgreSQL of the cluster does not answer: messages are accepted "
    "without a copy, or not at all (copies else), and delivered as copies "
    "lease says.")
EVENT(SHARE_LOST, "share.lost", WARN, "redis reason",
    "The Redis of the cluster does not answer: this node counts shared limits "
    "alone, each divided by the nodes that were seen last.")
EVENT(SHARE_FLOODED, "share.flooded", WARN, "redis wait-ms",
    "The Redis of the cluster tells more failed logins and blocks than 2,000 "
    "a second: it is asked for the rest after so long.  Said once a minute.")
EVENT(NOTIFY_BACK, "notify.back", INFO, "to seconds",
    "A receiver of events (notify) accepts them again, after so many seconds; "
    "what happened meanwhile is sent.")
EVENT(NOTIFY_FAILED, "notify.failed", WARN, "to reason",
    "A receiver of events (notify) does not accept them; they wait in the "
    "journal and are sent again until it does.")
EVENT(NOTIFY_GONE, "notify.gone", WARN, "to",
    "A receiver of events (notify) answered 410, Gone: it is sent nothing "
    "until zmailer reload.")
EVENT(NOTIFY_LOST, "notify.lost", WARN, "to since until",
    "The journal dropped events of this span before a receiver (notify) had "
    "them; keep journal and keep journal-size say for how long it has them.")
EVENT(RESOLVER_BOGUS, "resolver.bogus", WARN, "name type reason",
    "An answer of the DNS is not what its owner signed, or what should be "
    "signed is not: it is used by nobody.  type is the number of the kind of "
    "record.  At most 30 of these a minute.")
EVENT(RESOLVER_COUNTED, "resolver.counted", INFO,
    "questions secure insecure none no-name bogus failed refused",
    "What the resolver was asked since it said so last, a minute ago or more, "
    "and the answers by what they were; refused: no question, or one too "
    "many.")
EVENT(HOST_DOWN, "host.down", INFO, "channel host reason until",
    "A destination does not answer; its mail waits.")
EVENT(CONTROL_BAD, "control.bad", WARN, "file reason",
    "A control file cannot be read; it was set aside in postman/.")
EVENT(CONFIG_CHANGED, "config.changed", INFO, "op file by reason version",
    "A verb of zmailer(8) changed the configuration or a table of it.")
EVENT(CONFIG_PUBLISHED, "config.published", INFO, "publish nodes by version",
    "zmailer config publish: all of these nodes keep the configuration of this "
    "one.")
EVENT(CONFIG_TAKEN, "config.taken", INFO, "publish from by seconds",
    "The configuration that another node published is in force here; it goes "
    "back after so many seconds, unless it is kept.")
EVENT(CONFIG_KEPT, "config.kept", INFO, "publish from",
    "The configuration that another node published stays.")
EVENT(CONFIG_BACK, "config.back", WARN, "publish from reason",
    "The configuration that another node published was taken back: the one of "
    "before is in force.")
EVENT(LOG_STALLED, "log.stalled", WARN, "to reason",
    "Nothing receives the events that log-to sends; they wait in the journal.")
EVENT(LOG_DROPPED, "log.dropped", WARN, "to lines",
    "So many events were not sent by log-to: the receiver was away for too "
    "long, or does not accept events that large.  The journal has them.")
EVENT(BACKUP, "backup", INFO, "file messages bytes by",
    "The spool and its configuration were written into an archive.")
EVENT(RESTORED, "message.restored", INFO, "file archive by",
    "A message came back from an archive.")
EVENT(MESSAGE_TAKEN_OVER, "message.taken-over", INFO, "node by",
    "A message of another node came here from the cluster's database.")
EVENT(RCPT_DOUBTED, "rcpt.doubted", WARN, "to channel host uid node again",
    "A control file that another node wrote says how this recipient of a "
    "message is delivered, and as which account; the configuration of this "
    "node does not: the address `again` is routed here.")
EVENT(NODE_TAKEN_OVER, "node.taken-over", WARN, "node by messages bytes",
    "The mail of a node that is lost was taken over here: by a person "
    "(zmailer cluster takeover), or by takeover-after (cluster ... { takeover "
    "after SPAN }).")
EVENT(IMPORTED, "message.imported", INFO, "queue old frozen by tries said",
    "A message came out of the queue of another mailer, where old was its id, "
    "which had tried it so often (sendmail tells) and last said this of it.")
EVENT(ORDER, "order", INFO,
    "op by uid reason select until limit messages recipients destinations",
    "The scheduler carried out an operator's order from its socket.")
EVENT(ORDER_REFUSED, "order.refused", WARN, "op by uid code",
    "An order was refused: its sender may not give it, or it could not be "
    "done.")
EVENT(MAILQ_START, "mailq.start", INFO, "listen",
    "The scheduler answers the mailq protocol from now on.")
EVENT(MAILQ_STOP, "mailq.stop", INFO, "listen",
    "The scheduler no longer answers the mailq protocol: it ends, or the "
    "statement was changed.")
EVENT(MAILQ_EXIT, "mailq.exit", WARN, "child status again_ms",
    "The process that answers the mailq protocol ended; it is restarted.  "
    "Mail does not wait for it.")
EVENT(WEB_LOGIN, "web.login", INFO, "user client ok",
    "Somebody gave a user's name and password to the desk in a browser.")
EVENT(MAILQ_LOGIN, "mailq.login", INFO, "user client ok",
    "A client of the mailq protocol gave a user's name and proof.")
EVENT(MAILQ_USERS, "mailq.users", WARN, "client reason",
    "The file of users of the mailq protocol cannot be used: no client can "
    "log in until it is fixed; `zmailer check` says how.")
EVENT(ORDER_BAD, "order.bad", WARN, "file line",
    "A line among the standing orders cannot be parsed and is skipped.")
EVENT(FORM_BAD, "form.bad", WARN, "language reason",
    "The report texts of this language cannot be read; it is skipped.")
EVENT(MESSAGE_ORDERED, "message.ordered", INFO,
    "op by reason until rcpts as via",
    "An operator, or the site's script, changed the state of a waiting "
    "message; as= its new id, via= the target that was chosen.")
EVENT(RECOVERED, "recovered", WARN, "file from to reason",
    "Recovery found a message between two states and finished the move.")
EVENT(SPOOL_TROUBLE, "spool.trouble", WARN, "file call reason",
    "A file system call failed; the message stays where it was.")
EVENT(DRAFT_SWEPT, "draft.swept", INFO, "file reason",
    "An unfinished submission in public/ was removed.")
EVENT(JOURNAL_LOST, "journal.lost", WARN, "lines since",
    "The journal could not be written (disk full), and the memory in which a "
    "process keeps lines until then was full, too: so many of its lines are "
    "missing.")
EVENT(JOURNAL_SEALED, "journal.sealed", INFO, "lines to sum marks",
    "So many lines, up to this byte of the file, are sealed "
    "(zmailer-audit(8)).")
EVENT(JOURNAL_CLOSED, "journal.closed", INFO, "file bytes sum",
    "A part of the journal is closed for writing; sum= its last seal.")
EVENT(RECORD_UNKEPT, "record.unkept", WARN, "reason",
    "A message could not be kept for zmailer replay (record ... bodies); it "
    "went on as usual.  Written once a day.")
EVENT(RECORD_FULL, "record.full", WARN, "day bytes size",
    "The messages kept for zmailer replay reached the limit of record ... "
    "bodies; no more are kept this day.")
EVENT(JOURNAL_KEPT, "journal.kept", INFO, "closed packed removed bytes",
    "Parts of the journal were closed, compressed, or removed for age or size.")
