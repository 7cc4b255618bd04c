/* passwd.c - type passwd: the accounts of the system
 *
 * In     account names
 * Out    numeric uids
 * Holds  what users.c remembers
 * Trusts the system's account database
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/type.h"
#include "mail/users.h"

#include "base/banned.h"

struct passwd_table {
	struct users	*users;
	struct str	 value;
};

static int
passwd_open(struct table_source *source, void **out_state, struct err *err)
{
	struct passwd_table *state = source->old;

	if (state == NULL) {
		state = mem_alloc(1, sizeof(*state));
		state->users = users_new();
		str_init(&state->value);
	}
	*out_state = state;
	return 1;
}

static void
passwd_close(void *state)
{
	struct passwd_table *passwd = state;

	users_free(&passwd->users);
	str_release(&passwd->value);
	mem_free(&passwd);
}

/* As it is written, then in lower case: accounts may have capitals. */
static enum table_result
passwd_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct passwd_table *passwd = state;
	int64_t uid;
	int found = users_find(passwd->users, key, &uid, err);

	if (found == 0 && !slice_equal(key, folded))
		found = users_find(passwd->users, folded, &uid, err);
	if (found != 1)
		return found < 0 ? TABLE_TROUBLE : TABLE_NONE;
	str_reset(&passwd->value);
	str_addf(&passwd->value, "%lld", (long long)uid);
	out->value = str_slice(&passwd->value);
	return TABLE_FOUND;
}

const struct table_type table_type_passwd = {
	.name = "passwd", .open = passwd_open, .close = passwd_close,
	.find = passwd_find,
};
