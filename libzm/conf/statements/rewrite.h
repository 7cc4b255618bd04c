/* rewrite.h - rows of statements.h: addresses that become others,
 * and copies
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "canonical", NONE, canonical, "table+",
    "senders recipients envelope headers strangers",
    "canonical <table>... [senders|recipients] [envelope|headers] "
    "[strangers]", "none",
    "Addresses that become others on the way in, before anything is looked "
    "up.  A key is user@domain, user (of a domain of ours), or @domain; a "
    "value is an address, or @other for the same user there.  What stands "
    "after + of a user that is not found goes on to the new address.  "
    "Without a word senders and recipients are looked up, in the envelope of "
    "all mail and in the headers of our own: of this machine, and of users "
    "who logged in.  strangers: in the headers of mail from outside, too, "
    "whose DKIM signatures then break.  Of several statements the first that "
    "knows an address counts.",
    "table names { alice Alice.Miller@example.org }\n"
    "canonical <names> senders")

STATEMENT(TOP, "masquerade", NONE, masquerade, "domain+",
    "keep=word except=word",
    "masquerade DOMAIN... [keep DOMAIN,...] [except USER,...]", "none",
    "In our own mail, as of canonical, user@host.DOMAIN becomes "
    "user@DOMAIN: in the headers and in the envelope's sender, after "
    "canonical.  Domains after keep, and what is below them, stay as they "
    "are, and so do the addresses of the users after except.",
    "masquerade example.org keep lab.example.org except root,postmaster")

STATEMENT(TOP, "generic", NONE, generic, "table+",
    "channel=word to=routepattern",
    "generic <table>... [channel CHANNEL] [to PATTERN]", "none; channel smtp*",
    "Addresses that become others where mail leaves by a channel: in the "
    "headers, in the envelope's sender (reports still go to the address "
    "that it was) and recipient.  Keys and values are those of canonical.  "
    "PATTERN is that of a route, and is compared with the recipient's "
    "domain.  The first statement that covers a recipient counts; recipients "
    "that others cover, or none, get the header that is theirs.  The ways of a "
    "route and after its else share one sender and header: a statement that "
    "covers one of them only is an error (of a table: the message waits in "
    "deferred/); hold, error and discard go with all.",
    "table outside { @lan.example.org @example.org }\n"
    "generic <outside>")

STATEMENT(TOP, "copy", NONE, copy, "mail", "from=pattern to=pattern",
    "copy ADDRESS [from SENDER] [to RECIPIENT]", "none",
    "ADDRESS gets a copy of all mail, or of what has such a sender and such "
    "a recipient in its envelope, as it came (user@domain, @domain, <> or a "
    "<table>).  It is one more recipient, of whom no report ever speaks.  "
    "Our own reports, mail that is routed again, and mail to ADDRESS itself "
    "get none.  What a user's forward file sends on is new mail.",
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
    "What stands after the @ of addresses without one in the headers of our "
    "own mail, as of canonical.  none: they stay as they are.",
    "qualify example.org")
SETTING("qualify", "", qualify, "word", "none", "a domain, or none")

STATEMENT(TOP, "header-check", NONE, setting, "setting", "",
    "header-check off|note|copy", "",
    "What RFC 5322 finds wrong with a header: addresses, dates and ids that "
    "are none, fields that may be there once only, lines that are no field, "
    "From and Date that are missing.  note: the journal says field, line and "
    "reason (message.header).  copy: a copy of the message is in postman/, "
    "too, as N._badheader.  The message goes on in any case.",
    "header-check copy")
SETTING("header-check", "", header_check, "choice:off,note,copy", "note",
    "off, note or copy")

STATEMENT(TOP, "header-repair", NONE, setting, "setting", "",
    "header-repair none|local|own", "",
    "In whose mail what header-check finds is repaired: of this machine; own: "
    "and of users who logged in.  A field that is wrong goes on as "
    "Illegal-Object with the reason in front; Date, Message-Id, and From of "
    "this machine's mail are made anew.  Mail with a signature (DKIM, "
    "ARC) and mail from outside are never touched.",
    "header-repair local")
SETTING("header-repair", "", header_repair, "choice:none,local,own", "none",
    "none, local or own")
