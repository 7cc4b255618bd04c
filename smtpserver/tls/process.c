/* process.c - the process that keeps the keys
 *
 * In     "worker" with a socket, "reload" from the listener; "sign" from
 *        workers
 * Out    certificates, ticket keys, signatures
 * Holds  the keys (tls/files.c); a socket for each worker
 * Trusts the listener; no worker: it gets signatures of handshakes and
 *        nothing else, and one that talks nonsense is dropped
 * Spec   keys.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "io/ipc.h"
#include "tls/server.h"
#include "smtpserver/tls/keys.h"
#include "smtpserver/tls/files.h"

#include "base/banned.h"

enum { OUTBOX_BYTES_MAX = 8 << 20 };	/* not taken by a worker: drop it */

struct ticket_keys {
	char	current[TLS_TICKET_KEY_BYTES], previous[TLS_TICKET_KEY_BYTES];
	bool	has_previous;
};

struct asker {			/* a worker */
	struct keys_server		*server;
	bool			 is_own;	/* serves our own users */
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	TAILQ_ENTRY(asker)	 entry;
};

struct keys_server {
	struct process		*process;
	struct keys_files	*files;
	struct ticket_keys	 tickets[2];	/* all, own */
	int			 listener;
	struct ipc_inbox	 inbox;
	struct timer		 look, rotate;
	TAILQ_HEAD(, asker)	 askers;
};

/* ---- what workers are told -------------------------------------------- */

static void
asker_end(struct asker *asker)
{
	watch_free(&asker->watch);
	close(asker->socket);
	TAILQ_REMOVE(&asker->server->askers, asker, entry);
	ipc_inbox_release(&asker->inbox);
	str_release(&asker->outbox);
	mem_free(&asker);
}

/* An error shows as an end of file on the next read. */
static void
asker_write(struct asker *asker)
{
	ssize_t n = asker->outbox.len == 0 ? 0 : ipc_send(asker->socket,
	    str_slice(&asker->outbox), NULL, 0);

	if (n > 0)
		str_consume(&asker->outbox, (size_t)n);
	watch_set(asker->watch, LOOP_READ |
	    (asker->outbox.len > 0 ? LOOP_WRITE : 0));
}

static void
keys_server_add_tickets(struct str *out, const struct ticket_keys *keys)
{
	str_adds(out, "tickets ");
	base64_add(out, (struct slice){ keys->current,
	    TLS_TICKET_KEY_BYTES });
	str_addc(out, ' ');
	if (keys->has_previous)
		base64_add(out, (struct slice){ keys->previous,
		    TLS_TICKET_KEY_BYTES });
	else
		str_addc(out, '-');
	str_addc(out, '\n');
}

static void
asker_tell(struct asker *asker)
{
	struct keys_server *server = asker->server;

	str_adds(&asker->outbox, "begin\n");
	keys_files_add_lines(server->files, &asker->outbox);
	keys_server_add_tickets(&asker->outbox,
	    &server->tickets[asker->is_own]);
	str_adds(&asker->outbox, "end\n");
	asker_write(asker);
}

static void
keys_server_tell_all(struct keys_server *server)
{
	struct asker *asker;

	TAILQ_FOREACH(asker, &server->askers, entry)
		asker_tell(asker);
}

static void
keys_server_rotate(struct keys_server *server)
{
	for (int i = 0; i < 2; i++) {
		struct ticket_keys *keys = &server->tickets[i];

		memcpy(keys->previous, keys->current, sizeof(keys->previous));
		tls_ticket_key_make(keys->current);
	}
}

static void
keys_server_on_rotate(void *context)
{
	struct keys_server *server = context;

	keys_server_rotate(server);
	server->tickets[0].has_previous = server->tickets[1].has_previous =
	    true;
	keys_server_tell_all(server);
	timer_set(server->process->loop, &server->rotate, clock_steady_ms() +
	    TLS_TICKET_FOR_S * 1000, keys_server_on_rotate, server);
}

static void
keys_server_on_look(void *context)
{
	struct keys_server *server = context;

	if (keys_files_look(server->files))
		keys_server_tell_all(server);
	timer_set(server->process->loop, &server->look, clock_steady_ms() +
	    KEYS_LOOK_EVERY_MS, keys_server_on_look, server);
}

/* ---- what workers ask ------------------------------------------------- */

static bool
signing_parse(struct slice args, struct slice *out_id,
    struct tls_signing *out, struct str *bytes)
{
	struct slice number, digest, padding, letters;
	uint64_t key;

	if (!slice_word(&args, out_id) || !slice_word(&args, &number) ||
	    !slice_word(&args, &digest) || !slice_word(&args, &padding) ||
	    !slice_word(&args, &letters) ||
	    !slice_number(number, 1, UINT32_MAX, &key) ||
	    digest.n >= sizeof(out->digest) ||
	    letters.n > 2 * TLS_SIGNED_BYTES_MAX ||
	    base64_decode(letters, bytes, NULL) != 0)
		return false;
	memset(out, 0, sizeof(*out));
	out->key = (unsigned)key;
	if (!slice_is(digest, "-"))
		memcpy(out->digest, digest.p, digest.n);
	out->is_pss = slice_is(padding, "pss");
	out->bytes = str_slice(bytes);
	return true;
}

/* returns false for nonsense */
static bool
asker_sign(struct asker *asker, struct slice args)
{
	struct str bytes = STR_INIT, signature = STR_INIT;
	struct evp_pkey_st *key;
	struct tls_signing what;
	struct slice id;
	struct err err;
	bool is_good = signing_parse(args, &id, &what, &bytes);

	key = is_good ? keys_files_key(asker->server->files, what.key) : NULL;
	if (key != NULL && tls_sign(key, &what, &signature, &err) == 0) {
		str_addf(&asker->outbox, "signed " SLICE_FMT " ",
		    SLICE_ARG(id));
		base64_add(&asker->outbox, str_slice(&signature));
		str_addc(&asker->outbox, '\n');
	} else if (is_good) {
		warning("asked for a signature: %s", key == NULL ?
		    "there is no such key" : err.text);
		str_addf(&asker->outbox, "refused " SLICE_FMT "\n",
		    SLICE_ARG(id));
	}
	str_release(&bytes);
	str_release(&signature);
	return is_good;
}

static bool
asker_read(struct asker *asker)
{
	struct slice line, verb;
	size_t cursor = 0;
	bool is_good = true;
	int got = ipc_receive(asker->socket, &asker->inbox);

	if (got == 0 || (got < 0 && errno != EAGAIN))
		return false;
	while (is_good &&
	    (got = ipc_line(&asker->inbox, &cursor, &line)) == IPC_LINE)
		is_good = slice_word(&line, &verb) &&
		    slice_is(verb, "sign") && asker_sign(asker, line);
	if (!is_good || got < 0) {
		warning("a worker talks nonsense");
		return false;
	}
	ipc_inbox_consume(&asker->inbox, cursor);
	return asker->outbox.len <= OUTBOX_BYTES_MAX;
}

static void
asker_on_ready(void *context, unsigned ready)
{
	struct asker *asker = context;

	if ((ready & (LOOP_READ | LOOP_HANGUP)) && !asker_read(asker))
		asker_end(asker);
	else
		asker_write(asker);
}

/* ---- the listener ----------------------------------------------------- */

static void
asker_new(struct keys_server *server, bool is_own)
{
	int fd = ipc_take_fd(&server->inbox);
	struct asker *asker;

	if (fd < 0)
		fatal("a worker without a socket");	/* the listener's */
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	asker = mem_alloc(1, sizeof(*asker));
	asker->server = server;
	asker->is_own = is_own;
	asker->socket = fd;
	ipc_inbox_init(&asker->inbox);
	str_init(&asker->outbox);
	asker->watch = loop_watch(server->process->loop, fd, LOOP_READ,
	    asker_on_ready, asker);
	TAILQ_INSERT_TAIL(&server->askers, asker, entry);
	asker_tell(asker);
}

/* A bad file is refused, and said so, by the listener. */
static void
keys_server_reload(struct keys_server *server)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(server->process->conf_path, arena,
	    &report);

	if (fresh != NULL)
		keys_files_configure(server->files, fresh);
	conf_free(&fresh);
	arena_free(&arena);
	keys_server_tell_all(server);
}

static void
keys_server_on_listener(void *context, unsigned ready)
{
	struct keys_server *server = context;
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(server->listener, &server->inbox);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		loop_stop(server->process->loop);
		return;
	}
	while (ipc_line(&server->inbox, &cursor, &line) == IPC_LINE)
		if (slice_is(line, "reload"))
			keys_server_reload(server);
		else
			asker_new(server, slice_is(line, "worker own"));
	ipc_inbox_consume(&server->inbox, cursor);
}

/* No core file, no debugger, no /proc/PID/mem: not even for processes of
 * the same account. */
static void
keys_server_harden(struct process *process)
{
	struct rlimit none = { 0, 0 };
	struct err err;

	(void)setrlimit(RLIMIT_CORE, &none);
	if (daemon_drop_reader(process->conf, process->daemon->role, &err) <
	    0)
		fatal("%s", err.text);	/* nothing was served yet */
}

void
keys_process(struct process *process, int socket)
{
	struct keys_server *server = mem_alloc(1, sizeof(*server));

	keys_server_harden(process);
	signal(SIGHUP, SIG_IGN);	/* the listener tells */
	signal(SIGINT, SIG_IGN);
	server->process = process;
	server->listener = socket;
	server->files = keys_files_new();
	TAILQ_INIT(&server->askers);
	ipc_inbox_init(&server->inbox);
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	(void)loop_watch(process->loop, socket, LOOP_READ,
	    keys_server_on_listener,
	    server);
	keys_files_configure(server->files, process->conf);
	tls_ticket_key_make(server->tickets[0].current);
	tls_ticket_key_make(server->tickets[1].current);
	timer_set(process->loop, &server->rotate, clock_steady_ms() +
	    TLS_TICKET_FOR_S * 1000, keys_server_on_rotate, server);
	keys_server_on_look(server);
	event_flush();
	loop_run(process->loop);
	event_flush();
	_exit(0);
}
