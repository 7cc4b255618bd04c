/* filter.h - the helper that keeps sessions' conversations with milters
 *
 * A session asks as it goes on, and says when something is over (without
 * waiting for an answer):
 *
 * 	question	KEY STAGE [{facts}]	KEY: "new", or as it was told
 * 	STAGE		connect helo mail rcpt data end unknown
 * 			refused (a recipient was, by us), abort, quit
 * 	answer		KEY WANTS WORD
 * 	WANTS		hex: 1 << enum talk_step that a milter wants to hear;
 * 			0: none has anything more to say
 * 	WORD		"pass" SAID [file=NAME bytes=N crc=HEX]
 * 			[freeze=CAUSE] [because TEXT]
 * 			"refuse SAID CODE STATUS TEXT"
 * 			"discard SAID"
 * 	SAID		{"said=" HOW ":" SOCKET}: of each that did more than let
 * 			it pass; HOW: fail freeze refuse discard; SOCKET in
 * 			xtext
 *
 * file= is the changed message as a draft that is written but not complete:
 * the session puts it in the place of its own.  KEY begins with the process
 * that has the conversation ("123-0af3..."), to which the listener sends later
 * questions (helper.h, keeps); nobody can guess the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_FILTER_H
#define ZM_SMTPSERVER_MILTER_FILTER_H

#include "daemon/skeleton.h"
#include "smtpserver/milter/talk.h"

enum {
	FILTER_FOR_MS = 660000,		/* longest of all milters together */
	FILTER_KEY_BYTES = 40,
	FILTER_WANTS_REFUSED = 1 << TALK_STEPS	/* a bit of WANTS */
};

/* Row "milter" of helper_kinds. */
void filter_serve(struct process *process, int socket);

/* What an answer says; only said borrows from it. */
struct filter_verdict {
	enum filter_word	 word;
	struct slice		 said;		/* "said=... said=..." */
	unsigned		 code;
	char			 status[12];
	char			 text[420];
	char			 file[SPOOL_NAME_BYTES];	/* "" same */
	uint64_t		 bytes;
	uint32_t		 crc;
	char			 freeze[32];	/* cause for the name; "" */
	char			 because[SPOOL_REASON_BYTES];	/* who set it
							 * aside, and why */
};
/* Parse WORD and what follows it.  0; -1: there is no such answer. */
int filter_answer_parse(struct slice answer, struct filter_verdict *out);

/* Take KEY and WANTS from the front of an answer.  0; -1: there are none. */
int filter_answer_key(struct slice *answer, char out_key[FILTER_KEY_BYTES],
    unsigned *out_wants);

#endif
