/* lost.c - the mail of a node that is lost comes here
 *
 * In     a node; what the process share says of it
 * Out    its messages in this spool (take.h)
 * Holds  nothing
 * Trusts share's word
 * Spec   lost.h; doc/protocol/share.md section 4; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "grammar/units.h"
#include "journal/event.h"
#include "tools/copies/lost.h"

#include "base/banned.h"

enum { QUESTION_BYTES = CLUSTER_NAME_BYTES_MAX + 64 };

/* What it has would be ours, and nowhere: others may have the room. */
static int
lost_has_room(const struct lost *lost, struct take *take,
    struct slice numbers, struct err *err)
{
	struct slice word;
	struct str text = STR_INIT;
	uint64_t bytes;

	if (!slice_word(&numbers, &word) ||
	    !slice_number(slice_trim(numbers), 0, INT64_MAX, &bytes)) {
		err_set(err, "share: a takeover without numbers");
		return EX_UNAVAILABLE;
	}
	if (take_has_room(take, bytes))
		return EX_OK;
	units_add_bytes(&text, bytes);
	err_set(err, "the spool has no room for what %s has (%s): nothing was "
	    "taken; make room, and say it again", lost->node, text.buf);
	str_release(&text);
	return EX_TEMPFAIL;
}

/* "ok COUNT BYTES", "alive SECONDS", "none WORDS", "away WORDS".  EX_OK: go
 * on. */
static int
lost_claim(const struct lost *lost, struct take *take,
    struct share_order *order, struct err *err)
{
	char question[QUESTION_BYTES];
	struct slice answer, word;

	if (lost->after_s == 0)
		snprintf(question, sizeof(question), "takeover %s",
		    lost->node);
	else
		snprintf(question, sizeof(question), "takeover %s %" PRIu64
		    " %" PRIu64, lost->node, lost->epoch, lost->after_s);
	if (share_order_ask(order, question, -1, &answer, err) != 0)
		return EX_UNAVAILABLE;
	(void)slice_word(&answer, &word);
	answer = slice_trim(answer);
	if (slice_is(word, "ok"))
		return lost_has_room(lost, take, answer, err);
	if (slice_is(word, "alive"))
		err_set(err, "%s is there, or was until a moment ago: its "
		    "lease has to be over for 15 s, which takes " SLICE_FMT
		    " s more; stop it first (zmailer stop), or wait",
		    lost->node, SLICE_ARG(answer));
	else
		err_set(err, "PostgreSQL: " SLICE_FMT, SLICE_ARG(answer));
	return slice_is(word, "alive") ? EX_TEMPFAIL : EX_UNAVAILABLE;
}

static void
lost_note(const struct lost *lost, uint64_t messages, uint64_t bytes)
{
	event(EV_NODE_TAKEN_OVER, NULL, "node", slice_of(lost->node), "by",
	    slice_of(lost->by), "messages", event_number((int64_t)messages),
	    "bytes", event_number((int64_t)bytes), NULL);
	event_flush();
}

int
lost_take_over(const struct lost *lost, struct take *take,
    struct share_order *order, struct err *err)
{
	const struct take_done before = *take_done(take);
	const struct take_done *done = take_done(take);
	uint64_t messages;
	bool is_left;
	int status = lost_claim(lost, take, order, err), result;

	if (status != EX_OK)
		return status;
	result = take_from(take, lost->node, lost->by, &is_left, err);
	messages = done->messages - before.messages;
	lost_note(lost, messages, done->bytes - before.bytes);
	if (result != 0) {
		err_prefix(err, "%" PRIu64 " messages are here, the same "
		    "command does the rest", messages);
		return EX_TEMPFAIL;
	}
	if (is_left) {
		err_set(err, "%" PRIu64 " messages are here; %s has others "
		    "still: it is back, or another node took it over",
		    messages, lost->node);
		return EX_TEMPFAIL;
	}
	return EX_OK;
}

/* ---- who is lost -------------------------------------------------------- */

/* "NODE EPOCH COUNT BYTES", off the line. */
static bool
lost_node_read(struct slice *rest, struct lost_node *out)
{
	struct slice node, epoch, count, bytes;

	if (!slice_word(rest, &node) || node.n >= sizeof(out->node) ||
	    !slice_word(rest, &epoch) || !slice_word(rest, &count) ||
	    !slice_word(rest, &bytes) ||
	    !slice_number(epoch, 0, INT64_MAX, &out->epoch) ||
	    !slice_number(bytes, 0, INT64_MAX, &out->bytes))
		return false;
	snprintf(out->node, sizeof(out->node), SLICE_FMT, SLICE_ARG(node));
	return true;
}

int
lost_ask(struct share_order *order, int64_t after_s,
    struct lost_node out[LOST_NODES_MAX], size_t *out_count, struct err *err)
{
	char question[QUESTION_BYTES];
	struct slice answer, word;

	*out_count = 0;
	snprintf(question, sizeof(question), "overdue %" PRId64, after_s);
	if (share_order_ask(order, question, -1, &answer, err) != 0)
		return -1;
	if (!slice_word(&answer, &word) || !slice_is(word, "overdue"))
		return 0;		/* it says so itself */
	while (slice_trim(answer).n > 0 && *out_count < LOST_NODES_MAX)
		if (!lost_node_read(&answer, &out[(*out_count)++])) {
			*out_count = 0;
			return err_set(err, "share: who is lost cannot be "
			    "read");
		}
	return 0;
}
