/* pending.c - outcomes that are owed to a sender, held until they are told
 *
 * In     final answers that someone wants to hear of
 * Out    records for those that the agent could not write
 * Holds  the words of each, as long as its job owes them
 * Spec   doc/INTERNALS.md row F0; doc/protocol/agent.md rule 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "scheduler/jobs/pending.h"

#include "base/banned.h"

enum { RECORDS_AT_ONCE = 64 };

struct pending_outcome {
	uint32_t		 offset;
	uint16_t		 tries;
	uint8_t			 kind;		/* enum verdict_kind */
	char			 status[12];
	char			*who, *text;	/* one block: who NUL text */
};

struct pending {
	/* capacity: the next power of 2 */
	uint32_t		 count;
	struct pending_outcome	 outcomes[];
};

static char *
pending_dup_words(const struct answer *answer, char **out_text)
{
	size_t who = answer->who.n, text = answer->text.n;
	char *block = mem_alloc(1, who + text + 2);

	if (who > 0)
		memcpy(block, answer->who.p, who);
	*out_text = block + who + 1;
	if (text > 0)
		memcpy(*out_text, answer->text.p, text);
	return block;
}

static struct pending_outcome *
pending_new(struct job *job)
{
	uint32_t n = job->pending != NULL ? job->pending->count : 0;

	if ((n & (n - 1)) == 0) {	/* full at powers of two */
		job->pending = mem_grow(job->pending, 1, sizeof(*job->pending) +
		    (n ? 2 * (size_t)n : 1) *
		    sizeof(job->pending->outcomes[0]));
		job->pending->count = n;
	}
	return &job->pending->outcomes[job->pending->count++];
}

void
pending_add(struct job *job, const struct answer *answer, unsigned tries)
{
	struct pending_outcome *pending = pending_new(job);

	*pending = (struct pending_outcome){ .offset = answer->offset,
	    .tries = (uint16_t)tries, .kind = (uint8_t)answer->verdict };
	pending->who = pending_dup_words(answer, &pending->text);
	snprintf(pending->status, sizeof(pending->status), SLICE_FMT,
	    SLICE_ARG(answer->status));
}

static void
pending_record(const struct pending_outcome *pending,
    struct control_record *out)
{
	*out = (struct control_record){ .kind = RECORD_OUTCOME,
	    .rcpt_offset = pending->offset, .time_s = clock_wall_s(),
	    .tries = pending->tries };
	verdict_set(&out->verdict, (enum verdict_kind)pending->kind,
	    pending->status, pending->who, "%s", pending->text);
}

int
pending_write(struct job *job, const struct control_file *control,
    bool *wrote, struct err *err)
{
	struct control_record records[RECORDS_AT_ONCE];
	size_t count = 0;
	uint32_t pending = job->pending != NULL ? job->pending->count : 0;

	for (uint32_t i = 0; i < pending; i++) {
		const struct control_rcpt *rcpt = control_rcpt_at(control,
		    job->pending->outcomes[i].offset);

		if (rcpt != NULL && !rcpt->is_final)
			pending_record(&job->pending->outcomes[i],
			    &records[count++]);
		if (count < RECORDS_AT_ONCE && i + 1 < pending)
			continue;
		if (count > 0 && control_file_append(job->control_fd, job->id,
		    records, count, err) < 0)
			return -1;
		if (count > 0)
			*wrote = true;
		count = 0;
	}
	return 0;
}

void
pending_free(struct pending **pending)
{
	if (*pending == NULL)
		return;
	for (uint32_t i = 0; i < (*pending)->count; i++)
		mem_free(&(*pending)->outcomes[i].who);
	mem_free(pending);
}

void
pending_release(struct job *job)
{
	pending_free(&job->pending);
}

struct pending *
pending_take(struct job *job)
{
	struct pending *taken = job->pending;

	job->pending = NULL;
	return taken;
}

void
pending_sift(struct pending *pending, const struct control_file *control)
{
	uint32_t count = pending != NULL ? pending->count : 0, kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct pending_outcome *one = &pending->outcomes[i];
		const struct control_rcpt *rcpt = control_rcpt_at(control,
		    one->offset);

		if (rcpt != NULL && !rcpt->is_final)
			pending->outcomes[kept++] = *one;
		else
			mem_free(&one->who);
	}
	if (pending != NULL)
		pending->count = kept;
}

size_t
pending_sift_some(struct pending *pending,
    const struct control_windows *windows, size_t index,
    const struct control_file *window)
{
	uint32_t count = pending != NULL ? pending->count : 0, kept = 0;
	size_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct pending_outcome *one = &pending->outcomes[i];
		const struct control_rcpt *rcpt = NULL;
		bool is_here = control_windows_has(windows, index,
		    one->offset);

		if (is_here)
			rcpt = control_rcpt_at(window, one->offset);
		if (is_here && (rcpt == NULL || rcpt->is_final)) {
			mem_free(&one->who);
			continue;
		}
		left += is_here;
		pending->outcomes[kept++] = *one;
	}
	if (pending != NULL)
		pending->count = kept;
	return left;
}

bool
pending_has_some(const struct pending *pending,
    const struct control_windows *windows, size_t index)
{
	uint32_t count = pending != NULL ? pending->count : 0;

	for (uint32_t i = 0; i < count; i++)
		if (control_windows_has(windows, index,
		    pending->outcomes[i].offset))
			return true;
	return false;
}

void
pending_give(struct job *job, struct pending **pending)
{
	uint32_t count = *pending != NULL ? (*pending)->count : 0;

	for (uint32_t i = 0; i < count; i++)
		*pending_new(job) = (*pending)->outcomes[i];
	mem_free(pending);
}
