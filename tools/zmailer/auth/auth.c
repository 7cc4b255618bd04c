/* auth.c - zmailer auth: authenticate a message
 *
 * In     a message, in a file, in the spool or from standard input; the client
 *        that it came from
 * Out    SPF, DKIM, DMARC, ARC and DKIM2, step by step
 * Trusts nothing in the message, nor what the DNS says
 * Spec   zmailer-auth(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "grammar/message/header.h"
#include "grammar/net.h"
#include "mail/envelope.h"
#include "origin/dkim2/bounce.h"
#include "tools/journal/ask.h"
#include "tools/zmailer/auth/auth.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	MESSAGE_BYTES_MAX = 256 << 20,
	ZONE_BYTES_MAX = 1 << 20,
	ROUNDS_MAX = 200		/* of questions; each answers one at
					 * least */
};

/* All of a file, or of standard input.  0 or -1. */
static int
auth_read(const char *path, size_t max, struct str *out, struct err *err)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) :
	    open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd < 0)
		return err_sys(err, "%s", path);
	while (out->len <= max && (n = read(fd, str_room(out, 65536),
	    65536)) > 0)
		out->len += (size_t)n;
	close(fd);
	if (n < 0)
		return err_sys(err, "%s", path);
	out->buf[out->len] = '\0';
	return out->len <= max ? 0 : err_set(err, "%s is longer than %zu "
	    "bytes", path, max);
}

/* ---- the client --------------------------------------------------------- */

/* The text between two others; false: they are not there. */
static bool
auth_between(struct slice text, const char *before, const char *stops,
    struct slice *out)
{
	size_t n = strlen(before);

	for (; text.n >= n; text = slice_from(text, 1)) {
		if (!slice_starts(text, before))
			continue;
		*out = slice_from(text, n);
		for (n = 0; n < out->n && strchr(stops, out->p[n]) == NULL;)
			n++;
		*out = slice_first(*out, n);
		return n > 0;
	}
	return false;
}

/* An address without <>; .n 0: the null path. */
static void
auth_take_rcpts(struct auth_case *one, const struct envelope *envelope)
{
	struct slice *rcpts = arena_alloc(one->arena,
	    (envelope->rcpt_count + 1) * sizeof(*rcpts));
	struct str address = STR_INIT;

	for (size_t i = 0; i < envelope->rcpt_count; i++) {
		str_reset(&address);
		path_add(&address, &envelope->rcpts[i].path);
		rcpts[i] = slice_copy(one->arena, str_slice(&address));
	}
	one->mail.rcpts = rcpts;
	one->mail.rcpt_count = envelope->rcpt_count;
	one->mail.has_sender = true;
	str_release(&address);
}

/* A file of the spool says itself how it came. */
static void
auth_take_envelope(struct auth_case *one)
{
	struct envelope envelope;
	struct str sender = STR_INIT;
	struct slice text;
	struct err err;

	if (envelope_parse(one->arena, one->message, &envelope, &err) != 0)
		return;
	one->message = slice_from(one->message, envelope.header_offset);
	if (auth_between(envelope.rcvdfrom, "([", "]", &text))
		one->has_client = net_parse(text, &one->ask.client, &err) ==
		    0;
	if (auth_between(envelope.rcvdfrom, "helo=", " )", &text))
		one->ask.helo = text;
	if (!envelope.is_error)
		path_add(&sender, &envelope.from);
	one->ask.sender = slice_copy(one->arena, str_slice(&sender));
	str_release(&sender);
	auth_take_rcpts(one, &envelope);
}

static struct slice
auth_address(struct slice text)
{
	return text.n >= 2 && text.p[0] == '<' && text.p[text.n - 1] == '>' ?
	    (struct slice){ text.p + 1, text.n - 2 } : text;
}

/* What DKIM2 holds the envelope against: --from, --to A,B. */
static void
auth_take_dkim2(struct arguments *arguments, struct auth_case *one,
    const struct conf *conf)
{
	const char *word = arguments_text(arguments, OPT_DKIM2);
	const char *to = arguments_text(arguments, OPT_TO);
	struct slice rest = slice_of(to), rcpt, *rcpts;
	size_t count = 1;

	one->has_dkim2 = word != NULL ||
	    conf->verifies_origin == JUDGES_DKIM2;
	one->mail.is_lenient = word != NULL && strcmp(word, "lenient") == 0;
	one->mail.has_sender |= arguments_has(arguments, OPT_FROM);
	if (to == NULL)
		return;
	for (size_t i = 0; i < rest.n; i++)
		count += rest.p[i] == ',';
	rcpts = arena_alloc(one->arena, count * sizeof(*rcpts));
	one->mail.rcpts = rcpts;
	one->mail.rcpt_count = 0;
	while (slice_cut(&rest, ',', &rcpt))
		rcpts[one->mail.rcpt_count++] = auth_address(slice_trim(
		    rcpt));
}

/* 0; or arguments_refuse's exit status. */
static int
auth_take_options(struct arguments *arguments, struct auth_case *one)
{
	const char *ip = arguments_text(arguments, OPT_TEST_IP);
	const char *helo = arguments_text(arguments, OPT_TEST_HELO);
	const char *sender = arguments_text(arguments, OPT_FROM);
	const char *now = arguments_text(arguments, OPT_CAME);
	int64_t at_ms, for_ms;
	struct err err;

	if (ip != NULL) {
		if (net_parse(slice_of(ip), &one->ask.client, &err) != 0 ||
		    one->ask.client.bits != 128)
			return arguments_refuse(arguments, "--ip %s: an "
			    "address is wanted, as 192.0.2.1", ip);
		one->has_client = true;
	}
	if (helo != NULL)
		one->ask.helo = slice_of(helo);
	if (sender != NULL)
		one->ask.sender = auth_address(slice_of(sender));
	if (now != NULL) {
		if (ask_moment(now, clock_wall_us() / 1000, &at_ms, &for_ms,
		    &err) != 0)
			return arguments_refuse(arguments, "--now %s: %s",
			    now, err.text);
		one->received_s = one->ask.now_s = at_ms / 1000;
	}
	return 0;
}

/* ---- judging ------------------------------------------------------------ */

/* Judge what can be judged now.  returns whether questions are open. */
static bool
auth_judge_open(struct auth_case *one)
{
	bool asks = false;

	if (one->has_client)
		asks |= spf_judge(one->answers, &one->ask, one->arena,
		    &one->spf) == ORIGIN_ASKS;
	asks |= dkim_judge(one->answers, &(struct dkim_ask){ one->message,
	    one->received_s, one->author }, one->arena, one->dkims,
	    &one->dkim_count, &one->dkim_found) == ORIGIN_ASKS;
	asks |= arc_judge(one->answers, one->message, one->received_s,
	    one->arena, &one->arc) == ORIGIN_ASKS;
	if (one->has_dkim2)
		asks |= dkim2_judge(one->answers, &one->mail, one->arena,
		    &one->dkim2) == ORIGIN_ASKS ||
		    dkim2_bounce_judge(one->answers, &one->mail, one->arena,
		    &one->dkim2) == ORIGIN_ASKS;
	if (!asks && one->author.n > 0)
		asks = dmarc_judge(one->answers, one->author,
		    one->has_client ? &one->spf : NULL, one->dkims,
		    one->dkim_count, one->arena, &one->dmarc) == ORIGIN_ASKS;
	return asks;
}

/* The answers of a file, or of the DNS.  0; or an exit status. */
static int
auth_judge_all(struct auth_case *one, const char *zone_path,
    const struct conf *conf)
{
	struct str zone = STR_INIT;
	struct auth_look *look;
	struct err err, why;
	int read = 0;

	if (zone_path != NULL) {
		read = auth_read(zone_path, ZONE_BYTES_MAX, &zone, &err);
		if (read == 0 && answers_read_zone(one->answers,
		    str_slice(&zone), &why) != 0)
			read = err_set(&err, "%s: %s", zone_path, why.text);
		str_release(&zone);
	}
	look = auth_look_new(one->arena, conf, &err);
	if (read != 0 || look == NULL) {
		fprintf(stderr, "zmailer: auth: %s\n", err.text);
		return read != 0 ? EX_DATAERR : EX_UNAVAILABLE;
	}
	for (int round = 0; auth_judge_open(one); round++) {
		if (round == ROUNDS_MAX)
			answers_close(one->answers);
		auth_look_round(look, one->answers);
	}
	return 0;
}

/* DMARC failed: does a trusted seal say that it had passed? */
static void
auth_take_seals(struct auth_case *one, const struct conf *conf)
{
	const struct arc_trust trust = {
		(const char *const *)conf->arc_domains,
		conf->arc_domain_count };
	const struct arc_set *set = one->author.n == 0 ||
	    one->dmarc.origin != ORIGIN_FAIL ? NULL : arc_vouches(&one->arc,
	    &trust, one->dmarc.domain, one->arena);

	if (set != NULL)
		one->sealer = set->domain;
}

static int
auth_run(struct arguments *arguments, struct auth_case *one,
    const struct conf *conf)
{
	struct str out = STR_INIT;
	int status;

	one->answers = answers_new(one->arena);
	one->host = conf->host;
	one->ask.receiver = slice_of(conf->host);
	one->received_s = one->ask.now_s = clock_wall_s();
	auth_take_envelope(one);
	status = auth_take_options(arguments, one);
	if (status != 0)
		return status;
	auth_take_dkim2(arguments, one, conf);
	one->mail.message = one->message;
	one->mail.sender = one->ask.sender;
	one->mail.received_s = one->received_s;
	(void)dmarc_author(one->message, one->arena, &one->author,
	    &one->dmarc);
	status = auth_judge_all(one, arguments_text(arguments, OPT_ZONE),
	    conf);
	if (status != 0)
		return status;
	auth_take_seals(one, conf);
	if (arguments_has(arguments, OPT_JSON))
		auth_show_json(one, &out);
	else
		auth_show(one, &out);
	fwrite(out.buf, 1, out.len, stdout);
	str_release(&out);
	return one->author.n > 0 && one->dmarc.origin == ORIGIN_FAIL &&
	    one->sealer.n == 0 ? 1 : EX_OK;
}

/* A file, or else a message of the spool: a file of that name wins.  0; or
 * -1.  *out_conf: read for the spool, or NULL; the caller frees it. */
static int
auth_read_named(const char *path, const char *conf_path, struct str *out,
    struct conf **out_conf, struct err *err)
{
	bool is_file = strcmp(path, "-") == 0 || access(path, F_OK) == 0 ||
	    errno != ENOENT;

	if (is_file) {
		*out_conf = NULL;
		return auth_read(path, MESSAGE_BYTES_MAX, out, err);
	}
	*out_conf = verb_conf_spool(conf_path);
	return auth_read_spool(*out_conf, path, MESSAGE_BYTES_MAX, out, err);
}

int
verb_auth(struct arguments *arguments)
{
	const char *path = arguments_word(arguments, 0);
	struct auth_case one = { .arena = arena_new() };
	struct str file = STR_INIT;
	struct conf *conf = NULL;
	struct err err;
	int status = EX_NOINPUT;

	if (path == NULL) {
		status = arguments_refuse(arguments, "which message? Name its "
		    "file, or - for standard input");
	} else if (auth_read_named(path, arguments->conf_path, &file, &conf,
	    &err) != 0) {
		fprintf(stderr, "zmailer: auth: %s\n", err.text);
	} else {
		one.message = str_slice(&file);
		if (header_is_from_line(one.message))	/* of an mbox */
			one.message = slice_from(one.message, slice_find(
			    one.message, '\n') + 1);
		if (conf == NULL)
			conf = verb_conf(arguments->conf_path);
		status = auth_run(arguments, &one, conf);
	}
	conf_free(&conf);
	str_release(&file);
	arena_free(&one.arena);
	return status;
}
