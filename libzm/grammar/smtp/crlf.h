/* crlf.h - text whose length was announced: CR LF to LF, and nothing else
 *
 * For the chunks of RFC 3030, where no dot is doubled and none ends a message.
 * dot.h does the same for DATA.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_CRLF_H
#define ZM_GRAMMAR_CRLF_H

#include "grammar/smtp/dot.h"

struct crlf_reader {		/* one per message; all zero at its start */
	bool		has_cr;		/* a CR, not yet passed on */
	bool		bare_ok;	/* set by the caller: a bare LF counts
					 * as a line end */
	unsigned char	seen;		/* enum dot_bare bits */
	size_t		line_bytes;	/* of the line being read, without
					 * its end */
	size_t		longest_bytes;	/* of the longest line */
};

/* Decode wire bytes; pieces may be cut anywhere.
 * out        at least in.n + 1 bytes of room; *out_n bytes were written
 * A bare CR or LF is passed on as it is and noted in reader->seen. */
void crlf_read(struct crlf_reader *reader, struct slice in, char *out,
    size_t *out_n);

/* The text has ended: pass on a CR that waited for its LF.
 * out        has room for one byte
 * returns    how many bytes were written */
size_t crlf_end(struct crlf_reader *reader, char *out);

/* The other way: append text with CR LF at the end of each line; nothing is
 * doubled; a bare CR becomes CR LF, too.  Pieces may be cut anywhere.
 * after_cr   false at the start of a message, then the writer's own */
void crlf_write(struct str *out, struct slice text, bool *after_cr);

#endif
