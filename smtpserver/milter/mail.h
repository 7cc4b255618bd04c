/* mail.h - a message while filters look at it and change it
 *
 * Read from a draft (row S0 of doc/INTERNALS): envelope, header fields one
 * by one, body.  Changes are kept apart, and written as a new draft if there
 * are any; the body is only copied if it is replaced.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_MAIL_H
#define ZM_SMTPSERVER_MILTER_MAIL_H

#include "base/err.h"
#include "mail/envelope.h"
#include "mail/spool/spool.h"

enum {
	FILTER_FIELDS_MAX = 10000,	/* of a header, added ones too */
	FILTER_BODY_BYTES_MAX = 64 << 20	/* that replaces another */
};

struct filter_field {
	struct slice	name;		/* as written, without the colon */
	struct slice	value;		/* after the colon, first blank
					 * included, folding as LF; no LF at
					 * its end */
};

struct filter_mail {
	struct arena		*arena;
	struct slice		 file;		/* mapped */
	struct envelope		 envelope;	/* rcpts may be changed */
	struct filter_field	*fields;
	size_t			 field_count, field_capacity;
	struct slice		 body;		/* LF; of BINARYMIME exact */
	bool			 is_binary;
	bool			 is_changed;
};

/* Map the file of fd, whose first line is not yet filled in, and read
 * it.  0 or -1. */
int filter_mail_open(struct filter_mail *mail, int fd, struct err *err);
void filter_mail_close(struct filter_mail *mail);

/* Header changes.  Values come with CR LF or LF folding, which becomes LF; a
 * value that would end the header is cut there.  index counts fields of that
 * name from 1 (change), or all fields from 0 (insert).  A change beyond
 * FILTER_FIELDS_MAX, or with an invalid name, is ignored. */
void filter_mail_add(struct filter_mail *mail, struct slice name,
    struct slice value);
void filter_mail_insert(struct filter_mail *mail, size_t index,
    struct slice name, struct slice value);
/* An empty value removes the field; a field that is not there is added. */
void filter_mail_change(struct filter_mail *mail, size_t index,
    struct slice name, struct slice value);

/* Envelope changes: "<bob@example.org>" or without brackets.  0; -1: it
 * is no address, or one too many. */
int filter_mail_add_rcpt(struct filter_mail *mail, struct slice address,
    struct err *err);
void filter_mail_delete_rcpt(struct filter_mail *mail, struct slice address);
int filter_mail_set_from(struct filter_mail *mail, struct slice address,
    struct err *err);

/* Replace the body (it is in the arena; CR LF becomes LF). */
void filter_mail_set_body(struct filter_mail *mail, struct slice body);

/* Write the message into a draft that was just opened.  returns 0 or -1. */
int filter_mail_write(const struct filter_mail *mail, struct draft *draft,
    struct err *err);

#endif
