/* policy.c - how the connection to a host must be protected
 *
 * In     a target; what the sender asked for
 * Out    a policy: level, names, roots, and the key under which connections
 *        and sessions are kept
 * Holds  one struct tls_client for each set of files
 * Trusts the configuration; never a name that only the DNS said
 * Spec   RFC 3207, RFC 8314, RFC 8689 sections 4.2.1 and 5; zmailer.conf(5),
 *        tls-to
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls/digest.h"
#include "transports/smtp/client.h"

#include "base/banned.h"

/* ---- the files --------------------------------------------------------- */

static bool
policy_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
policy_same_files(const struct conf_tls_to *a, const struct conf_tls_to *b)
{
	return policy_same(a->roots, b->roots) && policy_same(a->key, b->key) &&
	    policy_same(a->certificate, b->certificate);
}

/* Rows with the same files share what was made of them. */
static struct tls_client *
policy_shared(const struct smtp_client *client, size_t index)
{
	const struct conf_tls_to *rows = client->conf->tls_to;

	for (size_t i = 0; i < index; i++)
		if (policy_same_files(&rows[i], &rows[index]))
			return client->tls_clients[i];
	return NULL;
}

int
client_policy_start(struct smtp_client *client, struct err *err)
{
	static const struct tls_client_files system_files;
	const struct conf *conf = client->conf;
	size_t n = conf->tls_to_count;

	client->tls_clients = mem_alloc(n + 1, sizeof(*client->tls_clients));
	for (size_t i = 0; i < n; i++) {
		struct tls_client_files files = {
			conf->tls_to[i].roots, conf->tls_to[i].certificate,
			conf->tls_to[i].key,
		};

		client->tls_clients[i] = policy_shared(client, i);
		if (client->tls_clients[i] == NULL)
			client->tls_clients[i] = tls_client_new(&files, err);
		if (client->tls_clients[i] == NULL)
			return err_prefix(err, "tls-to %s",
			    conf->tls_to[i].pattern);
	}
	client->tls_clients[n] = tls_client_new(&system_files, err);
	return client->tls_clients[n] != NULL ? 0 : -1;
}

void
client_policy_release(struct smtp_client *client)
{
	size_t n = client->conf->tls_to_count;

	if (client->tls_clients == NULL)
		return;
	for (size_t i = n + 1; i-- > 0;) {
		bool is_shared = i < n && policy_shared(client, i) != NULL;

		if (!is_shared)
			tls_client_free(&client->tls_clients[i]);
	}
	mem_free(&client->tls_clients);
}

/* ---- the ways to get one ----------------------------------------------- */

static bool
policy_by_statement(const struct smtp_client *client,
    const struct client_target *target,
    struct client_policy *out)
{
	const struct conf *conf = client->conf;

	for (size_t i = 0; client->tls_clients != NULL &&
	    i < conf->tls_to_count; i++) {
		const struct conf_tls_to *row = &conf->tls_to[i];

		if (!conf_route_covers(row->pattern, slice_of(target->name)))
			continue;
		out->level = row->level;
		out->tls = client->tls_clients[i];
		for (size_t k = 0; k < row->name_count &&
		    k < CLIENT_NAMES_MAX; k++)
			out->names[out->name_count++] = row->names[k];
		return true;
	}
	return false;
}

static bool
policy_by_default(const struct smtp_client *client,
    const struct client_target *target,
    struct client_policy *out)
{
	if (client->tls_clients == NULL)	/* not started: no files */
		return true;
	out->level = client->is_lmtp ? TLS_LEVEL_MAY : TLS_LEVEL_DANE;
	out->tls = client->tls_clients[client->conf->tls_to_count];
	return true;
}

static const struct {
	const char	*name;
	bool		(*find)(const struct smtp_client *client,
			    const struct client_target *target,
			    struct client_policy *out);
} ways[] = {		/* the first that knows the host wins */
	{ "tls-to", policy_by_statement },
	{ "default", policy_by_default },
};

/* ---- the policy -------------------------------------------------------- */

/* RFC 8689 section 4.2.1: what a sender requires, the site cannot waive;
 * TLSA records are as good as roots.
 * Where TLS is spoken from the first byte nobody can do without it. */
static void
policy_raise(struct client_policy *policy, const struct client_target *target,
    enum client_wish wish)
{
	bool is_required = wish == WISH_TLS;

	policy->is_implicit = target->is_implicit;
	policy->is_required = is_required;
	policy->asks_tlsa = policy->level == TLS_LEVEL_DANE ||
	    policy->level == TLS_LEVEL_DANE_ONLY;
	policy->asks_sts = policy->level == TLS_LEVEL_STS;
	policy->asks_tlsa = policy->asks_tlsa || policy->asks_sts;
	if (policy->level == TLS_LEVEL_DANE || policy->asks_sts)
						/* where there are none */
		policy->level = TLS_LEVEL_MAY;
	/* RFC 8689 section 5: what the recipient's domain says is not asked
	 * for, what the site requires stays */
	if (wish == WISH_TLS_OPTIONAL && policy->level == TLS_LEVEL_MAY)
		policy->asks_tlsa = policy->asks_sts = false;
	if (is_required && policy->level != TLS_LEVEL_DANE_ONLY)
		policy->level = TLS_LEVEL_VERIFY;
	else if (target->is_implicit && policy->level < TLS_LEVEL_ENCRYPT)
		policy->level = TLS_LEVEL_ENCRYPT;
}

/* Without names in the statement those that the destination was written
 * with count: a domain and what is below it, or the routed host. */
static void
policy_complete_names(struct client_policy *policy,
    const struct client_target *target)
{
	if (policy->name_count > 0)
		return;
	snprintf(policy->name_text[0], sizeof(policy->name_text[0]), "%s",
	    target->name);
	policy->names[policy->name_count++] = policy->name_text[0];
	if (target->kind != TARGET_MX)
		return;
	snprintf(policy->name_text[1], sizeof(policy->name_text[1]), ".%s",
	    target->name);
	policy->names[policy->name_count++] = policy->name_text[1];
}

enum { POLICY_SUM_BYTES = 2 + 2 * DIGEST_SHA256_BYTES };

static int
policy_compare_records(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;
	int order = memcmp(x->p, y->p, n);

	return order != 0 ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* " " and the digest of TLSA records, in whatever order they came: other
 * records, another trust.  What cannot be summed up is like nothing else. */
static void
policy_sum(const struct dns_records *records, char out[POLICY_SUM_BYTES])
{
	struct slice list[DNS_RECORDS_MAX];
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct str all = STR_INIT;

	for (size_t i = 0; i < records->count; i++)
		list[i] = dns_records_at(records, i);
	qsort(list, records->count, sizeof(list[0]), policy_compare_records);
	for (size_t i = 0; i < records->count; i++) {
		str_addf(&all, "%zu ", list[i].n);
		str_add(&all, list[i].p, list[i].n);
	}
	if (digest(DIGEST_SHA256, str_slice(&all), sum) < 0)
		arc4random_buf(sum, sizeof(sum));
	str_release(&all);
	out[0] = ' ';
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(out + 1 + 2 * i, 3, "%02x", sum[i]);
}

/* Names are part of the key only where they are asked for: all hosts that
 * may be anybody share connections and sessions. */
void
client_policy_make_key(struct client_policy *policy)
{
	char sum[POLICY_SUM_BYTES] = "";
	int n;

	if (policy->tlsa != NULL)
		policy_sum(policy->tlsa, sum);
	n = snprintf(policy->key, sizeof(policy->key), "%d%d%d%d %p%s",
	    policy->level, policy->is_required, policy->is_implicit,
	    policy->is_xclient, (const void *)policy->tls, sum);
	for (size_t i = 0; policy->level >= TLS_LEVEL_VERIFY &&
	    i < policy->name_count && n < (int)sizeof(policy->key); i++)
		n += snprintf(policy->key + n, sizeof(policy->key) -
		    (size_t)n, " %s", policy->names[i]);
	/* too long to be told apart: a key of its own */
	if (n >= (int)sizeof(policy->key))
		snprintf(policy->key, sizeof(policy->key), "%08x%08x",
		    arc4random(), arc4random());
}

static bool
policy_hears_of_clients(const struct smtp_client *client,
    const struct client_target *target)
{
	const struct conf *conf = client->conf;

	for (size_t i = 0; i < conf->xclient_to_count; i++)
		if (conf_route_covers(conf->xclient_to[i].pattern,
		    slice_of(target->name)))
			return true;
	return false;
}

void
client_policy(const struct smtp_client *client,
    const struct client_target *target, enum client_wish wish,
    struct client_policy *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i].find(client, target, out)) {
			out->source = ways[i].name;
			break;
		}
	policy_raise(out, target, wish);
	/* what stays on this machine needs no protection of its own */
	if (target->kind == TARGET_UNIX && !out->is_required &&
	    strcmp(out->source, "default") == 0) {
		out->level = TLS_LEVEL_NONE;
		out->asks_tlsa = false;
	}
	policy_complete_names(out, target);
	out->asks_sts = out->asks_sts && !client->is_lmtp;
	out->is_xclient = policy_hears_of_clients(client, target);
	client_policy_make_key(out);
}
