/* read.h - exim4.conf, as bytes
 *
 * Pure: bytes in, statements out; a malformed one is kept with what is wrong
 * with it.  Macros are expanded and conditions (.ifdef) are obeyed; a branch
 * that is not in force is a statement of its own, so that it can be reported.
 * Slices point into the arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_EXIM_READ_H
#define ZM_TOOLS_IMPORT_EXIM_READ_H

#include "base/mem.h"
#include "base/str.h"

enum exim4_section {
	EXIM4_MAIN, EXIM4_ACLS, EXIM4_ROUTERS, EXIM4_TRANSPORTS, EXIM4_RETRY,
	EXIM4_REWRITE, EXIM4_AUTHENTICATORS, EXIM4_ODD
};
enum exim4_kind {
	EXIM4_OPTION,		/* NAME = VALUE, NAME, no_NAME */
	EXIM4_LIST,		/* domainlist NAME = VALUE */
	EXIM4_DRIVER,		/* NAME: of a router, an ACL, ... */
	EXIM4_RULE,		/* retry, rewrite: PATTERN and the rest */
	EXIM4_CONDITION,	/* of an ACL: [VERB] NAME = VALUE */
	EXIM4_MACRO, EXIM4_BEGIN, EXIM4_INCLUDE,
	EXIM4_BRANCH		/* .ifdef and the like, not in force */
};
struct exim4_statement {
	enum exim4_section	 section;
	enum exim4_kind		 kind;
	struct slice		 verb;	/* of a condition; domainlist; or "" */
	struct slice		 name, value;	/* as written, one line */
	unsigned		 line;		/* where it begins */
	const char		*wrong;		/* NULL: nothing */
	bool			 is_hidden;	/* its value is a secret */
};
enum {
	EXIM4_MACROS_MAX = 1000, EXIM4_BRANCHES_MAX = 50,
	EXIM4_LINE_BYTES_MAX = 64 << 10, EXIM4_MADE_BYTES_MAX = 16 << 20
};
struct exim4_macro {
	struct slice	name, value;
};
enum exim4_branch { EXIM4_TAKEN, EXIM4_NOT_YET, EXIM4_OVER };
struct exim4_reader {		/* zeroed: nothing is known yet */
	struct slice		rest;	/* of a file */
	unsigned		line;	/* that was read last */
	enum exim4_section	section;
	struct exim4_macro	macros[EXIM4_MACROS_MAX];
	size_t			macro_count;
	enum exim4_branch	branches[EXIM4_BRANCHES_MAX];
	size_t			depth;
	size_t			made_bytes;	/* by macros, so far */
	bool			is_long;	/* the line is too long */
};

/* The next statement; NAME = VALUE that begins with a capital is also kept as a
 * macro.
 * returns false at the end of rest */
bool exim4_next(struct arena *arena, struct exim4_reader *reader,
    struct exim4_statement *out);

#endif
