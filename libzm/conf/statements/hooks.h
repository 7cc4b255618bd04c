/* hooks.h - rows of statements.h: the site's script
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "hooks", NONE, hooks, "path",
    "instructions=number:1000-1000000000 memory=size:256K-1G "
    "time=span:10ms-60s late=choice:go,wait",
    "hooks FILE [instructions N] [memory SIZE] [time SPAN] "
    "[late go|wait]",
    "none; instructions 1000000 memory 16M time 1s late go",
    "A script in Lua 5.4 for decisions beyond tables and rules: its functions "
    "on_rcpt, route, on_header, before_attempt and on_result are called for "
    "each recipient, address, header, try and outcome.  It runs in a separate "
    "process that can reach nothing; instructions, memory and time of a call "
    "are limited.  If a call fails, its message stays in deferred/ with the "
    "line of the script, and other mail goes on.  A changed file takes effect "
    "within a second; if it is broken, the old text stays.  If before_attempt "
    "does not answer within ten seconds and the time of a call, the try goes "
    "on, or waits a minute and is asked about again (late wait).  "
    "doc/HOOKS.md has the details.",
    "hooks /etc/zmailer/hooks.lua instructions 5000000 time 2s")

STATEMENT(TOP, "learn", NONE, learn, "choice:spam,ham text",
    "as!=account timeout=span:1s-10m",
    "learn spam|ham \"/PROGRAM [WORDS]\" as ACCOUNT [timeout SPAN]",
    "none; timeout 1m",
    "The program that `zmailer learn`, and the buttons of the desk, hand a "
    "message to that a person calls spam, or calls none (ham): header and "
    "text are on its standard input, exit status 0 is success, and what it "
    "writes is in the event message.learned.  It runs as ACCOUNT, which may "
    "not be root, with no other descriptor and a PATH alone; after the "
    "timeout it is killed.  The message stays where it is.",
    "learn spam \"/usr/bin/rspamc learn_spam\" as _rspamd\n"
    "learn ham \"/usr/bin/rspamc learn_ham\" as _rspamd timeout 30s")
