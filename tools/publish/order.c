/* order.c - lines between who publishes and who takes
 *
 * In     lines, without their LF
 * Out    what they say
 * Holds  nothing
 * Trusts nothing: words are counted, numbers bounded
 * Spec   order.h; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "io/consult/nodes_line.h"
#include "tools/publish/order.h"

#include "base/banned.h"

const char *const publish_verb_names[PUBLISH_VERBS] = {
	[PUBLISH_OFFER] = "offer", [PUBLISH_TAKE] = "take",
	[PUBLISH_KEEP] = "keep", [PUBLISH_BACK] = "back",
	[PUBLISH_UNDO] = "undo", [PUBLISH_LOOK] = "look",
};

/* The most that its number may be; 0: it has none. */
static uint64_t
order_limit(enum publish_verb verb)
{
	return verb == PUBLISH_OFFER ? PUBLISH_BYTES_MAX :
	    verb == PUBLISH_TAKE ? ORDER_SECONDS_MAX : 0;
}

int
publish_order_parse(struct slice line, struct publish_order *out)
{
	struct slice rest = line, verb, id, word;
	uint64_t number = 0, hold_s = 0, limit;
	int i = 0;

	if (line.n > ORDER_LINE_BYTES_MAX || !slice_word(&rest, &verb) ||
	    !slice_word(&rest, &id) || !publish_id_is_good(id))
		return -1;
	while (i < PUBLISH_VERBS && !slice_is(verb, publish_verb_names[i]))
		i++;
	if (i == PUBLISH_VERBS)
		return -1;
	limit = order_limit((enum publish_verb)i);
	if (limit > 0 && (!slice_word(&rest, &word) ||
	    !slice_number(word, 1, limit, &number)))
		return -1;
	if (i == PUBLISH_OFFER && slice_word(&rest, &word) &&
	    !slice_number(word, 1, ORDER_SECONDS_MAX, &hold_s))
		return -1;
	*out = (struct publish_order){ .verb = (enum publish_verb)i,
	    .number = (size_t)number, .hold_s = hold_s };
	memcpy(out->id, id.p, PUBLISH_ID_BYTES - 1);
	return slice_word(&rest, &word) ? -1 : 0;
}

int
publish_for_parse(struct slice line, struct slice *out_who,
    struct slice *out_node)
{
	struct slice rest = line, word;

	return line.n <= ORDER_LINE_BYTES_MAX && slice_word(&rest, &word) &&
	    slice_is(word, "for") && slice_word(&rest, out_who) &&
	    slice_word(&rest, out_node) && nodes_who_is_good(*out_who) &&
	    nodes_who_is_good(*out_node) && !slice_word(&rest, &word) ? 0 :
	    -1;
}

enum publish_answer
publish_answer_parse(struct slice line, struct slice *out_state,
    size_t *out_number)
{
	struct slice rest = line, word;
	uint64_t number;

	*out_state = SLICE("");
	*out_number = 0;
	if (line.n > ORDER_LINE_BYTES_MAX || !slice_word(&rest, &word))
		return PUBLISH_NONSENSE;
	if (slice_is(word, "ok")) {
		if (slice_word(&rest, out_state) && slice_word(&rest, &word) &&
		    slice_number(word, 0, UINT32_MAX, &number))
			*out_number = (size_t)number;
		return PUBLISH_OK;
	}
	if (!slice_is(word, "no") || !slice_word(&rest, &word) ||
	    !slice_number(word, 0, ORDER_WORDS_BYTES_MAX, &number))
		return PUBLISH_NONSENSE;
	*out_number = (size_t)number;
	return PUBLISH_NO;
}
