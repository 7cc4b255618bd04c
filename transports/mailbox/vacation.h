/* vacation.h - answers for people who are away (RFC 3834)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_VACATION_H
#define ZM_TRANSPORTS_VACATION_H

#include "transports/mailbox/mailbox.h"

enum {
	VACATION_DAYS = 7,		/* between answers to one sender */
	VACATION_NAMES_MAX = 16,	/* -a */
	VACATION_TEXT_BYTES_MAX = 64 * 1024,
	VACATION_MEMORY_BYTES_MAX = 256 * 1024
};

struct vacation {
	struct slice	names[VACATION_NAMES_MAX];	/* of the user: local
							 * parts, addresses */
	size_t		name_count;
	unsigned	days;
	struct slice	file;		/* empty: ~/.vacation.msg */
};

/* Is this command of a forward file the built-in one: a program called
 * vacation, with any path? */
bool vacation_is(struct slice command);

/* Parse its words: [-a NAME]... [-t DAYS[d]] [-m FILE] [USER].  0 or -1. */
int vacation_parse(struct arena *arena, struct slice command,
    struct vacation *out, struct err *err);

/* Why mail from this sender with this header gets no answer; NULL: it gets
 * one.  own: addresses, or local parts, of which one must be in To, Cc or their
 * Resent- fields. */
const char *vacation_refusal(struct arena *arena, struct slice sender,
    struct slice header, const struct slice own[], size_t own_count);

/* When sender was answered last, by the user's memory; 0: never. */
int64_t vacation_last(struct slice memory, struct slice sender);

/* Append the lines of a memory that are newer than since_s. */
void vacation_since(struct slice memory, int64_t since_s, struct str *out);

/* Append header and body of the answer.  message: what the user wrote, either
 * fields, an empty line and text, or only text; $SUBJECT in it is the subject
 * of the mail that is answered. */
void vacation_answer(struct str *out_header, struct str *out_body,
    struct slice message, struct slice header, const char *from,
    struct slice sender);

/* Do all of this for one recipient.  Errors only go to the journal, and never
 * delay mail. */
void vacation_run(const struct action *action, struct slice command);

#endif
