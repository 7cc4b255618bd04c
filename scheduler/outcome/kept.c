/* kept.c - outcomes that are owed to a sender, kept until they are told
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
#include "scheduler/outcome/kept.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

enum { RECORDS_AT_ONCE = 64 };

struct kept_outcome {
	uint32_t		 offset;
	uint16_t		 tries;
	uint8_t			 kind;		/* enum verdict_kind */
	char			 status[12];
	char			*who, *text;	/* one block: who NUL text */
};

struct kept {
	uint32_t		 count;		/* room: the next power of 2 */
	struct kept_outcome	 outcomes[];
};

static char *
words_dup(const struct answer *answer, char **out_text)
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

void
kept_add(struct job *job, const struct answer *answer, unsigned tries)
{
	uint32_t n = job->kept != NULL ? job->kept->count : 0;
	struct kept_outcome *kept;

	if ((n & (n - 1)) == 0) {	/* full at powers of two */
		job->kept = mem_grow(job->kept, 1, sizeof(*job->kept) +
		    (n ? 2 * (size_t)n : 1) * sizeof(*kept));
		job->kept->count = n;
	}
	kept = &job->kept->outcomes[job->kept->count++];
	*kept = (struct kept_outcome){ .offset = answer->offset,
	    .tries = (uint16_t)tries, .kind = (uint8_t)answer->verdict };
	kept->who = words_dup(answer, &kept->text);
	snprintf(kept->status, sizeof(kept->status), SLICE_FMT,
	    SLICE_ARG(answer->status));
}

static void
record_make(const struct kept_outcome *kept, struct control_record *out)
{
	*out = (struct control_record){ .kind = RECORD_OUTCOME,
	    .rcpt_offset = kept->offset, .time_s = clock_wall_s(),
	    .tries = kept->tries };
	verdict_set(&out->verdict, (enum verdict_kind)kept->kind,
	    kept->status, kept->who, "%s", kept->text);
}

int
kept_write(struct job *job, const struct control_file *control, struct err *err)
{
	struct control_record records[RECORDS_AT_ONCE];
	size_t count = 0;
	uint32_t kept = job->kept != NULL ? job->kept->count : 0;
	int result = 0;

	for (uint32_t i = 0; i < kept; i++) {
		const struct control_rcpt *rcpt = report_rcpt(control,
		    job->kept->outcomes[i].offset);

		if (rcpt != NULL && !rcpt->is_final)
			record_make(&job->kept->outcomes[i], &records[count++]);
		if (count < RECORDS_AT_ONCE && i + 1 < kept)
			continue;
		if (count > 0 && control_file_append(job->control_fd, job->id,
		    records, count, err) < 0)
			return -1;
		result |= count > 0;
		count = 0;
	}
	return result;
}

void
kept_release(struct job *job)
{
	if (job->kept == NULL)
		return;
	for (uint32_t i = 0; i < job->kept->count; i++)
		mem_free(&job->kept->outcomes[i].who);
	mem_free(&job->kept);
}
