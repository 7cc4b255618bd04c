/* fuzz_request.c - any bytes as what a browser sends: request, query, form
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/web/made_request.h"
#include "web/pages/form.h"
#include "web/serve/request.h"
#include "web/session/session.h"

#define HOST "127.0.0.1:80"

static void
form_must(struct slice text)
{
	struct arena *arena = arena_new();
	struct form form;

	if (form_read_fields(text, arena, &form) == 0) {
		MUST(form.count <= FORM_FIELDS_MAX);
		for (size_t i = 0; i < form.count; i++) {
			struct slice value = form.fields[i].value;

			MUST(value.n <= FORM_VALUE_BYTES_MAX);
			MUST(value.n <= text.n);
			MUST(!fuzz_has_control(value));
			MUST(!fuzz_has_control(form.fields[i].key));
			for (size_t at = 0; at < value.n;) {
				size_t n = (unsigned char)value.p[at] < 0x80 ?
				    1 : slice_utf8(slice_from(value, at));

				MUST(n > 0);
				at += n;
			}
		}
	}
	arena_free(&arena);
}

static unsigned
fields_named(struct evhttp_request *http, const char *name,
    const char **out_value)
{
	struct evkeyval *field;
	unsigned count = 0;

	TAILQ_FOREACH(field, evhttp_request_get_input_headers(http), next)
		if (strcasecmp(field->key, name) == 0) {
			*out_value = field->value;
			count++;
		}
	return count;
}

/* What was let in decides by fields that stand there once. */
static void
request_must(struct evhttp_request *http, const struct web_request *request)
{
	struct slice uri = slice_of(evhttp_request_get_uri(http));
	const char *value = NULL;

	MUST(fields_named(http, "Host", &value) == 1);
	MUST(strcasecmp(value, HOST) == 0);
	MUST(fields_named(http, "Transfer-Encoding", &value) == 0);
	MUST(fields_named(http, "Content-Length", &value) <= 1);
	MUST(fields_named(http, "Cookie", &value) <= 1);
	MUST(request->path.n > 0 && request->path.p[0] == '/');
	MUST(fuzz_inside(request->path, uri));
	MUST(fuzz_inside(request->query, uri));
	MUST(slice_find(request->path, '?') == request->path.n);
	if (request->method != NULL && strcmp(request->method, "POST") == 0) {
		value = HOST;
		MUST(fields_named(http, "Origin", &value) <= 1);
		MUST(strcasecmp(value, HOST) == 0 ||
		    strcasecmp(value, "http://" HOST) == 0 ||
		    strcmp(value, "null") == 0);
		MUST(fields_named(http, "Content-Type", &value) == 1);
	}
}

/* With TLS the host is the one that is asked for, and Origin is of it. */
static void
request_must_network(struct evhttp_request *http)
{
	const char *words = NULL, *host = NULL, *origin = "null";
	struct web_request request;

	if (request_read(http, NULL, &request, &words) != 0) {
		MUST(words != NULL);
		return;
	}
	MUST(fields_named(http, "Host", &host) == 1 && host[0] != '\0');
	MUST(strpbrk(host, " \t/\\@?#\"'<>") == NULL);
	if (request.method == NULL || strcmp(request.method, "POST") != 0)
		return;
	MUST(fields_named(http, "Origin", &origin) <= 1);
	MUST(strcmp(origin, "null") == 0 ||
	    (strncasecmp(origin, "https://", 8) == 0 &&
	    strcasecmp(origin + 8, host) == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int refusals[] = { 400, 403, 415, 421 };
	struct evhttp_request *http = made_request(fuzz_slice(data, size));
	struct web_session session = { .cookie = "" };
	const char *words = NULL;
	struct web_request request;
	int status = request_read(http, HOST, &request, &words);
	bool is_known = false;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		is_known |= status == refusals[i];
	MUST(status == 0 || (is_known && words != NULL));
	if (status == 0) {
		request_must(http, &request);
		form_must(request.query);
		form_must(request.body);
		/* nobody has a session: no cookie is one */
		MUST(!session_is_known(&session, "zmailer-80",
		    request.cookies, 0));
	}
	request_must_network(http);
	evhttp_request_free(http);
	return 0;
}
