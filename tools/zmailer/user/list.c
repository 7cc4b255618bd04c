/* list.c - zmailer user list: who is in the tables of users
 *
 * In     the rows of files, the names in databases
 * Out    a line for each user, sorted by domain
 * Holds  all names until they are printed
 * Trusts no name: controls are escaped
 * Spec   zmailer-user(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/zmailer/user/user.h"

#include "base/banned.h"

struct user_row {
	struct slice	name, domain;	/* domain: of name, after its @ */
	const char	*login, *mailbox;	/* the table that has it */
};

struct user_rows {
	struct arena		*arena;
	const char		*domain;
	const struct user_place	*place;
	struct user_row		*rows;
	size_t			 count, room;
};

/* table_fn */
static bool
user_row_add(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct user_rows *all = context;
	struct user_row *row;
	size_t at = key.n;

	while (at > 0 && key.p[at - 1] != '@')
		at--;
	if (all->domain != NULL && (at == 0 ||
	    !slice_is_nocase(slice_from(key, at), all->domain)))
		return true;
	if (all->count == all->room) {
		all->room = all->room == 0 ? 64 : all->room * 2;
		all->rows = mem_grow(all->rows, all->room,
		    sizeof(*all->rows));
	}
	row = &all->rows[all->count++];
	*row = (struct user_row){ .name = slice_lower(all->arena, key) };
	row->domain = at == 0 ? SLICE("") : slice_from(row->name, at);
	row->login = all->place->is_login ? all->place->name : NULL;
	row->mailbox = all->place->is_mailbox ? all->place->name : NULL;
	return true;
}

static int
user_name_order(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n == 0 ? 0 : memcmp(a.p, b.p, n);

	return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int
user_row_order(const void *a, const void *b)
{
	const struct user_row *one = a, *other = b;
	int order = user_name_order(one->domain, other->domain);

	return order != 0 ? order : user_name_order(one->name, other->name);
}

/* One row for a name that two tables have. */
static void
user_rows_merge(struct user_rows *all)
{
	size_t kept = 0;

	if (all->count > 1)
		qsort(all->rows, all->count, sizeof(*all->rows),
		    user_row_order);
	for (size_t i = 0; i < all->count; i++) {
		struct user_row *last = kept == 0 ? NULL :
		    &all->rows[kept - 1];

		if (last == NULL || !slice_equal(last->name,
		    all->rows[i].name)) {
			all->rows[kept++] = all->rows[i];
			continue;
		}
		if (last->login == NULL)
			last->login = all->rows[i].login;
		if (last->mailbox == NULL)
			last->mailbox = all->rows[i].mailbox;
	}
	all->count = kept;
}

static void
user_row_put(const struct user_row *row, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "user", row->name);
		json_text(&out, "domain", row->domain);
		json_text(&out, "login", slice_of(row->login));
		json_text(&out, "mailbox", slice_of(row->mailbox));
		json_close(&out);
	} else {
		str_add_escaped(&out, row->name);
		str_addf(&out, "%*s %-20s %s\n", out.len < 40 ?
		    (int)(40 - out.len) : 0, "", row->login != NULL ?
		    row->login : "-", row->mailbox != NULL ? row->mailbox :
		    "-");
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
user_rows_read(struct change *change, struct user_rows *all)
{
	const struct user_place *place = all->place;
	enum table_result result;
	struct user_base *base;
	struct user_line entry;
	struct str *text;
	struct err err = { "" };
	unsigned line = 0;
	size_t at = 0;

	if (place->file != NULL) {
		if (access(place->file, R_OK) != 0) {
			err_sys(&err, "%s of %s", place->file, place->name);
			return verb_failed("user", &err, EX_NOINPUT);
		}
		text = change_file(change, place->file, true, 0600);
		if (text == NULL)
			return EX_NOINPUT;
		while (user_line_next(str_slice(text), &at, &line, &entry))
			(void)user_row_add(all, entry.key, entry.value,
			    entry.line);
		return EX_OK;
	}
	base = user_base_open(place->spec, &err);
	result = base == NULL ? TABLE_TROUBLE : user_base_list(base,
	    user_row_add, all, &err);
	user_base_close(&base);
	if (result != TABLE_TROUBLE)
		return EX_OK;
	err_prefix(&err, "%s", place->name);
	return verb_failed("user", &err, EX_TEMPFAIL);
}

int
user_list(struct change *change, const struct user_place *places,
    size_t count, const char *domain)
{
	struct user_rows all = { .arena = change->arena, .domain = domain };
	int status = EX_OK, worst = EX_OK;

	for (size_t i = 0; i < count; i++) {
		all.place = &places[i];
		status = user_rows_read(change, &all);
		worst = status != EX_OK ? status : worst;
	}
	user_rows_merge(&all);
	if (!change->is_json && isatty(STDOUT_FILENO) && all.count > 0)
		printf("%-40s %-20s %s\n", "USER", "PASSWORD IN",
		    "MAILBOX BY");
	for (size_t i = 0; i < all.count; i++)
		user_row_put(&all.rows[i], change->is_json);
	mem_free(&all.rows);
	return worst;
}
