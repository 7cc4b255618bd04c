/* old.c - what Exim and sendmail say of an address
 *
 * In     `exim -bt ADDRESS`, `sendmail -bv ADDRESS`
 * Out    places, in the words of compare.h
 * Holds  nothing
 * Trusts no line
 * Spec   exim(8), -bt; sendmail(8), -bv
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/compare/compare.h"

#include "base/banned.h"

static bool
text_has(struct slice text, const char *what)
{
	return slice_find_text(text, slice_of(what)) < text.n;
}

/* ---- Exim --------------------------------------------------------------- */

/* A target is an address at the front of a line; lines below it tell more. */
struct exim_target {
	struct slice	address, transport, host;
	unsigned	port;
	bool		is_by_mx;
};

static void
exim_target_end(struct compare *compare, struct exim_target *target,
    struct compare_answer *out)
{
	struct slice user = slice_first(target->address, slice_find(
	    target->address, '@'));

	if (target->address.n == 0)
		return;
	if (target->host.n > 0 && target->is_by_mx)
		compare_place_add(compare, out, "smtp " SLICE_FMT,
		    SLICE_ARG(slice_from(target->address, user.n + 1)));
	else if (target->host.n > 0 && target->port != 0 &&
	    target->port != 25)
		compare_place_add(compare, out, "smtp " SLICE_FMT ":%u",
		    SLICE_ARG(target->host), target->port);
	else if (target->host.n > 0)
		compare_place_add(compare, out, "smtp " SLICE_FMT,
		    SLICE_ARG(target->host));
	else if (slice_starts(target->address, "|"))
		compare_place_add(compare, out, "program " SLICE_FMT,
		    SLICE_ARG(slice_from(target->address, 1)));
	else if (slice_is(target->address, "/dev/null"))
		compare_place_add(compare, out, "discarded");
	else if (slice_starts(target->address, "/"))
		compare_place_add(compare, out, "file " SLICE_FMT,
		    SLICE_ARG(target->address));
	else if (target->transport.n > 0)
		compare_place_add(compare, out, "local " SLICE_FMT,
		    SLICE_ARG(user));
	*target = (struct exim_target){ .port = 0 };
}

/* "host NAME [ADDRESS] MX=10 port=587": the first one counts. */
static void
exim_host(struct slice line, struct exim_target *target)
{
	struct slice rest = slice_from(line, 5), word;
	uint64_t port;

	if (target->host.n > 0 || !slice_word(&rest, &target->host))
		return;
	while (slice_word(&rest, &word)) {
		if (slice_starts(word, "MX="))
			target->is_by_mx = true;
		if (slice_starts(word, "port=") && slice_number(slice_from(
		    word, 5), 1, 65535, &port))
			target->port = (unsigned)port;
	}
}

static void
exim_test_line(struct compare *compare, struct slice line,
    struct exim_target *target, struct compare_answer *out)
{
	struct slice words = slice_trim(line);
	bool is_below = line.n > 0 && (line.p[0] == ' ' || line.p[0] == '\t');

	if (words.n == 0)
		return;
	if (!is_below) {
		exim_target_end(compare, target, out);
		if (text_has(words, " is undeliverable"))
			compare_place_add(compare, out, "refused");
		else if (text_has(words, " cannot be resolved at this time"))
			compare_place_add(compare, out, "deferred");
		else if (text_has(words, " is discarded"))
			compare_place_add(compare, out, "discarded");
		else
			target->address = slice_first(words,
			    slice_find_text(words, SLICE(" -> ")));
	} else if (slice_starts(words, "host "))
		exim_host(words, target);
	else if (text_has(words, "transport = "))
		target->transport = slice_from(words, slice_find_text(words,
		    SLICE("transport = ")) + 12);
}

static void
compare_exim_read(struct compare *compare, struct slice text,
    struct compare_answer *out)
{
	struct exim_target target = { .port = 0 };
	struct slice line;

	while (slice_cut(&text, '\n', &line))
		exim_test_line(compare, line, &target, out);
	exim_target_end(compare, &target, out);
}

/* ---- sendmail ----------------------------------------------------------- */

/* "mailer NAME, host HOST, user USER" of a line that says deliverable. */
static struct slice
sendmail_word(struct slice line, const char *name)
{
	struct slice rest = slice_from(line, slice_find_text(line,
	    slice_of(name)) + strlen(name));

	return slice_first(rest, slice_find(rest, ','));
}

static void
sendmail_host_add(struct compare *compare, struct slice host,
    struct compare_answer *out)
{
	if (slice_starts(host, "[") && slice_find(host, ']') < host.n)
		host = (struct slice){ host.p + 1, slice_find(host, ']') -
		    1 };
	while (slice_ends(host, "."))
		host.n--;
	compare_place_add(compare, out, "smtp " SLICE_FMT, SLICE_ARG(host));
}

static void
sendmail_line(struct compare *compare, struct slice line,
    struct compare_answer *out)
{
	struct slice mailer = sendmail_word(line, "mailer ");
	struct slice user = slice_from(line, slice_find_text(line,
	    SLICE(", user ")) + 7);

	if (slice_starts(user, "\"") && slice_ends(user, "\"") && user.n > 1)
		user = (struct slice){ user.p + 1, user.n - 2 };
	if (!text_has(line, "deliverable: mailer "))
		compare_place_add(compare, out, text_has(line, "transient") ||
		    text_has(line, "deferred") ? "deferred" : "refused");
	else if (slice_is(mailer, "prog"))
		compare_place_add(compare, out, "program " SLICE_FMT,
		    SLICE_ARG(slice_from(user, slice_starts(user, "|"))));
	else if (slice_is(mailer, "*file*") && slice_is(user, "/dev/null"))
		compare_place_add(compare, out, "discarded");
	else if (slice_is(mailer, "*file*"))
		compare_place_add(compare, out, "file " SLICE_FMT,
		    SLICE_ARG(user));
	else if (slice_is(mailer, "discard"))
		compare_place_add(compare, out, "discarded");
	else if (text_has(line, ", host "))
		sendmail_host_add(compare, sendmail_word(line, ", host "),
		    out);
	else
		compare_place_add(compare, out, "local " SLICE_FMT,
		    SLICE_ARG(user));
}

static void
compare_sendmail_read(struct compare *compare, struct slice text,
    struct compare_answer *out)
{
	struct slice line;

	while (slice_cut(&text, '\n', &line)) {
		line = slice_trim(line);
		if (text_has(line, "deliverable:") ||
		    text_has(line, "... "))
			sendmail_line(compare, line, out);
	}
}

/* ---- either ------------------------------------------------------------- */

int
compare_old(struct compare *compare, const char *address,
    struct compare_answer *out, struct err *err)
{
	bool is_exim = strcmp(compare->import->mailer, "exim") == 0;
	const char *words[4] = { is_exim ? "exim4" : "sendmail", is_exim ?
	    "-bt" : "-bv", address, NULL };
	struct str text = STR_INIT;
	int status;

	if (strcmp(compare->import->mailer, "postfix") == 0)
		return compare_postfix(compare, address, out, err);
	if (compare->program != NULL)
		words[0] = compare->program;
	status = compare_run(words, &text, err);
	if (status >= 0 && is_exim)
		compare_exim_read(compare, slice_copy(compare->import->arena,
		    str_slice(&text)), out);
	else if (status >= 0)
		compare_sendmail_read(compare, slice_copy(
		    compare->import->arena, str_slice(&text)), out);
	if (status >= 0 && out->count == 0)
		out->trouble = arena_printf(compare->import->arena,
		    "exit status %d: %s", status, import_quote(
		    compare->import, slice_trim(str_slice(&text))));
	str_release(&text);
	return status < 0 ? -1 : 0;
}
