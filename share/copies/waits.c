/* waits.c - who waits for an answer about copies
 *
 * In     questions, descriptors
 * Out    answers
 * Holds  the descriptors
 * Trusts no file: only regular ones are read, of a size that is taken once
 * Spec   waits.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "journal/counters.h"
#include "share/copies/bounds.h"
#include "share/copies/waits.h"

#include "base/banned.h"

struct copies_wait *
waits_new(const struct copying *question, const int *fds)
{
	struct copies_wait *wait = mem_alloc(1, sizeof(*wait));
	size_t count = 0;

	str_init(&wait->lines);
	if (question != NULL) {
		size_t n = question->line.n;

		wait->line = mem_alloc(1, n + 1);
		memcpy(wait->line, question->line.p, n);
		(void)copying_read((struct slice){ wait->line, n },
		    &wait->question);
		count = copying_descriptors(question->verb);
	}
	for (size_t i = 0; i < WAITS_FDS; i++)
		wait->fds[i] = i < count ? fds[i] : -1;
	return wait;
}

void
waits_free(struct copies_wait **pwait)
{
	struct copies_wait *wait = *pwait;

	for (size_t i = 0; i < WAITS_FDS; i++)
		if (wait->fds[i] >= 0)
			close(wait->fds[i]);
	str_release(&wait->lines);
	mem_free(&wait->line);
	mem_free(pwait);
}

/* Is its file for the answer? */
static bool
waits_is_written(const struct copies_wait *wait)
{
	return wait->question.verb == COPYING_ARRIVING ||
	    wait->question.verb == COPYING_HELD;
}

int
waits_measure(struct copies_wait *wait, uint64_t bytes_max, struct err *err)
{
	struct stat st;

	for (size_t i = 0; i < WAITS_FDS && wait->fds[i] >= 0; i++) {
		if (fstat(wait->fds[i], &st) != 0)
			return err_sys(err, "its file");
		if (!S_ISREG(st.st_mode))
			return err_set(err, "it is no regular file");
		wait->bytes[i] = (uint64_t)st.st_size;
		if (waits_is_written(wait))
			continue;
		if (wait->bytes[i] == 0)
			return err_set(err, "its file is empty");
		if (wait->bytes[i] > bytes_max)
			return err_set(err, "it is larger than copies size");
	}
	return 0;
}

int
waits_read(const struct copies_wait *wait, int which, uint64_t from,
    char *buffer, size_t bytes)
{
	size_t got = 0;
	ssize_t n;

	while (got < bytes) {
		n = pread(wait->fds[which], buffer + got, bytes - got,
		    (off_t)(from + got));
		if (n <= 0)
			return -1;
		got += (size_t)n;
	}
	return 0;
}

bool
waits_is_grouped(const struct copies_wait *wait)
{
	return !wait->is_status && (wait->question.verb == COPYING_COPY ||
	    wait->question.verb == COPYING_KEPT ||
	    wait->question.verb == COPYING_DONE);
}

uint64_t
waits_bytes(const struct copies_wait *wait)
{
	return waits_is_written(wait) ? 0 :
	    wait->bytes[0] + wait->bytes[1];
}

void
waits_answer(struct copies_wait *wait, struct slice lines)
{
	copies_answer_fn *fn = wait->fn;

	wait->fn = NULL;
	if (fn != NULL)
		fn(wait->context, lines);
}

void
waits_answer_away(struct copies_wait *wait, const char *why)
{
	struct str line = STR_INIT;

	if (wait->is_status) {		/* without the owners, then */
		str_adds(&wait->lines, "ok\n");
		waits_answer(wait, str_slice(&wait->lines));
		return;
	}
	if (wait->question.verb == COPYING_COPY &&
	    wait->fn != NULL)
		counters_tally(TALLY_COPIES_FAILED);
	str_addf(&line, "ok away %s\n", why);
	waits_answer(wait, str_slice(&line));
	str_release(&line);
}
