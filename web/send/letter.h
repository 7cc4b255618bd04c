/* letter.h - what a program wants sent, as an envelope and a message
 *
 * Made from the body of a request: a message as it is, or an object of JSON
 * that a message is written from.  Nothing that stands in a member can begin
 * a field, a part or another message.
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

/* Empty, with an arena; to be released whatever comes. */
void letter_init(struct letter *letter);
/* Its message and its arena are gone. */
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

/* Is letter_read_json more than a refusal in this build? */
bool letter_can_json(void);

/* Put Date and Message-ID before it where they are missing; key_hex (of
 * LETTER_KEY_BYTES; NULL: a random one) makes the same id each time. */
void letter_finish(struct letter *letter, const char *key_hex,
    int64_t now_s);

/* Add a recipient, once.  returns 0; -1: it is no address, or one too many;
 * err names the member */
int letter_add_rcpt(struct letter *letter, struct slice address,
    const char *member, struct err *err);
/* Set the sender; "" is the null path.  returns 0; -1: it is no address, err
 * names the member */
int letter_set_from(struct letter *letter, struct slice address,
    const char *member, struct err *err);

#endif
