/* attempt.c - the site's script is asked before a try (before_attempt)
 *
 * In     questions of the scheduler
 * Out    orders in the words of the control protocol, or leave to go on
 * Holds  nothing
 * Trusts the script with nothing: a moment that is over, the way that it goes
 *        anyhow, and too many wishes for another are leave to go on
 * Spec   doc/HOOKS.md; doc/protocol/control.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/outcome/attempt.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "conf/route_value.h"
#include "daemon/hook/frame.h"
#include "journal/event.h"
#include "mail/spool/spool.h"

#include "base/banned.h"

enum {				/* of the control protocol */
	REASON_BYTES_MAX = 200,
	WHO_BYTES_MAX = 64,
	VIA_BYTES_MAX = 200
};

static void
attempt_trouble(const char *id, const char *reason)
{
	event(EV_HOOK_TROUBLE, id[0] != '\0' ? id : NULL, "function",
	    SLICE("before_attempt"), "reason", slice_of(reason), NULL);
}

/* What shall become of a recipient. */
struct attempt_wish {
	const char	*operation;	/* of the control protocol; NULL: it
					 * may go on */
	int64_t		 next_s;	/* 0: no moment */
	const char	*via;		/* NULL: no other way */
	struct slice	 reason;
	char		 who[WHO_BYTES_MAX + 1];	/* "hooks.lua:7" */
};

static struct slice
attempt_domain(struct slice to)
{
	size_t at = to.n;

	while (at > 0 && to.p[at - 1] != '@')
		at--;
	return at > 0 ? slice_from(to, at) : SLICE("");
}

/* Is this target another way than the one that it is about to go?  *out is
 * its text.  An answer that is no target is an error. */
static int
attempt_target(struct arena *arena, const struct slice *fields,
    struct slice to, const struct hook_answer *answer, const char **out,
    struct err *err)
{
	struct slice domain = slice_lower(arena, attempt_domain(to));
	struct route_target target;

	*out = NULL;
	if (answer->text.n > VIA_BYTES_MAX)
		return err_set(err, "a target has at most %d bytes",
		    VIA_BYTES_MAX);
	if (route_value_parse(arena, answer->text, domain, &target, err) !=
	    ROUTE_VALUE_TARGET)
		return answer->text.n == 0 ? err_set(err, "zm.via() without a "
		    "target") : -1;
	if (!slice_equal(target.channel, fields[ATTEMPT_CHANNEL]) ||
	    !slice_equal(target.host, fields[ATTEMPT_HOST]))
		*out = slice_dup(arena, answer->text);
	return 0;
}

/* To another way, unless it was sent to one too often. */
static void
attempt_steer(const struct slice *fields, const char *id, const char *via,
    struct attempt_wish *wish)
{
	uint64_t steered = 0;
	struct err err;

	(void)slice_number(fields[ATTEMPT_STEERED], 0, UINT16_MAX, &steered);
	if (steered >= ATTEMPT_STEERED_MAX) {
		err_set(&err, "%s: it was sent another way %d times already, "
		    "and goes on as it is", wish->who, ATTEMPT_STEERED_MAX);
		attempt_trouble(id, err.text);
		return;
	}
	wish->operation = "reroute";
	wish->via = via;
}

/* 0; -1: the answer cannot be carried out. */
static int
attempt_wish_of(struct arena *arena, const struct slice *fields,
    struct slice to, const char *id, const struct hook_answer *answer,
    int64_t now_s, struct attempt_wish *wish, struct err *err)
{
	uint64_t at = 0;
	const char *via;

	switch (answer->verdict) {
	case HOOK_AT:
		if (slice_number(answer->code, 0, INT64_MAX, &at) &&
		    (int64_t)at > now_s)
			wish->operation = "schedule";
		wish->next_s = (int64_t)at;
		break;
	case HOOK_DEFER:
		wish->next_s = now_s + ATTEMPT_LATER_S;
		wish->operation = "schedule";
		break;
	case HOOK_FREEZE:
		wish->operation = "freeze";
		break;
	case HOOK_REJECT:
		wish->operation = "bounce";
		break;
	case HOOK_DROP:
		wish->operation = "delete";
		break;
	case HOOK_REROUTE:
		attempt_steer(fields, id, "", wish);
		break;
	case HOOK_VIA:
		if (attempt_target(arena, fields, to, answer, &via, err) < 0)
			return err_prefix(err, "%s", wish->who);
		wish->reason = answer->code;
		if (via != NULL)
			attempt_steer(fields, id, via, wish);
		break;
	default:
		break;
	}
	return 0;
}

/* The script's file without its folder, and the line that answered. */
static void
attempt_say_who(const struct hooks *hooks, const struct hook_answer *answer,
    struct attempt_wish *wish)
{
	const char *path = hooks_path(hooks), *name = strrchr(path, '/');

	snprintf(wish->who, sizeof(wish->who), "%.*s:%u", WHO_BYTES_MAX - 12,
	    name != NULL ? name + 1 : path, answer->line);
}

static void
attempt_add_order(const struct attempt_wish *wish, struct slice id,
    struct slice offset, struct str *out)
{
	str_adds(out, "order ");
	json_open(out);
	json_number(out, "v", 1);
	json_text(out, "op", slice_of(wish->operation));
	json_list(out, "ids", &id, 1);
	json_list(out, "offsets", &offset, 1);
	if (wish->next_s > 0)
		json_number(out, "next", wish->next_s);
	if (wish->via != NULL)
		json_text(out, "via", slice_of(wish->via));
	json_text(out, "who", slice_of(wish->who));
	json_text(out, "reason", slice_first(wish->reason, REASON_BYTES_MAX));
	json_close(out);
}

static int
attempt_ask(struct hooks *hooks, const struct slice *fields, struct slice to,
    int64_t now_s, struct hook_answer *out, struct err *err)
{
	hooks_question(hooks, HOOK_BEFORE_ATTEMPT);
	hooks_add(hooks, "message.id", fields[ATTEMPT_ID]);
	hooks_add(hooks, "message.from", fields[ATTEMPT_FROM]);
	hooks_add(hooks, "message.age", fields[ATTEMPT_AGE]);
	hooks_add(hooks, "message.now", event_number(now_s));
	hooks_add(hooks, "message.reroutes", fields[ATTEMPT_STEERED]);
	hooks_add(hooks, "recipient.to", to);
	hooks_add(hooks, "recipient.tries", fields[ATTEMPT_TRIES]);
	hooks_add(hooks, "destination.channel", fields[ATTEMPT_CHANNEL]);
	hooks_add(hooks, "destination.host", fields[ATTEMPT_HOST]);
	return hooks_ask(hooks, out, err);
}

static void
attempt_add_place(const char *word, const struct slice *fields,
    struct str *out)
{
	str_addf(out, "%s " SLICE_FMT " " SLICE_FMT " " SLICE_FMT "\n", word,
	    SLICE_ARG(fields[ATTEMPT_NUMBER]), SLICE_ARG(fields[ATTEMPT_INODE]),
	    SLICE_ARG(fields[ATTEMPT_INDEX]));
}

/* One recipient: an order is added, or none. */
static int
attempt_ask_one(struct hooks *hooks, struct arena *arena,
    const struct slice *fields, struct slice offset, struct slice to,
    int64_t now_s, struct str *out, struct err *err)
{
	struct attempt_wish wish = { .operation = NULL };
	struct hook_answer answer;
	char id[SPOOL_ID_BYTES];

	snprintf(id, sizeof(id), SLICE_FMT, SLICE_ARG(fields[ATTEMPT_ID]));
	if (attempt_ask(hooks, fields, to, now_s, &answer, err) < 0)
		return -1;
	wish.reason = answer.text;
	attempt_say_who(hooks, &answer, &wish);
	if (attempt_wish_of(arena, fields, to, id, &answer, now_s, &wish,
	    err) < 0)
		return -1;
	if (wish.operation != NULL)
		attempt_add_order(&wish, fields[ATTEMPT_ID], offset, out);
	return 0;
}

/* All recipients.  0, out has orders for those that are not tried now; -1
 * with err. */
static int
attempt_ask_all(struct hooks *hooks, const struct slice *fields,
    struct slice rest, int64_t now_s, struct str *out, struct err *err)
{
	struct arena *arena = arena_new();
	struct slice offset, to;
	int result = 0;

	while (result == 0 && hook_field(&rest, &offset) &&
	    hook_field(&rest, &to))
		result = attempt_ask_one(hooks, arena, fields, offset, to,
		    now_s, out, err);
	arena_free(&arena);
	return result;
}

void
attempt_answer(struct hooks *hooks, struct slice fields, int64_t now_s,
    struct str *out)
{
	struct slice values[ATTEMPT_FIELDS];
	struct str orders = STR_INIT;
	const char *word = "go";
	char id[SPOOL_ID_BYTES];
	enum hook_has has;
	struct err err;

	for (size_t i = 0; i < ATTEMPT_FIELDS; i++)
		if (!hook_field(&fields, &values[i]))
			return;
	snprintf(id, sizeof(id), SLICE_FMT, SLICE_ARG(values[ATTEMPT_ID]));
	has = hooks_has(hooks, HOOK_BEFORE_ATTEMPT, &err);
	if (has == HOOK_TROUBLE || (has == HOOK_DEFINED &&
	    attempt_ask_all(hooks, values, fields, now_s, &orders,
		&err) < 0)) {
		attempt_trouble(id, err.text);
		word = "trouble";
	}
	/* the orders of those that were asked before the trouble hold */
	if (orders.len > 0)
		word = "ordered";
	attempt_add_place(word, values, out);
	str_add_slice(out, str_slice(&orders));
	str_release(&orders);
}
