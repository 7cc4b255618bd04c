/* secret.c - who we are to next hops: the table of auth-to
 *
 * In     the table, once; files with tokens, each time
 * Out    a secret for a target
 * Holds  names and passwords until the process ends
 * Trusts the table's owner; a token is one line
 * Spec   zmailer.conf(5), auth-to
 *
 *   value  = user SP ( password / "token:" path ) [ SP mechanism ]
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mail/table/table.h"
#include "transports/smtp/auth/auth.h"

#include "base/banned.h"

struct reading {
	struct smtp_client	*client;
	struct err	*err;
	bool		 is_bad;
};

static bool
secret_fill(struct client_secret *secret, struct slice value,
    struct err *err)
{
	struct slice user, word;

	if (!slice_word(&value, &user) || !slice_word(&value, &word)) {
		err_set(err, "write: HOST USER PASSWORD");
		return false;
	}
	secret->user = slice_dup(secret->arena, user);
	if (slice_starts(word, "token:"))
		secret->token_path = slice_dup(secret->arena,
		    slice_from(word, 6));
	else
		secret->password = slice_dup(secret->arena, word);
	if (!slice_word(&value, &word))
		return true;
	secret->mechanism = client_auth_mechanism(word);
	if (secret->mechanism != 0)
		return true;
	err_set(err, "there is no mechanism '" SLICE_FMT "'; known are "
	    "LOGIN PLAIN CRAM-MD5 SCRAM-SHA-256 XOAUTH2",
	    SLICE_ARG(slice_first(word, 40)));
	return false;
}

/* One line of the table. */
static bool
secret_add(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct reading *reading = context;
	struct smtp_client *client = reading->client;
	struct client_secret *secret = mem_alloc(1, sizeof(*secret));

	secret->next = client->secrets;
	client->secrets = secret;
	secret->arena = arena_new();
	secret->host = slice_dup(secret->arena, key);
	reading->is_bad = !secret_fill(secret, value, reading->err);
	if (reading->is_bad)
		err_prefix(reading->err, "line %u", line);
	return !reading->is_bad;
}

int
client_auth_start(struct smtp_client *client, struct err *err)
{
	const struct conf *conf = client->conf;
	struct reading reading = { .client = client, .err = err };
	const struct conf_table *entry;
	enum table_result result;
	struct table *table;

	if (conf->auth_to.table == NULL)
		return 0;
	entry = conf_table_find(conf, conf->auth_to.table);
	if (entry == NULL)
		return err_set(err, "auth-to: there is no table <%s>",
		    conf->auth_to.table);
	table = table_new(entry->name, entry->spec);
	result = table_each(table, secret_add, &reading, err);
	table_free(&table);
	if (result == TABLE_TROUBLE || reading.is_bad)
		return err_prefix(err, "auth-to <%s>", entry->name);
	return 0;
}

void
client_auth_release(struct smtp_client *client)
{
	while (client->secrets != NULL) {
		struct client_secret *secret = client->secrets;

		client->secrets = secret->next;
		if (secret->password != NULL)
			explicit_bzero(secret->password,
			    strlen(secret->password));
		arena_free(&secret->arena);
		mem_free(&secret);
	}
	client->secret = NULL;
}

/* What a route's login names. */
static const struct client_secret *
secret_find_login(const struct smtp_client *client, const char *login)
{
	const struct client_secret *secret = client->secrets;

	while (secret != NULL && strcasecmp(secret->host, login) != 0)
		secret = secret->next;
	return secret;
}

const struct client_secret *
client_auth_find(const struct smtp_client *client,
    const struct client_target *target)
{
	if (target->login[0] != '\0')
		return secret_find_login(client, target->login);
	for (const struct client_secret *secret = client->secrets;
	    secret != NULL; secret = secret->next)
		if (conf_route_covers(secret->host, slice_of(target->name)))
			return secret;
	return NULL;
}

/* "/a/b" -> "/a". */
static const char *
secret_directory(const struct client_secret *secret)
{
	const char *slash = strrchr(secret->token_path, '/');

	if (slash == NULL)
		return ".";
	if (slash == secret->token_path)
		return "/";
	return arena_dup(secret->arena, secret->token_path,
	    (size_t)(slash - secret->token_path));
}

size_t
client_token_directories(const struct smtp_client *client, const char *out[],
    size_t most)
{
	size_t count = 0;

	for (const struct client_secret *secret = client->secrets;
	    secret != NULL && count < most; secret = secret->next)
		if (secret->token_path != NULL)
			out[count++] = secret_directory(secret);
	return count;
}

int
client_token_read(const struct client_secret *secret, struct str *out,
    struct err *err)
{
	int fd = open(secret->token_path, O_RDONLY | O_CLOEXEC);
	struct slice token;
	ssize_t n;

	if (fd < 0)
		return err_sys(err, "token %s", secret->token_path);
	do
		n = read(fd, str_room(out, CLIENT_TOKEN_BYTES_MAX),
		    CLIENT_TOKEN_BYTES_MAX);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		err_sys(err, "token %s", secret->token_path);
	close(fd);
	if (n < 0)
		return -1;
	token = slice_trim((struct slice){ out->buf, (size_t)n });
	for (size_t i = 0; i < token.n; i++)
		if (token.p[i] <= ' ' || token.p[i] > '~')
			return err_set(err, "%s is not one token",
			    secret->token_path);
	if (token.n == 0)
		return err_set(err, "%s is empty", secret->token_path);
	memmove(out->buf, token.p, token.n);
	out->len = token.n;
	out->buf[token.n] = '\0';
	return 0;
}
