/* rewrite.h - rows of statements.h: addresses that become others,
 * and copies
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "canonical", NONE, canonical, "table+",
    "senders recipients envelope headers strangers",
    "canonical <table>... [senders|recipients] [envelope|headers] "
    "[strangers]", "none",
    "Addresses to rewrite on the way in, before any look-up.  A key is "
    "user@domain, user (in one of our domains), or @domain; a value is an "
    "address, or @other for the same user there.  If a user with a +detail is "
    "not found, the detail is kept in the new address.  By default senders "
    "and recipients are rewritten, in the envelope of all mail and in the "
    "headers of our own: of this machine, and of users who logged in.  "
    "strangers: in the headers of mail from outside, too, which breaks DKIM "
    "signatures.  With several statements, the first that has an address "
    "counts.",
    "table names { alice Alice.Miller@example.org }\n"
    "canonical <names> senders")

STATEMENT(TOP, "masquerade", NONE, masquerade, "domain+",
    "keep=word except=word",
    "masquerade DOMAIN... [keep DOMAIN,...] [except USER,...]", "none",
    "In our own mail (see canonical), user@host.DOMAIN becomes user@DOMAIN: "
    "in the headers and in the envelope's sender, after canonical.  Domains "
    "after keep, and those below them, stay as they are, and so do the "
    "addresses of the users after except.",
    "masquerade example.org keep lab.example.org except root,postmaster")

STATEMENT(TOP, "generic", NONE, generic, "table+",
    "channel=word to=routepattern",
    "generic <table>... [channel CHANNEL] [to PATTERN]", "none; channel smtp*",
    "Addresses to rewrite when mail leaves by a channel: in the headers, in "
    "the envelope's sender (reports still go to the original address) and "
    "recipient.  Keys and values are those of canonical.  PATTERN is as in "
    "route, and is compared with the recipient's domain.  The first statement "
    "that covers a recipient counts; recipients under other statements, or "
    "none, get their own header.  The ways of a route, with those after else, "
    "share one sender and header: a statement that covers only one of them is "
    "an error (for a route from a table: the message waits in deferred/); "
    "hold, error and discard go with all.",
    "table outside { @lan.example.org @example.org }\n"
    "generic <outside>")

STATEMENT(TOP, "copy", NONE, copy, "mail", "from=pattern to=pattern",
    "copy ADDRESS [from SENDER] [to RECIPIENT]", "none",
    "ADDRESS gets a copy of all mail, or of mail with this sender and this "
    "recipient in the envelope as it came (user@domain, @domain, <> or a "
    "<table>).  It is an additional recipient that no report mentions.  Our "
    "own reports, mail that is routed again, and mail to ADDRESS itself are "
    "not copied.  Mail that a user's forward file sends on counts as new mail.",
    "copy boss@example.org from @sales.example.org\n"
    "copy desk@example.org to support@example.org")

STATEMENT(TOP, "archive", NONE, archive, "path",
    "as!=account from=pattern to=pattern",
    "archive PATH as ACCOUNT [from SENDER] [to RECIPIENT]", "none",
    "As copy, into a file, or into a Maildir when PATH ends in a slash; "
    "ACCOUNT writes it.",
    "archive /var/mail/archive/ as mail to @example.org")

STATEMENT(TOP, "qualify", NONE, setting, "setting", "",
    "qualify DOMAIN|none", "",
    "The domain for addresses without one in the headers of our own mail (see "
    "canonical).  none: they stay as they are.",
    "qualify example.org")
SETTING("qualify", "", qualify, "word", "none", "a domain, or none")

STATEMENT(TOP, "header-check", NONE, setting, "setting", "",
    "header-check off|note|copy", "",
    "Check headers by RFC 5322: malformed addresses, dates and ids, repeated "
    "fields that may occur only once, lines that are not fields, missing From "
    "and Date.  note: the journal has field, line and reason "
    "(message.header).  copy: also put a copy of the message into postman/, "
    "as N._badheader.  The message goes on in any case.",
    "header-check copy")
SETTING("header-check", "", header_check, "choice:off,note,copy", "note",
    "off, note or copy")

STATEMENT(TOP, "header-repair", NONE, setting, "setting", "",
    "header-repair none|local|own", "",
    "Whose mail is repaired if header-check finds errors: local: of this "
    "machine; own: also of users who logged in.  A bad field goes on as "
    "Illegal-Object, with the reason before it; Date, Message-Id, and From of "
    "this machine's mail are replaced.  Mail with a signature (DKIM, ARC) and "
    "mail from outside are never touched.",
    "header-repair local")
SETTING("header-repair", "", header_repair, "choice:none,local,own", "none",
    "none, local or own")
