/* flags.h - every flag of sendmail(1), a row each
 *
 * FLAG(letter, takes, act, shown, text)
 *   takes  NO_VALUE, VALUE (glued or the next word), MAYBE_VALUE (glued)
 *   act    function of sendmail.c; NULL: accepted, and nothing is done
 *   shown  the flag with its value, for people
 *   text   what it does, or why nothing
 * MODE(letter, act, shown, text): what stands after -b
 * OPTION(word, act, shown, text): what stands after -o; a prefix
 *
 * Parser, the table of sendmail(1) and the test come from these rows.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef FLAG
#define FLAG(letter, takes, act, shown, text)
#endif
#ifndef MODE
#define MODE(letter, act, shown, text)
#endif
#ifndef OPTION
#define OPTION(word, act, shown, text)
#endif

FLAG('A', VALUE, NULL, "Ac, Am", "ignored: there is one configuration")
FLAG('B', VALUE, act_body, "B 7BIT|8BITMIME", "type of the body")
FLAG('C', VALUE, act_conf, "C file", "configuration instead of the one in "
    "ZMAILER_CONF or the installed one")
FLAG('E', NO_VALUE, act_gateway, "E", "as -G")
FLAG('F', VALUE, act_name, "F name", "full name for a generated From field; "
    "default: the environment variable NAME")
FLAG('G', NO_VALUE, act_gateway, "G", "the message comes from elsewhere "
    "through a gateway: it has no privileges of a local submission, and its "
    "header is not completed")
FLAG('I', NO_VALUE, act_newaliases, "I", "as newaliases(1)")
FLAG('J', MAYBE_VALUE, NULL, "J", "ignored: ZMailer's and OpenSMTPD's")
FLAG('L', VALUE, act_tag, "L tag", "a word for the journal: tag= of "
    "message.accepted")
FLAG('N', VALUE, act_notify, "N never | success,failure,delay",
    "which reports to send")
FLAG('O', VALUE, act_long_option, "O name=value", "requiretls=yes: only "
    "over verified TLS; smtputf8=yes: addresses in UTF-8; others are ignored")
FLAG('R', VALUE, act_ret, "R full|hdrs", "what a report returns")
FLAG('U', NO_VALUE, NULL, "U", "ignored: every call is a submission")
FLAG('V', VALUE, act_envid, "V envid", "envelope id in xtext (checked)")
FLAG('X', VALUE, act_log, "XV | X file", "-XV (VERP): each recipient gets its "
    "own sender, that of -f with +user=domain; otherwise ignored: the journal "
    "has it all")
FLAG('b', VALUE, act_mode, "b mode", "what to do: see below")
FLAG('d', MAYBE_VALUE, NULL, "d", "ignored: it was for debugging")
FLAG('e', VALUE, act_errors, "e x", "as -oe")
FLAG('f', VALUE, act_sender, "f sender", "envelope sender; empty or <>: "
    "the null sender")
FLAG('h', VALUE, act_hops, "h count", "hops so far: more than `limit "
    "received` is a loop, and refused")
FLAG('i', NO_VALUE, act_no_dot, "i", "a line with a single dot does not end "
    "the message")
FLAG('m', NO_VALUE, NULL, "m", "ignored: a sender who is a recipient always "
    "gets it")
FLAG('n', NO_VALUE, NULL, "n", "ignored: the router expands aliases")
FLAG('o', VALUE, act_option, "o option", "see below")
FLAG('p', VALUE, NULL, "p protocol", "ignored: mail of sendmail(1) is marked "
    "as such")
FLAG('q', MAYBE_VALUE, act_queue_show, "q, qIid, qRpart, qSpart",
    "queued mail is tried now: all of it, that id, mail with part in a "
    "recipient, in the sender; with a span nothing: the scheduler knows when")
FLAG('r', VALUE, act_sender, "r sender", "as -f")
FLAG('s', NO_VALUE, NULL, "s", "ignored: a leading From_ line is always "
    "removed")
FLAG('t', NO_VALUE, act_header_rcpts, "t", "recipients are taken from To, Cc "
    "and Bcc as well; Bcc is removed")
FLAG('v', NO_VALUE, act_verbose, "v", "say what happens until the first "
    "attempt for each recipient is over")
FLAG('x', MAYBE_VALUE, NULL, "x", "ignored")

MODE('m', do_submit, "bm", "submit a message (the default)")
MODE('s', do_smtp, "bs", "SMTP on standard input and output, as smtpserver(8) "
    "speaks it to 127.0.0.1")
MODE('S', do_batch, "bS", "batch SMTP: the dialogue on standard input only; "
    "also if called as rsmtp or bsmtp")
MODE('p', do_mailq, "bp", "as mailq(1)")
MODE('i', do_newaliases, "bi", "as newaliases(1)")
MODE('d', do_daemon, "bd", "zmailer start")
MODE('D', do_foreground, "bD", "zmailer run: in the foreground")
MODE('t', do_address_test, "bt", "zmailer route for each address, from the "
    "command line or from lines on standard input")
MODE('v', do_verify, "bv", "where each recipient would go; 67 if one has no "
    "route, 75 if this cannot be determined now")
MODE('h', do_rehearse, "bh IP", "zmailer test: how a client at IP would be "
    "answered for the recipient; without a recipient, an SMTP session on "
    "standard input. Nothing is written")
MODE('H', do_rehearse, "bH IP", "as -bh")

OPTION("i", act_no_dot, "oi", "as -i")
OPTION("e", act_errors, "oem, oep, oew, oee, oeq", "report errors on standard "
    "error and by the exit status; with q only by the status; with m, w and e "
    "also by mail to the sender, and with e the status is 0 if that mail is "
    "on disk. Otherwise 0 means that the message is")
OPTION("dq", act_queue_only, "odq", "not tried on arrival, but at the next "
    "queue run: the first retry of `schedule`, or -q")
OPTION("di", act_wait, "odi", "wait until the first attempt for each "
    "recipient is over")
OPTION("db", NULL, "odb, odf", "ignored: the message is on disk, and "
    "delivered in the background")
OPTION("", NULL, "oX", "every other -o is ignored")

#undef FLAG
#undef MODE
#undef OPTION
