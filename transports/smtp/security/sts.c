/* sts.c - what the domain of a next hop says of its hosts (MTA-STS)
 *
 * In     a host of a target; the process that knows policies
 * Out    the policy for that host, or why it gets no mail; events
 * Holds  nothing
 * Trusts a policy only as that process has it: fetched from a web server whose
 *        certificate has the domain's name; `testing` never stops mail
 * Spec   RFC 8461 sections 2, 4 and 5; RFC 8460 section 4.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "grammar/tlsa.h"
#include "io/consult/sts_shelf.h"
#include "journal/event.h"
#include "transports/smtp/security/sts.h"

#include "base/banned.h"

enum { RECORDS_BYTES_MAX = 1000 };	/* of an event's value */

/* Ask the process that knows, once.  Where it does not answer, what it kept on
 * the disk counts: who can make it hang must not end a policy by it. */
static void
sts_look(const struct smtp_client *client, const char *domain,
    struct client_sts *sts)
{
	const struct conf *conf = client->conf;
	struct err nobody;

	sts->is_asked = true;
	sts->answer = sts_ask(conf->run_dir, "policy", domain,
	    STS_ASK_FOR_MS, &sts->policy, &sts->err);
	if (sts->answer != STS_ANSWER_NOBODY)
		return;
	nobody = sts->err;
	sts->answer = sts_shelf_ask(conf->spool_dir, domain, clock_wall_s(),
	    &sts->policy, &sts->err);
	if (sts->answer == STS_ANSWER_NOBODY)
		err_prefix(&sts->err, "%.200s; %.100s's policy as it was "
		    "kept", nobody.text, domain);
}

/* There is a policy, which cannot be had. */
static bool
sts_wait(const struct client_sts *sts, const char *host, struct verdict *out)
{
	verdict_set(out, VERDICT_DEFERRED, "4.7.5", host, "MTA-STS: %s",
	    sts->err.text);
	out->host_trouble = true;
	return false;
}

static void
sts_tell(const char *domain, const char *host, const char *mode,
    const char *words)
{
	event(EV_STS_REFUSED, NULL, "domain", slice_of(domain), "host",
	    slice_of(host), "mode", slice_of(mode), "reason", slice_of(words),
	    NULL);
}

/* A host that the policy does not name. */
static bool
sts_refuse(const char *domain, const char *host, enum sts_mode mode,
    struct verdict *out)
{
	char words[ERR_TEXT_BYTES];

	snprintf(words, sizeof(words), "the MTA-STS policy of %.200s does not "
	    "name the host %.200s", domain, host);
	sts_tell(domain, host, sts_mode_word(mode), words);
	event(EV_TLS_SESSION, NULL, "domain", slice_of(domain), "policy",
	    SLICE("sts"), "mode", slice_of(sts_mode_word(mode)), "host",
	    slice_of(host), "result", SLICE("validation-failure"), NULL);
	if (mode != STS_ENFORCE)
		return true;
	verdict_set(out, VERDICT_DEFERRED, "4.7.5", host, "%s", words);
	out->host_trouble = true;
	return false;
}

/* The certificate must, under testing: should, be that of the MX host.
 * RFC 8461 section 4.2 */
static void
sts_apply(const char *domain, const char *host, enum sts_mode mode,
    struct client_policy *policy)
{
	policy->said_by = "sts";
	policy->sts_mode = sts_mode_word(mode);
	policy->sts_domain = domain;
	if (mode == STS_TESTING && policy->level >= TLS_LEVEL_VERIFY)
		return;			/* the sender asks for more */
	if (mode == STS_ENFORCE)
		policy->level = TLS_LEVEL_VERIFY;
	policy->is_judged = true;
	snprintf(policy->name_text[0], sizeof(policy->name_text[0]), "%s",
	    host);
	policy->names[0] = policy->name_text[0];
	policy->name_count = 1;
	client_policy_make_key(policy);
}

bool
client_sts(const struct smtp_client *client, const struct client_hosts *hosts,
    size_t index, struct client_sts *sts, struct client_policy *policy,
    struct verdict *out)
{
	const struct client_target *target = hosts->target;
	const char *domain = target->name, *host;

	if (policy->tlsa != NULL)
		policy->said_by = "tlsa";
	if (!policy->asks_sts || policy->tlsa != NULL ||
	    target->kind == TARGET_UNIX)
		return true;
	if (!sts->is_asked)
		sts_look(client, domain, sts);
	host = hosts->mx[index].host;
	if (sts->answer == STS_ANSWER_NOBODY)
		return sts_wait(sts, host, out);
	if (sts->answer != STS_ANSWER_POLICY)
		return true;	/* as without one: RFC 8461 section 5.1 */
	if (!sts_policy_allows(&sts->policy, slice_of(host)))
		return sts_refuse(domain, host, sts->policy.mode, out);
	sts_apply(domain, host, sts->policy.mode, policy);
	return true;
}

/* ---- what is noted ----------------------------------------------------- */

const char *
client_tls_result(const char *words)
{
	static const struct {
		const char	*part, *result;
	} rows[] = {
		{ "expired", "certificate-expired" },
		{ "mismatch", "certificate-host-mismatch" },
		{ "self-signed", "certificate-not-trusted" },
		{ "self signed", "certificate-not-trusted" },
		{ "issuer", "certificate-not-trusted" },
		{ "unable to verify the first", "certificate-not-trusted" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strstr(words, rows[i].part) != NULL)
			return rows[i].result;
	return "validation-failure";
}

struct sts_ip { char text[INET6_ADDRSTRLEN]; };

/* "192.0.2.1", "2001:db8::1"; "" of another family. */
static struct slice
sts_ip_text(const struct sockaddr_storage *address, struct sts_ip *out)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	out->text[0] = '\0';
	if (address->ss_family == AF_INET)
		(void)inet_ntop(AF_INET, &four->sin_addr, out->text,
		    sizeof(out->text));
	else if (address->ss_family == AF_INET6)
		(void)inet_ntop(AF_INET6, &six->sin6_addr, out->text,
		    sizeof(out->text));
	return slice_of(out->text);
}

/* As many whole records as an event has room for. */
static void
sts_add_records(struct str *out, const struct dns_records *records)
{
	struct tlsa tlsa;
	size_t before;

	for (size_t i = 0; records != NULL && i < records->count; i++) {
		before = out->len;
		if (tlsa_parse(dns_records_at(records, i), &tlsa) < 0)
			continue;
		if (before > 0)
			str_addc(out, ',');
		if (!tlsa_add_text(out, &tlsa) ||
		    out->len > RECORDS_BYTES_MAX)
			str_truncate(out, before);
	}
}

void
client_tell_session(const struct smtp_client *client, const char *domain,
    const struct client_hello *hello)
{
	const struct client_policy *policy = hello->policy;
	const char *mode = policy->sts_mode != NULL ? policy->sts_mode : "";
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC };
	socklen_t length = sizeof(own);
	struct sts_ip address, source;
	struct str records = STR_INIT;

	if (policy->said_by == NULL || hello->result == NULL)
		return;
	if (client->peer.fd >= 0)
		(void)getsockname(client->peer.fd, (struct sockaddr *)&own,
		    &length);
	sts_add_records(&records, policy->tlsa);
	event(EV_TLS_SESSION, NULL, "domain", slice_of(domain), "policy",
	    slice_of(policy->said_by), "mode", slice_of(mode), "host",
	    slice_of(client->who), "result", slice_of(hello->result),
	    "address", sts_ip_text(&client->address, &address), "source",
	    sts_ip_text(&own, &source), "records", str_slice(&records),
	    NULL);
	str_release(&records);
	if (policy->sts_mode != NULL && strcmp(hello->result,
	    "success") != 0)
		sts_tell(domain, client->who, mode, hello->result);
}
