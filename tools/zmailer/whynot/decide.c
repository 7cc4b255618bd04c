/* decide.c - decide a mail under a configuration that is not in force
 *
 * In     a mail; the texts of a configuration
 * Out    what smtpserver and the router decide
 * Holds  a file that only we read, as long as they read it
 * Trusts our own programs
 * Spec   zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "conf/snapshot/snapshot.h"
#include "tools/zmailer/replay/partner.h"
#include "tools/zmailer/whynot/whynot.h"

#include "base/banned.h"

/* As daemons read what is in force: all files in one. */
static int
texts_put(const struct whynot *whynot, const struct conf_draft *files,
    const char *path, struct err *err)
{
	struct conf_snapshot snapshot = { .pid = getpid(),
		.path = whynot->conf->path,
		.aliases = conf_snapshot_aliases(whynot->conf->has_aliases),
		.files = (struct conf_draft *)(uintptr_t)files,
		.file_count = whynot->file_count };
	struct str text = STR_INIT;
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), result = 0;

	conf_snapshot_add(&text, &snapshot);
	if (fd < 0 || fd_write_all(fd, text.buf, text.len) != 0)
		result = err_sys(err, "cannot write %s", path);
	if (fd >= 0)
		close(fd);
	str_release(&text);
	return result;
}

static void
mail_add(struct str *out, const struct whynot_mail *mail)
{
	const struct { const char *key, *value; } rows[] = {
		{ "t", mail->t }, { "client", mail->client },
		{ "listener", mail->listener }, { "session", mail->session },
		{ "helo", mail->helo }, { "from", mail->from },
		{ "to", mail->to }, { "user", mail->user },
		{ "mech", mail->mech }, { "facts", mail->facts },
	};

	if (mail->line != NULL) {
		str_adds(out, mail->line);
		return;
	}
	json_open(out);
	json_text(out, "at", SLICE("rcpt"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_text(out, rows[i].key, slice_of(rows[i].value != NULL ?
		    rows[i].value : ""));
	json_text(out, "esmtp", mail->is_esmtp ? SLICE("yes") : SLICE("no"));
	json_text(out, "tls", mail->is_encrypted ? SLICE("yes") :
	    SLICE("no"));
	json_number(out, "size", (int64_t)mail->size_bytes);
	json_close(out);
	str_truncate(out, out->len - 1);
}

static const char *
said_text(struct arena *arena, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	const char *result = "";

	if (json_get(line, key, &value))
		result = slice_dup(arena, str_slice(&value));
	str_release(&value);
	return result;
}

static int
session_decide(struct whynot *whynot, struct partner *partner,
    const struct whynot_mail *mail, struct said *out, struct err *err)
{
	struct arena *arena = whynot->arena;
	struct str line = STR_INIT;
	struct slice answer;
	int result;

	mail_add(&line, mail);
	result = partner_ask(partner, str_slice(&line), &answer, err);
	str_release(&line);
	if (result < 0)
		return -1;
	out->need = said_text(arena, answer, "need");
	out->code = json_get_number(answer, "code");
	out->by = said_text(arena, answer, "by");
	out->rule = said_text(arena, answer, "rule");
	out->says = said_text(arena, answer, "says");
	out->is_good = out->code / 100 == 2 &&
	    !json_is(answer, "aside", "true");
	out->words = out->is_good || out->code / 100 != 2 ?
	    arena_printf(arena, "%lld %s %s", (long long)out->code,
	    said_text(arena, answer, "status"),
	    said_text(arena, answer, "words")) : "250, and set aside";
	if (*said_text(arena, answer, "bad") != '\0')
		return err_set(err, "%s", said_text(arena, answer, "bad"));
	return 0;
}

/* Accepted is not delivered: a route may lead to an error. */
static int
route_decide(struct whynot *whynot, const char *path,
    const struct whynot_mail *mail, struct said *out, struct err *err)
{
	static const char *const words[] = { "--ask", NULL };
	struct partner partner = { .pid = 0 };
	struct str question = STR_INIT;
	struct slice line = { "", 0 };
	int result = partner_start(&partner, "router", words, path, err);

	str_addf(&question, "way %s\t%s\t\t%s", mail->to,
	    mail->from != NULL ? mail->from : "",
	    mail->user != NULL ? mail->user : "");
	if (result == 0)
		result = partner_ask(&partner, str_slice(&question), &line,
		    err);
	if (result == 0 && json_is(line, "channel", "error")) {
		out->is_good = false;
		out->by = "route";
		out->words = arena_printf(whynot->arena, "a report to the "
		    "sender: %s", said_text(whynot->arena, line, "host"));
		out->rule = arena_printf(whynot->arena, "%s:%lld",
		    said_text(whynot->arena, line, "file"),
		    (long long)json_get_number(line, "line"));
		out->says = said_text(whynot->arena, line, "rule");
	}
	while (result == 0 && line.n > 0)
		result = partner_read(&partner, &line, err);
	partner_end(&partner);
	str_release(&question);
	return result;
}

static int
programs_decide(struct whynot *whynot, const char *path,
    const struct whynot_mail *mail, struct said *out,
    const struct whynot_mail *more, struct said *out_more, struct err *err)
{
	static const char *const words[] = { "replay", NULL },
		*const words_dns[] = { "replay", "--ask-dns", NULL };
	struct partner partner = { .pid = 0 };
	int result = partner_start(&partner, "smtpserver", whynot->asks_dns ?
	    words_dns : words, path, err);

	if (result == 0)
		result = session_decide(whynot, &partner, mail, out, err);
	if (result == 0 && more != NULL)
		result = session_decide(whynot, &partner, more, out_more,
		    err);
	partner_end(&partner);
	if (result == 0 && out->is_good && mail->to != NULL &&
	    mail->to[0] != '\0')
		result = route_decide(whynot, path, mail, out, err);
	return result;
}

static int
texts_check(const struct whynot *whynot, const struct conf_draft *files,
    struct err *err)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_load_drafts(whynot->conf->path, files,
	    whynot->file_count, arena, &report);

	arena_free(&arena);
	if (conf == NULL)
		return err_set(err, "that is no configuration");
	conf_free(&conf);
	return 0;
}

int
whynot_under(struct whynot *whynot, const struct conf_draft *files,
    whynot_under_fn *ask, void *context, struct err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[400];
	int fd, result;

	if (texts_check(whynot, files, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%.300s/zmailer-whynot-XXXXXX",
	    dir != NULL && dir[0] == '/' ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return err_sys(err, "cannot make %s", path);
	close(fd);
	result = texts_put(whynot, files, path, err);
	if (result == 0)
		result = ask(context, path, err);
	unlink(path);
	return result;
}

struct decision {
	struct whynot		*whynot;
	const struct whynot_mail	*mail, *more;
	struct said		*out, *out_more;
};

static int
decision_ask(void *context, const char *path, struct err *err)
{
	const struct decision *decision = context;

	return programs_decide(decision->whynot, path, decision->mail,
	    decision->out, decision->more, decision->out_more, err);
}

int
whynot_decide(struct whynot *whynot, const struct conf_draft *files,
    const struct whynot_mail *mail, struct said *out,
    const struct whynot_mail *more, struct said *out_more, struct err *err)
{
	struct decision decision = { whynot, mail, more, out, out_more };

	return whynot_under(whynot, files, decision_ask, &decision, err);
}
