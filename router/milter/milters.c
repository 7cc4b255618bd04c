/* milters.c - mail of sendmail(1) goes past the milters before it is routed
 *
 * In     deferred/N.milter; what smtpserver's process says of each
 * Out    the same messages in router/ or freezer/, with the milters' word
 * Holds  the listening socket (bound for life); in the child: who waits, a
 *        locked descriptor of each that is shown
 * Trusts smtpserver's process for what milters say; who may connect is said
 *        by the socket's group and mode
 * Spec   milters.h; doc/INTERNALS.md rows L1 to L4
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/milter/milters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"
#include "io/notify.h"
#include "io/unix_socket.h"
#include "journal/event.h"
#include "mail/envelope.h"
#include "mail/spool/spool.h"

#include "base/banned.h"

enum {
	MILTERS_SCAN_MS = 60000,
	MILTERS_LOCKED_MS = 50,		/* who put it here lets go of it */
	MILTERS_WORD_BYTES = 600
};

struct milters {
	struct process	*process;
	struct str	 path;
	int		 listener;
	struct child	*child;
};

/* ---- in the process ---------------------------------------------------- */

struct unseen {			/* a message of deferred/ */
	char		 name[SPOOL_NAME_BYTES];
	uint64_t	 token;
	int		 fd;		/* locked while it is shown; -1 */
	int64_t		 due_ms;
	bool		 is_found;	/* by the scan that goes on */
	TAILQ_ENTRY(unseen) entry;
};

struct milters_room {
	struct process		*process;
	struct spool		*spool;
	struct notify		*notify;
	int			 listener, peer;	/* peer -1: nobody */
	struct watch		*listener_watch, *peer_watch, *parent_watch;
	struct ipc_inbox	 inbox;
	struct timer		 scan_timer, due_timer;
	TAILQ_HEAD(, unseen)	 all;		/* the oldest first */
	unsigned		 shown_count;
	uint64_t		 last_token;
};

static void
milters_trouble(const char *name, const char *call, const struct err *err)
{
	event(EV_SPOOL_TROUBLE, NULL, "file", slice_of(name), "call",
	    slice_of(call), "reason", slice_of(err->text), NULL);
}

static void
unseen_free(struct milters_room *room, struct unseen *unseen)
{
	if (unseen->fd >= 0) {
		close(unseen->fd);
		room->shown_count--;
	}
	TAILQ_REMOVE(&room->all, unseen, entry);
	mem_free(&unseen);
}

static void
unseen_wait(struct milters_room *room, struct unseen *unseen, int64_t for_ms)
{
	if (unseen->fd >= 0) {
		close(unseen->fd);
		unseen->fd = -1;
		room->shown_count--;
	}
	unseen->due_ms = clock_steady_ms() + for_ms;
}

static struct unseen *
unseen_find(struct milters_room *room, const char *name)
{
	struct unseen *unseen;

	TAILQ_FOREACH(unseen, &room->all, entry)
		if (strcmp(unseen->name, name) == 0)
			return unseen;
	return NULL;
}

/* ---- showing ------------------------------------------------------------ */

/* 1 opened; 0 not now; -1 it is gone. */
static int
unseen_open(const struct milters_room *room, struct unseen *unseen)
{
	int dir = spool_dir_fd(room->spool, AREA_DEFERRED, 0);
	int fd = openat(dir, unseen->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
	    O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? -1 : 0;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return 0;
	}
	unseen->fd = fd;
	return 1;
}

static void
unseen_show(struct milters_room *room, struct unseen *unseen)
{
	struct str line = STR_INIT;
	int opened = unseen_open(room, unseen);
	ssize_t sent;

	if (opened < 0) {
		unseen_free(room, unseen);
		return;
	}
	if (opened == 0) {
		unseen_wait(room, unseen, MILTERS_LOCKED_MS);
		return;
	}
	room->shown_count++;
	unseen->token = ++room->last_token;
	str_addf(&line, "show %" PRIu64 "\n", unseen->token);
	sent = ipc_send(room->peer, str_slice(&line), &unseen->fd, 1);
	str_release(&line);
	if (sent <= 0)		/* it does not read; see milters_on_peer */
		unseen_wait(room, unseen, 1000);
}

static void milters_feed(void *context);

/* Whoever is due, as long as there is somebody to show it to. */
static void
milters_feed(void *context)
{
	struct milters_room *room = context;
	int64_t now_ms = clock_steady_ms(), next_ms = INT64_MAX;
	struct unseen *unseen, *next;

	for (unseen = TAILQ_FIRST(&room->all); unseen != NULL &&
	    room->peer >= 0; unseen = next) {
		next = TAILQ_NEXT(unseen, entry);
		if (unseen->fd < 0 && unseen->due_ms <= now_ms) {
			if (room->shown_count == MILTERS_AT_ONCE)
				break;	/* an answer comes first */
			unseen_show(room, unseen);
		}
	}
	TAILQ_FOREACH(unseen, &room->all, entry)
		if (unseen->fd < 0 && room->peer >= 0 &&
		    unseen->due_ms > now_ms && unseen->due_ms < next_ms)
			next_ms = unseen->due_ms;
	timer_clear(&room->due_timer);
	if (next_ms < INT64_MAX)
		timer_set(room->process->loop, &room->due_timer, next_ms,
		    milters_feed, room);
}

static void
milters_hang_up(struct milters_room *room)
{
	struct unseen *unseen;

	watch_free(&room->peer_watch);
	close(room->peer);
	room->peer = -1;
	ipc_inbox_release(&room->inbox);
	ipc_inbox_init(&room->inbox);
	TAILQ_FOREACH(unseen, &room->all, entry)
		if (unseen->fd >= 0)
			unseen_wait(room, unseen, 0);
}

/* ---- what comes of it ---------------------------------------------------- */

static void
unseen_put_off(struct milters_room *room, struct unseen *unseen)
{
	int64_t age_s = 0;
	struct stat st;

	if (fstat(unseen->fd, &st) == 0)
		age_s = clock_wall_s() - st.st_mtime;
	unseen_wait(room, unseen, spool_deferred_wait_s(age_s) * 1000);
}

static const char *
unseen_id(const struct unseen *unseen, char id[SPOOL_ID_BYTES])
{
	return spool_read_id(unseen->fd, id) ? id : NULL;
}

/* false: the answer says nothing of the kind. */
static bool
unseen_settle(struct milters_room *room, struct unseen *unseen,
    struct slice what, const struct str texts[4])
{
	char word[MILTERS_WORD_BYTES] = "passed", id[SPOOL_ID_BYTES];
	struct spool_seen seen = { .name = unseen->name, .fd = unseen->fd,
	    .word = word };
	const char *its = unseen_id(unseen, id);
	enum spool_gone gone;
	struct err err;

	if (slice_is(what, "wait"))
		return false;
	if (texts[0].len > 0)
		seen.changed = texts[0].buf;
	if (texts[1].len > 0)
		seen.freeze = texts[1].buf;
	seen.reason = texts[3].buf;
	if (slice_is(what, "refuse"))
		snprintf(word, sizeof(word), "refused %s %s", texts[2].buf,
		    texts[3].buf);
	gone = slice_is(what, "discard") ?
	    spool_discard_seen(room->spool, &seen, &err) :
	    spool_go_on_seen(room->spool, &seen, &err);
	if (gone == SPOOL_GONE_TROUBLE) {
		milters_trouble(unseen->name, "go on", &err);
		return false;
	}
	event(EV_MILTER_LOCAL, its, "do", what, "reason",
	    str_slice(&texts[3]), "changed",
	    slice_of(seen.changed != NULL ? "yes" : "no"), NULL);
	return true;
}

static void
unseen_take_answer(struct milters_room *room, struct unseen *unseen,
    struct slice line)
{
	static const char *const keys[] = { "file", "freeze", "status",
		"text" };
	struct str texts[4], what = STR_INIT;

	for (int i = 0; i < 4; i++) {
		str_init(&texts[i]);
		(void)json_get(line, keys[i], &texts[i]);
	}
	if (json_get(line, "do", &what) && unseen_settle(room, unseen,
	    str_slice(&what), texts))
		unseen_free(room, unseen);
	else
		unseen_put_off(room, unseen);
	for (int i = 0; i < 4; i++)
		str_release(&texts[i]);
	str_release(&what);
}

static void
milters_take_line(struct milters_room *room, struct slice line)
{
	struct str token = STR_INIT;
	struct unseen *unseen;
	uint64_t number;

	if (json_get(line, "token", &token) && slice_number(str_slice(&token),
	    1, UINT64_MAX, &number))
		TAILQ_FOREACH(unseen, &room->all, entry)
			if (unseen->fd >= 0 && unseen->token == number) {
				unseen_take_answer(room, unseen, line);
				break;
			}
	str_release(&token);
}

static void
milters_on_peer(void *context, unsigned ready)
{
	struct milters_room *room = context;
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(room->peer, &room->inbox);

	if (got == IPC_END || (got == IPC_TROUBLE && errno != EAGAIN) ||
	    room->inbox.bytes.len > IPC_LINE_BYTES_MAX) {
		milters_hang_up(room);
		return;
	}
	while (ipc_line(&room->inbox, &cursor, &line) == IPC_LINE)
		milters_take_line(room, line);
	ipc_inbox_consume(&room->inbox, cursor);
	milters_feed(room);
}

/* A successor: who was here before is leaving. */
static void
milters_on_listener(void *context, unsigned ready)
{
	struct milters_room *room = context;
	int fd = accept4(room->listener, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (room->peer >= 0)
		milters_hang_up(room);
	room->peer = fd;
	room->peer_watch = loop_watch(room->process->loop, fd, LOOP_READ,
	    milters_on_peer, room);
	milters_feed(room);
}

/* ---- finding ------------------------------------------------------------- */

static bool
milters_note(void *context, const char *name)
{
	struct milters_room *room = context;
	struct spool_name parsed;
	struct unseen *unseen;

	if (strlen(name) >= SPOOL_NAME_BYTES ||
	    !spool_name_parse(slice_of(name), &parsed) ||
	    !slice_starts(parsed.why, "milter"))
		return true;
	unseen = unseen_find(room, name);
	if (unseen == NULL) {
		unseen = mem_alloc(1, sizeof(*unseen));
		strlcpy(unseen->name, name, sizeof(unseen->name));
		unseen->fd = -1;
		TAILQ_INSERT_TAIL(&room->all, unseen, entry);
	}
	unseen->is_found = true;
	return true;
}

static void
milters_scan(void *context)
{
	struct milters_room *room = context;
	struct unseen *unseen, *next;
	struct err err;

	TAILQ_FOREACH(unseen, &room->all, entry)
		unseen->is_found = false;
	if (spool_scan(room->spool, AREA_DEFERRED, 0, milters_note, room,
	    &err) != 0)
		milters_trouble("deferred", "scan", &err);
	for (unseen = TAILQ_FIRST(&room->all); unseen != NULL; unseen = next) {
		next = TAILQ_NEXT(unseen, entry);
		if (!unseen->is_found && unseen->fd < 0)
			unseen_free(room, unseen);
	}
	timer_set(room->process->loop, &room->scan_timer, clock_steady_ms() +
	    MILTERS_SCAN_MS, milters_scan, room);
	milters_feed(room);
}

static void
milters_on_notify(void *context, unsigned dir, const char *name)
{
	struct milters_room *room = context;

	if (name == NULL) {
		milters_scan(room);
		return;
	}
	(void)milters_note(room, name);
	milters_feed(room);
}

/* The router is gone, or has a successor of ours. */
static void
milters_on_parent(void *context, unsigned ready)
{
	struct milters_room *room = context;

	loop_stop(room->process->loop);
}

static void
milters_run(void *context, int parent)
{
	struct milters *milters = context;
	struct process *process = milters->process;
	struct milters_room room = { .process = process, .peer = -1,
	    .listener = milters->listener };
	struct unseen *unseen;
	struct err err;

	signal(SIGHUP, SIG_IGN);
	TAILQ_INIT(&room.all);
	ipc_inbox_init(&room.inbox);
	room.notify = notify_new(process->loop, milters_on_notify, &room);
	if (conf_spool_open(process->conf, 0, &room.spool,
	    &err) != 0 || notify_add_fd(room.notify, spool_dir_fd(room.spool,
	    AREA_DEFERRED, 0), 0, NOTIFY_MOVED, &err) != 0)
		fatal("%s", err.text);	/* the machine's error */
	room.listener_watch = loop_watch(process->loop, room.listener,
	    LOOP_READ, milters_on_listener, &room);
	room.parent_watch = loop_watch(process->loop, parent, LOOP_READ,
	    milters_on_parent, &room);
	milters_scan(&room);
	loop_run(process->loop);
	while ((unseen = TAILQ_FIRST(&room.all)) != NULL)
		unseen_free(&room, unseen);
	spool_close(&room.spool);
}

/* ---- in the router ------------------------------------------------------ */

static const struct child_kind milters_kind = {
	.name = "router-milter", .title = "router milter", .is_kept = true,
	.run = milters_run,
};

static void
milters_start(struct milters *milters)
{
	struct err err;

	if (!conf_milters_see_local(milters->process->conf) ||
	    child_start(milters->child, &err) == 0)
		return;
	warning("%s", err.text);
	child_start_later(milters->child);
}

struct milters *
milters_new(struct process *process, struct err *err)
{
	struct milters *milters = mem_alloc(1, sizeof(*milters));

	milters->process = process;
	str_init(&milters->path);
	str_addf(&milters->path, "%s/milter.sock", process->conf->run_dir);
	milters->listener = unix_socket_listen(milters->path.buf, 0660, err);
	if (milters->listener < 0) {
		str_release(&milters->path);
		mem_free(&milters);
		return NULL;
	}
	daemon_share_socket(process, milters->path.buf);
	milters->child = child_new(process, &milters_kind, milters);
	milters_start(milters);
	return milters;
}

void
milters_in_child(struct milters *milters)
{
	if (milters != NULL)
		close(milters->listener);
}

void
milters_renew(struct milters *milters)
{
	child_stop(milters->child);
	milters_start(milters);
}

void
milters_free(struct milters **pmilters)
{
	struct milters *milters = *pmilters;

	if (milters == NULL)
		return;
	child_free(&milters->child);
	close(milters->listener);
	(void)unlink(milters->path.buf);
	str_release(&milters->path);
	mem_free(pmilters);
}
