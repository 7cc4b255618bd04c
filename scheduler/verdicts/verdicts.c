/* verdicts.c - sessions that wait for the next hop's word: RUN/verdict.sock
 *
 * In     lines of smtpserver's listener; verdicts on messages
 * Out    answers; jobs whose refusal the client heard, or did not hear
 * Holds  a buffer each way for a connection
 * Trusts nobody: who may ask is the kernel's word, lines and connections are
 *        bounded, and each has its own messages only
 * Spec   verdicts.h; doc/INTERNALS.md rows W1 to W3
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "mail/spool_id.h"
#include "scheduler/verdicts/verdicts.h"
#include "scheduler/settle/settle.h"

#include "base/banned.h"

struct verdicts_peer {
	struct verdicts		*verdicts;
	struct ipc_link		*link;
	TAILQ_ENTRY(verdicts_peer)	 entry;
};
TAILQ_HEAD(verdicts_peers, verdicts_peer);

struct verdicts {
	struct queue		*queue;
	int			 socket;
	struct watch		*watch;
	struct peer_rules	 rules;
	struct verdicts_peers	 peers;
	unsigned		 peer_count;
};

/* ---- the end of a wait ------------------------------------------- */

/* is_told: the client hears the refusal, so nobody else needs to. */
static void
verdicts_end_hearer(struct verdicts *verdicts, struct hearer *hearer,
    bool is_told)
{
	/* not the inode that the id tells: it may have been encoded since */
	struct job *job = job_table_find(&verdicts->queue->jobs,
	    hearer->inode);

	if (job != NULL && strcmp(job->id, hearer->id) == 0) {
		job->flags &= (uint16_t)~JOB_AWAITED;
		if (is_told)
			job->flags |= JOB_TOLD;
		if (hearer->verdict == HEARER_REFUSED &&
		    (job->flags & JOB_OWES))
			settle_report(verdicts->queue, job);
	}
	hearer_end(&verdicts->queue->hearers, &hearer);
}

static void
verdicts_peer_say(struct verdicts_peer *peer, const struct hearer *hearer)
{
	static const char *const words[] = {
		[HEARER_OPEN] = "queued", [HEARER_DELIVERED] = "delivered",
		[HEARER_REFUSED] = "refused", [HEARER_QUEUED] = "queued"
	};

	str_addf(ipc_link_out(peer->link), "%" PRIu64 " ok %s%s%s %s\n",
	    hearer->token, words[hearer->verdict],
	    hearer->status[0] ? " " : "", hearer->status, hearer->text);
}

static void
verdicts_hearer_late(void *context)
{
	struct hearer *hearer = context;
	struct verdicts_peer *peer = hearer->owner;
	struct verdicts *verdicts = peer->verdicts;

	if (hearer->token == 0 || hearer->is_answered)
		verdicts_end_hearer(verdicts, hearer, false);
	else			/* answered at the end of the turn */
		hearer_later(&verdicts->queue->hearers, hearer,
		    SLICE("the next hop took too long"));
}

static void
verdicts_arm(struct verdicts *verdicts, struct hearer *hearer, int64_t span_ms)
{
	timer_set(verdicts->queue->loop, &hearer->timer,
	    clock_steady_ms() + span_ms, verdicts_hearer_late, hearer);
}

/* There is a verdict: to be said if it was asked for. */
static void
verdicts_answer(struct verdicts *verdicts, struct hearer *hearer)
{
	struct verdicts_peer *peer = hearer->owner;

	if (hearer->token == 0 || hearer->is_answered)
		return;
	verdicts_peer_say(peer, hearer);
	hearer->is_answered = true;
	if (hearer->verdict == HEARER_REFUSED)
		verdicts_arm(verdicts, hearer, VERDICTS_TOLD_MS);
	else
		verdicts_end_hearer(verdicts, hearer, false);
}

/* ---- lines ------------------------------------------------------- */

static const char *
verdicts_expect(struct verdicts_peer *peer, const char *id)
{
	struct hearer *hearer = hearers_add(&peer->verdicts->queue->hearers, id,
	    peer);

	if (hearer == NULL)
		return "ok no";
	verdicts_arm(peer->verdicts, hearer, VERDICTS_EXPECT_MS);
	return "ok yes";
}

/* NULL: it is answered later, or was just now. */
static const char *
verdicts_wait(struct verdicts_peer *peer, struct hearer *hearer, uint64_t token)
{
	struct verdicts *verdicts = peer->verdicts;

	if (hearer == NULL)
		return "ok queued nobody waits for it any more";
	if (hearer->token != 0)
		return "trouble it was asked before";
	hearer->token = token;
	if (hearer->verdict == HEARER_OPEN)
		verdicts_arm(verdicts, hearer,
		    verdicts->queue->conf->timeouts.cut_through_ms);
	else
		verdicts_answer(verdicts, hearer);
	return NULL;
}

static const char *
verdicts_told(struct verdicts_peer *peer, struct hearer *hearer)
{
	if (hearer == NULL || hearer->verdict != HEARER_REFUSED ||
	    !hearer->is_answered)
		return "trouble it was not refused, or is reported";
	verdicts_end_hearer(peer->verdicts, hearer, true);
	return "ok done";
}

static const char *
verdicts_gone(struct verdicts_peer *peer, struct hearer *hearer)
{
	if (hearer != NULL)
		verdicts_end_hearer(peer->verdicts, hearer, false);
	return "ok done";
}

static const char *
verdicts_question(struct verdicts_peer *peer, struct slice line, uint64_t token)
{
	struct slice word, text = { NULL, 0 };
	struct hearer *hearer;
	char id[SPOOL_ID_BYTES];

	if (!slice_word(&line, &word) || !slice_word(&line, &text) ||
	    !spool_id_is(text) || text.n >= sizeof(id))
		return "trouble this is no question";
	snprintf(id, sizeof(id), SLICE_FMT, SLICE_ARG(text));
	hearer = hearers_find(&peer->verdicts->queue->hearers, id);
	if (hearer != NULL && hearer->owner != peer)
		return "trouble it is somebody else's";
	if (slice_is(word, "expect"))
		return verdicts_expect(peer, id);
	if (slice_is(word, "wait"))
		return verdicts_wait(peer, hearer, token);
	if (slice_is(word, "told"))
		return verdicts_told(peer, hearer);
	if (slice_is(word, "gone"))
		return verdicts_gone(peer, hearer);
	return "trouble this is no question";
}

/* ---- connections ------------------------------------------------- */

static void
verdicts_peer_end(void *context)
{
	struct verdicts_peer *peer = context;
	struct verdicts *verdicts = peer->verdicts;
	struct hearer *hearer, *next;

	for (hearer = TAILQ_FIRST(&verdicts->queue->hearers.all);
	    hearer != NULL; hearer = next) {
		next = TAILQ_NEXT(hearer, all);
		if (hearer->owner == peer)
			verdicts_end_hearer(verdicts, hearer, false);
	}
	TAILQ_REMOVE(&verdicts->peers, peer, entry);
	verdicts->peer_count--;
	ipc_link_free(&peer->link);
	mem_free(&peer);
}

static enum ipc_link_taken
verdicts_peer_take(void *context, struct slice line)
{
	struct verdicts_peer *peer = context;
	const char *answer;
	struct slice word;
	uint64_t token;

	if (!slice_word(&line, &word) ||
	    !slice_number(word, 1, UINT64_MAX, &token))
		return IPC_LINK_NONSENSE;
	answer = verdicts_question(peer, line, token);
	if (answer != NULL)
		str_addf(ipc_link_out(peer->link), "%" PRIu64 " %s\n", token,
		    answer);
	return IPC_LINK_NEXT;
}

static const struct ipc_link_kind verdicts_peer_kind = {
	.take = verdicts_peer_take, .ended = verdicts_peer_end,
	.line_bytes_max = VERDICTS_LINE_BYTES_MAX,
};

void
verdicts_take(struct verdicts *verdicts, int socket)
{
	struct verdicts_peer *peer = mem_alloc(1, sizeof(*peer));

	peer->verdicts = verdicts;
	peer->link = ipc_link_new(verdicts->queue->loop, socket,
	    &verdicts_peer_kind, peer);
	TAILQ_INSERT_TAIL(&verdicts->peers, peer, entry);
	verdicts->peer_count++;
}

static bool
verdicts_may_ask(const struct verdicts *verdicts, int socket)
{
	struct rights_peer peer;

	return verdicts->peer_count < VERDICTS_PEERS_MAX &&
	    peer_ask(socket, &verdicts->rules, &peer) == 0 &&
	    (peer.uid == verdicts->rules.etrn || peer.right == RIGHT_WRITE);
}

static void
verdicts_on_listener(void *context, unsigned ready)
{
	struct verdicts *verdicts = context;
	int fd = accept4(verdicts->socket, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (verdicts_may_ask(verdicts, fd))
		verdicts_take(verdicts, fd);
	else
		close(fd);
}

/* ---- the socket -------------------------------------------------- */

int
verdicts_bind(const char *run_dir, struct err *err)
{
	struct str path = STR_INIT;
	int fd;

	str_addf(&path, "%s/verdict.sock", run_dir);
	/* the spool's lock says that we are the only one */
	fd = unix_socket_listen(path.buf, 0666, err);
	str_release(&path);
	return fd;
}

struct verdicts *
verdicts_new(struct queue *queue, int socket)
{
	struct verdicts *verdicts = mem_alloc(1, sizeof(*verdicts));

	verdicts->queue = queue;
	verdicts->socket = socket;
	TAILQ_INIT(&verdicts->peers);
	peer_rules_read(queue->conf, &verdicts->rules);
	verdicts->watch = loop_watch(queue->loop, socket, LOOP_READ,
	    verdicts_on_listener, verdicts);
	return verdicts;
}

void
verdicts_free(struct verdicts **pverdicts)
{
	struct verdicts *verdicts = *pverdicts;

	if (verdicts == NULL)
		return;
	while (!TAILQ_EMPTY(&verdicts->peers))
		verdicts_peer_end(TAILQ_FIRST(&verdicts->peers));
	watch_free(&verdicts->watch);
	close(verdicts->socket);
	mem_free(pverdicts);
}

void
verdicts_reload(struct verdicts *verdicts)
{
	peer_rules_read(verdicts->queue->conf, &verdicts->rules);
}

void
verdicts_turn_end(struct verdicts *verdicts)
{
	struct hearers *hearers = &verdicts->queue->hearers;
	struct verdicts_peer *peer;
	struct hearer *hearer;

	while ((hearer = TAILQ_FIRST(&hearers->decided)) != NULL) {
		TAILQ_REMOVE(&hearers->decided, hearer, decided);
		hearer->is_decided = false;
		verdicts_answer(verdicts, hearer);
	}
	TAILQ_FOREACH(peer, &verdicts->peers, entry)
		ipc_link_send(peer->link);
}
