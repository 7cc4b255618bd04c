/* ours.c - what the router answers for addresses in the new configuration
 *
 * In     lines of `router --route --json`
 * Out    places, in the words of compare.h
 * Holds  one process, while it is asked
 * Spec   zmailer-route(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "tools/run/ask_router.h"
#include "io/unix_socket.h"
#include "tools/zmailer/import/compare/compare.h"

#include "base/banned.h"

enum { OURS_AT_ONCE = 200 };

/* "login@smtps:[host]:587" as HOST or HOST:PORT. */
static const char *
ours_host(struct compare *compare, struct slice host)
{
	bool is_port = false;
	size_t at = slice_find(host, '@');

	host = slice_from(host, at < host.n ? at + 1 : 0);
	if (slice_starts(host, "smtps:"))
		host = slice_from(host, 6);
	if (slice_starts(host, "[") && slice_find(host, ']') < host.n) {
		struct slice rest = slice_from(host, slice_find(host, ']') +
		    1);

		host = (struct slice){ host.p + 1, slice_find(host, ']') -
		    1 };
		is_port = slice_starts(rest, ":") && !slice_is(rest, ":25") &&
		    strcmp(compare->import->mailer, "sendmail") != 0;
		if (is_port)
			return arena_printf(compare->import->arena, SLICE_FMT
			    SLICE_FMT, SLICE_ARG(host), SLICE_ARG(rest));
	}
	return slice_dup(compare->import->arena, host);
}

/* Exim names no place of a transport that delivers here. */
static bool
ours_is_inside(const struct compare *compare, const char *channel,
    const char *host)
{
	return strcmp(compare->import->mailer, "exim") == 0 &&
	    ((strcmp(channel, "lmtp") == 0 && unix_socket_is_meant(slice_of(
	    host))) || (strcmp(channel, "pipe") == 0 && host[0] == '='));
}

static void
ours_place(struct compare *compare, struct slice line,
    struct compare_answer *out)
{
	struct str channel = STR_INIT, host = STR_INIT, user = STR_INIT;

	(void)json_get(line, "host", &host);
	(void)json_get(line, "user", &user);
	if (!json_get(line, "channel", &channel))
		;
	else if (strcmp(channel.buf, "error") == 0)
		compare_place_add(compare, out, "refused");
	else if (strcmp(channel.buf, "hold") == 0)
		compare_place_add(compare, out, "deferred");
	else if (strcmp(channel.buf, "discard") == 0)
		compare_place_add(compare, out, "discarded");
	else if (strcmp(host.buf, "file") == 0 &&
	    strcmp(user.buf, "/dev/null") == 0)
		compare_place_add(compare, out, "discarded");
	else if (ours_is_inside(compare, channel.buf, host.buf))
		compare_place_add(compare, out, "local " SLICE_FMT,
		    SLICE_ARG(slice_first(str_slice(&user), slice_find(
		    str_slice(&user), '@'))));
	else if (strcmp(channel.buf, "pipe") == 0)
		compare_place_add(compare, out, "program %s", user.buf);
	else if (strcmp(channel.buf, "local") == 0)
		compare_place_add(compare, out, strcmp(host.buf, "file") ==
		    0 ? "file %s" : "local %s", user.buf);
	else if (strncmp(channel.buf, "smtp", 4) == 0)
		compare_place_add(compare, out, "smtp %s", ours_host(compare,
		    str_slice(&host)));
	else
		compare_place_add(compare, out, "%s %s", channel.buf,
		    host.buf);
	str_release(&channel);
	str_release(&host);
	str_release(&user);
}

/* Lines are in the order of the addresses. */
static void
ours_read(struct compare *compare, struct slice text, size_t first,
    size_t end, struct compare_answer *out)
{
	struct slice line;
	size_t at = first;

	while (slice_cut(&text, '\n', &line)) {
		struct str address = STR_INIT;

		if (json_get(line, "address", &address)) {
			for (size_t i = at; i < end; i++)
				if (strcmp(compare->addresses[i],
				    address.buf) == 0)
					at = i;
			ours_place(compare, line, &out[at]);
		}
		str_release(&address);
	}
}

int
compare_ours(struct compare *compare, struct compare_answer *out,
    struct err *err)
{
	const char *words[OURS_AT_ONCE + 1];
	struct str text = STR_INIT;
	int result = 0;

	for (size_t i = 0; i < compare->count && result == 0;
	    i += OURS_AT_ONCE) {
		size_t n = compare->count - i > OURS_AT_ONCE ? OURS_AT_ONCE :
		    compare->count - i;

		for (size_t k = 0; k < n; k++)
			words[k] = compare->addresses[i + k];
		words[n] = NULL;
		str_reset(&text);
		if (router_asked(compare->conf_path, words, &text) == NULL)
			result = err_set(err, "the router cannot be run");
		else
			ours_read(compare, str_slice(&text), i, i + n, out);
	}
	for (size_t i = 0; i < compare->count; i++)
		if (out[i].count == 0)
			out[i].trouble = "the router gives no answer: "
			    "zmailer route --config has more";
	str_release(&text);
	return result;
}
