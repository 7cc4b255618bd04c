/* queue_count.c - how many messages wait, by what the control files say
 *
 * In     transport/
 * Out    messages and recipients in each state, bytes, the oldest
 * Holds  one control file's bytes at a time, some open ahead
 * Trusts control files as far as control_file_parse does
 * Spec   doc/INTERNALS.md row P4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>

#include "mail/control_file/queue_count.h"

#include "base/banned.h"

const char *const queue_states[QUEUE_STATES] = {
	[QUEUE_READY] = "ready", [QUEUE_WAITING] = "waiting",
	[QUEUE_HELD] = "held", [QUEUE_FROZEN] = "frozen",
	[QUEUE_FAILED] = "failed",
	[QUEUE_DELETED] = "deleted", [QUEUE_DONE] = "done"
};

struct counting {
	struct queue_counts *counts;
	int64_t		 now_s;
	struct arena	*arena;
	struct str	 text;
};

static enum queue_state
rcpt_state(const struct control_file *control, const struct control_rcpt *rcpt,
    int64_t now_s)
{
	if (control_rcpt_is_failed(rcpt))
		return QUEUE_FAILED;
	if (rcpt->is_final)
		return rcpt->is_cancelled ? QUEUE_DELETED : QUEUE_DONE;
	if (rcpt->is_frozen)
		return QUEUE_FROZEN;
	if (!control_rcpt_is_free(rcpt, now_s))
		return QUEUE_HELD;
	if (rcpt->next_s > 0)
		return rcpt->next_s > now_s ? QUEUE_WAITING : QUEUE_READY;
	/* tried, and the schedule says when again: it is not in the file */
	return rcpt->last_try_s > 0 || control->terms.hold_until_s > now_s ?
	    QUEUE_WAITING : QUEUE_READY;
}

static void
message_count(struct counting *counting, const struct control_file *control)
{
	struct queue_counts *counts = counting->counts;
	int64_t born_s = spool_id_time_us(slice_of(control->id)) / 1000000;
	uint64_t found[QUEUE_STATES] = { 0 };

	for (size_t i = 0; i < control->rcpt_total; i++)
		found[rcpt_state(control, &control->groups[0].rcpts[i],
		    counting->now_s)]++;
	for (int i = 0; i < QUEUE_STATES; i++) {
		counts->recipients[i] += found[i];
		counts->messages[i] += found[i] > 0;
	}
	counts->total++;
	counts->bytes += control->size_bytes;
	if (counts->oldest_s == 0 || born_s < counts->oldest_s)
		counts->oldest_s = born_s;
}

static bool
queue_count_file(void *context, const char *name, int fd)
{
	struct counting *counting = context;
	const char *last = strrchr(name, '/');
	struct spool_name parts;
	struct control_file control;
	struct stat st;
	struct err err;

	if (!spool_name_parse(slice_of(last ? last + 1 : name), &parts) ||
	    parts.pid != 0 || parts.why.n > 0)
		return true;
	if (fstat(fd, &st) != 0 || st.st_nlink == 0)
		return true;		/* it went on meanwhile */
	arena_reset(counting->arena);
	str_reset(&counting->text);
	if (control_file_read(fd, CONTROL_BYTES_MAX, &counting->text,
	    &err) == 0 && control_file_parse(counting->arena,
	    str_slice(&counting->text), &control, &err) == 0)
		message_count(counting, &control);
	return true;
}

int
queue_count(const struct spool *spool, int64_t now_s,
    struct queue_counts *out, struct err *err)
{
	struct counting counting = { .counts = out, .now_s = now_s,
	    .arena = arena_new(), .text = STR_INIT };
	int result;

	memset(out, 0, sizeof(*out));
	result = spool_scan_files(spool, AREA_TRANSPORT, 0, queue_count_file,
	    &counting, err);
	arena_free(&counting.arena);
	str_release(&counting.text);
	return result;
}
