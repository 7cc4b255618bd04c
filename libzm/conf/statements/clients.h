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
    "IPv6.  submission marks a port for our own users' programs: mail is "
    "taken for submission (RFC 6409) there, not for relaying between "
    "servers, and processes of their own serve it.  tls: encrypted from the "
    "first byte (RFC 8314, port 465); without, STARTTLS is offered as soon "
    "as there is a tls certificate.  verify off takes recipients here "
    "without looking whether they exist (see verify).  lmtp: LMTP (RFC "
    "2033) is spoken instead of SMTP, with a reply for each recipient "
    "after the message.  decide early: rules (see accept) that need not know "
    "the recipient refuse already at connect (554, 421), HELO or MAIL, our "
    "postmaster's mail, too; else at RCPT.  A unix socket is open to "
    "whoever can reach its directory; its clients count as 127.0.0.1.",
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
    "What these clients may say or ask that others may not.  proxy: they "
    "begin with a PROXY header (version 1 or 2), always, and the client is "
    "who it names.  xclient, xforward: Postfix's commands of these names.  "
    "priority: MT-PRIORITY above 0.  auth: the AUTH= of MAIL is believed.  "
    "etrn, vrfy, expn: the commands of these names are served; others get "
    "252 for VRFY and 502 for the rest.  ETRN names a domain of recipients, "
    "a next hop, @DOMAIN (all below it, too) or #CHANNEL/HOST.  sign: their "
    "mail is signed as that of users who logged in (see sign), but not what "
    "they pass on with XFORWARD, which may be anybody's.",
    "trust 192.0.2.7 proxy\n"
    "trust 127.0.0.0/8 xclient xforward vrfy expn\n"
    "table customers file:/etc/zmailer/customers\n"
    "trust <customers> etrn\n"
    "trust 10.20.0.0/16 sign")

STATEMENT(TOP, "ehlo", NONE, ehlo, "choice:without choice+:" EHLO_NAMES,
    "for=net",
    "ehlo without KEYWORD... [for NET|<table>]", "nothing is withheld",
    "Keywords of EHLO that these clients, or all, are not told.  What a "
    "keyword stands for is refused as if it were unknown.",
    "ehlo without CHUNKING BINARYMIME for 198.51.100.7\n"
    "ehlo without DSN")

STATEMENT(TOP, "size", NONE, setting, "setting", "",
    "size BYTES", "",
    "The largest message that is taken; the same as limit size.",
    "size 25M")
SETTING("size", "", limits.size_bytes, "size:1K-16G", "50M",
    "the largest message")

STATEMENT(TOP, "greet-pause", NONE, setting, "setting", "",
    "greet-pause SPAN", "",
    "So long a stranger waits for the greeting.  A client that speaks before "
    "it is greeted, as a mail server never does, is refused with 554.  Not for "
    "clients that may relay by their address, not where users log in "
    "(submission), nor under load.",
    "greet-pause 3s")
SETTING("greet-pause", "", greet_pause_ms, "span:0-60s", "0",
    "before the greeting")

STATEMENT(TOP, "tarpit", NONE, setting, "setting", "",
    "tarpit NAME SPAN", "",
    "Refusals are answered late: the first after this time, each further "
    "one in the session after twice the time of the one before.  Not under "
    "load.  A rule can have a delay of its own.",
    "tarpit first 1s\n"
    "tarpit max 20s")
SETTING("tarpit", "first", tarpit_first_ms, "span:0-60s", "0",
    "before the first refusal; 0: none is late")
SETTING("tarpit", "max", tarpit_max_ms, "span:1s-5m", "30s",
    "before any refusal")

STATEMENT(TOP, "verify", NONE, setting, "setting", "",
    "verify reject|accept|off", "",
    "Recipients in our own domains are looked up while the client waits, by "
    "the router, as it would route them; who does not exist is refused with "
    "550 5.1.1.  When the router or a table cannot be asked, reject answers "
    "451 (the client tries again), accept takes the recipient.  off takes "
    "all without a look; the router then reports to the sender.",
    "verify accept")
SETTING("verify", "", verify, "choice:reject,accept,off", "reject",
    "reject, accept or off")

STATEMENT(TOP, "verify-origin", NONE, setting, "setting", "",
    "verify-origin yes|no|dkim2", "",
    "yes: of each message that comes from elsewhere SPF, DKIM and DMARC are "
    "judged before it is accepted, and it gets the field "
    "Authentication-Results of this host; fields of that name that say they "
    "are of this host and came with it are removed.  Nothing is refused by "
    "that alone: see accept, spf.  What the DNS cannot tell is a temperror; "
    "where the judging itself fails, the message is accepted without the "
    "field, and the event origin.failed says so.  Not judged is mail of who "
    "logged in, of clients on loopback or that may relay (accept ... for "
    "any), and of LMTP.  Of a message that a milter changed it is the "
    "changed one that is judged.  dkim2: as yes, and DKIM2, a draft that may "
    "change (draft-ietf-dkim-dkim2-spec-04), is judged, too: who sent the "
    "message on, one after the other, and to whom.",
    "verify-origin yes")
SETTING("verify-origin", "", verifies_origin, "choice:no,yes,dkim2", "no",
    "yes, no or dkim2")

STATEMENT(TOP, "trust arc", NONE, trust_arc, "choice:from domain+", "",
    "trust arc from DOMAIN...", "nobody's seal is believed",
    "Forwarders and lists whose seals (ARC, RFC 8617) are believed: what they "
    "pass on fails DMARC because they changed it, or because they are not "
    "who the author's domain names.  With such a line the chain of seals is "
    "judged, too (verify-origin).  Where it is good, DOMAIN sealed last "
    "(d= of the seal; .example.org: any below it), and says there that DMARC "
    "passed for the domain of From, a DMARC result of fail counts as pass for "
    "rules (see accept, dmarc), and message.accepted has it as sealer=.  What "
    "those sealed who passed it on before is heard as long as they are named "
    "here, too.  Name only whom you would believe to check mail as you do.",
    "verify-origin yes\n"
    "trust arc from lists.example.org .google.com\n"
    "reject dmarc fail policy reject")

STATEMENT(TOP, "bare-newline", NONE, setting, "setting", "",
    "bare-newline reject|accept", "",
    "What to do with a message that has a line feed without a carriage "
    "return in it.  accept takes it as a line end, never as the end of the "
    "message.",
    "bare-newline reject")
SETTING("bare-newline", "", bare_lf_ok, "choice:reject,accept", "reject",
    "reject or accept")

STATEMENT(TOP, "bare-address", NONE, setting, "setting", "",
    "bare-address reject|accept", "",
    "What to do with MAIL FROM and RCPT TO whose address does not stand in "
    "< >, as old devices say it.  reject: 501, as RFC 5321 has it.  accept "
    "takes user@example.org until the next blank; nothing at all is no "
    "address still.",
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
    "set aside in freezer/.  fail says what is done when it does not answer "
    "or talks nonsense: the client is told to try later (tempfail), the "
    "message passes without it, is refused, or is set aside.  connect is the "
    "time for the connection, command (30s) for the answer to a command, "
    "timeout (1m) for each answer when the message is there.  Clients of "
    "except are not shown to it.  also sendmail: mail of sendmail(1), as "
    "cron's, is shown to it before it is routed; as it was accepted already, "
    "it waits while the milter does not work (fail tempfail), and a refusal "
    "is reported to its sender.",
    "milter unix:/run/rspamd/milter.sock\n"
    "milter unix:/run/opendkim/opendkim.sock also sendmail\n"
    "milter inet:127.0.0.1:8891 fail accept timeout 20s")

STATEMENT(TOP, "content-filter", NONE, content_filter, "text",
    "fail=choice:tempfail,accept,reject,quarantine timeout=span:1s-10m "
    "except=net",
    "content-filter \"/PROGRAM [WORDS]\" | unix:/PATH "
    "[fail tempfail|accept|reject|quarantine] [timeout SPAN] [except NET]",
    "none",
    "ZMailer's content filter: a program that says #hungry, is told the file "
    "of a message, and answers with a number, a reply code and words: below "
    "zero the message is refused, above it is set aside in freezer/.  After "
    "the milters, before the message is accepted.  Up to eight run at once.",
    "content-filter \"/usr/local/lib/zmailer/filter.sh\" timeout 30s "
    "fail accept except 10.0.0.0/8")
