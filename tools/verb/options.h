/* options.h - every option of the verbs of zmailer(8), one row each
 *
 * OPTION(id, name, value, kind, low, high, text): a verb takes an option if its
 * usage (tools/zmailer/verbs/verbs.h) names it with its value.  kind says what
 * a value must be: TEXT anything, NUMBER from low to high, SPAN a time of at
 * least low ms, CHOICE one of the words that bars separate; FLAG has no value.
 * `zmailer help VERB` and the manual have the texts.
 *
 * SPDX-License-Identifier: ISC
 */

/* ---- many verbs take these --------------------------------------------- */
OPTION(JSON, "--json", NULL, FLAG, 0, 0, "JSON, one object on each line")
OPTION(YES, "--yes", NULL, FLAG, 0, 0, "do it without a question")
OPTION(DRY_RUN, "--dry-run", NULL, FLAG, 0, 0, "show what would be done")
OPTION(REASON, "--reason", "WORDS", TEXT, 0, 0, "why, for the journal")
OPTION(CLUSTER, "--cluster", NULL, FLAG, 0, 0, "at all nodes of the cluster")
OPTION(FOR, "--for", "SPAN", SPAN, 1000, 0, "for how long: 90s 2h 3d")
OPTION(TIMEOUT, "--timeout", "SPAN", SPAN, 0, 0, "wait no longer than this")
OPTION(QUIET, "--quiet", NULL, FLAG, 0, 0, "print only problems")
OPTION(OWN, "--own", NULL, FLAG, 0, 0, "our own domains, too")
OPTION(NODE, "--node", "NAME", TEXT, 0, 0, "at this node of the cluster")
OPTION(CANARY, "--canary", "NODE", TEXT, 0, 0,
    "this node takes it first, for as long as --for says")
OPTION(WITHOUT, "--without", "NODE", TEXT, 0, 0,
    "leave this node out; several with a comma between")
OPTION(LIST, "--list", NULL, FLAG, 0, 0, "a list, and do nothing")

/* ---- messages --------------------------------------------------------- */
OPTION(LIMIT, "--limit", "N", NUMBER, 1, 1000000, "at most N messages")
OPTION(AFTER, "--after", "ID", TEXT, 0, 0, "only messages after this one")
OPTION(ALLOW, "--allow", NULL, FLAG, 0, 0,
    "also accept the senders from now on")
OPTION(RAW, "--raw", NULL, FLAG, 0, 0, "only the message itself")
OPTION(PER_SECOND, "--per-second", "N", NUMBER, 0, 100000,
    "at most N a second; 0: all at once")
OPTION(FAILED, "--failed", NULL, FLAG, 0, 0,
    "failed recipients whose sender has no report yet")
OPTION(NEXT, "--next", "MOMENT", TEXT, 0, 0, "when it is tried next")
OPTION(EXPIRE, "--expire", "MOMENT", TEXT, 0, 0, "when it is given up")
OPTION(TO, "--to", "ADDRESS", TEXT, 0, 0, "the address that gets it")
OPTION(TO_NODE, "--to", "NODE", TEXT, 0, 0,
    "then move all mail of the queue to this node of the cluster")
OPTION(UNDO, "--undo", NULL, FLAG, 0, 0,
    "take back what was not taken yet: it goes on here")
OPTION(WAIT, "--wait", "SPAN", SPAN, 0, 0,
    "how long it waits until all have left; default: 30s")
OPTION(FROM_AREA, "--from", "deferred|freezer|postman", CHOICE, 0, 0,
    "where it was set aside")
OPTION(BY, "--by", "provider|domain|sender|user|client|hop", CHOICE, 0, 0,
    "a line for each, with counts by state, the oldest, the last reply")
OPTION(AGENTS, "--limit", "AGENTS", NUMBER, 0, 10000,
    "at most so many agents at a time; 0: end the limit")
OPTION(EVERY, "--every", "SPAN", SPAN, 1000, 0, "check in this interval")
OPTION(ONCE, "--once", NULL, FLAG, 0, 0, "check once, then end")
OPTION(EXEC, "--exec", "COMMAND", TEXT, 0, 0,
    "run it when an alarm begins and when it ends")
OPTION(REPAIR, "--repair", NULL, FLAG, 0, 0, "fix what is found")

/* ---- the journal ------------------------------------------------------- */
OPTION(DAY, "--day", "DAY", TEXT, 0, 0, "only of this day: 2026-11-30")
OPTION(SINCE, "--since", "MOMENT", TEXT, 0, 0, "nothing older")
OPTION(UNTIL, "--until", "MOMENT", TEXT, 0, 0, "nothing newer")
OPTION(FOLLOW, "-f", NULL, FLAG, 0, 0, "go on with new ones")
OPTION(COUNT, "-n", "COUNT", NUMBER, 1, 1000000, "the last COUNT")
OPTION(NOW, "--now", NULL, FLAG, 0, 0, "close the file of today, too")
OPTION(SEAL, "--seal", "SUM", TEXT, 0, 0,
    "is this seal, noted earlier, part of the journal?")
OPTION(DAYS, "--days", "N", NUMBER, 1, 3650, "of the last N days")
OPTION(CAPACITY, "--capacity", NULL, FLAG, 0, 0,
    "how much mail the machine can take")
OPTION(ARRIVALS, "--arrivals", NULL, FLAG, 0, 0,
    "how long mail takes to arrive, and how estimates hold")
OPTION(PAST, "--past", "SPAN", SPAN, 10000, 0,
    "mail that came, went and waited in the last hour (1h), month (31d) and "
    "so on")
OPTION(DESK, "--listen", "ADDRESS:PORT", TEXT, 0, 0,
    "for a network, with TLS and logins")
OPTION(ROLES, "--roles", "FILE", TEXT, 0, 0,
    "the rights of each user: lines NAME look|act|administer, or NAME help "
    "DOMAIN...")
OPTION(SEND, "--send", "DIR", TEXT, 0, 0,
    "take messages of programs: POST /send; keys are remembered in DIR")
OPTION(SUBMIT, "--submit", "unix:/PATH|HOST:PORT", TEXT, 0, 0,
    "the listener that gets them, if not one of the configuration")
OPTION(SCRAPE, "--listen", "[ADDRESS:]PORT|unix:/PATH", TEXT, 0, 0,
    "answer scrapers there over HTTP, until it is stopped")
OPTION(TOP, "--top", "senders|users|clients|domains", CHOICE, 0, 0,
    "the top twenty of these")
OPTION(TOP_BY, "--by", "count|bytes|failures", CHOICE, 0, 0,
    "what to order them by")

/* ---- the configuration ------------------------------------------------- */
OPTION(ALL, "--all", NULL, FLAG, 0, 0, "preset values, too")
OPTION(SYNTAX, "--syntax", NULL, FLAG, 0, 0,
    "check only the text, not what it names")
OPTION(TABLE, "--table", "<T>", TEXT, 0, 0, "the table that has the aliases")
OPTION(FOR_HOST, "--for", "NAME", TEXT, 0, 0, "the host it is for")
OPTION(USERS, "--users", "U", TEXT, 0, 0, "its users")
OPTION(ALIASES, "--aliases", "<T>", TEXT, 0, 0, "its table of aliases")
OPTION(DELIVER, "--deliver", "D", TEXT, 0, 0, "how its mail is delivered")
OPTION(LOGINS, "--table", "<T>|TYPE:PATH", TEXT, 0, 0,
    "the table that has the passwords")
OPTION(PASSWORD_STDIN, "--password-stdin", NULL, FLAG, 0, 0,
    "the password is a line of standard input")
OPTION(USER, "--user", "NAME", TEXT, 0, 0, "log in with this name")
OPTION(PASSWORD, "--password", "FILE", TEXT, 0, 0, "its password is in FILE")
OPTION(TLS, "--tls", "LEVEL", TEXT, 0, 0, "the level of TLS, as in tls-to")
OPTION(CA, "--ca", "FILE", TEXT, 0, 0, "trusted roots for its certificate")
OPTION(UNTESTED, "--untested", NULL, FLAG, 0, 0, "write it without a test")
OPTION(ED25519, "--ed25519", NULL, FLAG, 0, 0, "an Ed25519 key, not RSA")
OPTION(DKIM_SELECTOR, "--selector", "S", TEXT, 0, 0, "the name of the key")
OPTION(BITS, "--bits", "N", NUMBER, 1024, 4096, "how long the key is")
OPTION(SOCKET, "--socket", "SOCKET", TEXT, 0, 0, "where the signer listens")
OPTION(STS_MODE, "--mode", "testing|enforce", CHOICE, 0, 0,
    "testing stops no mail, enforce does")
OPTION(STS_MX, "--mx", "HOSTS", TEXT, 0, 0,
    "the hosts, with commas; *.NAME: one label before it")
OPTION(MAX_AGE, "--max-age", "SPAN", SPAN, 60000, 0, "how long it is valid")
OPTION(WEB_DIR, "--dir", "WEB-DIR", TEXT, 0, 0,
    "write mta-sts.txt there: .well-known of the web server")
OPTION(TO_DIR, "--to", "NEW-DIR", TEXT, 0, 0,
    "where it is written; an empty directory")
OPTION(COMPARE, "--compare", NULL, FLAG, 0, 0,
    "ask both mailers where addresses go, and show what differs")
OPTION(WITH, "--with", "PROGRAM", TEXT, 0, 0,
    "the old mailer's program: postmap, exim4, sendmail")
OPTION(FROM_FILE, "--from", "FILE", TEXT, 0, 0, "from FILE instead of its own")

/* ---- a first configuration --------------------------------------------- */
OPTION(KEEP, "--keep", NULL, FLAG, 0, 0, "leave it running")
OPTION(PORT, "--port", "N", NUMBER, 0, 65535,
    "the port that it listens on")
OPTION(SINK, "--sink", "PORT", NUMBER, 0, 65535,
    "the port of a sink that gets its mail")
OPTION(HOST, "--host", "NAME", TEXT, 0, 0, "the name of this host")
OPTION(DOMAIN, "--domain", "NAME", TEXT, 0, 0, "the domain of this host")
OPTION(LISTEN, "--listen", "all|local|ADDRESS:PORT", TEXT, 0, 0,
    "who can reach it")
OPTION(VIA, "--via", "HOST[:PORT]", TEXT, 0, 0,
    "all other mail goes through this host")
OPTION(POSTMASTER, "--postmaster", "ADDRESS", TEXT, 0, 0,
    "who gets postmaster's mail")
OPTION(CERTIFICATE, "--certificate", "FILE", TEXT, 0, 0,
    "the certificate with its chain")
OPTION(KEY, "--key", "FILE", TEXT, 0, 0, "its key")
OPTION(SUBMISSION, "--submission", "HOW", TEXT, 0, 0,
    "ports 587 and 465; users log in by pam, unix:/PATH of Dovecot's socket, "
    "or /PATH of a table of users")
OPTION(SPOOL, "--spool", "DIR", TEXT, 0, 0, "where mail is kept")
OPTION(RUN, "--run", "DIR", TEXT, 0, 0, "where sockets are")
OPTION(LOG, "--log", "DIR", TEXT, 0, 0, "where the journal is")
OPTION(MAILBOX, "--mailbox", "PATH", TEXT, 0, 0, "where users' mailboxes are")
OPTION(FOR_NOW, "--for-now", NULL, FLAG, 0, 0,
    "as a package does: the next setup may replace it if it is unchanged")

/* ---- archives ---------------------------------------------------------- */
OPTION(KEYS, "--keys", NULL, FLAG, 0, 0, "keys and passwords, too")
OPTION(SKIP_DONE, "--skip-done", NULL, FLAG, 0, 0,
    "leave out messages that the journal says are done")
OPTION(PARTIAL, "--partial", NULL, FLAG, 0, 0,
    "take the intact part of a truncated archive")
OPTION(CONFIG_DIR, "--config", "DIR", TEXT, 0, 0,
    "write its configuration files below DIR, and no mail")

OPTION(TAKE_OVER, "--take-over", "FD", NUMBER, 3, 1000000,
    "for zmailer upgrade, not for people: what that descriptor has")
OPTION(TRY, "--try", NULL, FLAG, 0, 0, "say whether it could be done")
OPTION(CHECK, "--check", NULL, FLAG, 0, 0,
    "say whether it could be done, and do nothing")
OPTION(AGAIN, "--again", NULL, FLAG, 0, 0,
    "also when what runs is what lies installed")
OPTION(FOREGROUND, "--foreground", NULL, FLAG, 0, 0, "the default")

/* ---- looking and trying ------------------------------------------------ */
OPTION(FROM, "--from", "ADDRESS", TEXT, 0, 0, "the sender")
OPTION(OUTBOUND, "--outbound", "HOST", TEXT, 0, 0,
    "try a connection to this host")
OPTION(BATCH, "--batch", NULL, FLAG, 0, 0, "lines instead of a screen")
OPTION(TIMES, "-n", "TIMES", NUMBER, 1, 1000000, "print it TIMES times")
OPTION(PROMETHEUS, "--prometheus", NULL, FLAG, 0, 0,
    "the older text format of Prometheus")
OPTION(TO_DEST, "--to", "CHANNEL/HOST", TEXT, 0, 0, "who sent the reply")
OPTION(RULES, "--rules", NULL, FLAG, 0, 0, "print the shipped rules")
OPTION(VERBOSE, "-v", NULL, FLAG, 0, 0, "accepted and ignored")
OPTION(CONFIG_FILE, "--config", "FILE", TEXT, 0, 0, "use this configuration")
OPTION(MX, "--mx", NULL, FLAG, 0, 0, "the hosts that the DNS names")
OPTION(AS, "--as", "USER", TEXT, 0, 0, "as if this user had logged in")
OPTION(IP, "--ip", "IP", TEXT, 0, 0, "as if it came from there")
OPTION(DIFF, "--diff", "OLD NEW", TEXT, 0, 0,
    "what differs between two configurations")
OPTION(ADDRESSES, "--addresses", "FILE", TEXT, 0, 0,
    "a file with an address on each line")

OPTION(POLICY, "--policy", NULL, FLAG, 0, 0,
    "the answers to MAIL and RCPT of recorded sessions")
OPTION(ROUTES, "--routes", NULL, FLAG, 0, 0,
    "routes of the recipients in the journal")
OPTION(SHAPE, "--shape", NULL, FLAG, 0, 0,
    "schedules of their destinations")
OPTION(ASK_DNS, "--ask-dns", NULL, FLAG, 0, 0,
    "ask the DNS what was not asked then")

OPTION(CLIENT, "--client", "ADDRESS", TEXT, 0, 0,
    "where it comes from; default: 192.0.2.1")
OPTION(LOGIN, "--login", "USER", TEXT, 0, 0, "the user who logged in")

/* ---- the sink ---------------------------------------------------------- */
OPTION(LMTP, "--lmtp", NULL, FLAG, 0, 0, "speak LMTP")
OPTION(DIR, "--dir", "DIR", TEXT, 0, 0, "keep messages here")
OPTION(COUNTS, "--count", NULL, FLAG, 0, 0, "print only counts")
OPTION(EXPECT, "--expect", "N", NUMBER, 1, 1000000000,
    "end after N messages")

/* ---- a rehearsal ------------------------------------------------------- */
OPTION(TEST_SESSION, "--session", NULL, FLAG, 0, 0,
    "a dialogue on standard input; nothing is sent")
OPTION(TEST_IP, "--ip", "ADDRESS", TEXT, 0, 0, "where the client is")
OPTION(TEST_NAME, "--name", "NAME", TEXT, 0, 0, "the client's name")
OPTION(TEST_HELO, "--helo", "NAME", TEXT, 0, 0, "its name in HELO")
OPTION(CAME, "--now", "MOMENT", TEXT, 0, 0, "as if it had come then")
OPTION(ZONE, "--dns", "FILE", TEXT, 0, 0,
    "answers of the DNS: lines NAME TYPE VALUE")
OPTION(DKIM2, "--dkim2", "strict|lenient", CHOICE, 0, 0,
    "check DKIM2, too; lenient: allow addresses as in early drafts")
OPTION(TEST_USER, "--user", "USER", TEXT, 0, 0, "the user who logged in")
OPTION(TEST_LISTENER, "--listener", "WHERE", TEXT, 0, 0,
    "the listener that it came to")
OPTION(TEST_SERVICE, "--service", "NAME", TEXT, 0, 0,
    "what policy services say; default: DUNNO")
OPTION(TEST_CERT, "--cert", "NAME", TEXT, 0, 0, "the client's certificate")
OPTION(TEST_ISSUER, "--issuer", "NAME", TEXT, 0, 0, "its issuer")
OPTION(TEST_FINGERPRINT, "--fingerprint", "HEX", TEXT, 0, 0,
    "the certificate's fingerprint")
OPTION(TEST_SPF, "--spf", "RESULT", TEXT, 0, 0,
    "the result of checking the message")
OPTION(TEST_DKIM, "--dkim", "RESULT|DOMAIN", TEXT, 0, 0,
    "the same; or a domain with a valid signature")
OPTION(TEST_DMARC, "--dmarc", "RESULT", TEXT, 0, 0, "the same")
OPTION(TEST_POLICY, "--policy", "WORD", TEXT, 0, 0,
    "the policy of the domain's DMARC record")
OPTION(TEST_DKIM2, "--dkim2", "RESULT", TEXT, 0, 0,
    "the result of checking DKIM2")
OPTION(TEST_SIZE, "--size", "SIZE", TEXT, 0, 0, "how large the mail is")
OPTION(TEST_LISTED, "--listed", "LIST=ANSWER", TEXT, 0, 0,
    "what a list in the DNS answers")
OPTION(TEST_SUBMISSION, "--submission", NULL, FLAG, 0, 0,
    "a user's program submits it")
OPTION(TEST_TLS, "--tls", NULL, FLAG, 0, 0, "the session is encrypted")
OPTION(TEST_OVER, "--over", NULL, FLAG, 0, 0, "limit rules are over")
OPTION(TEST_GREYLISTED, "--greylisted", NULL, FLAG, 0, 0,
    "its first try; else it has waited out greylisting")
OPTION(TEST_UNKNOWN, "--sender-unknown", NULL, FLAG, 0, 0,
    "the sender's domain has no host that accepts mail")
OPTION(TEST_DNS, "--dns", NULL, FLAG, 0, 0, "ask the DNS")
