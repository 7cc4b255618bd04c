/* letter.h - what a program wants sent, as an envelope and a message
 *
 * A letter is made from the body of a request: a message as it is, or an object
 * of JSON from which a message is written.  Nothing in a member can begin a
 * field, a part or another message.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_LETTER_H
#define ZM_WEB_LETTER_H

#include "base/err.h"
#include "base/str.h"

enum {
	LETTER_RCPTS_MAX = 1000,
	LETTER_KEY_BYTES = 64		/* hex of a key's sum */
};

struct letter {
	struct arena	*arena;		/* of the slices */
	struct slice	 from;		/* "a@b.test"; "" the null path */
	struct slice	*rcpts;
	size_t		 rcpt_count;
	struct str	 message;	/* LF line ends */
	bool		 has_date, has_id;
	struct slice	 id;		/* Message-ID, with its brackets */
	bool		 has_8bit;	/* 8BITMIME is needed */
	bool		 is_utf8;	/* SMTPUTF8 is: an address, a field */
};

/* Make it empty, with an arena; it must be released in any case. */
void letter_init(struct letter *letter);
/* Free its message and its arena. */
void letter_release(struct letter *letter);

/* Read a message (message/rfc822).  The envelope is `from` and `to` of the
 * query, else From or Sender, and To, Cc, Bcc.  Bcc fields are left out.
 * returns 0; -1: err names what is wrong and where */
int letter_read_message(struct letter *letter, struct slice body,
    struct slice query, struct err *err);

/* Write one from an object (RFC 8259); doc/WEB.md has its members.
 * returns 0; -1: err names the member */
int letter_read_json(struct letter *letter, struct slice body,
    struct err *err);

/* Can this build read JSON?  If not, letter_read_json always refuses. */
bool letter_can_json(void);

/* Put Date and Message-ID before it if they are missing; the same key_hex (of
 * LETTER_KEY_BYTES; NULL: a random one) makes the same id. */
void letter_finish(struct letter *letter, const char *key_hex,
    int64_t now_s);

/* Add a recipient, unless it is there already.  returns 0; -1: it is not an
 * address, or there are too many; err names the member */
int letter_add_rcpt(struct letter *letter, struct slice address,
    const char *member, struct err *err);
/* Set the sender; "" is the null path.  returns 0; -1: it is not an address;
 * err names the member */
int letter_set_from(struct letter *letter, struct slice address,
    const char *member, struct err *err);

#endif
