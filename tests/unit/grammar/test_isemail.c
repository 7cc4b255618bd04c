/* test_isemail.c - the addresses of the is_email test sets
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/message/header.h"
#include "grammar/smtp/path.h"

static const struct {
	int		set, id;
	bool		smtp, header;
	struct slice	address;
} rows[] = {
#define ROW(set, id, smtp, header, address) \
	{ set, id, smtp, header, { address, sizeof(address) - 1 } },
#include "isemail_rows_1.h"
#include "isemail_rows_2.h"
#undef ROW
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char *
shown(struct slice address)
{
	static struct str text = STR_INIT;

	str_reset(&text);
	str_add_escaped(&text, address);
	return text.buf;
}

Test(isemail, as_smtp_path)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct str in = STR_INIT;
		struct err err = { "" };
		struct slice rest;
		struct path path;
		bool is_taken;

		str_addc(&in, '<');
		str_add_slice(&in, rows[i].address);
		str_addc(&in, '>');
		is_taken = path_parse(str_slice(&in), 0, &path, &rest,
		    &err) == 0 && rest.n == 0;
		cr_expect_eq(is_taken, rows[i].smtp, "set %d id %d <%s> %s",
		    rows[i].set, rows[i].id, shown(rows[i].address),
		    err.text);
		str_release(&in);
	}
}

Test(isemail, in_a_header)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < ROWS; i++) {
		struct slice rest = rows[i].address;
		struct err err = { "" };
		unsigned taken = 0, bad = 0;
		struct path path;
		int rc;

		while ((rc = header_address(arena, &rest, &path, &err)) !=
		    HEADER_ADDRESS_END)
			*(rc > 0 ? &taken : &bad) += 1;
		cr_expect_eq(taken == 1 && bad == 0, rows[i].header,
		    "set %d id %d <%s> %u addresses, %u bad: %s",
		    rows[i].set, rows[i].id, shown(rows[i].address), taken,
		    bad, err.text);
	}
	arena_free(&arena);
}
