/* without.c - what sendmail does without
 *
 * sendmail is started for every message of a local program: a library that it
 * does not need costs more than its work.  It asks no table, and nobody reads
 * its hints about names in a configuration.  What stands here takes the place
 * of the files of libzm.a that call PCRE2, cdb, LMDB and libidn2 (mail/table,
 * conf/read/idn.c): the linker finds these first.
 *
 * Out    tables of every type, each of them empty
 * Spec   mail/table/type.h, conf/read/read.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/read/read.h"
#include "mail/table/type.h"

#include "base/banned.h"

static int
empty_open(struct table_source *source, void **out_state, struct err *err)
{
	static char state;

	(void)source;
	(void)err;
	*out_state = &state;
	return 1;
}

static void
empty_close(void *state)
{
	(void)state;
}

static enum table_result
empty_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	(void)state;
	(void)key;
	(void)folded;
	(void)out;
	(void)err;
	return TABLE_NONE;
}

static enum table_result
empty_each(void *state, table_fn *fn, void *context, struct err *err)
{
	(void)state;
	(void)fn;
	(void)context;
	(void)err;
	return TABLE_NONE;
}

#define EMPTY(type, has)						\
	const struct table_type table_type_##type = {			\
		.name = #type, .traits = (has), .open = empty_open,	\
		.close = empty_close, .find = empty_find,		\
		.each = empty_each }
EMPTY(file, TABLE_HAS_PATH);
EMPTY(inline, 0);
EMPTY(pcre, TABLE_HAS_PATH | TABLE_ASKS_WHOLE);
EMPTY(cidr, TABLE_HAS_PATH);
EMPTY(cdb, TABLE_HAS_PATH);
EMPTY(lmdb, TABLE_HAS_PATH);
EMPTY(passwd, 0);

conf_to_ascii_fn *const conf_to_ascii = NULL;
