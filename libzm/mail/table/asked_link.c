/* asked_link.c - the connection to the process that asks databases
 *
 * In     keys
 * Out    what the process tables answers, over RUN/tables.sock
 * Holds  one connection, of all tables; questions that wait to be sent, and
 *        those whose answers nobody wanted yet; answers, as long as they were
 *        lent for
 * Trusts nothing: answers are bounded, in time too
 * Spec   asked_link.h; tables/ask/server.h, doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/peer.h"
#include "io/unix_socket.h"
#include "mail/table/asked_link.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum {
	ASKED_FOR_MS = 8000,	/* longer than tables takes to give up */
	ASKED_KEPT_MAX = 1024,	/* answers, and of how many bytes */
	ASKED_KEPT_BYTES = 256,
	ASKED_EXPECTED_MAX = 192,	/* questions whose answers come later */
	RUN_DIR_BYTES = 4000
};

/* A question without an answer. */
struct asked_open {
	uint64_t	 token;
	int64_t		 since_ms;	/* its answer may lie unread for long:
					 * it is true from then on */
	struct asked	*asked;		/* NULL: that table was closed */
	struct str	 key;
};

static struct {
	char		 run_dir[RUN_DIR_BYTES];
	struct peer	 peer;
	pid_t		 pid;		/* whose connection it is; 0: there was
					 * none */
	unsigned	 number;	/* of the connection, from 1 on */
	uint64_t	 token;		/* of the last question */
	struct str	 line;		/* of the last answer */
	/* one more than can be expected: the question that is waited for */
	struct asked_open open[ASKED_EXPECTED_MAX + 1];
	size_t		 open_count;
} asked_link;

void
table_ask_at(const char *run_dir)
{
	strlcpy(asked_link.run_dir, run_dir, sizeof(asked_link.run_dir));
}

/* ---- questions, answers that were lent --------------------------------- */

static void
asked_link_remove_open(size_t i)
{
	str_release(&asked_link.open[i].key);
	asked_link.open[i] = asked_link.open[--asked_link.open_count];
}

void
asked_link_forget(void)
{
	if (asked_link.pid == 0)
		return;
	peer_close(&asked_link.peer);
	while (asked_link.open_count > 0)
		asked_link_remove_open(0);
	/* what comes by another connection may be another answer */
	asked_link.number++;
}

void
asked_link_leave(struct asked *asked)
{
	for (size_t i = 0; i < asked_link.open_count; i++)
		if (asked_link.open[i].asked == asked)
			asked_link.open[i].asked = NULL;
	cache_free(&asked->kept);
}

/* answer: "ok MS found VALUE", "ok MS none"; others are not kept. */
static void
asked_keep(const struct asked_open *open, struct slice answer)
{
	struct asked *asked = open->asked;
	struct slice word;
	int64_t for_ms;

	if (asked == NULL || !slice_word(&answer, &word) ||
	    !slice_is(word, "ok"))
		return;
	for_ms = table_answer_lent(&answer);
	if (for_ms == 0 || answer.n > ASKED_KEPT_BYTES)
		return;
	if (asked->kept == NULL)
		asked->kept = cache_new(ASKED_KEPT_MAX);
	else if (asked->kept_of != asked_link.number)
		cache_clear(asked->kept);
	asked->kept_of = asked_link.number;
	cache_add(asked->kept, str_slice(&open->key), answer,
	    open->since_ms + for_ms);
}

bool
asked_link_knows(const struct asked *asked, struct slice key,
    struct slice *out_answer)
{
	return asked->kept != NULL && asked->kept_of == asked_link.number &&
	    cache_find(asked->kept, key, clock_steady_ms(), out_answer);
}

static bool
asked_link_find_open(const struct asked *asked, struct slice key,
    uint64_t *out_token)
{
	for (size_t i = 0; i < asked_link.open_count; i++) {
		const struct asked_open *open = &asked_link.open[i];

		if (open->asked == asked &&
		    slice_equal(str_slice(&open->key), key)) {
			*out_token = open->token;
			return true;
		}
	}
	return false;
}

/* Note whose answer the line is.  false: nobody's. */
static bool
asked_link_note_line(struct slice line, uint64_t *out_token)
{
	struct slice word;

	if (!slice_word(&line, &word) ||
	    !slice_number(word, 1, UINT64_MAX, out_token))
		return false;
	for (size_t i = 0; i < asked_link.open_count; i++)
		if (asked_link.open[i].token == *out_token) {
			asked_keep(&asked_link.open[i], slice_trim(line));
			asked_link_remove_open(i);
			return true;
		}
	return false;
}

/* ---- lines -------------------------------------------------------------- */

/* A whole line that has come, into asked_link.line. */
static bool
asked_link_has_line(void)
{
	struct slice unread = peer_unread(&asked_link.peer);
	size_t n = slice_find(unread, '\n');

	if (n == unread.n)
		return false;
	str_reset(&asked_link.line);
	str_add_slice(&asked_link.line, slice_first(unread, n));
	peer_consume(&asked_link.peer, n + 1);
	return true;
}

/* Is the process still there?  Answers that have come are taken. */
static bool
asked_link_is_alive(void)
{
	uint64_t token;
	size_t before;

	if (!peer_is_open(&asked_link.peer))
		return false;
	for (;;) {
		while (asked_link_has_line())
			if (!asked_link_note_line(str_slice(&asked_link.line),
			    &token))
				return false;
		before = peer_unread(&asked_link.peer).n;
		if (before > 0 || peer_is_quiet(&asked_link.peer))
			return true;
		if (peer_unread(&asked_link.peer).n == before)
			return false;
	}
}

int
asked_link_connect(struct err *err)
{
	char path[RUN_DIR_BYTES + 32];
	int fd;

	/* a parent's connection is his */
	if (asked_link.pid == getpid() && asked_link_is_alive())
		return 0;
	asked_link_forget();
	if (asked_link.pid == 0) {
		peer_init(&asked_link.peer);
		str_init(&asked_link.line);
	}
	asked_link.pid = getpid();
	snprintf(path, sizeof(path), "%s/" TABLES_SOCKET, asked_link.run_dir);
	fd = unix_socket_connect(path, 0, err);
	if (fd < 0)
		return err_prefix(err, "the process that asks databases does "
		    "not answer (zmailer run keeps it)");
	peer_adopt(&asked_link.peer, fd);
	asked_link.number++;
	return 0;
}

int
asked_link_line(int64_t deadline_ms, struct slice *out_line, struct err *err)
{
	enum peer_result got;

	while (!asked_link_has_line()) {
		got = peer_fill(&asked_link.peer, deadline_ms, err);
		if (got == PEER_EOF)
			return err_set(err, "the process that asks databases "
			    "ended");
		if (got == PEER_TIMEOUT)
			return err_set(err, "the process that asks databases "
			    "does not answer");
		if (got != PEER_OK)
			return -1;
	}
	*out_line = str_slice(&asked_link.line);
	return 0;
}

/* Add a question to what will be sent.  returns its token */
static uint64_t
asked_link_add(const struct asked *asked, const char *verb, struct slice key)
{
	str_addf(&asked_link.peer.out, "%" PRIu64 " %s %s%s" SLICE_FMT "\n",
	    ++asked_link.token, verb, asked->name, key.n > 0 ? " " : "",
	    SLICE_ARG(key));
	return asked_link.token;
}

/* The same, and its answer can be waited for. */
static uint64_t
asked_link_add_open(struct asked *asked, const char *verb, struct slice key)
{
	struct asked_open *open = &asked_link.open[asked_link.open_count++];

	open->token = asked_link_add(asked, verb, key);
	open->since_ms = clock_steady_ms();
	open->asked = asked;
	str_init(&open->key);
	str_add_slice(&open->key, key);
	return open->token;
}

/* Send what was expected, and what is asked now, in one write. */
static int
asked_link_flush(struct err *err)
{
	if (asked_link.peer.out.len == 0 || peer_flush(&asked_link.peer,
	    clock_steady_ms() + ASKED_FOR_MS, err) == PEER_OK)
		return 0;
	asked_link_forget();
	return -1;
}

/* Lines until the answer to token, which is then in *out_line. */
static int
asked_link_wait(uint64_t token, struct slice *out_line, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + ASKED_FOR_MS;
	uint64_t came;

	do {
		if (asked_link_line(deadline_ms, out_line, err) < 0)
			return -1;
		if (!asked_link_note_line(*out_line, &came))
			return err_set(err, "the answer of the process that "
			    "asks databases is none");
	} while (came != token);
	return 0;
}

int
asked_link_ask(struct asked *asked, const char *verb, struct slice key,
    struct slice *out_answer, struct err *err)
{
	struct slice token_word;
	uint64_t token;

	if (!asked_link_find_open(asked, key, &token))
		token = asked_link_add_open(asked, verb, key);
	if (asked_link_flush(err) < 0)
		return -1;
	if (asked_link_wait(token, out_answer, err) < 0) {
		asked_link_forget();
		return -1;
	}
	str_reset(&asked->line);
	str_add_slice(&asked->line, *out_answer);
	*out_answer = str_slice(&asked->line);
	(void)slice_word(out_answer, &token_word);
	return 0;
}

void
asked_link_expect(struct asked *asked, const char *verb, struct slice key)
{
	struct slice answer;
	uint64_t token;
	struct err err;

	/* what waits to be sent was looked after just now */
	if ((asked_link.pid != getpid() || asked_link.peer.out.len == 0) &&
	    asked_link_connect(&err) < 0)
		return;
	if (asked_link.open_count < ASKED_EXPECTED_MAX &&
	    !asked_link_knows(asked, key, &answer) &&
	    !asked_link_find_open(asked, key, &token))
		(void)asked_link_add_open(asked, verb, key);
}

int
asked_link_list(const struct asked *asked, uint64_t *out_token,
    struct err *err)
{
	if (asked_link.open_count > 0)
		asked_link_forget();
	if (asked_link_connect(err) < 0)
		return -1;
	*out_token = asked_link_add(asked, "list", SLICE(""));
	return asked_link_flush(err);
}
