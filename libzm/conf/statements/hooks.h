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
    "A script in Lua 5.4 that has a say where tables and rules do not reach: "
    "its functions on_rcpt, route, on_header, before_attempt and on_result "
    "are called for each recipient, address, header, try and outcome.  It "
    "runs in a process of its own that can reach nothing; a call may take so "
    "many instructions, so much memory and time.  A call that goes wrong "
    "leaves its message in "
    "deferred/ with the line of the script, other mail goes on.  A changed "
    "file takes over within a second, unless it is broken: then the old text "
    "stays.  When before_attempt has no answer within ten seconds and the "
    "time of a call, the try goes on, or waits a minute and is asked about "
    "again (late wait).  doc/HOOKS.md tells more.",
    "hooks /etc/zmailer/hooks.lua instructions 5000000 time 2s")
