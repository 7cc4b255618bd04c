/* lookup.c - questions to libunbound
 *
 * In     names and types
 * Out    what the library found, and whether it validated it
 * Holds  the library's context, with its cache and its thread
 * Trusts the library's flags; its packets are read with bounds (wire/)
 * Spec   lookup.h; libunbound(3), unbound.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <unbound.h>

#include "base/mem.h"
#include "resolver/unbound/lookup.h"

#include "base/banned.h"

enum {
	LOOKUP_CLASS_IN = 1,
	SERVER_TEXT_BYTES = 80
};

struct lookups {
	struct ub_ctx	*context;
	struct watch	*watch;
};

struct lookup {
	lookup_fn	*fn;
	void		*context;
	int		 id;		/* the library's */
};

/* What differs from the library's own settings, and why. */
static const struct {
	const char *name, *value;
} lookup_settings[] = {
	{ "minimal-responses:", "yes" },	/* nobody reads the rest */
	{ "outgoing-range:", "512" },		/* it is made for few */
	{ "num-queries-per-thread:", "2048" },
	{ "outgoing-num-tcp:", "64" },
	{ "prefetch:", "yes" },
};

static int
lookups_set(struct ub_ctx *context, const char *name, const char *value,
    struct err *err)
{
	int code = ub_ctx_set_option(context, name, value);

	return code == 0 ? 0 : err_set(err, "libunbound takes no %s %s: %s",
	    name, value, ub_strerror(code));
}

/* "192.0.2.1:53", "[2001:db8::1]:53" as the library writes it: with @. */
static void
server_text(const char *endpoint, char out[SERVER_TEXT_BYTES])
{
	const char *colon = strrchr(endpoint, ':');
	size_t n = colon == NULL ? strlen(endpoint) :
	    (size_t)(colon - endpoint);

	if (endpoint[0] == '[' && n >= 2) {
		endpoint++;
		n -= 2;
	}
	snprintf(out, SERVER_TEXT_BYTES, "%.*s@%s", (int)n, endpoint,
	    colon == NULL ? "53" : colon + 1);
}

static int
lookups_point(struct ub_ctx *context, const struct conf_resolver *resolver,
    struct err *err)
{
	char server[SERVER_TEXT_BYTES];
	int code = 0;

	for (size_t i = 0; code == 0 && i < resolver->forward_count; i++) {
		server_text(resolver->forwards[i], server);
		code = ub_ctx_set_fwd(context, server);
	}
	for (size_t i = 0; code == 0 && i < resolver->stub_count; i++) {
		server_text(resolver->stubs[i].server, server);
		code = ub_ctx_set_stub(context, resolver->stubs[i].zone,
		    server, 0);
	}
	return code == 0 ? 0 : err_set(err, "libunbound cannot be pointed at "
	    "%s: %s", server, ub_strerror(code));
}

/* Who delegates a zone to 127.0.0.1 shall not have us ask there. */
static bool
lookups_ask_here(const struct conf_resolver *resolver)
{
	bool is_here = false;

	for (size_t i = 0; i < resolver->forward_count; i++)
		is_here |= strncmp(resolver->forwards[i], "127.", 4) == 0 ||
		    strncmp(resolver->forwards[i], "[::1]", 5) == 0;
	for (size_t i = 0; i < resolver->stub_count; i++)
		is_here |= strncmp(resolver->stubs[i].server, "127.", 4) ==
		    0 || strncmp(resolver->stubs[i].server, "[::1]", 5) == 0;
	return is_here;
}

static int
lookups_set_all(struct ub_ctx *context, const struct conf_resolver *resolver,
    struct err *err)
{
	char bytes[32];

	for (size_t i = 0; i < sizeof(lookup_settings) /
	    sizeof(lookup_settings[0]); i++)
		if (lookups_set(context, lookup_settings[i].name,
		    lookup_settings[i].value, err) < 0)
			return -1;
	if (lookups_ask_here(resolver) && lookups_set(context,
	    "do-not-query-localhost:", "no", err) < 0)
		return -1;
	snprintf(bytes, sizeof(bytes), "%llu",
	    (unsigned long long)resolver->cache_bytes / 3);
	if (lookups_set(context, "msg-cache-size:", bytes, err) < 0)
		return -1;
	snprintf(bytes, sizeof(bytes), "%llu",
	    (unsigned long long)resolver->cache_bytes / 3 * 2);
	return lookups_set(context, "rrset-cache-size:", bytes, err);
}

/* The first of these reads the files.  Zones that nobody is asked about
 * (test, 10.in-addr.arpa) are asked about where a stub says so. */
static int
lookups_settle(struct ub_ctx *context, const struct conf_resolver *resolver)
{
	int code = ub_ctx_data_remove(context, "zmailer.invalid.");

	for (size_t i = 0; code == 0 && i < resolver->stub_count; i++)
		if (strcmp(resolver->stubs[i].zone, ".") != 0 &&
		    (code = ub_ctx_zone_remove(context,
		    resolver->stubs[i].zone)) == 0)
			code = ub_ctx_zone_add(context,
			    resolver->stubs[i].zone, "transparent");
	return code;
}

static int
lookups_make(struct ub_ctx *context, const struct conf_resolver *resolver,
    const char *anchor, bool is_kept, struct err *err)
{
	int code;

	if (lookups_set_all(context, resolver, err) < 0 ||
	    lookups_point(context, resolver, err) < 0)
		return -1;
	code = is_kept ? ub_ctx_add_ta_autr(context, anchor) :
	    ub_ctx_add_ta_file(context, anchor);
	if (code == 0)
		code = ub_ctx_async(context, 1);	/* a thread, no fork */
	if (code == 0)
		code = lookups_settle(context, resolver);
	return code == 0 ? 0 : err_set(err, "libunbound does not start with "
	    "the trust anchor %s: %s", anchor, ub_strerror(code));
}

static void
lookups_on_ready(void *context, unsigned ready)
{
	struct lookups *lookups = context;

	(void)ub_process(lookups->context);
}

struct lookups *
lookups_new(struct loop *loop, const struct conf_resolver *resolver,
    const char *anchor, bool is_kept, struct err *err)
{
	struct ub_ctx *context = ub_ctx_create();
	struct lookups *lookups;

	if (context == NULL) {
		err_set(err, "libunbound does not start");
		return NULL;
	}
	if (lookups_make(context, resolver, anchor, is_kept, err) < 0) {
		ub_ctx_delete(context);
		return NULL;
	}
	lookups = mem_alloc(1, sizeof(*lookups));
	lookups->context = context;
	lookups->watch = loop_watch(loop, ub_fd(context), LOOP_READ,
	    lookups_on_ready, lookups);
	return lookups;
}

/* ---- a question -------------------------------------------------------- */

static void
lookup_found(const struct ub_result *result, struct finding *out)
{
	out->code = (enum dns_code)result->rcode;
	out->is_secure = result->secure != 0;
	if (result->bogus) {
		out->code = DNS_CODE_FAILED;
		out->is_secure = false;
		out->trouble = DNS_TROUBLE_BOGUS;
		out->why = result->why_bogus;
	} else if (result->rcode == DNS_CODE_GOOD ||
	    result->rcode == DNS_CODE_NO_NAME) {
		out->packet = result->answer_packet;
		out->packet_bytes = result->answer_len < 0 ? 0 :
		    (size_t)result->answer_len;
	} else {
		out->code = DNS_CODE_FAILED;
		out->is_secure = false;
		out->trouble = DNS_TROUBLE_UNREACHABLE;
		out->why = "no name server of the zone gave an answer that "
		    "can be used";
	}
}

/* ub_callback_type */
static void
lookup_on_result(void *context, int code, struct ub_result *result)
{
	struct lookup *lookup = context;
	struct finding finding = { .code = DNS_CODE_FAILED,
	    .trouble = DNS_TROUBLE_OTHER, .why = ub_strerror(code) };

	if (code == 0 && result != NULL) {
		finding = (struct finding){ .trouble = DNS_TROUBLE_NONE };
		lookup_found(result, &finding);
	}
	lookup->fn(lookup->context, &finding);
	mem_free(&lookup);
	ub_resolve_free(result);
}

struct lookup *
lookup_ask(struct lookups *lookups, const char *name, unsigned type,
    lookup_fn *fn, void *context)
{
	struct lookup *lookup = mem_alloc(1, sizeof(*lookup));
	int code;

	lookup->fn = fn;
	lookup->context = context;
	code = ub_resolve_async(lookups->context, name, (int)type,
	    LOOKUP_CLASS_IN, lookup, lookup_on_result, &lookup->id);
	if (code == 0)
		return lookup;
	lookup_on_result(lookup, code, NULL);
	return NULL;
}

void
lookup_cancel(struct lookups *lookups, struct lookup **lookup)
{
	(void)ub_cancel(lookups->context, (*lookup)->id);
	mem_free(lookup);
}

void
lookups_free(struct lookups **plookups)
{
	struct lookups *lookups = *plookups;

	if (lookups == NULL)
		return;
	watch_free(&lookups->watch);
	ub_ctx_delete(lookups->context);
	mem_free(plookups);
}
