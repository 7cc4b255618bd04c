/* shape.c - what the schedule would have been for the destinations
 *
 * In     the destinations that the journal names; two configurations
 * Out    a row for each whose clause differs
 * Holds  the destinations met so far, up to a bound
 * Trusts nothing in a line
 * Spec   zmailer-replay(8); zmailer.conf(5), schedule
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "tools/zmailer/replay/delays.h"
#include "tools/zmailer/replay/routed.h"

#include "base/banned.h"

enum { DESTS_MAX = 1 << 16, DEST_SLOTS = 1 << 18 };

struct shaping {
	struct replay	*replay;
	uint64_t	*met;		/* hashes of "channel/host"; 0: free */
	size_t		 count;
	struct delays	*delays;	/* read when something differs */
};

/* Was it met before?  Notes it.  Beyond the bound every one was. */
static bool
shape_is_known(struct shaping *shaping, struct slice dest)
{
	uint64_t hash = siphash(siphash_process_key(), dest).low | 1;
	size_t at = hash % DEST_SLOTS;

	while (shaping->met[at] != 0) {
		if (shaping->met[at] == hash)
			return true;
		at = (at + 1) % DEST_SLOTS;
	}
	if (shaping->count == DESTS_MAX) {
		shaping->replay->left_out++;
		return true;
	}
	shaping->count++;
	shaping->met[at] = hash;
	return false;
}

/* The items between the braces, "size 3; retry 5m 10m". */
static struct slice
clause_items(const struct str *clause)
{
	struct slice all = str_slice(clause);
	size_t open = slice_find(all, '{');

	all = slice_from(all, open + 1);
	return slice_trim(slice_first(all, all.n > 0 ? all.n - 1 : 0));
}

static bool
items_have(struct slice items, struct slice item)
{
	struct slice one;

	while (items.n > 0 && slice_cut(&items, ';', &one))
		if (slice_equal(slice_trim(one), item))
			return true;
	return false;
}

/* Those of items that others have not. */
static void
items_add_own(struct str *out, struct slice items, struct slice others)
{
	struct slice one;

	while (items.n > 0 && slice_cut(&items, ';', &one)) {
		one = slice_trim(one);
		if (items_have(others, one))
			continue;
		if (out->len > 0)
			str_adds(out, "; ");
		str_add_slice(out, one);
	}
}

/* What both would have done to the mail that came. */
static int
shape_add_delays(struct shaping *shaping, const struct conf_schedule *old,
    const struct conf_schedule *fresh, struct slice dest,
    struct str *before, struct str *after, struct err *err)
{
	if (shaping->delays == NULL &&
	    delays_read(shaping->replay, &shaping->delays, err) < 0)
		return -1;
	delays_say(shaping->delays, dest, old, before);
	delays_say(shaping->delays, dest, fresh, after);
	return 0;
}

static int
shape_tell(struct shaping *shaping, const struct conf_schedule *old,
    const struct conf_schedule *clause, const struct str *was,
    const struct str *is, struct slice dest, struct err *err)
{
	int result;
	struct str before = STR_INIT, after = STR_INIT, rule = STR_INIT;
	struct difference difference = { .kind = "shape", .to = dest };

	items_add_own(&before, clause_items(was), clause_items(is));
	items_add_own(&after, clause_items(is), clause_items(was));
	if (clause->at.file != NULL)
		str_addf(&rule, "%s:%u (schedule %s/%s)", clause->at.file,
		    clause->at.line, clause->channel, clause->host);
	else
		str_addf(&rule, "preset (schedule %s/%s)", clause->channel,
		    clause->host);
	if (before.len == 0)
		str_adds(&before, "nothing of it");
	if (after.len == 0)
		str_adds(&after, "nothing of it");
	result = shape_add_delays(shaping, old, clause, dest, &before, &after,
	    err);
	difference.before = str_slice(&before);
	difference.after = str_slice(&after);
	difference.rule = str_slice(&rule);
	replay_tell(shaping->replay, &difference);
	str_release(&before);
	str_release(&after);
	str_release(&rule);
	return result;
}

static int
shape_compare(struct shaping *shaping, struct slice channel,
    struct slice host, struct slice dest, struct err *err)
{
	const struct conf_schedule *old = conf_schedule_for(
	    shaping->replay->old, channel, host), *fresh =
	    conf_schedule_for(shaping->replay->fresh, channel, host);
	struct str was = STR_INIT, is = STR_INIT;
	int result = 0;

	conf_show_clause(old, &was);
	conf_show_clause(fresh, &is);
	shaping->replay->seen++;
	if (!slice_equal(clause_items(&was), clause_items(&is)))
		result = shape_tell(shaping, old, fresh, &was, &is, dest, err);
	str_release(&was);
	str_release(&is);
	return result;
}

static int
shape_of_message(void *context, const struct routed *routed,
    struct err *err)
{
	struct str channel = STR_INIT, host = STR_INIT, dest = STR_INIT;
	struct slice rest = routed->lines, line;
	int result = 0;

	while (result == 0 && rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (!json_get(line, "channel", &channel) ||
		    slice_is(str_slice(&channel), "error"))
			continue;
		str_reset(&host);
		(void)json_get(line, "host", &host);
		str_reset(&dest);
		str_addf(&dest, "%s/%s", channel.buf, host.buf);
		if (!shape_is_known(context, str_slice(&dest)))
			result = shape_compare(context, str_slice(&channel),
			    str_slice(&host), str_slice(&dest), err);
	}
	str_release(&channel);
	str_release(&host);
	str_release(&dest);
	return result;
}

int
replay_shape(struct replay *replay, struct err *err)
{
	struct shaping shaping = { .replay = replay,
	    .met = mem_alloc(DEST_SLOTS, sizeof(*shaping.met)) };
	int result = routed_each(replay, shape_of_message, &shaping, err);

	mem_free(&shaping.met);
	delays_free(&shaping.delays);
	return result;
}
