/* selector_internal.h - a parsed selector, for selector*.c only
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_SELECTOR_INTERNAL_H
#define ZM_GRAMMAR_SELECTOR_INTERNAL_H

#include "grammar/selector.h"

enum selector_op {
	OP_IS, OP_IS_NOT, OP_LESS, OP_LESS_EQUAL, OP_MORE, OP_MORE_EQUAL,
	SELECTOR_OP_COUNT
};
extern const char *const selector_ops[SELECTOR_OP_COUNT];

struct selector {
	enum { NODE_ALL, NODE_ID, NODE_TEST, NODE_NOT, NODE_AND, NODE_OR }
			 kind;
	size_t		 key;		/* NODE_TEST: row of selector_keys */
	enum selector_op op;
	struct slice	 pattern;	/* text tests, NODE_ID */
	int64_t		 number;
	struct selector	*left, *right;
};

#endif
