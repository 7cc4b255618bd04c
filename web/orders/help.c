/* help.c - who helps users of some domains sees their mail alone
 *
 * In     a selector that somebody typed; answers of verbs
 * Out    a narrower one; what he may see of them
 * Trusts nothing in a selector: it is one by itself, so that its brackets end
 *        where the ones around it do
 * Spec   help.h; zmailer-selector(7)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "grammar/selector.h"
#include "web/ask/question.h"
#include "web/orders/help.h"

#include "base/banned.h"

enum { MESSAGES_MAX = 64 };

const char *
help_narrow(struct arena *arena, const char *domains, struct slice typed)
{
	struct slice rest = slice_of(domains), domain;
	struct selector *parsed;
	struct str out = STR_INIT;
	const char *narrow;
	size_t column;
	struct err err;

	if (selector_parse(arena, typed, &parsed, &column, &err) < 0)
		return NULL;
	str_addf(&out, "(" SLICE_FMT ") (", SLICE_ARG(typed));
	for (bool is_first = true; slice_word(&rest, &domain);
	    is_first = false)
		str_addf(&out, "%sfrom:@" SLICE_FMT " or to:@" SLICE_FMT,
		    is_first ? "" : " or ", SLICE_ARG(domain),
		    SLICE_ARG(domain));
	str_addc(&out, ')');
	narrow = slice_dup(arena, str_slice(&out));
	str_release(&out);
	return narrow;
}

bool
help_is_address(const char *domains, struct slice address)
{
	struct slice rest = slice_of(domains), domain;
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	while (at > 0 && slice_word(&rest, &domain))
		if (slice_equal_nocase(slice_from(address, at), domain))
			return true;
	return false;
}

static bool
line_has_theirs(const char *domains, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	bool has = json_get(line, key, &value) &&
	    help_is_address(domains, str_slice(&value));

	str_release(&value);
	return has;
}

static bool
line_has_key(struct slice line, const char *key)
{
	struct str value = STR_INIT;
	bool has = json_get(line, key, &value);

	str_release(&value);
	return has;
}

/* A recipient as he was given, as an earlier host had him, as he is now. */
static bool
line_is_theirs(const char *domains, struct slice line)
{
	return line_has_theirs(domains, line, "to") ||
	    line_has_theirs(domains, line, "orcpt");
}

bool
help_has_message(struct slice list, struct slice id)
{
	struct slice line;
	struct str value = STR_INIT;
	bool has = false;

	while (!has && answer_line(&list, &line))
		has = json_get(line, "id", &value) &&
		    slice_equal(str_slice(&value), id);
	str_release(&value);
	return has;
}

/* ---- events ------------------------------------------------------------- */

struct theirs {			/* messages of an answer */
	struct {
		struct str	 id;
		bool		 is_all;	/* from one of them */
	}	 messages[MESSAGES_MAX];
	size_t	 count;
};

/* NULL: it is none of theirs. */
static bool *
theirs_find(struct theirs *theirs, struct slice id)
{
	for (size_t i = 0; i < theirs->count; i++)
		if (slice_equal(str_slice(&theirs->messages[i].id), id))
			return &theirs->messages[i].is_all;
	return NULL;
}

static void
theirs_take_line(struct theirs *theirs, const char *domains,
    struct slice line)
{
	bool is_from = line_has_theirs(domains, line, "from"), *is_all;
	struct str id = STR_INIT;

	if ((is_from || line_is_theirs(domains, line)) &&
	    json_get(line, "id", &id) && id.len > 0) {
		is_all = theirs_find(theirs, str_slice(&id));
		if (is_all == NULL && theirs->count < MESSAGES_MAX) {
			str_init(&theirs->messages[theirs->count].id);
			str_add_slice(&theirs->messages[theirs->count].id,
			    str_slice(&id));
			is_all = &theirs->messages[theirs->count++].is_all;
			*is_all = false;
		}
		if (is_all != NULL)
			*is_all |= is_from;
	}
	str_release(&id);
}

static bool
theirs_have_line(struct theirs *theirs, const char *domains,
    struct slice line)
{
	struct str id = STR_INIT;
	const bool *is_all = json_get(line, "id", &id) ?
	    theirs_find(theirs, str_slice(&id)) : NULL;

	str_release(&id);
	return is_all != NULL && (*is_all || !line_has_key(line, "to") ||
	    line_is_theirs(domains, line));
}

bool
help_sift(const char *domains, struct str *events)
{
	struct theirs theirs = { .count = 0 };
	struct slice rest = str_slice(events), line;
	struct str kept = STR_INIT;

	while (answer_line(&rest, &line))
		theirs_take_line(&theirs, domains, line);
	rest = str_slice(events);
	while (answer_line(&rest, &line)) {
		if (!theirs_have_line(&theirs, domains, line))
			continue;
		str_add_slice(&kept, line);
		str_addc(&kept, '\n');
	}
	for (size_t i = 0; i < theirs.count; i++)
		str_release(&theirs.messages[i].id);
	str_release(events);
	*events = kept;
	return events->len > 0;
}

bool
help_is_from(const char *domains, struct slice list)
{
	struct slice line;

	while (answer_line(&list, &line))
		if (line_has_theirs(domains, line, "from"))
			return true;
	return false;
}

void
help_sift_recipients(const char *domains, bool is_all, struct str *lines)
{
	struct slice rest = str_slice(lines), line;
	struct str kept = STR_INIT;

	while (!is_all && answer_line(&rest, &line)) {
		if (line_has_key(line, "to") &&
		    !line_has_theirs(domains, line, "from") &&
		    !line_is_theirs(domains, line))
			continue;
		str_add_slice(&kept, line);
		str_addc(&kept, '\n');
	}
	if (is_all)
		return;
	str_release(lines);
	*lines = kept;
}
