/* notify.h - rows of statements.h: who is told of events
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "notify", NONE, notify, "word", "events!=text key!=path ca=path",
    "notify URL events \"NAME...\" key FILE [ca FILE]", "none",
    "Post events to a web server as they happen (webhooks); may be repeated.  "
    "NAME is an event of zmailer-events(5), or a pattern like host.* with * "
    "and ?.  A request is signed (HMAC-SHA256) with the first line of the key "
    "file, 16 bytes or more, which only its owner may read.  The URL is "
    "https://, and the server's certificate must have the name in it and lead "
    "to a root in the ca file (default: the system's); http:// is for an "
    "address of this machine, like 127.0.0.1.  What is not accepted is sent "
    "again until it is, as long as the journal has it; a new statement begins "
    "with what happens from then on.  Mail never waits for it.  doc/NOTIFY.md "
    "tells what a receiver gets and how it checks that.",
    "notify https://alerts.example.org/mail events \"host.* rcpt.fail\" "
    "key /etc/zmailer/notify.key\n"
    "notify http://127.0.0.1:8080/events events \"message.accepted\" "
    "key /etc/zmailer/local.key")
