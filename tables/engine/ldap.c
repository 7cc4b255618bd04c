/* ldap.c - engine ldap: a directory, by libldap
 *
 * In     keys, escaped in the filter
 * Out    the values of one attribute, of all entries that are found
 * Holds  a connection
 * Trusts the server with what it may answer, no more; no file of libldap's
 * Spec   engine.h; RFC 4511, RFC 4513 (StartTLS), RFC 4515
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/engine.h"

#ifdef HAVE_LDAP
#include <ldap.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tables/engine/filter.h"
#include "tables/engine/servers.h"

#include "base/banned.h"

enum { URL_BYTES = 512, ANSWER_S = 4 };

struct ldap {
	const struct definition	*definition;
	LDAP			*link;		/* NULL: none */
	char			 url[URL_BYTES];	/* of it */
	struct str		 filter;
};

static void *
ldap_open_state(const struct definition *definition)
{
	struct ldap *ldap = mem_alloc(1, sizeof(*ldap));

	ldap->definition = definition;
	str_init(&ldap->filter);
	(void)setenv("LDAPNOINIT", "1", 1);	/* no ldap.conf, no .ldaprc */
	return ldap;
}

static void
ldap_disconnect(struct ldap *ldap)
{
	if (ldap->link != NULL)
		(void)ldap_unbind_ext_s(ldap->link, NULL, NULL);
	ldap->link = NULL;
}

static void
ldap_end(void *state)
{
	struct ldap *ldap = state;

	ldap_disconnect(ldap);
	str_release(&ldap->filter);
	mem_free(&ldap);
}

/* What it says, and what the server or the certificate said of it. */
static enum engine_answer
ldap_trouble(struct ldap *ldap, int result, struct err *err)
{
	char *words = NULL;

	if (ldap->link != NULL)
		(void)ldap_get_option(ldap->link,
		    LDAP_OPT_DIAGNOSTIC_MESSAGE, &words);
	err_set(err, "%s: %s%s%s", ldap->url, ldap_err2string(result),
	    words != NULL && words[0] != '\0' ? ": " : "",
	    words != NULL ? words : "");
	if (words != NULL)
		ldap_memfree(words);
	ldap_disconnect(ldap);
	return ENGINE_AWAY;
}

/* ---- a connection ----------------------------------------------------- */

static bool
ldap_tls_is(const struct ldap *ldap, const char *word)
{
	const char *tls = ldap->definition->values[DEFINITION_TLS];

	return strcmp(tls != NULL ? tls : "verify", word) == 0;
}

/* ldap://NAME:PORT, ldaps://NAME:PORT, ldapi://%2fPATH. */
static void
ldap_url(struct ldap *ldap, const struct server_place *place)
{
	struct str url = STR_INIT;
	bool is_six = slice_find(place->name, ':') < place->name.n;

	if (slice_starts(place->name, "/")) {
		str_adds(&url, "ldapi://");
		for (size_t i = 0; i < place->name.n; i++)
			if (place->name.p[i] == '/')
				str_adds(&url, "%2f");
			else
				str_addc(&url, place->name.p[i]);
	} else {
		str_addf(&url, "%s://%s" SLICE_FMT "%s:" SLICE_FMT,
		    ldap_tls_is(ldap, "ldaps") ? "ldaps" : "ldap",
		    is_six ? "[" : "", SLICE_ARG(place->name),
		    is_six ? "]" : "", SLICE_ARG(place->port.n > 0 ?
		    place->port : ldap_tls_is(ldap, "ldaps") ? SLICE("636") :
		    SLICE("389")));
	}
	strlcpy(ldap->url, url.buf, sizeof(ldap->url));
	str_release(&url);
}

static int
ldap_settings(struct ldap *ldap)
{
	const char *ca = ldap->definition->values[DEFINITION_CA];
	struct timeval wait = { .tv_sec = ENGINE_CONNECT_S };
	int version = LDAP_VERSION3, demand = LDAP_OPT_X_TLS_DEMAND, none = 0;

	(void)ldap_set_option(ldap->link, LDAP_OPT_PROTOCOL_VERSION,
	    &version);
	(void)ldap_set_option(ldap->link, LDAP_OPT_REFERRALS, LDAP_OPT_OFF);
	(void)ldap_set_option(ldap->link, LDAP_OPT_NETWORK_TIMEOUT, &wait);
	(void)ldap_set_option(ldap->link, LDAP_OPT_TIMEOUT, &wait);
	if (ldap_set_option(ldap->link, LDAP_OPT_X_TLS_REQUIRE_CERT,
	    &demand) != LDAP_OPT_SUCCESS ||
	    ldap_set_option(ldap->link, LDAP_OPT_X_TLS_CACERTFILE,
	    ca != NULL ? ca : SERVERS_CA) != LDAP_OPT_SUCCESS ||
	    ldap_set_option(ldap->link, LDAP_OPT_X_TLS_NEWCTX, &none) !=
	    LDAP_OPT_SUCCESS)
		return LDAP_LOCAL_ERROR;
	return LDAP_SUCCESS;
}

static int
ldap_log_in(struct ldap *ldap)
{
	char *const *values = ldap->definition->values;
	struct berval secret = { .bv_val = values[DEFINITION_PASSWORD] };

	if (values[DEFINITION_USER] == NULL)
		return LDAP_SUCCESS;	/* as nobody */
	if (secret.bv_val != NULL)
		secret.bv_len = strlen(secret.bv_val);
	return ldap_sasl_bind_s(ldap->link, values[DEFINITION_USER],
	    LDAP_SASL_SIMPLE, &secret, NULL, NULL, NULL);
}

/* ENGINE_FOUND: it is there. */
static enum engine_answer
ldap_connect_to(struct ldap *ldap, const struct server_place *place,
    struct err *err)
{
	int result;

	ldap_url(ldap, place);
	result = ldap_initialize(&ldap->link, ldap->url);
	if (result == LDAP_SUCCESS)
		result = ldap_settings(ldap);
	if (result == LDAP_SUCCESS && ldap_tls_is(ldap, "verify") &&
	    !slice_starts(place->name, "/"))
		result = ldap_start_tls_s(ldap->link, NULL, NULL);
	if (result == LDAP_SUCCESS)
		result = ldap_log_in(ldap);
	return result == LDAP_SUCCESS ? ENGINE_FOUND :
	    ldap_trouble(ldap, result, err);
}

static enum engine_answer
ldap_connect_any(struct ldap *ldap, struct err *err)
{
	enum engine_answer answer = ENGINE_AWAY;
	struct server_place places[SERVERS_MAX];
	size_t count = servers_of(
	    ldap->definition->values[DEFINITION_HOSTS], places);

	for (size_t i = 0; i < count && answer == ENGINE_AWAY; i++)
		answer = ldap_connect_to(ldap, &places[i], err);
	return answer;
}

/* ---- a question ------------------------------------------------------- */

static enum engine_answer
ldap_values(struct ldap *ldap, LDAPMessage *found, struct str *out,
    struct err *err)
{
	const char *attribute =
	    ldap->definition->values[DEFINITION_ATTRIBUTE];
	unsigned rows = 0;
	bool fits = true;

	for (LDAPMessage *entry = ldap_first_entry(ldap->link, found);
	    entry != NULL && fits;
	    entry = ldap_next_entry(ldap->link, entry)) {
		struct berval **values = ldap_get_values_len(ldap->link,
		    entry, attribute);

		for (size_t i = 0; values != NULL && values[i] != NULL &&
		    fits; i++)
			fits = engine_add_row(out, (struct slice){
			    values[i]->bv_val, values[i]->bv_len }, rows++,
			    err);
		if (values != NULL)
			ldap_value_free_len(values);
	}
	return !fits ? ENGINE_TROUBLE : rows > 0 ? ENGINE_FOUND : ENGINE_NONE;
}

static int
ldap_scope(const struct definition *definition)
{
	const char *word = definition->values[DEFINITION_SCOPE];

	return word == NULL || strcmp(word, "sub") == 0 ?
	    LDAP_SCOPE_SUBTREE : strcmp(word, "one") == 0 ?
	    LDAP_SCOPE_ONELEVEL : LDAP_SCOPE_BASE;
}

static bool
ldap_is_away(int result)
{
	return LDAP_API_ERROR(result) || result == LDAP_BUSY ||
	    result == LDAP_UNAVAILABLE;
}

static enum engine_answer
ldap_try(struct ldap *ldap, struct str *out, struct err *err)
{
	char *const *values = ldap->definition->values;
	char *attributes[] = { values[DEFINITION_ATTRIBUTE], NULL };
	struct timeval wait = { .tv_sec = ANSWER_S };
	enum engine_answer answer = ENGINE_FOUND;
	LDAPMessage *found = NULL;
	int result;

	if (ldap->link == NULL)
		answer = ldap_connect_any(ldap, err);
	if (answer != ENGINE_FOUND)
		return answer;
	result = ldap_search_ext_s(ldap->link, values[DEFINITION_BASE],
	    ldap_scope(ldap->definition), ldap->filter.buf, attributes, 0,
	    NULL, NULL, &wait, ENGINE_ROWS_MAX, &found);
	if (result == LDAP_SUCCESS)
		answer = ldap_values(ldap, found, out, err);
	if (found != NULL)
		(void)ldap_msgfree(found);
	if (result == LDAP_SUCCESS)
		return answer;
	(void)ldap_trouble(ldap, result, err);
	return ldap_is_away(result) ? ENGINE_AWAY : ENGINE_TROUBLE;
}

/* A kept connection may have ended since: then once more. */
static enum engine_answer
ldap_ask(void *state, const struct slice parameters[DEFINITION_PARAMETERS],
    struct str *out, struct err *err)
{
	struct ldap *ldap = state;
	bool was_kept = ldap->link != NULL;
	enum engine_answer answer;

	str_reset(&ldap->filter);
	filter_render(&ldap->filter,
	    ldap->definition->values[DEFINITION_FILTER], parameters);
	answer = ldap_try(ldap, out, err);
	if (answer == ENGINE_AWAY && was_kept)
		answer = ldap_try(ldap, out, err);
	return answer;
}

const struct engine engine_ldap = {
	.name = "ldap", .open = ldap_open_state, .ask = ldap_ask,
	.close = ldap_end, .lock_in = engine_lock_in,
};
#endif
