/* secure.h - rows of statements.h: certificates, and who may log in
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "tls", NONE, tls, "",
    "certificate=path key=path for=domain certificates=table "
    "min=choice:1.2,1.3 "
    "client-certificates=choice:ignore,ask,require ca=path",
    "tls certificate FILE key FILE [for NAME]; tls certificates <table>; "
    "tls min 1.2|1.3; "
    "tls client-certificates ask|require [ca FILE]",
    "no certificate: STARTTLS is not offered; min 1.2; client certificates "
    "are not asked for",
    "certificate: a chain of PEM certificates, the server's own first, and "
    "its private key (RSA, ECDSA or Ed25519, no pass phrase).  With several "
    "rows, clients that ask for a name (SNI) get the row for NAME "
    "(.example.org: all below it), or the one whose certificate has it; all "
    "others get the first.  certificates: a table with a line for each name, "
    "NAME CERTIFICATE-FILE [KEY-FILE] (default: the key is in the first); "
    "NAME as it is, *.example.org for one label more, or .example.org for all "
    "below.  It is for sites with many names, and is read again when it "
    "changes; a table with a bad line is refused as a whole and the old one "
    "stays.  Without a tls certificate, its first line is for all others.  "
    "Rows for the same names with keys of different kinds are used side by "
    "side.  Changed files are read within seconds, without a restart; a pair "
    "that does not match is refused and the old one stays.  Only a separate "
    "process reads the keys; they may be readable by root alone.  min: the "
    "oldest allowed version of TLS.  client-certificates: ask for one and "
    "note whether it is valid, or require one that an authority in the ca "
    "file (default: the system's) has signed.",
    "tls certificate /etc/zmailer/mx.pem key /etc/zmailer/mx.key\n"
    "tls certificate /etc/zmailer/b.pem key /etc/zmailer/b.key for b.example\n"
    "tls certificates <names>\n"
    "table names file:/etc/zmailer/names\n"
    "tls min 1.2\n"
    "tls client-certificates ask ca /etc/zmailer/partners.pem")

STATEMENT(TOP, "sign", NONE, sign, "domain:or-table",
    "selector=word key=path keys=path dkim2 7bit else=choice:send",
    "sign DOMAIN selector NAME key FILE [dkim2] [7bit] [else send]; "
    "sign <table> keys DIR [7bit] [else send]",
    "nothing is signed",
    "A DKIM signature (RFC 6376) for our mail whose From is in DOMAIN itself: "
    "mail of this machine, of users who logged in, of clients that trust NET "
    "sign names, and reports; never for other mail from outside.  FILE is an "
    "RSA key of 1024 to 4096 bits or an Ed25519 key in PEM; NAME is the "
    "selector under which its public half is published (zmailer dkim record "
    "prints it).  Two rows of a domain sign side by side: RSA, and Ed25519 "
    "for receivers that know it.  Only a separate process reads the keys, at "
    "start and at reload; they may be readable by root alone, and if a key "
    "cannot be read at a reload, the old one stays in use.  Mail that cannot "
    "be signed waits in deferred/, and zmailer why has the reason; else send: "
    "it goes on unsigned.  dkim2: with this key a chain of DKIM2 is signed, "
    "too, a draft that may change (draft-ietf-dkim-dkim2-spec-04), for each "
    "recipient that leaves by smtp and whose sender is in DOMAIN or below: "
    "for the same mail, and for mail from outside that has such a chain.  "
    "<table>, for sites with many domains: its key is the domain of From, "
    "its value one to four selectors with blanks between, and the key of each "
    "is the file DIR/SELECTOR._domainkey.DOMAIN.private, the name that zmailer "
    "dkim new gives it.  A domain with a row of its own is not looked up; of "
    "several tables the first that has the domain counts.  A file there that "
    "is replaced is read within seconds, without a reload; it must be no "
    "symbolic link.  While the table cannot be asked, mail waits in deferred/ "
    "(else send: goes unsigned).  7bit: before it is signed, 8-bit bytes of a "
    "message become quoted-printable or base64, so that the signature holds "
    "at hosts without 8BITMIME, too; what cannot be encoded (a part of a "
    "multipart/signed, of an encrypted message, or one whose boundary cannot "
    "be read) stays as it is.",
    "sign example.org selector s1 key /etc/zmailer/dkim/s1.pem\n"
    "sign example.org selector e1 key /etc/zmailer/dkim/e1.pem else send\n"
    "sign <signers> keys /etc/zmailer/dkim\n"
    "table signers file:/etc/zmailer/signers")

STATEMENT(TOP, "auth", NONE, auth, "",
    "users=table scram dovecot=socket pam saslauthd=socket service=word "
    "mechanisms=text clear=choice:never,loopback senders=senders",
    "auth users <table> [scram]; auth dovecot unix:/PATH "
    "[mechanisms \"WORDS\"]; "
    "auth pam|saslauthd unix:/PATH [service NAME]; each: [clear loopback] "
    "[senders own|any|<table>]",
    "nobody can log in",
    "Who checks the passwords of our own users (AUTH).  It is offered on "
    "listeners with the word submission, and only on an encrypted connection; "
    "with clear loopback also in the clear from this machine.  They accept no "
    "mail without a login.  users: a table of names and password hashes of "
    "crypt(3) (openssl passwd -6), $argon2id$..., {SSHA256} or {SSHA512} with "
    "base64, or {SCRAM-SHA-256}ROUNDS,SALT,STOREDKEY,SERVERKEY, which zmailer "
    "user writes; scram offers that "
    "mechanism, too: use it if all entries of the table have this form.  "
    "dovecot: Dovecot's auth-client socket (unix:/PATH, or the path alone), "
    "which must admit the account of smtpserver (see user); mechanisms: those "
    "it may be used for (default \"PLAIN LOGIN\"; others: OAUTHBEARER XOAUTH2 "
    "SCRAM-SHA-256).  pam and saslauthd: with the service NAME, default "
    "smtp.  Separate processes check the passwords; a table may be readable "
    "by root alone.  ann@example.org logs in as ann if the table has no such "
    "name and example.org is one of our domains and delivers to mailboxes by "
    "the user alone.  Replies to failed logins are delayed; from limit "
    "auth-failures on there are none for a quarter of an hour.  senders: "
    "which addresses a user who logged in may use in MAIL.  own, the default: "
    "the user's name if it is an address, else that name at each of our "
    "domains, with a detail as well (after - . _ only where a table of users "
    "has no such whole name: mary-ann may be somebody), the addresses that "
    "our aliases deliver to the user alone, and the null sender.  <table>: "
    "these, and the addresses whose row names the user (see not-owner in "
    "accept); the row may have other names, too.  any: every address; this is "
    "also the default if a rule with not-owner says who owns which address.",
    "auth users <passwords> senders <owners>\n"
    "table passwords file:/etc/zmailer/passwords\n"
    "table owners file:/etc/zmailer/owners")
