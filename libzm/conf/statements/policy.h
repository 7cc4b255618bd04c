/* policy.h - rows of statements.h for smtpserver: rules over mail
 *
 * SPDX-License-Identifier: ISC
 */
/* What every rule may have; the applier takes them in this order. */
#define RULE_WORDS \
    "shadow from=net name=hostpattern helo=hostpattern listener=listener " \
    "tls=choice:yes,no auth user=userpattern sender=pattern to=pattern " \
    "size=size:1B-16G listed=listed sender-unknown until=moment " \
    "cert=certpattern issuer=text not-owner=tablepattern "             \
    "strangers everybody"

/* ... and what those may have, before their own words, that can wait for the
 * message. */
#define ORIGIN_WORDS \
    " spf=choice:none,pass,fail,softfail,neutral,temperror,permerror " \
    "dkim=dkimpattern " \
    "dmarc=choice:none,pass,fail,temperror,permerror,several " \
    "policy=choice:none,quarantine,reject " \
    "dkim2=choice:none,pass,fail,permerror,temperror"

#define RULE_KEYS "client,net,user,sender,sender-domain,to,domain,all"

STATEMENT(TOP, "accept", NONE, accept, "",
    RULE_WORDS ORIGIN_WORDS " for=choice:any",
    "accept [shadow] [CONDITION...] [for any]",
    "after all others: accept from 127.0.0.0/8 for any; accept from ::1 for "
    "any; accept auth for any; then mail for our own domains is accepted and "
    "relaying refused",
    "A rule: mail that meets all its conditions is accepted.  for any allows "
    "relaying to any domain, with to PATTERN to these; without for any the "
    "rule is about mail for our own domains.  Rules are tried in file order "
    "for each recipient, and the first that matches decides.  Mail for our "
    "own postmaster is always accepted.  A rule with shadow is tried and "
    "noted in the journal (policy.shadow), and decides nothing.  Conditions: "
    "from NET: the client's address.  name PATTERN: the client's name, "
    "confirmed by the DNS in both directions; none: it has no such name.  "
    "helo PATTERN: its name in HELO; literal: an address; unqualified: no dot "
    "in it; ours: our own name.  listener ADDRESS:PORT or :PORT: where it "
    "connected; submission: to one for our users.  tls yes or no: whether the "
    "session is encrypted.  user PATTERN: who logged in; any, or the word "
    "auth alone: anybody; none: nobody.  sender PATTERN, to PATTERN: the "
    "addresses of the envelope.  size SIZE: the client announces more.  "
    "listed NUMBER or ZONE: see dnsbl.  sender-unknown: the sender's domain "
    "has no host that accepts mail.  cert PATTERN: the certificate that the "
    "client shows (tls client-certificates).  any: a valid one; none: no "
    "valid one; a SHA-256 fingerprint in hex: this one, whoever issued it; "
    "other patterns: the distinguished name of a valid one as RFC 2253 writes "
    "it (CN=mx.example.org,O=Example); <table>: a table of fingerprints, in "
    "lower case without colons.  issuer PATTERN: the issuer of a valid one, "
    "in the same form.  strangers: nobody logged in, and the client is "
    "neither on loopback nor one that may relay by a rule about clients "
    "(accept from NET for any, cert, name).  Rules against strangers apply to "
    "strangers only unless the rule says otherwise: greylist, policy-service, "
    "limit rate, limit parallel, and reject, defer and freeze with helo, "
    "name, listed or sender-unknown.  It says otherwise with auth, user, "
    "not-owner, per user or a listener for our users (then it applies to "
    "users who logged in), with from NET or <table>, cert or issuer (then it "
    "applies to these clients, as long as they do not log in), or with "
    "everybody: strangers or not.  Other rules (from, sender, to, size, and a "
    "limit with sender) apply to everybody unless they have strangers.  "
    "not-owner <table>: a user logged in, and does not own the sender "
    "address: the row of the sender (see below; the most specific one) names "
    "other users, or there is no row and the address is not the user's name.  "
    "Everybody owns the null sender.  spf RESULT, dkim RESULT or DOMAIN, "
    "dmarc RESULT, policy WORD (of accept, reject, defer and freeze, with "
    "verify-origin yes), dkim2 RESULT (with verify-origin dkim2): the result "
    "of checking whose mail it is.  dkim "
    "DOMAIN: a valid signature of that domain, dkim .DOMAIN of one below it; "
    "dmarc several: From has addresses of several domains, which DMARC does "
    "not check (dmarc none: these, too); "
    "policy none, quarantine or reject: the policy in the domain's DMARC "
    "record.  A rule with spf and none of the others decides at RCPT; others "
    "are tried when the whole message has come, in their place; both only for "
    "mail of strangers, and never for relaying.  A refusal by a rule after an "
    "accept that is tried then is held back until then.  If other such rules "
    "apply to a recipient than to the first one, it must come in a separate "
    "message (452).  If the check fails, none of them matches, and a refusal "
    "that was held back defers the message.  "
    "until MOMENT (2026-11-23T10:00:00Z): not later than that.  A row of a "
    "table whose value begins with until=MOMENT counts until then, too.  "
    "PATTERN for addresses is user@domain, @domain, <> (the null sender), or "
    "has * and ? in it; for names it is mx.example.org, .example.org (all "
    "below it), or has * and ? in it; <table> is a table with such keys: "
    "user@domain, @domain or domain, .domain, user@; name, .domain; user.",
    "accept from 192.0.2.0/24 for any\n"
    "accept auth for any\n"
    "accept cert *,O=Example issuer \"CN=Our CA,O=Example\" for any\n"
    "accept to @backup.example for any")

STATEMENT(TOP, "reject", NONE, reject, "",
    RULE_WORDS ORIGIN_WORDS " text=text delay=span:1s-60s",
    "reject [shadow] [CONDITION...] [text \"WORDS\"] [delay SPAN]", "none",
    "A rule (see accept): the recipient is refused with 550 and this text, "
    "after this delay.",
    "reject from 198.51.100.0/24 text \"mail from here is not wanted\"\n"
    "reject sender @spam.example\n"
    "reject helo ours text \"you are not me\"\n"
    "reject sender @loud.example until 2026-11-23T10:00:00Z\n"
    "table owners file:/etc/zmailer/owners\n"
    "reject auth not-owner <owners> text \"not an address of yours\"\n"
    "reject shadow name none to *@lists.example.org\n"
    "verify-origin dkim2\n"
    "reject dmarc fail policy reject\n"
    "reject shadow spf fail\n"
    "reject sender <> dkim2 fail")

STATEMENT(TOP, "defer", NONE, defer, "",
    RULE_WORDS ORIGIN_WORDS " text=text delay=span:1s-60s",
    "defer [shadow] [CONDITION...] [text \"WORDS\"] [delay SPAN]", "none",
    "A rule (see accept): the recipient is refused for now, with 450 and this "
    "text; the client tries again.",
    "defer sender-unknown text \"where would a report to you go\"")

STATEMENT(TOP, "freeze", NONE, freeze, "", RULE_WORDS ORIGIN_WORDS,
    "freeze [shadow] [CONDITION...]", "none",
    "A rule (see accept): an accepted message goes into freezer/, for a "
    "person to look at.  For domains that are not ours the later rules decide "
    "whether it is accepted.",
    "freeze sender *@odd.example\n"
    "verify-origin yes\n"
    "freeze dmarc fail policy quarantine")

STATEMENT(TOP, "limit rate", NONE, limit_rate, "rate",
    RULE_WORDS " per=choice:" RULE_KEYS " of=choice:recipients,messages "
    "else=choice:defer,reject,freeze text=text shared",
    "limit rate COUNT/SPAN [per KEY] [of recipients|messages] "
    "[shadow] [CONDITION...] [else defer|reject|freeze] [text \"WORDS\"] "
    "[shared]",
    "none",
    "A rule (see accept) that matches after more than COUNT within SPAN: as "
    "many may come at once, and the allowance refills evenly.  It counts "
    "recipients of mail that meets the conditions, or messages with of "
    "messages.  It counts for each KEY: client (the address; the first 64 "
    "bits of IPv6), net (/24 and /48), user, sender, sender-domain, to, "
    "domain (of the recipient), or all.  The defaults are per client and else "
    "defer (450).  Counters are kept in memory, for all sessions together.  "
    "shared: for all machines of the cluster together, by rules that are "
    "written the same way (see cluster).  Without auth, from, sender or "
    "everybody it counts only strangers (see accept).",
    "limit rate 200/1h per user auth else freeze\n"
    "limit rate 100/1m per client of messages\n"
    "limit rate 50/1m per client from 127.0.0.0/8 else freeze\n"
    "limit rate 10/1m per to to *@lists.example.org else reject text "
    "\"slowly\"")

STATEMENT(TOP, "limit parallel", NONE, limit_parallel, "number:1-100000",
    RULE_WORDS " per=choice:" RULE_KEYS " of=choice:messages,sessions "
    "else=choice:defer,reject,freeze text=text shared",
    "limit parallel COUNT [per KEY] [of messages|sessions] [shadow] "
    "[CONDITION...] [else defer|reject|freeze] [text \"WORDS\"] [shared]",
    "none",
    "A rule (see accept) that matches while COUNT other messages of the same "
    "KEY (see limit rate) are arriving, from their first recipient to the "
    "reply that ends them; of sessions: while COUNT other sessions in which "
    "it was tried are open (at most an hour each).  A slot is free again "
    "before its client gets the reply that ends the message, or the session "
    "(221, 421), so the client may come again at once.  A client that leaves "
    "without QUIT may be refused until the server has seen the end of the "
    "connection.  shared: for all machines of the cluster together (see limit "
    "rate and cluster); what a machine held that is gone is free after a "
    "minute.  Without auth, from, sender or everybody it counts only "
    "strangers (see accept).",
    "limit parallel 5 per user auth\n"
    "limit parallel 30 per net of sessions\n"
    "limit parallel 20 per net else defer text \"one after the other\"")

STATEMENT(TOP, "greylist", NONE, greylist, "", RULE_WORDS
    " after=span:1s-1d within=span:1m-30d keep=span:1h-365d text=text "
    "shared",
    "greylist [shadow] [CONDITION...] [after SPAN] [within SPAN] "
    "[keep SPAN] [text \"WORDS\"] [shared]", "none",
    "A rule (see accept): mail from a network (/24 and /64), sender and "
    "recipient that were not seen together before is deferred (451); a second "
    "try after 5m and within 2d is accepted, and so is further mail for 35d.  "
    "A network that passed with five different pairs is no longer "
    "greylisted.  Users who logged in, loopback and clients that may relay "
    "are not greylisted unless the rule names them (see accept, strangers).  "
    "The greylist is kept in smtpserver/greylist in the spool.  shared: what "
    "was seen by one machine of the cluster, and what has passed there, counts "
    "for all of them (see cluster); while they cannot ask, each goes by what "
    "it has seen itself.",
    "greylist name none\n"
    "greylist helo unqualified after 10m")

STATEMENT(TOP, "policy-service", NONE, policy_service, "text",
    RULE_WORDS " else=choice:defer,accept",
    "policy-service unix:/PATH | inet:ADDRESS:PORT [shadow] "
    "[CONDITION...] [else defer|accept]", "none",
    "A rule (see accept) that is decided by a program with the Postfix policy "
    "protocol (postgrey, policyd-spf and others), for each recipient that "
    "meets the conditions.  OK accepts (our own domains only), REJECT, DEFER "
    "and numbers refuse, DEFER_IF_PERMIT defers it unless a later rule "
    "refuses it, HOLD and DISCARD put the message into freezer/, PREPEND adds "
    "a field to its header, WARN goes to the journal, DUNNO leaves it to the "
    "later rules.  else says what to do if it does not answer in 10 s or says "
    "something else: 451, or nothing.  It is not asked about users who logged "
    "in, loopback and clients that may relay, unless the rule names them (see "
    "accept, strangers).",
    "policy-service inet:127.0.0.1:10023\n"
    "policy-service unix:/run/quota/policy auth\n"
    "policy-service unix:/run/log/policy everybody else accept")

STATEMENT(TOP, "dnsbl", NONE, dnsbl, "dnszone", "answer=net "
    "weight=number:1-1000",
    "dnsbl ZONE [answer NET] [weight NUMBER]", "none",
    "A list of clients in the DNS that rules can use: listed NUMBER matches "
    "if the weights (default 1) of all lists that have the client sum up to "
    "at least NUMBER, listed ZONE if this one has it.  answer: only these "
    "answers count; a zone may have several lines with different ones.  Lists "
    "are asked only when a rule needs them; a list that does not answer lists "
    "nobody.",
    "dnsbl bl.example.org weight 2\n"
    "dnsbl multi.example.org answer 127.0.0.10/31\n"
    "dnswl good.example.org weight 3\n"
    "reject listed 2 text \"your address is on two lists\"")

STATEMENT(TOP, "dnswl", NONE, dnswl, "dnszone", "answer=net "
    "weight=number:1-1000",
    "dnswl ZONE [answer NET] [weight NUMBER]", "none",
    "A list of good clients: as dnsbl, but its weight is subtracted.",
    "dnswl list.example.org weight 5")
