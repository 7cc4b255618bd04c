/* filter.h - the helper that takes a message past all milters
 *
 * A session asks at the end of data, before the message is durable:
 *
 *	question	a JSON object: file (draft below public/), id, client,
 *			name, helo, user, tls, cipher, listener
 *	answer		"pass" [file=NAME bytes=N crc=HEX] [freeze=CAUSE]
 *			"refuse CODE STATUS TEXT"
 *			"discard"
 *
 * file= is the changed message as a draft that is written but not complete:
 * the session puts it in the place of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_FILTER_H
#define ZM_SMTPSERVER_MILTER_FILTER_H

#include "daemon/skeleton.h"
#include "smtpserver/milter/talk.h"

enum { FILTER_FOR_MS = 660000 };	/* longest of all milters together */

/* Row "milter" of helper_kinds. */
void filter_serve(struct process *process, int socket);

/* The question of a session.  Appends one line without LF. */
void filter_question_add(struct str *out, const struct filter_facts *facts,
    const char *file);

/* What an answer says; text borrows. */
struct filter_verdict {
	enum filter_word	 word;
	unsigned		 code;
	char			 status[12];
	char			 text[420];
	char			 file[SPOOL_NAME_BYTES];	/* "" same */
	uint64_t		 bytes;
	uint32_t		 crc;
	char			 freeze[32];	/* cause for the name; "" */
};
/* 1; -1: no such answer. */
int filter_answer_parse(struct slice answer, struct filter_verdict *out);

#endif
