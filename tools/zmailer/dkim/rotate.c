/* rotate.c - a new key in the place of an old one, without a gap
 *
 * In     the keys of a domain; the DNS; the wall clock
 * Out    edits: which key signs, since when another does not any more
 * Holds  nothing; when a key was retired is a line of the table
 * Spec   zmailer-dkim(8), ROTATION; RFC 6376 section 3.1
 *
 * A signature must be verified when the mail arrives, which may be as late as
 * it can wait in our queue: so long the record of a key that does not sign
 * any more stays.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "tools/zmailer/dkim/dkim.h"

#include "base/banned.h"

/* The longest that mail which a key signed waits here, in seconds. */
static int64_t
dkim_longest_life(const struct conf *conf)
{
	int64_t longest_s = 0;

	for (size_t i = 0; i < conf->schedule_count; i++) {
		const struct conf_schedule *one = &conf->schedules[i];
		int64_t life_s = one->expire_s + one->untried_s;

		/* nobody sends what is on hold */
		if (strcmp(one->channel, "hold") != 0 && life_s > longest_s)
			longest_s = life_s;
	}
	return longest_s;
}

static int64_t
record_goes_s(const struct change *change, const struct dkim_own_key *key)
{
	return key->retired_s + dkim_longest_life(change->conf);
}

const char *
dkim_record_goes(struct change *change, const struct dkim_own_key *key)
{
	char text[CLOCK_TEXT_BYTES];

	clock_rfc3339(record_goes_s(change, key) * 1000000, text);
	return arena_printf(change->arena, "%s", text);
}

struct dkim_own_key *
dkim_rotating(struct change *change, const char *domain,
    const char *selector, bool is_retired)
{
	struct dkim_own_key *found = NULL;
	size_t count = 0;

	for (struct dkim_own_key *key = dkim_keys_of(change, domain);
	    key != NULL; key = key->next) {
		if (strcmp(key->domain, domain) != 0)
			continue;
		if (selector != NULL ? strcmp(key->selector, selector) == 0 :
		    !key->signs && (key->retired_s > 0) == is_retired) {
			found = key;
			count++;
		}
	}
	if (count == 1)
		return found;
	fprintf(stderr, "zmailer: dkim: %s has %s; zmailer dkim list\n",
	    domain, selector != NULL ? "no key of that selector" :
	    count > 1 ? "several such keys: say a selector" : is_retired ?
	    "no key that was retired" : "no key that is waiting to sign: "
	    "zmailer dkim publish makes one");
	return NULL;
}

/* ---- edits ------------------------------------------------------------ */

static bool
keys_are_of_a_kind(const struct dkim_own_key *a, const struct dkim_own_key *b)
{
	struct err err;
	struct evp_pkey_st *one = dkim_private_load(a->path, &err);
	struct evp_pkey_st *other = dkim_private_load(b->path, &err);
	bool is_same = one != NULL && other != NULL &&
	    dkim_private_kind(one) == dkim_private_kind(other);

	dkim_private_free(&one);
	dkim_private_free(&other);
	return is_same;
}

int
dkim_edit_rotate(struct change *change, const struct dkim_own_key *key)
{
	struct str *keys;
	const char *why = "";

	if (key->signs) {
		fprintf(stderr, "zmailer: dkim: " SLICE_FMT " signs already\n",
		    SLICE_ARG(key->name));
		return 1;
	}
	if (!dkim_is_seen(change, key, &why)) {
		fprintf(stderr, "zmailer: dkim: " SLICE_FMT ": %s, and "
		    "nothing was changed; publish what zmailer dkim record %s "
		    "%s prints\n", SLICE_ARG(key->name), why, key->domain,
		    key->selector);
		return 1;
	}
	if (dkim_table_for(change, key->domain) != NULL)
		return dkim_edit_use(change, key);	/* says the row */
	keys = change_file(change, dkim_path(change, DKIM_KEYS), true, 0644);
	if (keys == NULL)
		return EX_NOINPUT;
	for (struct dkim_own_key *old = dkim_keys(change); old != NULL;
	    old = old->next)
		if (old->signs && strcmp(old->domain, key->domain) == 0 &&
		    keys_are_of_a_kind(old, key))
			dkim_edit_note_retired(change, keys, old);
	return dkim_edit_use(change, key);
}

int
dkim_edit_retire(struct change *change, const struct dkim_own_key *key)
{
	if (key->signs || key->retired_s == 0) {
		fprintf(stderr, "zmailer: dkim: " SLICE_FMT " %s\n",
		    SLICE_ARG(key->name), key->signs ? "signs: zmailer dkim "
		    "rotate puts another in its place" : "was not retired: "
		    "zmailer dkim remove takes away what never signed");
		return 1;
	}
	if (clock_wall_s() < record_goes_s(change, key)) {
		fprintf(stderr, "zmailer: dkim: mail that " SLICE_FMT
		    " signed may still be waiting: its record stays until "
		    "%s\n", SLICE_ARG(key->name),
		    dkim_record_goes(change, key));
		return 1;
	}
	return dkim_edit_remove(change, key);
}

void
dkim_rotated_say(struct change *change, const char *domain)
{
	for (const struct dkim_own_key *key = dkim_keys(change); key != NULL;
	    key = key->next)
		if (key->retired_s > 0 && strcmp(key->domain, domain) == 0)
			printf("the record " SLICE_FMT " stays until %s; "
			    "then: zmailer dkim retire %s %s\n",
			    SLICE_ARG(key->name),
			    dkim_record_goes(change, key), domain,
			    key->selector);
}
