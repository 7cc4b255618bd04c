/* mailq.h - lines of ZMailer's mailq protocol, version 2
 *
 * Pure.  The commands of a client (doc/protocol/mailq.md section 3) and the
 * file of its users (section 4).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_MAILQ_H
#define ZM_GRAMMAR_MAILQ_H

#include "base/str.h"
#include "grammar/net.h"

enum mailq_right {
	MAILQ_SNMP = 1,		/* totals */
	MAILQ_QQ = 2,		/* a line for each group of threads */
	MAILQ_TT = 4,		/* for each thread, for each recipient */
	MAILQ_ETRN = 8,		/* start what waits */
	MAILQ_KILL = 16,	/* delete, reroute */
	MAILQ_ANY = 31
};

enum mailq_verb {
	MAILQ_VERB_AUTH, MAILQ_VERB_COUNTERS, MAILQ_VERB_SNMP,
	MAILQ_VERB_SHORT, MAILQ_VERB_THREADS, MAILQ_VERB_THREADS2,
	MAILQ_VERB_THREAD, MAILQ_VERB_ETRN, MAILQ_VERB_KILL_MSG,
	MAILQ_VERB_KILL_THREAD, MAILQ_VERB_RESCHEDULE_MSG,
	MAILQ_VERB_RESCHEDULE_THREAD, MAILQ_VERB_REROUTE_MSG,
	MAILQ_VERB_REROUTE_THREAD, MAILQ_VERB_QUIT, MAILQ_VERB_UNKNOWN
};

struct mailq_command {
	enum mailq_verb	 verb;
	unsigned	 rights;	/* any of these is enough; 0: none is
					 * needed */
	struct slice	 args[2];	/* borrowed from the line */
};

/* Parse a command line (without its end).  Case is ignored.  An unknown
 * command, or one with too few or too many words, is MAILQ_VERB_UNKNOWN. */
void mailq_command_parse(struct slice line, struct mailq_command *out);

enum { MAILQ_WORD_BYTES_MAX = 256 };	/* of an argument */

struct mailq_user {
	struct slice	 name, password;
	unsigned	 rights;
	struct slice	 networks;	/* "[ip]/width ..."; empty: any */
};

enum mailq_line {
	MAILQ_LINE_BAD = -1,
	MAILQ_LINE_EMPTY = 0,
	MAILQ_LINE_USER = 1
};

/* Parse a line of the file of users: NAME:PASSWORD:WORDS[:NETWORKS].  out
 * borrows from it.
 * returns MAILQ_LINE_EMPTY also for a comment; MAILQ_LINE_BAD with err. */
enum mailq_line mailq_user_parse(struct slice line, struct mailq_user *out,
    struct err *err);

/* May this user connect from this address?  The first network that contains it
 * decides; "!" in front of one refuses.  If networks are named, all other
 * addresses are refused. */
bool mailq_user_admits(const struct mailq_user *user,
    const struct net *address);

/* Convert hexadecimal digits of either case to bytes.  0; -1: they are not
 * exactly n bytes. */
int mailq_digest_parse(struct slice hex, unsigned char *out, size_t n);

#endif
