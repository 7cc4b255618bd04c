/* why.c - zmailer why: what keeps a message, and what would help
 *
 * In     a spool id or a selector; the scheduler's answer to it; the files
 *        of what was set aside
 * Out    for each recipient that is not final: the binding constraint, the
 *        last words, when it is tried next and given up
 * Trusts nothing in the words of other hosts: controls are escaped
 * Spec   zmailer-queue(8); doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/cause.h"
#include "mail/terms.h"
#include "tools/selection/selection.h"
#include "tools/queue/control.h"
#include "tools/queue/turns.h"
#include "tools/queue/words.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct why {
	const char	*id;		/* or the selector */
	char		 shown[SPOOL_ID_BYTES];	/* whose lines come */
	int64_t		 count;		/* lines */
	bool		 is_json;
	int64_t		 now_s;
	struct str	 text, value;
};

/* A member of the line as text; good until the next call. */
static struct slice
why_member(struct why *why, struct slice line, const char *key)
{
	str_reset(&why->value);
	json_get(line, key, &why->value);
	return str_slice(&why->value);
}

static void
why_add_row(struct why *why, const char *label)
{
	str_addf(&why->text, "     %-8s", label);
}

static void
why_add_member(struct why *why, struct slice line, const char *key,
    const char *before)
{
	struct slice value = why_member(why, line, key);

	if (value.n == 0)
		return;
	str_adds(&why->text, before);
	str_add_escaped(&why->text, value);
}

static void
add_cause(struct why *why, struct slice line)
{
	int64_t limit = json_get_number(line, "limit");
	struct slice code = why_member(why, line, "code");
	const struct cause_row *words = cause_find(code);

	why_add_row(why, "cause");
	if (words != NULL)
		str_adds(&why->text, words->text);
	else
		str_add_escaped(&why->text, code);
	if (limit > 0)
		str_addf(&why->text, " (%" PRId64 " of %" PRId64 ")",
		    json_get_number(line, "used"), limit);
	why_add_member(why, line, "reason", ": ");
	why_add_member(why, line, "by", ", by ");
	str_addc(&why->text, '\n');
}

/* Which line sets the limit, and whether the host made it less. */
static void
why_add_setting(struct why *why, struct slice line)
{
	bool is_learned = slice_is(why_member(why, line, "learned"), "true");

	if (why_member(why, line, "setting").n == 0)
		return;
	why_add_row(why, "set by");
	why_add_member(why, line, "setting", "");
	why_add_member(why, line, "place", " (");
	str_adds(&why->text, is_learned ? "), less now by what its host "
	    "answers\n" : ")\n");
}

static void
why_add_times(struct why *why, struct slice line)
{
	int64_t since = json_get_number(line, "since");
	int64_t until = json_get_number(line, "until");
	int64_t next = json_get_number(line, "next");
	int64_t expires = json_get_number(line, "expires");
	int64_t with = json_get_number(line, "with");

	if (since > 0 || until > 0) {
		why_add_row(why, "since");
		if (since > 0)
			words_add_moment(&why->text, since, why->now_s);
		if (until > 0) {
			str_adds(&why->text, since > 0 ? ", until " :
			    "until ");
			words_add_moment(&why->text, until, why->now_s);
		}
		str_addc(&why->text, '\n');
	}
	why_add_row(why, "next");
	if (next > 0)
		words_add_moment(&why->text, next, why->now_s);
	else
		str_adds(&why->text, "as soon as the cause is gone");
	if (expires > 0) {
		str_adds(&why->text, "; given up ");
		words_add_moment(&why->text, expires, why->now_s);
	}
	str_addc(&why->text, '\n');
	if (with > 1) {
		why_add_row(why, "with it");
		str_addf(&why->text, "%" PRId64 " deliveries wait for the "
		    "same destination, each of a message to 100 of its "
		    "recipients at most\n", with);
	}
}

/* "within 4m; 95 of 100 estimates for this destination held". */
static void
why_add_expected(struct why *why, struct slice line)
{
	int64_t at_s = json_get_number(line, "expected");
	int64_t judged = json_get_number(line, "estimates");
	struct slice code = why_member(why, line, "expected_code");

	if (code.n == 0)	/* an older scheduler's */
		return;
	why_add_row(why, "expect");
	if (slice_is(code, "order")) {
		str_adds(&why->text, "nothing, before somebody does "
		    "something\n");
		return;
	}
	if (!slice_is(code, "known")) {
		str_adds(&why->text, "not known: too few that waited so long "
		    "have arrived\n");
		return;
	}
	str_adds(&why->text, "to arrive within ");
	words_add_span(&why->text, at_s > why->now_s ? at_s - why->now_s : 1);
	if (judged > 0)
		str_addf(&why->text, "; %" PRId64 " of %" PRId64
		    " estimates", json_get_number(line, "estimates_held"),
		    judged);
	else
		str_adds(&why->text, "; no estimate");
	str_addf(&why->text, " for %s %sheld\n", slice_is(why_member(why,
	    line, "expected_by"), "channel") ? "its channel" :
	    "its destination", judged > 0 ? "" : "was tried yet: none ");
}

/* "another route: via 192.0.2.1: its words, by hooks.lua:7(...)". */
static void
why_add_route(struct why *why, struct slice line)
{
	if (json_get_number(line, "steered") == 0)
		return;
	why_add_row(why, "route");
	if (why_member(why, line, "via").n > 0)
		why_add_member(why, line, "via", "via ");
	else
		str_adds(&why->text, "found again");
	why_add_member(why, line, "via_words", ": ");
	str_addc(&why->text, '\n');
}

/* What its sender asked about TLS, which may be why it waits. */
static void
why_add_tls(struct why *why, struct slice line)
{
	const char *text = terms_tls_text(why_member(why, line, "tls"));

	if (text == NULL)
		return;
	why_add_row(why, "tls");
	str_addf(&why->text, "%s\n", text);
}

/* A 421 that another message got keeps this one, too. */
static void
why_add_said(struct why *why, struct slice line)
{
	struct str said = STR_INIT, known = STR_INIT;
	bool is_new;

	(void)json_get(line, "said", &said);
	is_new = said.len > 0;
	if (json_get(line, "text", &known) && known.len > 0 &&
	    strstr(said.buf, known.buf) != NULL)
		is_new = false;
	if (json_get(line, "reason", &known) && known.len > 0 &&
	    strstr(known.buf, said.buf) != NULL)
		is_new = false;
	if (is_new) {
		why_add_row(why, "said");
		str_add_escaped(&why->text, str_slice(&said));
		str_addc(&why->text, '\n');
	}
	str_release(&said);
	str_release(&known);
}

static void
add_last(struct why *why, struct slice line)
{
	int64_t tries = json_get_number(line, "tries");
	int64_t last = json_get_number(line, "last");

	if (tries == 0)
		return;
	why_add_row(why, "last");
	str_addf(&why->text, "try %" PRId64, tries);
	if (last > 0) {
		str_addc(&why->text, ' ');
		words_add_moment(&why->text, last, why->now_s);
	}
	why_add_member(why, line, "who", ": ");
	why_add_member(why, line, "text", ": ");
	str_addc(&why->text, '\n');
}

/* "zmailer retry ID", with the id and the destination filled in. */
static void
add_help(struct why *why, struct slice line)
{
	const struct cause_row *row = cause_find(why_member(why, line,
	    "code"));
	struct str channel = STR_INIT, host = STR_INIT;

	if (row == NULL || row->help == NULL)
		return;
	(void)json_get(line, "channel", &channel);
	(void)json_get(line, "host", &host);
	why_add_row(why, "try");
	cause_add_help(row, slice_of(why->shown), str_slice(&channel),
	    str_slice(&host), &why->text);
	str_addc(&why->text, '\n');
	str_release(&channel);
	str_release(&host);
}

static bool
why_one(void *context, struct slice line)
{
	struct why *why = context;

	struct slice id = why_member(why, line, "id");

	why->count++;
	str_reset(&why->text);
	if (why->is_json) {
		control_put_line(line);
		return true;
	}
	if (id.n < sizeof(why->shown) && !slice_is(id, why->shown)) {
		memcpy(why->shown, id.p, id.n);
		why->shown[id.n] = '\0';
		if (!spool_id_is(slice_of(why->id)))
			str_addf(&why->text, "%s\n", why->shown);
	}
	why_add_member(why, line, "to", "to ");
	why_add_member(why, line, "state", "  ");
	why_add_member(why, line, "channel", "  ");
	why_add_member(why, line, "host", "/");
	why_add_member(why, line, "zone", "  zone ");
	str_addc(&why->text, '\n');
	add_cause(why, line);
	why_add_setting(why, line);
	why_add_route(why, line);
	why_add_tls(why, line);
	why_add_said(why, line);
	add_last(why, line);
	why_add_times(why, line);
	why_add_expected(why, line);
	add_help(why, line);
	fputs(why->text.buf, stdout);
	return true;
}

/* What the scheduler says about its own mail.  0 with *out_count recipients, or
 * an exit status if it cannot answer. */
static int
why_queued(struct why *why, struct control *control, int64_t *out_count)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct err err;
	int64_t final;
	int status = EX_OK;

	control_begin(&request, "why");
	if (spool_id_is(slice_of(why->id)))
		json_text(&request, "id", slice_of(why->id));
	else
		json_text(&request, "select", slice_of(why->id));
	if (control_ask(control, &request, why_one, why, &last, &err) < 0) {
		if (!json_get(str_slice(&last), "code", &why->value) ||
		    !slice_is(str_slice(&why->value), "no-such")) {
			status = control_failed("why", control, &err);
		}
	} else {
		final = json_get_number(str_slice(&last), "final");
		*out_count = why->count + final;
		if (!why->is_json && final > 0)
			printf("%" PRId64 " other recipient%s: zmailer trace "
			    "%s\n", final, final == 1 ? " has its outcome" :
			    "s have their outcome", why->id);
	}
	str_release(&request);
	str_release(&last);
	return status;
}

/* Its own mail, then mail elsewhere. */
static int
why_all(struct why *why, const struct conf *conf,
    const struct selector *selector)
{
	struct control control;
	int64_t queued = 0;
	size_t aside = 0;
	struct err err;
	enum control_reached reached;
	int status = EX_OK;

	reached = control_connect(conf->run_dir, &control, &err);
	if (reached == CONTROL_REACHED) {
		status = why_queued(why, &control, &queued);
		if (!why->is_json)
			turns_note_unread("why", conf->run_dir);
	}
	control_hang_up(&control);
	if (reached == CONTROL_BROKEN)
		return control_failed("why", &control, &err);
	if (status != EX_OK)
		return status;
	/* who may not read the files has had an answer about its own */
	if (selection_why_aside(conf, selector, why->is_json, &aside,
	    &err) < 0 &&
	    queued == 0 && reached == CONTROL_ABSENT)
		fprintf(stderr, "zmailer: why: %s\n", err.text);
	if (queued > 0 || aside > 0)
		return EX_OK;
	if (selector != NULL && selection_say_aside("why", conf,
	    ~(1u << AREA_TRASH), selector))
		return 1;
	if (reached == CONTROL_ABSENT)
		return control_stopped("why", conf->run_dir, "until then "
		    "nothing is tried; `zmailer show` says what the files "
		    "know");
	fprintf(stderr, "zmailer: why: no such message is queued or set aside"
	    "\n`zmailer trace %s` knows what is done\n", why->id);
	return 1;
}

int
verb_why(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct why why = { .now_s = clock_wall_s(), .text = STR_INIT,
	    .value = STR_INIT };
	struct arena *arena = arena_new();
	struct selection_options options;
	struct selector *selector;
	struct conf *conf;
	int status = selection_options_take(arguments, &options);

	if (status == EX_OK)
		status = selection_selector(&options, arena, &selector);
	if (status == EX_OK) {
		why.id = options.words.buf;
		why.is_json = options.is_json;
		conf = verb_conf_spool(conf_path);
		status = why_all(&why, conf, selector);
		conf_free(&conf);
	}
	str_release(&why.text);
	str_release(&why.value);
	selection_options_release(&options);
	arena_free(&arena);
	return status;
}
