/* wanted.c - what a request for /send wants, looked at before it is read
 *
 * In     a request as libevent read it
 * Out    its user, its kind, its key; or a status to refuse it with
 * Trusts nothing: a field that decides stands there once, and as we write it
 * Spec   wanted.h; RFC 7617 section 2; RFC 9110 section 8.3
 *
 * There is no look at Host: a request that has its password with it does not
 * come from a page that was led here, and programs know this machine by many
 * names.
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "grammar/base64.h"
#include "web/send/letter.h"
#include "web/send/send.h"
#include "web/send/wanted.h"

#include "base/banned.h"

static unsigned
wanted_count(struct evhttp_request *http, const char *name,
    const char **out_value)
{
	struct evkeyval *field;
	unsigned count = 0;

	*out_value = NULL;
	TAILQ_FOREACH(field, evhttp_request_get_input_headers(http), next)
		if (strcasecmp(field->key, name) == 0) {
			*out_value = field->value;
			count++;
		}
	return count;
}

static int
wanted_check(struct evhttp_request *http, const char **out_words)
{
	static const char *const browsers[] = { "Cookie", "Origin",
	    "Sec-Fetch-Site" };
	const char *value;
	uint64_t length;

	*out_words = "POST a message.";
	if (evhttp_request_get_command(http) != EVHTTP_REQ_POST)
		return 405;
	*out_words = "This is for programs: a browser's request (Cookie, "
	    "Origin) is not taken.";
	for (size_t i = 0; i < sizeof(browsers) / sizeof(browsers[0]); i++)
		if (wanted_count(http, browsers[i], &value) > 0)
			return 403;
	*out_words = "The length of the request can be read in two ways: "
	    "one Content-Length, and no chunks.";
	if (wanted_count(http, "Transfer-Encoding", &value) > 0 ||
	    wanted_count(http, "Content-Length", &value) != 1 ||
	    !slice_number(slice_of(value), 0, INT32_MAX, &length))
		return 400;
	*out_words = "One Host is wanted.";
	return wanted_count(http, "Host", &value) != 1 ? 400 : 0;
}

/* "type" or "type; parameters". */
static bool
wanted_is_type(const char *value, const char *type)
{
	size_t n = strlen(type);

	return strncasecmp(value, type, n) == 0 && (value[n] == '\0' ||
	    ascii_is_among(value[n], " \t;"));
}

static int
wanted_kind(struct evhttp_request *http, struct wanted *out,
    const char **out_words)
{
	const char *value;

	*out_words = letter_can_json() ? "Content-Type is message/rfc822 or "
	    "application/json." : "Content-Type is message/rfc822: this "
	    "zmailer was built without jansson, which reads JSON.";
	if (wanted_count(http, "Content-Encoding", &value) > 0 ||
	    wanted_count(http, "Content-Type", &value) != 1)
		return 415;
	out->is_json = wanted_is_type(value, "application/json");
	if (out->is_json)
		return letter_can_json() ? 0 : 415;
	return wanted_is_type(value, "message/rfc822") ? 0 : 415;
}

static int
wanted_login(struct evhttp_request *http, struct wanted *out,
    const char **out_words)
{
	static const char scheme[] = "Basic ";
	const char *value;
	size_t colon;

	*out_words = "A name and a password are wanted: Authorization: "
	    "Basic.";
	if (wanted_count(http, "Authorization", &value) != 1 ||
	    strncasecmp(value, scheme, sizeof(scheme) - 1) != 0 ||
	    base64_decode(slice_trim(slice_of(value + sizeof(scheme) - 1)),
	    &out->secret, NULL) < 0)
		return 401;
	colon = slice_find(str_slice(&out->secret), ':');
	out->user = slice_first(str_slice(&out->secret), colon);
	out->password = slice_from(str_slice(&out->secret), colon + 1);
	if (out->user.n == 0 || out->password.n == 0 ||
	    out->secret.len > DIALOGUE_LOGIN_BYTES_MAX ||
	    slice_find(str_slice(&out->secret), '\0') < out->secret.len)
		return 401;
	return 0;
}

static int
wanted_key(struct evhttp_request *http, struct wanted *out,
    const char **out_words)
{
	unsigned count = wanted_count(http, "Idempotency-Key", &out->key);
	size_t n;

	*out_words = "Idempotency-Key: 1 to 128 visible ASCII characters.";
	if (count == 0)
		return 0;
	n = strlen(out->key);
	for (size_t i = 0; i < n; i++)
		if (out->key[i] <= ' ' || out->key[i] > '~')
			return 400;
	return count > 1 || n == 0 || n > SEND_KEY_BYTES_MAX ? 400 : 0;
}

int
wanted_read(struct evhttp_request *http, struct slice uri,
    struct wanted *out, const char **out_words)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(http);
	int status;

	*out = (struct wanted){ .secret = STR_INIT };
	if ((status = wanted_check(http, out_words)) != 0 ||
	    (status = wanted_login(http, out, out_words)) != 0 ||
	    (status = wanted_kind(http, out, out_words)) != 0 ||
	    (status = wanted_key(http, out, out_words)) != 0)
		return status;
	out->query = slice_from(uri, slice_find(uri, '?') + 1);
	out->body.n = evbuffer_get_length(body);
	out->body.p = out->body.n > 0 ? (char *)evbuffer_pullup(body, -1) :
	    "";
	*out_words = "The body is empty.";
	return out->body.n == 0 ? 400 : 0;
}

void
wanted_release(struct wanted *wanted)
{
	explicit_bzero(wanted->secret.buf, wanted->secret.len);
	str_release(&wanted->secret);
}

int
wanted_sums(const struct wanted *wanted, unsigned char *out_key,
    unsigned char *out_body)
{
	struct digest_run *run = digest_begin(DIGEST_SHA256);

	digest_take(run, wanted->user);
	digest_take(run, (struct slice){ "", 1 });
	digest_take(run, slice_of(wanted->key));
	if (digest_end(&run, out_key) < 0)
		return -1;
	run = digest_begin(DIGEST_SHA256);
	digest_take(run, wanted->is_json ? SLICE("j") : SLICE("m"));
	digest_take(run, wanted->query);
	digest_take(run, (struct slice){ "", 1 });
	digest_take(run, wanted->body);
	return digest_end(&run, out_body);
}
