/* worker.c - the process that routes messages
 *
 * In     names from the parent, message files in router/
 * Out    control files in transport/, bodies in queue/; or the message in
 *        deferred/ or postman/; lines in the journal
 * Holds  one claim at a time; tables and accounts it looked up
 * Trusts its parent; no byte of a message
 * Spec   doc/INTERNALS rows C1, P1-P4, D1, S4; section 7
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/recover/recover.h"
#include "mail/spool/encode.h"
#include "router/workers/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/ipc.h"
#include "router/workers/ahead.h"
#include "router/workers/poison.h"
#include "router/message/message.h"

#include "base/banned.h"

enum {
	WORKER_EVENT_RCPTS_MAX = 50,	/* above: only counts */
	WORKER_TOLD_MAX = 20,		/* files of users that are no mail */
	WORKER_ANSWER_MS = 5		/* an answer waits no longer for
					 * others of its batch */
};

struct worker {
	const struct conf	*conf;
	struct spool		*spool;
	struct router		*router;
	struct message		 message;
	struct signatures	 signatures;
	char			*buffer;	/* small files, whole */
	struct str		 answers;
	int64_t			 answered_ms;
	const char		*outcome;	/* first word of the answer */
	const struct claim	*claim;		/* in hand */
	struct spool_plan	 plan;		/* of it, when it is large */
	struct poison		 poison;	/* whom a script died of */
	int64_t			 told_until_ms;	/* of files of users, */
	unsigned		 told;		/* so many in that minute */
};

/* ---- reading --------------------------------------------------------- */

/* Small files are read (a page fault costs more); of large ones only what is
 * looked at comes into memory.  Message files are immutable and never
 * shortened, so a mapping stays good. */
static int
worker_map_file(struct worker *w, const struct claim *claim, struct slice *out,
    struct err *err)
{
	size_t n = (size_t)claim->bytes;
	ssize_t got;
	void *map;

	if (n > MESSAGE_READ_BYTES_MAX) {
		map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, claim->fd, 0);
		*out = (struct slice){ map, n };
		return map != MAP_FAILED ? 0 :
		    err_sys(err, "map %zu bytes", n);
	}
	got = pread(claim->fd, w->buffer, n, 0);
	*out = (struct slice){ w->buffer, n };
	if (got == (ssize_t)n)
		return 0;
	return got < 0 ? err_sys(err, "read") :
	    err_set(err, "read %zd bytes of %zu", got, n);
}

static void
worker_unmap_file(const struct worker *w, struct slice file)
{
	if (file.p != NULL && file.p != w->buffer && file.n > 0)
		munmap((void *)(uintptr_t)file.p, file.n);
}

/* ---- saying what came of it ------------------------------------------ */

static void
worker_report_trouble(const struct message *message, const char *file,
    const char *call, const struct err *err)
{
	event(EV_SPOOL_TROUBLE,
	    message->envelope.id[0] ? message->envelope.id : NULL,
	    "file", slice_of(file), "call", slice_of(call),
	    "reason", slice_of(err->text), NULL);
}

static void
worker_report_rcpts(struct message *message)
{
	const struct rcpts *rcpts = &message->rcpts;
	struct str rule = STR_INIT;

	if (rcpts->count > WORKER_EVENT_RCPTS_MAX)
		return;
	for (size_t i = 0; i < rcpts->held; i++) {
		const struct draft_rcpt *rcpt = &rcpts->list[i];

		str_reset(&rule);
		rcpt_rule_add(&rule, &rcpt->rule);
		event(EV_RCPT_ROUTED, message->envelope.id,
		    "to", rcpt->to, "orcpt", rcpt->orcpt,
		    "channel", rcpt->channel, "host", rcpt->host,
		    "user", rcpt->user, "rule", str_slice(&rule), NULL);
	}
	str_release(&rule);
}

static void
worker_report_routed(struct message *message, ino_t inode, int64_t begun_ms)
{
	const struct control_file *control = &message->control_file;

	worker_report_rcpts(message);
	event(EV_MESSAGE_ROUTED, control->id, "from", control->errors_to,
	    "rcpts", event_number((int64_t)message->rcpts.count),
	    "size", event_number((int64_t)control->size_bytes),
	    "msgid", control->msgid, "user", control->user,
	    "ms", event_number(clock_steady_ms() - begun_ms),
	    "file", event_number((int64_t)inode), NULL);
}

/* ---- a plan too large for memory (row P1) ------------------------------ */

static int
worker_sink_write(void *context, struct slice bytes, struct err *err)
{
	struct worker *w = context;

	if (w->plan.fd < 0 && spool_plan_begin(w->spool, w->claim, &w->plan,
	    err) < 0)
		return -1;
	return spool_plan_write(&w->plan, bytes, err);
}

static int
worker_sink_back(void *context, uint64_t bytes, struct err *err)
{
	struct worker *w = context;

	if (w->plan.fd < 0)
		return 0;
	if (ftruncate(w->plan.fd, (off_t)bytes) != 0 ||
	    lseek(w->plan.fd, (off_t)bytes, SEEK_SET) < 0)
		return err_sys(err, "shorten plan %s", w->plan.name);
	return 0;
}

static int
worker_sink_first(void *context, struct slice line, struct err *err)
{
	struct worker *w = context;

	if (pwrite(w->plan.fd, line.p, line.n, 0) == (ssize_t)line.n)
		return 0;
	return err_sys(err, "write plan %s", w->plan.name);
}

/* ---- one message ----------------------------------------------------- */

/* Row C1, the other way: the message waits in router/ for a better time. */
static void
worker_give_back(struct worker *w, struct claim *claim)
{
	char file[SPOOL_NAME_BYTES];
	struct err err;

	w->outcome = "later ";
	strlcpy(file, claim->name, sizeof(file));
	if (claim->fd >= 0 && spool_unclaim(w->spool, claim, &err) != 0)
		worker_report_trouble(&w->message, file, "unclaim", &err);
}

/* Rows P1-P4.  What goes wrong leaves the message in router/, where the next
 * scan finds it. */
static bool
worker_publish(struct worker *w, struct claim *claim, int64_t begun_ms)
{
	struct message *message = &w->message;
	char file[SPOOL_NAME_BYTES];
	ino_t inode = claim->inode;
	bool is_busy;
	int result;
	struct err err;

	strlcpy(file, claim->name, sizeof(file));
	result = message->is_streamed ? spool_route_plan(w->spool, claim,
	    &w->plan, &err) : spool_route(w->spool, claim,
	    str_slice(&message->control_text), &err);
	if (result == 0) {
		worker_report_routed(message, inode, begun_ms);
		return true;
	}
	/* the inode's last message is finished but for its control file */
	is_busy = errno == EEXIST;
	if (!is_busy)
		worker_report_trouble(message, file, "route", &err);
	worker_give_back(w, claim);
	if (is_busy)
		w->outcome = "soon ";
	return false;
}

/* Row D2: the message went on. */
static void
worker_copy_aside(struct worker *w, const struct claim *copy)
{
	const char *id = w->message.envelope.id;
	char name[SPOOL_NAME_BYTES];
	struct err err;

	if (spool_copy_aside(w->spool, copy, "badheader",
		w->message.headers.wrongs.list[0].reason, name, &err) != 0)
		worker_report_trouble(&w->message, copy->name, "copy aside",
		    &err);
	else
		event(EV_MESSAGE_POSTMAN, id, "file", slice_of(name),
		    "keyword", SLICE("_badheader"), "reason",
		    slice_of(w->message.headers.wrongs.list[0].reason), NULL);
}

static void
worker_report_header(const struct message *message)
{
	const struct header_wrongs *wrongs = &message->headers.wrongs;

	for (unsigned i = 0; i < wrongs->count; i++) {
		const struct header_wrong *wrong = &wrongs->list[i];

		event(EV_MESSAGE_HEADER, message->envelope.id,
		    "field", slice_of(wrong->field),
		    "line", event_number(wrong->line),
		    "reason", slice_of(wrong->reason),
		    "repaired", slice_of(wrong->is_repaired ? "yes" : "no"),
		    NULL);
	}
}

/* A second descriptor for the copy, as the claim is gone when the message
 * has gone on. */
static void
worker_publish_checked(struct worker *w, struct claim *claim, int64_t begun_ms)
{
	bool wants_copy = w->conf->header_check == HEADERS_COPIED &&
	    w->message.headers.wrongs.count > 0;
	struct claim copy = *claim;

	copy.fd = wants_copy ? fcntl(claim->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (worker_publish(w, claim, begun_ms)) {
		worker_report_header(&w->message);
		if (copy.fd >= 0)
			worker_copy_aside(w, &copy);
	}
	if (copy.fd >= 0)
		close(copy.fd);
}

static enum spool_area
worker_fate_area(enum message_fate fate)
{
	return fate == MESSAGE_DEFERRED || fate == MESSAGE_UNSEEN ?
	    AREA_DEFERRED :
	    fate == MESSAGE_FROZEN ? AREA_FREEZER : AREA_POSTMAN;
}

/* Row D1. */
static void
worker_set_aside(struct worker *w, struct claim *claim, enum message_fate fate,
    const struct err *reason)
{
	struct message *message = &w->message;
	const char *id = message->envelope.id[0] ? message->envelope.id : NULL;
	char file[SPOOL_NAME_BYTES];
	struct err err;

	if (fate == MESSAGE_DEFERRED && message->rcpts.met_death &&
	    poison_count(&w->poison, claim->inode, message->envelope.id) >=
	    POISON_DEATHS) {
		fate = MESSAGE_BROKEN;
		strlcpy(message->why, "poison", sizeof(message->why));
	}
	if (fate == MESSAGE_FROZEN)
		(void)spool_frozen_write(claim->fd);
	(void)spool_reason_write(claim->fd, reason->text);
	if (spool_set_aside(w->spool, claim, worker_fate_area(fate),
	    message->why, file, &err) != 0) {
		worker_report_trouble(message, claim->name, "set aside", &err);
		worker_give_back(w, claim);
		return;
	}
	if (fate == MESSAGE_UNSEEN)
		return;			/* goes on at once: rows L1 to L4 */
	if (fate == MESSAGE_FROZEN)
		event(EV_HOOK_FROZEN, id, "file", slice_of(file), "reason",
		    slice_of(reason->text), NULL);
	else if (fate == MESSAGE_DEFERRED)
		event(EV_MESSAGE_DEFERRED, id, "file", slice_of(file), "why",
		    slice_of(message->why), "reason", slice_of(reason->text),
		    NULL);
	else
		event(EV_MESSAGE_POSTMAN, id, "file", slice_of(file),
		    "keyword", slice_of(message->why), "reason",
		    slice_of(reason->text), NULL);
}

/* Rows C2 and C3: it goes on as another file, which comes by its own name; or
 * it has to stay as it is, and is routed now. */
static enum message_fate
worker_encode(struct worker *w, struct claim *claim, struct slice file,
    const struct control_sink *sink, struct err *err)
{
	char id[SPOOL_ID_BYTES];

	memcpy(id, w->message.envelope.id, sizeof(id));
	switch (spool_encode(w->spool, claim, file, err)) {
	case SPOOL_ENCODED:
		event(EV_MESSAGE_ENCODED, id, "file",
		    event_number((int64_t)claim->inode), NULL);
		return MESSAGE_TO_ENCODE;
	case SPOOL_ENCODED_NOT:
		message_reset(&w->message);
		w->message.keeps_8bit = true;
		return message_route(&w->message, w->router, file,
		    claim->inode, sink, err);
	case SPOOL_ENCODE_TROUBLE:
		break;
	}
	return MESSAGE_UNWRITTEN;
}

static void
worker_route_claimed(struct worker *w, struct claim *claim, int64_t begun_ms)
{
	const struct control_sink sink = { w, worker_sink_write,
	    worker_sink_back,
		worker_sink_first };
	struct slice file = { NULL, 0 };
	enum message_fate fate;
	struct err err = { "" };

	if (worker_map_file(w, claim, &file, &err) != 0) {
		worker_report_trouble(&w->message, claim->name, "read", &err);
		worker_give_back(w, claim);
		return;
	}
	w->claim = claim;
	w->plan.fd = -1;
	w->message.is_released = w->conf->hooks.script != NULL &&
	    spool_was_frozen(claim->fd);
	fate = message_route(&w->message, w->router, file, claim->inode, &sink,
	    &err);
	if (fate == MESSAGE_TO_ENCODE)
		fate = worker_encode(w, claim, file, &sink, &err);
	if (fate == MESSAGE_ROUTED) {
		worker_publish_checked(w, claim, begun_ms);
	} else {
		spool_plan_drop(&w->plan);
		if (fate == MESSAGE_TO_ENCODE) {
			;	/* it is in router/, another file */
		} else if (fate != MESSAGE_UNWRITTEN) {
			worker_set_aside(w, claim, fate, &err);
		} else {
			worker_report_trouble(&w->message, claim->name,
			    "write", &err);
			worker_give_back(w, claim);
		}
	}
	worker_unmap_file(w, file);
}

static void
worker_route_name(struct worker *w, unsigned priority, const char *name)
{
	int64_t begun_ms = clock_steady_ms();
	struct claim claim = { .fd = -1 };
	struct err err;

	switch (spool_claim(w->spool, priority, name, &claim, &err)) {
	case SPOOL_CLAIMED:
		worker_route_claimed(w, &claim, begun_ms);
		break;
	case SPOOL_CLAIM_NONE:
		/* whoever gave it this name has not let go yet */
		if (errno == EWOULDBLOCK)
			w->outcome = "soon ";
		break;
	case SPOOL_CLAIM_TROUBLE:
		if (spool_mend_twin(w->spool, priority, name)) {
			w->outcome = "soon ";
			break;
		}
		worker_report_trouble(&w->message, name, "claim", &err);
		w->outcome = "later ";
		break;
	}
	message_reset(&w->message);
}

/* ---- lines ----------------------------------------------------------- */

static void
worker_recover(struct worker *w)
{
	struct recovery found;
	unsigned swept;
	struct err err;

	if (spool_recover(w->spool, 0, NULL, NULL, &found, &err) != 0)
		worker_report_trouble(&w->message, ".", "recover", &err);
	if (spool_sweep_trash(w->spool, clock_wall_s() -
		w->conf->trash_ms / 1000, &swept, &err) != 0)
		worker_report_trouble(&w->message, "trash", "sweep", &err);
}

/* The half of a start that others do not wait for. */
static void
worker_recover_routed(struct worker *w)
{
	struct recovery found;
	struct err err;

	if (spool_recover(w->spool, RECOVERY_ROUTED, NULL, NULL, &found,
	    &err) == 0)
		return;
	worker_report_trouble(&w->message, ".", "recover", &err);
	w->outcome = "later ";
}

/* Users can leave any number of files that are no mail: the journal names
 * some of them a minute. */
static bool
worker_may_tell(struct worker *w)
{
	int64_t now_ms = clock_steady_ms();

	if (now_ms >= w->told_until_ms) {
		w->told_until_ms = now_ms + 60 * 1000;
		w->told = 0;
	}
	return w->told++ < WORKER_TOLD_MAX;
}

static void
worker_copy_in(struct worker *w, const char *name)
{
	struct err err;

	if (spool_copy_in(w->spool, name, &err) == SPOOL_COPY_TROUBLE &&
	    worker_may_tell(w))
		worker_report_trouble(&w->message, name, "copy in", &err);
}

/* "PRIORITY/NAME" into *out_before and name.  false: it is something else. */
static bool
worker_line_name(struct slice line, struct slice *out_before,
    char name[SPOOL_NAME_BYTES])
{
	size_t slash = slice_find(line, '/');
	struct slice file = slice_from(line, slash + 1);

	if (slash == line.n || file.n == 0 || file.n >= SPOOL_NAME_BYTES)
		return false;
	*out_before = slice_first(line, slash);
	memcpy(name, file.p, file.n);
	name[file.n] = 0;
	return true;
}

static void
worker_take_line(struct worker *w, struct slice line)
{
	char name[SPOOL_NAME_BYTES];
	struct slice before;
	uint64_t priority;

	if (slice_is(line, "recover"))
		worker_recover(w);
	else if (slice_is(line, WORKER_ROUTED))
		worker_recover_routed(w);
	else if (!worker_line_name(line, &before, name))
		return;
	else if (slice_number(before, 0, SPOOL_PRIORITIES - 1, &priority))
		worker_route_name(w, (unsigned)priority, name);
	else if (slice_is(before, "public"))
		worker_copy_in(w, name);
}

/* Databases are asked about all that wait here, before the first is routed;
 * about one alone when it is. */
static void
worker_foresee(struct worker *w, struct ipc_inbox *inbox)
{
	char name[SPOOL_NAME_BYTES];
	struct slice line, before;
	size_t cursor = 0, first;
	uint64_t priority;

	if (!router_asks(w->router) ||
	    ipc_line(inbox, &cursor, &line) != IPC_LINE)
		return;
	first = cursor;
	if (ipc_line(inbox, &first, &line) != IPC_LINE)
		return;
	cursor = 0;
	while (ipc_line(inbox, &cursor, &line) == IPC_LINE)
		if (worker_line_name(line, &before, name) &&
		    slice_number(before, 0, SPOOL_PRIORITIES - 1, &priority))
			ahead_foresee(w->spool, w->router, (unsigned)priority,
			    name);
}

/* Returns false when the parent is gone. */
static bool
worker_answer_parent(struct worker *w, int socket)
{
	ssize_t sent = w->answers.len == 0 ? 0 :
	    ipc_send(socket, str_slice(&w->answers), NULL, 0);

	str_reset(&w->answers);
	w->answered_ms = clock_steady_ms();
	event_flush();
	return sent >= 0;
}

static bool
worker_serve_lines(struct worker *w, struct ipc_inbox *inbox, int socket)
{
	size_t cursor = 0;
	struct slice line;
	int more;

	w->answered_ms = clock_steady_ms();
	worker_foresee(w, inbox);
	while ((more = ipc_line(inbox, &cursor, &line)) == IPC_LINE) {
		w->outcome = "done ";
		worker_take_line(w, line);
		str_adds(&w->answers, w->outcome);
		str_add_slice(&w->answers, line);
		str_addc(&w->answers, '\n');
		if (clock_steady_ms() - w->answered_ms >= WORKER_ANSWER_MS &&
		    !worker_answer_parent(w, socket))
			return false;
	}
	ipc_inbox_consume(inbox, cursor);
	return worker_answer_parent(w, socket) && more == 0;
}

void
worker_run(const struct conf *conf, struct spool *spool, int socket,
    int signer)
{
	struct worker w = { .conf = conf, .spool = spool };
	struct ipc_inbox inbox;

	/* The parent says when to stop: by end of file, between messages. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	w.router = router_new(conf);
	w.buffer = mem_alloc(MESSAGE_READ_BYTES_MAX + 1, 1);
	message_init(&w.message);
	signatures_init(&w.signatures, conf, signer);
	w.message.signatures = &w.signatures;
	str_init(&w.answers);
	ipc_inbox_init(&inbox);
	while (ipc_receive(socket, &inbox) == IPC_GOT)
		if (!worker_serve_lines(&w, &inbox, socket))
			break;
	event_flush();
	ipc_inbox_release(&inbox);
	str_release(&w.answers);
	message_release(&w.message);
	signatures_release(&w.signatures);
	mem_free(&w.buffer);
	router_free(&w.router);
}
