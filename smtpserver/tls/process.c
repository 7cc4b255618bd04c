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
#include <signal.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "io/ipc_link.h"
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
	struct ipc_link		*link;
	TAILQ_ENTRY(asker)	 entry;
};

struct keys_server {
	struct process		*process;
	struct keys_files	*files;
	struct ticket_keys	 tickets[2];	/* all, own */
	struct ipc_link		*listener;
	struct timer		 look, rotate;
	TAILQ_HEAD(, asker)	 askers;
};

/* ---- what workers are told -------------------------------------------- */

static void
asker_end(void *context)
{
	struct asker *asker = context;

	ipc_link_free(&asker->link);
	TAILQ_REMOVE(&asker->server->askers, asker, entry);
	mem_free(&asker);
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
	struct str *out = ipc_link_out(asker->link);

	str_adds(out, "begin\n");
	keys_files_add_lines(server->files, out);
	keys_server_add_tickets(out, &server->tickets[asker->is_own]);
	str_adds(out, "end\n");
	ipc_link_send(asker->link);
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
	struct str *out = ipc_link_out(asker->link);
	struct evp_pkey_st *key;
	struct tls_signing what;
	struct slice id;
	struct err err;
	bool is_good = signing_parse(args, &id, &what, &bytes);

	key = is_good ? keys_files_key(asker->server->files, what.key) : NULL;
	if (key != NULL && tls_sign(key, &what, &signature, &err) == 0) {
		str_addf(out, "signed " SLICE_FMT " ", SLICE_ARG(id));
		base64_add(out, str_slice(&signature));
		str_addc(out, '\n');
	} else if (is_good) {
		warning("asked for a signature: %s", key == NULL ?
		    "there is no such key" : err.text);
		str_addf(out, "refused " SLICE_FMT "\n", SLICE_ARG(id));
	}
	str_release(&bytes);
	str_release(&signature);
	return is_good;
}

static enum ipc_link_taken
asker_line_take(void *context, struct slice line)
{
	struct slice verb;

	if (slice_word(&line, &verb) && slice_is(verb, "sign") &&
	    asker_sign(context, line))
		return IPC_LINK_NEXT;
	warning("a worker talks nonsense");
	return IPC_LINK_NONSENSE;
}

static const struct ipc_link_kind asker_kind = {
	.take = asker_line_take, .ended = asker_end,
	.out_bytes_max = OUTBOX_BYTES_MAX, .reads_on = true,
};

/* ---- the listener ----------------------------------------------------- */

static void
asker_new(struct keys_server *server, bool is_own)
{
	int fd = ipc_link_take_fd(server->listener);
	struct asker *asker;

	if (fd < 0)
		fatal("a worker without a socket");	/* the listener's */
	asker = mem_alloc(1, sizeof(*asker));
	asker->server = server;
	asker->is_own = is_own;
	asker->link = ipc_link_new(server->process->loop, fd, &asker_kind,
	    asker);
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

static enum ipc_link_taken
keys_server_take(void *context, struct slice line)
{
	struct keys_server *server = context;

	if (slice_is(line, "reload"))
		keys_server_reload(server);
	else
		asker_new(server, slice_is(line, "worker own"));
	return IPC_LINK_NEXT;
}

static void
keys_server_on_listener_gone(void *context)
{
	struct keys_server *server = context;

	loop_stop(server->process->loop);
}

static const struct ipc_link_kind keys_listener_kind = {
	.take = keys_server_take, .ended = keys_server_on_listener_gone,
};

void
keys_process(struct process *process, int socket)
{
	struct keys_server *server = mem_alloc(1, sizeof(*server));

	daemon_keep_secrets(process, false);
	signal(SIGHUP, SIG_IGN);	/* the listener tells */
	signal(SIGINT, SIG_IGN);
	server->process = process;
	server->files = keys_files_new();
	TAILQ_INIT(&server->askers);
	server->listener = ipc_link_new(process->loop, socket,
	    &keys_listener_kind, server);
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
