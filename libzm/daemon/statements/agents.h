/* agents.h - rows of conf_statements.h for transports: how it is delivered
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "mailbox", NONE, mailbox, "choice:maildir,mbox template", "",
    "mailbox maildir|mbox PATH", "mbox /var/mail/{user}",
    "Where local mail is put.  {user} is the account's name, {home} its home "
    "directory.",
    "mailbox maildir {home}/Maildir")

STATEMENT(TOP, "mx-port", NONE, setting, "setting", "",
    "mx-port PORT", "",
    "The port of next hops that the DNS names; another than 25 only behind "
    "a translating gateway, or in tests.",
    "mx-port 2525")
SETTING("mx-port", "", mx_port, "number:1-65535", "25", "a port")
