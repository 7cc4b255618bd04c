/* read.h - smtpd.conf of OpenSMTPD, as bytes
 *
 * Pure: bytes in, statements out; a malformed one is kept with what is wrong
 * with it.  Macros ($name) are expanded by what is known at that place.  Slices
 * point into the text or the arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_OPENSMTPD_READ_H
#define ZM_TOOLS_IMPORT_OPENSMTPD_READ_H

#include "base/mem.h"
#include "base/str.h"

enum opensmtpd_kind {
	OPENSMTPD_WORD, OPENSMTPD_STRING, OPENSMTPD_TABLE, OPENSMTPD_SIGN
};
struct opensmtpd_word {
	struct slice		text;	/* without quotes, < and > */
	enum opensmtpd_kind	kind;	/* a sign is one of {}(),=! */
};
struct opensmtpd_statement {
	struct opensmtpd_word	*words;
	size_t			 count;
	unsigned		 line;
	const char		*wrong;	/* NULL: nothing */
};
enum {
	OPENSMTPD_MACROS_MAX = 500, OPENSMTPD_MACRO_WORDS_MAX = 200,
	OPENSMTPD_WORDS_MAX = 100000
};
struct opensmtpd_macro {
	struct slice		 name;
	struct opensmtpd_word	*words;
	size_t			 count;
};
struct opensmtpd_reader {	/* zeroed: nothing is known yet */
	struct slice		rest;	/* of a file */
	unsigned		line;	/* where it begins */
	struct opensmtpd_macro	macros[OPENSMTPD_MACROS_MAX];
	size_t			macro_count;
};

/* The next statement; NAME = VALUE is also kept as a macro.
 * returns false at the end */
bool opensmtpd_next(struct arena *arena, struct opensmtpd_reader *reader,
    struct opensmtpd_statement *out);

#endif
