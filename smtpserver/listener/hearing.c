/* hearing.c - what other machines of the cluster tell: failed logins, blocks
 *
 * In     lines of share
 * Out    failures and blocks, in memory that the workers read
 * Holds  a connection to share; how far it has heard
 * Trusts share as far as its lines can be read: sums, and blocks that are
 *        checked (blocks.c)
 * Spec   hearing.h; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/consult/share_ask.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "smtpserver/listener/hearing.h"
#include "smtpserver/auth/blocks.h"

#include "base/banned.h"

enum {
	AGAIN_MS = 200,		/* share is another one after a reload */
	PAUSE_MS = 500,		/* between two questions, unless */
	MANY = 100,		/* of one answer: then there are more */
	AFTER_BYTES = 48, COUNTER_BYTES = 24
};

struct hearing {
	struct process	*process;
	struct failures	*failures;
	struct ipc_link	*share;			/* NULL: not connected */
	struct timer	 timer;			/* to connect, or to ask */
	char		 after[AFTER_BYTES];	/* of failed logins */
	char		 counter[COUNTER_BYTES];	/* of these blocks */
	unsigned	 count;			/* of this answer */
};

static void hearing_on_time(void *context);

static void
hearing_wait(struct hearing *hearing, int64_t for_ms)
{
	timer_set(hearing->process->loop, &hearing->timer, clock_steady_ms() +
	    for_ms, hearing_on_time, hearing);
}

static void
hearing_say_news(struct hearing *hearing)
{
	hearing->count = 0;
	str_addf(ipc_link_out(hearing->share), "news news %s %s\n",
	    hearing->after, hearing->counter);
}

/* ---- answers ------------------------------------------------------------ */

static bool
hearing_copy(struct slice word, char *out, size_t bytes)
{
	if (word.n >= bytes)
		return false;
	memcpy(out, word.p, word.n);
	out[word.n] = '\0';
	return true;
}

/* "AFTER COUNTER": all is heard until then.  A Redis that knows of no blocks
 * has lost them: those that were heard hold on. */
static bool
hearing_end_news(struct hearing *hearing, struct slice rest)
{
	struct slice after, counter;

	if (!slice_word(&rest, &after) || !slice_word(&rest, &counter) ||
	    !hearing_copy(after, hearing->after, sizeof(hearing->after)))
		return false;
	if (slice_is(counter, "-") || slice_is(counter, hearing->counter)) {
		hearing_wait(hearing, hearing->count >= MANY ? 0 : PAUSE_MS);
		return true;
	}
	blocks_begin();
	str_adds(ipc_link_out(hearing->share), "blocks blocks\n");
	return true;
}

/* "AGE_MS SUM" */
static bool
hearing_take_failure(struct hearing *hearing, struct slice rest,
    bool is_failed)
{
	struct slice word, sum;
	uint64_t age_ms;

	if (!slice_word(&rest, &word) ||
	    !slice_number(word, 0, INT64_MAX, &age_ms) ||
	    !slice_word(&rest, &sum) || sum.n != FAILURES_SUM_BYTES - 1)
		return false;
	hearing->count++;
	if (is_failed)
		failures_hear(hearing->failures, sum, (int64_t)age_ms);
	else
		failures_hear_clear(hearing->failures, sum);
	return true;
}

static bool
hearing_take_news(struct hearing *hearing, struct slice rest)
{
	struct slice word = { NULL, 0 };

	(void)slice_word(&rest, &word);
	if (slice_is(word, "failed") || slice_is(word, "cleared"))
		return hearing_take_failure(hearing, rest,
		    slice_is(word, "failed"));
	return slice_is(word, "ok") && hearing_end_news(hearing, rest);
}

/* "block ..." each, then "counter COUNTER" or "away WORDS", and "ok": they
 * count now, or are asked for once more. */
static bool
hearing_take_blocks(struct hearing *hearing, struct slice rest)
{
	struct slice word = { NULL, 0 };

	(void)slice_word(&rest, &word);
	if (slice_is(word, "block")) {
		(void)blocks_add(slice_trim(rest));
		return true;
	}
	if (slice_is(word, "counter")) {
		if (!slice_word(&rest, &word) || !hearing_copy(word,
		    hearing->counter, sizeof(hearing->counter)))
			return false;
		blocks_commit();
		return true;
	}
	if (slice_is(word, "ok"))
		hearing_wait(hearing, PAUSE_MS);
	return slice_is(word, "ok") || slice_is(word, "away");
}

static enum ipc_link_taken
hearing_take_line(void *context, struct slice line)
{
	struct hearing *hearing = context;
	struct slice token = { NULL, 0 };

	(void)slice_word(&line, &token);
	if (slice_is(token, "news") ? hearing_take_news(hearing, line) :
	    slice_is(token, "blocks") && hearing_take_blocks(hearing, line))
		return IPC_LINK_NEXT;
	return IPC_LINK_NONSENSE;
}

static void
hearing_on_share_gone(void *context)
{
	struct hearing *hearing = context;

	ipc_link_free(&hearing->share);
	hearing_wait(hearing, AGAIN_MS);
}

static const struct ipc_link_kind hearing_kind = {
	.take = hearing_take_line, .ended = hearing_on_share_gone,
	.reads_on = true,
};

/* ---- questions ----------------------------------------------------------- */

static void
hearing_on_time(void *context)
{
	struct hearing *hearing = context;
	struct err err;
	int fd;

	if (hearing->share == NULL) {
		fd = unix_socket_connect_in(hearing->process->conf->run_dir,
		    SHARE_SOCKET, SOCK_NONBLOCK, &err);
		if (fd < 0) {
			hearing_wait(hearing, AGAIN_MS);
			return;
		}
		hearing->share = ipc_link_new(hearing->process->loop, fd,
		    &hearing_kind, hearing);
	}
	hearing_say_news(hearing);
	ipc_link_send(hearing->share);
}

void
hearing_reload(struct hearing *hearing)
{
	ipc_link_free(&hearing->share);
	timer_clear(&hearing->timer);
	if (conf_cluster_has_redis(&hearing->process->conf->cluster)) {
		hearing_wait(hearing, 0);
		return;
	}
	strlcpy(hearing->counter, "-", sizeof(hearing->counter));
	blocks_begin();
	blocks_commit();
}

struct hearing *
hearing_new(struct process *process, struct failures *failures)
{
	struct hearing *hearing = mem_alloc(1, sizeof(*hearing));

	hearing->process = process;
	hearing->failures = failures;
	strlcpy(hearing->after, "-", sizeof(hearing->after));
	strlcpy(hearing->counter, "-", sizeof(hearing->counter));
	hearing_reload(hearing);
	return hearing;
}

void
hearing_free(struct hearing **hearing)
{
	if (*hearing == NULL)
		return;
	ipc_link_free(&(*hearing)->share);
	timer_clear(&(*hearing)->timer);
	mem_free(hearing);
}
