/* process.c - the process that has the keys of sign statements
 *
 * In     "worker" with a socket, "reload" from the router; "key" and "sign"
 *        from workers
 * Out    kinds of keys, signatures, refusals with their reason
 * Holds  the keys; a socket for each worker
 * Trusts the router; no worker: one that talks nonsense is dropped
 * Spec   signer.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/mem.h"
#include "grammar/base64.h"
#include "io/ipc_link.h"
#include "journal/event.h"
#include "router/sign/signer.h"
#include "tls/digest.h"
#include "tls/dkim.h"

#include "base/banned.h"

struct sign_key {
	char		*domain, *selector, *file;
	struct evp_pkey_st *key;	/* NULL: it was never any good */
	bool		 is_said;	/* that it cannot be used */
};

struct sign_asker {		/* a worker */
	struct sign_server	*server;
	struct ipc_link		*link;
	TAILQ_ENTRY(sign_asker)	 entry;
};

struct sign_server {
	struct process	*process;
	struct sign_key	*keys;
	size_t		 count;
	struct ipc_link	*router;
	TAILQ_HEAD(, sign_asker) askers;
};

/* ---- the keys --------------------------------------------------------- */

static struct sign_key *
sign_key_find(struct sign_key *keys, size_t count, struct slice domain,
    struct slice selector)
{
	for (size_t i = 0; i < count; i++)
		if (slice_is(domain, keys[i].domain) &&
		    slice_is(selector, keys[i].selector))
			return &keys[i];
	return NULL;
}

static void
sign_key_load(struct sign_key *key, struct err *err)
{
	struct evp_pkey_st *fresh = dkim_private_load(key->file, err);

	if (fresh == NULL && key->is_said)
		return;
	if (fresh == NULL) {
		key->is_said = true;
		event(EV_SIGN_REFUSED, NULL, "file", slice_of(key->file),
		    "reason", slice_of(err->text), NULL);
		return;
	}
	dkim_private_free(&key->key);
	key->key = fresh;
}

static void
sign_keys_free(struct sign_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mem_free(&keys[i].domain);
		mem_free(&keys[i].selector);
		mem_free(&keys[i].file);
		dkim_private_free(&keys[i].key);
	}
	mem_free(&keys);
}

/* A key that cannot be read leaves the one before, of the same selector. */
static void
sign_server_configure(struct sign_server *server, const struct conf *conf)
{
	struct sign_key *keys = mem_alloc(conf->sign_count + 1,
	    sizeof(*keys)), *before;
	struct err err;

	for (size_t i = 0; i < conf->sign_count; i++) {
		const struct conf_sign *one = &conf->signs[i];

		keys[i].domain = mem_strdup(one->domain);
		keys[i].selector = mem_strdup(one->selector);
		keys[i].file = mem_strdup(one->key);
		before = sign_key_find(server->keys, server->count,
		    slice_of(one->domain), slice_of(one->selector));
		if (before != NULL) {
			keys[i].key = before->key;
			before->key = NULL;
		}
		sign_key_load(&keys[i], &err);
	}
	sign_keys_free(server->keys, server->count);
	server->keys = keys;
	server->count = conf->sign_count;
}

/* ---- what workers ask ------------------------------------------------- */

/* NULL: *err says why. */
static struct sign_key *
sign_server_key(struct sign_server *server, struct slice domain,
    struct slice selector, struct err *err)
{
	struct sign_key *key = sign_key_find(server->keys, server->count,
	    domain, selector);

	if (key == NULL)
		err_set(err, "no sign statement is about this selector");
	else if (key->key == NULL)
		sign_key_load(key, err);
	return key != NULL && key->key != NULL ? key : NULL;
}

static const char *
sign_key_kind(const struct sign_key *key)
{
	return dkim_private_kind(key->key) == VERIFY_RSA_SHA256 ?
	    SIGNER_RSA : SIGNER_ED25519;
}

/* 0; -1: this is no sum, or OpenSSL refuses. */
static int
sign_key_sign(const struct sign_key *key, struct slice letters,
    struct str *out, struct err *err)
{
	struct str sum = STR_INIT, signature = STR_INIT;
	int result = -1;

	if (letters.n > 2 * DIGEST_SHA256_BYTES ||
	    base64_decode(letters, &sum, NULL) != 0 ||
	    sum.len != DIGEST_SHA256_BYTES)
		err_set(err, "this is no sum");
	else if (dkim_private_sign(key->key, (const unsigned char *)sum.buf,
	    &signature, err) == 0) {
		str_addf(out, "signed %s ", sign_key_kind(key));
		base64_add(out, str_slice(&signature));
		str_addc(out, '\n');
		result = 0;
	}
	str_release(&sum);
	str_release(&signature);
	return result;
}

/* False for nonsense. */
static bool
sign_server_answer(struct sign_server *server, struct slice line,
    struct str *out)
{
	struct slice verb, domain, selector, sum = { NULL, 0 };
	struct sign_key *key;
	struct err err = { "" };
	bool is_sign;

	if (!slice_word(&line, &verb) || !slice_word(&line, &domain) ||
	    !slice_word(&line, &selector))
		return false;
	is_sign = slice_is(verb, "sign");
	if (is_sign ? !slice_word(&line, &sum) : !slice_is(verb, "key"))
		return false;
	key = sign_server_key(server, domain, selector, &err);
	if (key != NULL && !is_sign)
		str_addf(out, "kind %s\n", sign_key_kind(key));
	else if (key == NULL || sign_key_sign(key, sum, out, &err) != 0)
		str_addf(out, "refused %s\n", err.text);
	return true;
}

static void
sign_asker_end(void *context)
{
	struct sign_asker *asker = context;

	ipc_link_free(&asker->link);
	TAILQ_REMOVE(&asker->server->askers, asker, entry);
	mem_free(&asker);
}

static enum ipc_link_taken
sign_asker_take(void *context, struct slice line)
{
	struct sign_asker *asker = context;

	if (sign_server_answer(asker->server, line,
	    ipc_link_out(asker->link)))
		return IPC_LINK_NEXT;
	warning("a worker talks nonsense");
	return IPC_LINK_NONSENSE;
}

/* A worker waits for each answer before it asks again. */
static const struct ipc_link_kind sign_asker_kind = {
	.take = sign_asker_take, .ended = sign_asker_end,
};

/* ---- the router ------------------------------------------------------- */

static void
sign_asker_new(struct sign_server *server)
{
	int fd = ipc_link_take_fd(server->router);
	struct sign_asker *asker;

	if (fd < 0)
		fatal("a worker without a socket");	/* the router's */
	asker = mem_alloc(1, sizeof(*asker));
	asker->server = server;
	asker->link = ipc_link_new(server->process->loop, fd,
	    &sign_asker_kind, asker);
	TAILQ_INSERT_TAIL(&server->askers, asker, entry);
}

/* A bad file is refused, and said so, by the router. */
static void
sign_server_reload(struct sign_server *server)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(server->process->conf_path, arena,
	    &report);

	if (fresh != NULL)
		sign_server_configure(server, fresh);
	conf_free(&fresh);
	arena_free(&arena);
}

static enum ipc_link_taken
sign_server_take(void *context, struct slice line)
{
	struct sign_server *server = context;

	if (slice_is(line, "reload"))
		sign_server_reload(server);
	else
		sign_asker_new(server);
	return IPC_LINK_NEXT;
}

static void
sign_server_on_router_gone(void *context)
{
	struct sign_server *server = context;

	loop_stop(server->process->loop);
}

static const struct ipc_link_kind sign_router_kind = {
	.take = sign_server_take, .ended = sign_server_on_router_gone,
};

void
signer_process(struct process *process, int socket)
{
	struct sign_server *server = mem_alloc(1, sizeof(*server));

	daemon_keep_secrets(process, false);
	signal(SIGHUP, SIG_IGN);	/* the router tells */
	signal(SIGINT, SIG_IGN);
	server->process = process;
	TAILQ_INIT(&server->askers);
	server->router = ipc_link_new(process->loop, socket,
	    &sign_router_kind, server);
	sign_server_configure(server, process->conf);
	event_flush();
	loop_run(process->loop);
	event_flush();
	_exit(0);
}
