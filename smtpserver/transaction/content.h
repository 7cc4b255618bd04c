/* content.h - the bytes of a message, checked as they come
 *
 * Decodes the wire form of DATA or of the chunks of BDAT, checks lines, header
 * and size, and writes what is good to a draft.  After the first fault the
 * draft is gone, and the remaining bytes are only checked; if there are several
 * faults, the answer names the first in the order of enum content_fault.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_CONTENT_H
#define ZM_SMTPSERVER_SESSION_CONTENT_H

#include <stdint.h>

#include "conf/conf.h"
#include "grammar/smtp/crlf.h"
#include "grammar/smtp/dot.h"
#include "mail/spool/spool.h"

enum content_fault {
	CONTENT_GOOD,
	CONTENT_BARE,		/* CR or LF alone */
	CONTENT_NUL,
	CONTENT_TOO_BIG,
	CONTENT_HEADER_TOO_BIG,
	CONTENT_LOOP,		/* more Received fields than allowed */
	CONTENT_LINE_TOO_LONG,
	CONTENT_NO_HEADER,	/* binary, without a visible end of header */
	CONTENT_NO_SPACE,	/* ENOSPC, EDQUOT */
	CONTENT_IO		/* any other failure to write */
};

/* Where in the header the scan is; content.c's own. */
struct header_watch {
	unsigned char	at;
	unsigned char	name_bytes;
	char		name[22];	/* of "authentication-results" */
	uint64_t	bytes;
	unsigned	received, results;	/* fields of these names */
};

enum content_form {
	CONTENT_DOTTED,		/* DATA */
	CONTENT_TEXT,		/* BDAT: lines that end in CR LF */
	CONTENT_BINARY		/* BDAT, BODY=BINARYMIME: a header like that,
				 * after it any bytes, stored as they are */
};

struct content {
	enum content_form	 form;
	struct dot_reader	 dot;
	struct crlf_reader	 crlf;
	bool			 is_in_body;	/* BINARY: after the header */
	bool			 lacks_header;	/* BINARY */
	struct header_watch	 header;
	uint64_t		 bytes;	/* in stored form */
	enum content_fault	 storing;	/* of writing, or GOOD */
	enum content_fault	 fault;		/* so far */
	bool			 bare_lf_ok;
};

/* Begin a message.  bare_lf_ok: an LF without a CR is no fault
 * (`bare-newline accept`). */
void content_begin(struct content *content, enum content_form form,
    bool bare_lf_ok);

/* DOTTED: take wire bytes (any number); *out_used of them are consumed.
 * A fault aborts the draft.
 * returns true when the end of the message was consumed. */
bool content_read(struct content *content, const struct conf_limits *limits,
    struct slice in, struct draft *draft, size_t *out_used);

/* The other forms: take all bytes of a piece of a chunk.  A fault aborts the
 * draft. */
void content_take(struct content *content, const struct conf_limits *limits,
    struct slice in, struct draft *draft);
/* The last chunk has ended. */
void content_end(struct content *content, const struct conf_limits *limits,
    struct draft *draft);

/* The fault of what was counted, under these limits: the first in the order of
 * the enum. */
enum content_fault content_fault_under(const struct content *content,
    const struct conf_limits *limits);

#endif
