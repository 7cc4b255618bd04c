/* internal.h - contents of a table, shared by table*.c only
 *
 * The file is in memory as it was read; keys are folded to lower case in
 * place, continuation lines are joined in place.  Each entry needs 20 bytes
 * more, and 4 to 8 bytes of the hash.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_INTERNAL_H
#define ZM_MAIL_TABLE_INTERNAL_H

#include "mail/table/table.h"

enum {
	TABLE_BYTES_MAX = 1 << 30,	/* of a file */
	TABLE_KEY_BYTES_MAX = 1024,	/* longer keys are errors */
	TABLE_VALUE_BYTES_MAX = 1 << 24
};

struct table_entry {
	uint32_t	key, value;	/* offsets in text */
	uint32_t	value_n;
	uint32_t	line;
	uint16_t	key_n;
};

struct table_net {		/* sorted by bits, then bytes, then line */
	struct net	net;
	uint32_t	entry;		/* index */
};

struct table_contents {
	char			*text;
	size_t			 bytes;
	struct table_entry	*entries;
	size_t			 count;
	uint32_t		*slots;		/* entry index + 1 */
	size_t			 slot_count;	/* a power of two */
	uint32_t		 crc;		/* of the bytes as read */
	uint32_t		 twice_line, first_line;
				/* of a key that occurs twice, or 0 */
	struct table_net	*nets;		/* made when first asked for */
	size_t			 net_count;
	bool			 has_nets;
};

/* Called for each fault of a table. */
typedef void table_line_fn(void *context, unsigned line, const char *what);

/* Make contents of text (made by mem_grow), which they own, also after a
 * failure.  0, or -1 with "LINE: what" in err. */
int table_contents_parse(char *text, size_t bytes,
    struct table_contents **out, struct err *err);
/* The same, but fn is called for each bad line, which is left out.  Never
 * fails. */
struct table_contents *table_contents_look(char *text, size_t bytes,
    table_line_fn *fn, void *context);
/* Call fn for each fault of a text of patterns.  Frees text. */
void table_pcre_look(char *text, size_t bytes, table_line_fn *fn,
    void *context);
void table_contents_free(struct table_contents **contents);

/* The entry of a lower-case key, or NULL. */
const struct table_entry *table_contents_find(
    const struct table_contents *contents, struct slice key);

/* The entry of the longest prefix that contains address; the first line counts
 * if two are equal.  TABLE_TROUBLE: a key of the table is not a network (err:
 * "LINE: ..."). */
enum table_result table_contents_net(struct table_contents *contents,
    const struct net *address, const struct table_entry **out,
    struct err *err);

#endif
