/* clients.h - rows of statements.h for smtpserver: who may come in with what
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "listen", NONE, listen, "listen",
    "submission verify=choice:on,off tls lmtp decide=choice:rcpt,early",
    "listen [ADDRESS:]PORT|unix:/PATH [submission] [tls] [lmtp] "
    "[verify on|off] [decide rcpt|early]",
    "listen 127.0.0.1:25",
    "Accept connections here.  A port alone means all addresses, IPv4 and "
    "IPv6.  submission marks a port for our own users' programs: it accepts "
    "mail for submission (RFC 6409), not for relaying between servers, and "
    "separate processes serve it.  tls: encrypted from the first byte (RFC "
    "8314, port 465); without it, STARTTLS is offered if there is a tls "
    "certificate.  verify off accepts recipients here without checking that "
    "they exist (see verify).  lmtp: the port speaks LMTP (RFC 2033) instead "
    "of SMTP, with a reply for each recipient after the message.  decide "
    "early: rules (see accept) that do not need the recipient refuse at "
    "connect (554, 421), HELO or MAIL, even mail for our postmaster; "
    "otherwise at RCPT.  A unix socket is open to anybody who can reach its "
    "directory; its clients count as 127.0.0.1.",
    "listen 25\n"
    "listen 127.0.0.1:587 submission\n"
    "listen 465 submission tls\n"
    "tls certificate /etc/zmailer/mx.pem key /etc/zmailer/mx.key\n"
    "listen unix:/run/zmailer/lmtp lmtp\n"
    "listen [::1]:2525\n"
    "listen 2526 decide early")

STATEMENT(TOP, "trust", NONE, trust,
    "net choice+:proxy,xclient,xforward,priority,auth,etrn,vrfy,expn,"
    "sign", "",
    "trust NET|<table> "
    "proxy|xclient|xforward|priority|auth|etrn|vrfy|expn|sign...",
    "none",
    "What these clients may say or ask that others may not.  proxy: they must "
    "begin with a PROXY header (version 1 or 2), which names the client.  "
    "xclient, xforward: Postfix's commands of these names.  priority: "
    "MT-PRIORITY above 0.  auth: the AUTH= of MAIL is believed.  etrn, vrfy, "
    "expn: these commands work; other clients get 252 for VRFY and 502 for "
    "the rest.  ETRN names a domain of recipients, a next hop, @DOMAIN (with "
    "all below it) or #CHANNEL/HOST.  sign: their mail is signed like that of "
    "users who logged in (see sign), except mail that they pass on with "
    "XFORWARD, which may be anybody's.",
    "trust 192.0.2.7 proxy\n"
    "trust 127.0.0.0/8 xclient xforward vrfy expn\n"
    "table customers file:/etc/zmailer/customers\n"
    "trust <customers> etrn\n"
    "trust 10.20.0.0/16 sign")

STATEMENT(TOP, "ehlo", NONE, ehlo, "choice:without choice+:" EHLO_NAMES,
    "for=net",
    "ehlo without KEYWORD... [for NET|<table>]", "nothing is withheld",
    "EHLO keywords that are hidden from these clients, or from all.  The "
    "extension itself is refused as if it were unknown.",
    "ehlo without CHUNKING BINARYMIME for 198.51.100.7\n"
    "ehlo without DSN")

STATEMENT(TOP, "size", NONE, setting, "setting", "",
    "size BYTES", "",
    "The largest message that is accepted; the same as limit size.",
    "size 25M")
SETTING("size", "", limits.size_bytes, "size:1K-16G", "50M",
    "the largest message")

STATEMENT(TOP, "greet-pause", NONE, setting, "setting", "",
    "greet-pause SPAN", "",
    "How long a stranger waits for the greeting.  A client that speaks before "
    "it, which a mail server never does, is refused with 554.  It does not "
    "apply to clients that may relay by their address, where users log in "
    "(submission), or under load.",
    "greet-pause 3s")
SETTING("greet-pause", "", greet_pause_ms, "span:0-60s", "0",
    "before the greeting")

STATEMENT(TOP, "tarpit", NONE, setting, "setting", "",
    "tarpit NAME SPAN", "",
    "Delay refusals: the first by this time, each further one in the session "
    "by twice the time of the one before, but not under load.  A rule can "
    "have its own delay.",
    "tarpit first 1s\n"
    "tarpit max 20s")
SETTING("tarpit", "first", tarpit_first_ms, "span:0-60s", "0",
    "before the first refusal; 0: none is late")
SETTING("tarpit", "max", tarpit_max_ms, "span:1s-5m", "30s",
    "before any refusal")

STATEMENT(TOP, "verify", NONE, setting, "setting", "",
    "verify reject|accept|off", "",
    "While the client waits, the router looks up recipients in our own "
    "domains as it would route them; unknown ones are refused with 550 "
    "5.1.1.  If the router or a table does not answer, reject replies 451 "
    "(the client tries again), accept accepts the recipient.  off accepts all "
    "without a check; the router then reports to the sender.",
    "verify accept")
SETTING("verify", "", verify, "choice:reject,accept,off", "reject",
    "reject, accept or off")

STATEMENT(TOP, "verify-origin", NONE, setting, "setting", "",
    "verify-origin yes|no|dkim2", "",
    "yes: SPF, DKIM and DMARC are checked for each message from elsewhere "
    "before it is accepted, and it gets a field Authentication-Results of "
    "this host; fields of that name that came with it and claim to be of this "
    "host are removed.  This alone refuses nothing: see accept, spf.  Trouble "
    "of the DNS is a temperror; if the check itself fails, the message is "
    "accepted without the field (451, try again, if one of that name came "
    "with it), and the event origin.failed says so.  Mail "
    "is not checked from users who logged in, from clients on loopback or "
    "that may relay (accept ... for any), and over LMTP.  If a milter changed "
    "a message, the changed one is checked.  dkim2: as yes, and DKIM2, a "
    "draft that may change (draft-ietf-dkim-dkim2-spec-04), is checked, too: "
    "who sent the message on, one after the other, and to whom.",
    "verify-origin yes")
SETTING("verify-origin", "", verifies_origin, "choice:no,yes,dkim2", "no",
    "yes, no or dkim2")

STATEMENT(TOP, "trust arc", NONE, trust_arc, "choice:from domain+", "",
    "trust arc from DOMAIN...", "nobody's seal is believed",
    "Forwarders and lists whose seals (ARC, RFC 8617) are trusted: mail that "
    "they pass on fails DMARC because they changed it, or because the "
    "author's domain does not name them.  With such a line the chain of seals "
    "is checked, too (verify-origin).  If it is valid, DOMAIN sealed last (d= "
    "of the seal; .example.org: any below it), and the seal says that DMARC "
    "passed for the domain of From, then a DMARC fail counts as pass for "
    "rules (see accept, dmarc), and message.accepted has it as sealer=.  "
    "Earlier seals count while their domains are named here, too.  Name only "
    "domains that check mail as you would.",
    "verify-origin yes\n"
    "trust arc from lists.example.org .google.com\n"
    "reject dmarc fail policy reject")

STATEMENT(TOP, "bare-newline", NONE, setting, "setting", "",
    "bare-newline reject|accept", "",
    "What to do with a message that has a line feed without a carriage "
    "return.  accept treats it as a line end, never as the end of the message.",
    "bare-newline reject")
SETTING("bare-newline", "", bare_lf_ok, "choice:reject,accept", "reject",
    "reject or accept")

STATEMENT(TOP, "bare-address", NONE, setting, "setting", "",
    "bare-address reject|accept", "",
    "What to do with MAIL FROM and RCPT TO whose address is not in < >, as "
    "some old devices send it.  reject: 501, as in RFC 5321.  accept takes "
    "user@example.org up to the next blank; no address at all is still "
    "refused.",
    "bare-address accept")
SETTING("bare-address", "", bare_address_ok, "choice:reject,accept", "reject",
    "reject or accept")

STATEMENT(TOP, "milter", NONE, milter, "text",
    "fail=choice:tempfail,accept,reject,quarantine timeout=span:1s-10m "
    "connect=span:100ms-5m command=span:100ms-10m "
    "except=net also=choice:sendmail",
    "milter unix:/PATH | inet:ADDRESS:PORT "
    "[fail tempfail|accept|reject|quarantine] [timeout SPAN] "
    "[connect SPAN] [command SPAN] [except NET] [also sendmail]", "none",
    "A content filter that speaks the milter protocol (rspamd, opendkim, "
    "ClamAV ...), asked about each client, greeting, sender, recipient and "
    "message before it is accepted, in the order of the file.  It may refuse "
    "any of them, change a message's header, body and recipients, or have it "
    "set aside in freezer/.  fail says what to do if it does not answer or "
    "answers nonsense: the client is told to try later (tempfail), the "
    "message passes without it, is refused, or is set aside.  connect is the "
    "time for the connection, command (30s) for the answer to a command, "
    "timeout (1m) for each answer at the end of the message.  It does not see "
    "clients of except.  also sendmail: it sees mail of sendmail(1), such as "
    "cron's, before it is routed; as that mail is already accepted, it waits "
    "while the milter does not work (fail tempfail), and a refusal is "
    "reported to its sender.",
    "milter unix:/run/rspamd/milter.sock\n"
    "milter unix:/run/opendkim/opendkim.sock also sendmail\n"
    "milter inet:127.0.0.1:8891 fail accept timeout 20s")

STATEMENT(TOP, "content-filter", NONE, content_filter, "text",
    "fail=choice:tempfail,accept,reject,quarantine timeout=span:1s-10m "
    "except=net",
    "content-filter \"/PROGRAM [WORDS]\" | unix:/PATH "
    "[fail tempfail|accept|reject|quarantine] [timeout SPAN] [except NET]",
    "none",
    "ZMailer's content filter: a program that says #hungry, gets the file "
    "name of a message, and answers with a number, a reply code and a text: "
    "below zero the message is refused, above zero it is set aside in "
    "freezer/.  It runs after the milters, before the message is accepted.  "
    "Up to eight run at once.",
    "content-filter \"/usr/local/lib/zmailer/filter.sh\" timeout 30s "
    "fail accept except 10.0.0.0/8")
