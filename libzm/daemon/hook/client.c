/* client.c - the owner's side of a script
 *
 * In     the statement `hooks`; questions
 * Out    answers, or the line of the script that went wrong
 * Holds  a process and a socket; the text that was good last
 * Trusts the process with nothing: frames are checked, silence has an end
 * Spec   hook.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/hook/hook.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "daemon/hook/peer.h"
#include "daemon/hook/script.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum {
	LOOK_EVERY_MS = 1000,
	YOUNG_S = 2,			/* may change unseen */
	DEATHS_MAX = 20, DEATHS_MS = 10000	/* then none is started */
};

const char *const hook_call_names[HOOK_CALLS] = {
	"on_rcpt", "route", "on_header", "on_result", "before_attempt",
};
const char *const hook_verdict_names[HOOK_VERDICTS] = {
	"none", "accept", "reject", "defer", "freeze", "via", "at", "drop",
	"reroute",
};

struct hooks {
	const struct conf_hooks	*conf;
	const struct hook_host	*host;
	struct hook_peer	 peer;
	struct str		 text;		/* the good one */
	bool			 has_text;
	unsigned		 lines[HOOK_CALLS];	/* 0: not defined */
	unsigned		 generation;
	struct stat		 seen;
	bool			 is_young, was_looked;
	int64_t			 looked_ms;
	struct err		 trouble;	/* of the file as it is */
	struct str		 question;
	size_t			 start;
	enum hook_call		 call;
	bool			 died;
	unsigned		 deaths;
	int64_t			 deaths_ms;
};

struct hooks *
hooks_new(const struct conf_hooks *conf, const struct hook_host *host)
{
	struct hooks *hooks = mem_alloc(1, sizeof(*hooks));

	hooks->conf = conf;
	hooks->host = host;
	hook_peer_init(&hooks->peer);
	str_init(&hooks->text);
	str_init(&hooks->question);
	return hooks;
}

void
hooks_free(struct hooks **phooks)
{
	struct hooks *hooks = *phooks;

	if (hooks == NULL)
		return;
	hook_peer_end(&hooks->peer);
	str_release(&hooks->text);
	str_release(&hooks->question);
	mem_free(phooks);
}

/* ---- a text takes over ------------------------------------------------ */

static int
script_text_read(const char *path, struct str *out, struct stat *out_seen,
    struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got = -1;

	str_reset(out);
	if (fd < 0)
		return err_sys(err, "%s", path);
	if (fstat(fd, out_seen) != 0 || !S_ISREG(out_seen->st_mode))
		err_set(err, "%s is no regular file", path);
	else if (out_seen->st_size > SCRIPT_TEXT_BYTES_MAX)
		err_set(err, "%s has more than %d bytes", path,
		    SCRIPT_TEXT_BYTES_MAX);
	else if ((got = read(fd, str_room(out, SCRIPT_TEXT_BYTES_MAX),
	    SCRIPT_TEXT_BYTES_MAX)) < 0)
		err_sys(err, "%s", path);
	close(fd);
	if (got < 0)
		return -1;
	out->len = (size_t)got;
	return 0;
}

/* H: which functions there are. */
static void
take_functions(unsigned lines[HOOK_CALLS], struct slice fields)
{
	struct slice name, text;
	uint64_t line;

	memset(lines, 0, HOOK_CALLS * sizeof(*lines));
	while (hook_field(&fields, &name) && hook_field(&fields, &text))
		for (size_t i = 0; i < HOOK_CALLS; i++)
			if (slice_is(name, hook_call_names[i]) &&
			    slice_number(text, 0, 1000000, &line))
				lines[i] = line > 0 ? (unsigned)line : 1;
}

/* False when the process is spent: it ends by itself. */
static bool
take_error(struct slice fields, struct err *err)
{
	struct slice kind = { NULL, 0 };
	struct slice text = SLICE("an error without words");

	if (hook_field(&fields, &kind))
		(void)hook_field(&fields, &text);
	err_set(err, SLICE_FMT, SLICE_ARG(text));
	return !slice_is(kind, "memory");
}

/* Lines of the journal while a text begins or a question is open. */
static void
tell_log(const struct hook_host *host, struct slice fields)
{
	struct slice text;

	if (host->log != NULL && hook_field(&fields, &text))
		host->log(host->context, text);
}

/* Start a process for text and wait until it is ready.  0 or -1. */
static int
hooks_begin(const struct hooks *hooks, struct slice text,
    struct hook_peer *peer, unsigned lines[HOOK_CALLS], struct err *err)
{
	int64_t until_ms = clock_steady_ms() + hooks->conf->time_ms +
	    HOOK_GRACE_MS;
	struct hook_frame frame;

	if (hook_peer_start(peer, hooks->conf, text, err) != 0)
		return -1;
	for (;;) {
		if (hook_peer_take(peer, until_ms, &frame, err) !=
		    HOOK_PEER_SPOKE) {
			err_prefix(err, "%s", hooks->conf->script);
			break;
		}
		if (frame.type == 'H') {
			take_functions(lines, frame.fields);
			return 0;
		}
		if (frame.type == 'G') {
			tell_log(hooks->host, frame.fields);
			continue;
		}
		if (frame.type == 'E')
			(void)take_error(frame.fields, err);
		else
			err_set(err, "%s: no lookups before the first call",
			    hooks->conf->script);
		break;
	}
	hook_peer_end(peer);
	return -1;
}

static void
report_loaded(const struct hooks *hooks)
{
	struct str names = STR_INIT;

	for (size_t i = 0; i < HOOK_CALLS; i++)
		if (hooks->lines[i] > 0)
			str_addf(&names, "%s%s", names.len > 0 ? " " : "",
			    hook_call_names[i]);
	event(EV_HOOK_LOADED, NULL, "file", slice_of(hooks->conf->script),
	    "functions", str_slice(&names), "generation",
	    event_number(hooks->generation), NULL);
	str_release(&names);
}

/* The file changed: the new text takes over when it is good. */
static void
hooks_reload(struct hooks *hooks)
{
	struct hook_peer fresh;
	struct str text = STR_INIT;
	unsigned lines[HOOK_CALLS];

	bool is_read;

	hook_peer_init(&fresh);
	is_read = script_text_read(hooks->conf->script, &text, &hooks->seen,
	    &hooks->trouble) == 0;
	if (is_read && hooks->has_text && slice_equal(str_slice(&text),
	    str_slice(&hooks->text))) {
		str_release(&text);
	} else if (is_read && hooks_begin(hooks, str_slice(&text), &fresh,
	    lines, &hooks->trouble) == 0) {
		hook_peer_end(&hooks->peer);
		str_release(&hooks->text);
		hooks->peer = fresh;
		hooks->text = text;
		hooks->has_text = true;
		memcpy(hooks->lines, lines, sizeof(lines));
		hooks->generation++;
		report_loaded(hooks);
	} else {
		str_release(&text);
		event(EV_HOOK_REFUSED, NULL, "file",
		    slice_of(hooks->conf->script), "reason",
		    slice_of(hooks->trouble.text), NULL);
	}
	hooks->is_young = llabs(clock_wall_s() - hooks->seen.st_mtim.tv_sec)
	    <= YOUNG_S;
}

static void
hooks_look(struct hooks *hooks)
{
	int64_t now_ms = clock_steady_ms();
	struct stat st;

	if (hooks->was_looked && now_ms - hooks->looked_ms < LOOK_EVERY_MS)
		return;
	hooks->looked_ms = now_ms;
	memset(&st, 0, sizeof(st));
	if (stat(hooks->conf->script, &st) == 0 && hooks->was_looked &&
	    !hooks->is_young && table_looks_the_same(&st, &hooks->seen))
		return;
	/* gone for a moment (an editor at work): what is known stays */
	if (st.st_ino == 0 && hooks->has_text)
		return;
	hooks->was_looked = true;
	hooks->seen = st;
	hooks_reload(hooks);
}

/* ---- asking ----------------------------------------------------------- */

/* The process ended while it had a question, or was killed for silence. */
static void
note_death(struct hooks *hooks, bool died, const struct err *err)
{
	int64_t now_ms = clock_steady_ms();

	if (now_ms - hooks->deaths_ms > DEATHS_MS) {
		hooks->deaths_ms = now_ms;
		hooks->deaths = 0;
	}
	hooks->deaths++;
	hooks->died = died;
	event(EV_HOOK_DIED, NULL, "file", slice_of(hooks->conf->script),
	    "function", slice_of(hook_call_names[hooks->call]), "reason",
	    slice_of(err->text), NULL);
}

static bool
is_dying(const struct hooks *hooks)
{
	return hooks->deaths >= DEATHS_MAX &&
	    clock_steady_ms() - hooks->deaths_ms <= DEATHS_MS;
}

enum hook_has
hooks_has(struct hooks *hooks, enum hook_call call, struct err *err)
{
	hooks_look(hooks);
	if (!hooks->has_text) {
		err_set(err, "%s", hooks->trouble.text);
		return HOOK_TROUBLE;
	}
	return hooks->lines[call] > 0 ? HOOK_DEFINED : HOOK_MISSING;
}

void
hooks_question(struct hooks *hooks, enum hook_call call)
{
	str_reset(&hooks->question);
	hooks->call = call;
	hooks->start = hook_frame_begin(&hooks->question, 'Q');
	hook_field_add(&hooks->question, slice_of(hook_call_names[call]));
}

void
hooks_add(struct hooks *hooks, const char *key, struct slice value)
{
	hook_field_add(&hooks->question, slice_of(key));
	hook_field_add(&hooks->question, value);
}

/* R: what a lookup brought. */
static void
answer_lookup(struct hooks *hooks, struct slice fields)
{
	struct slice table = { NULL, 0 }, key = { NULL, 0 };
	struct str value = STR_INIT, out = STR_INIT;
	struct err err = { "there are no tables here" };
	int found = -1;
	size_t start;

	if (hook_field(&fields, &table) && hook_field(&fields, &key) &&
	    hooks->host->lookup != NULL)
		found = hooks->host->lookup(hooks->host->context, table, key,
		    &value, &err);
	start = hook_frame_begin(&out, 'R');
	hook_field_add(&out, slice_of(found == 1 ? "found" : found == 0 ?
	    "none" : "trouble"));
	hook_field_add(&out, found < 0 ? slice_of(err.text) :
	    str_slice(&value));
	hook_frame_end(&out, start);
	(void)hook_peer_send(&hooks->peer, str_slice(&out),
	    clock_steady_ms() + hooks->conf->time_ms);
	str_release(&value);
	str_release(&out);
}

static int
take_answer(struct slice fields, struct hook_answer *out, struct err *err)
{
	struct slice verdict, line;
	uint64_t number;

	*out = (struct hook_answer){ .verdict = HOOK_VERDICTS };
	if (!hook_field(&fields, &verdict) || !hook_field(&fields, &line) ||
	    !hook_field(&fields, &out->code) ||
	    !hook_field(&fields, &out->text) ||
	    !slice_number(line, 0, 1000000000, &number))
		return err_set(err, "the script's process talks nonsense");
	for (int i = 0; i < HOOK_VERDICTS; i++)
		if (slice_is(verdict, hook_verdict_names[i]))
			out->verdict = (enum hook_verdict)i;
	out->line = (unsigned)number;
	out->edits = fields;
	return out->verdict < HOOK_VERDICTS ? 0 :
	    err_set(err, "the script's process talks nonsense");
}

enum outcome { IS_ANSWERED, IS_ERROR, IS_LATE, IS_DEAD };

static enum outcome
hook_converse(struct hooks *hooks, int64_t until_ms, struct hook_answer *out,
    struct err *err)
{
	struct hook_frame frame;
	enum hook_peer_word word;

	for (;;) {
		word = hook_peer_take(&hooks->peer, until_ms, &frame, err);
		if (word != HOOK_PEER_SPOKE)
			return word == HOOK_PEER_LATE ? IS_LATE : IS_DEAD;
		switch (frame.type) {
		case 'A':
			return take_answer(frame.fields, out, err) == 0 ?
			    IS_ANSWERED : IS_DEAD;
		case 'E':
			if (!take_error(frame.fields, err))
				hook_peer_end(&hooks->peer);
			return IS_ERROR;
		case 'G':
			tell_log(hooks->host, frame.fields);
			break;
		case 'T':
			answer_lookup(hooks, frame.fields);
			break;
		default:
			err_set(err, "the script's process talks nonsense");
			return IS_DEAD;
		}
	}
}

static int
ask_once(struct hooks *hooks, struct hook_answer *out, struct err *err)
{
	int64_t until_ms = clock_steady_ms() + hooks->conf->time_ms +
	    HOOK_GRACE_MS;
	enum outcome result = IS_DEAD;

	if (hook_peer_send(&hooks->peer, str_slice(&hooks->question),
	    until_ms) == 0)
		result = hook_converse(hooks, until_ms, out, err);
	else
		err_set(err, "its process has ended");
	if (result == IS_ANSWERED)
		return 0;
	if (result == IS_ERROR)
		return -1;
	hook_peer_end(&hooks->peer);
	err_prefix(err, "%s:%u: %s", hooks->conf->script,
	    hooks->lines[hooks->call], hook_call_names[hooks->call]);
	note_death(hooks, result == IS_DEAD, err);
	return -1;
}

int
hooks_ask(struct hooks *hooks, struct hook_answer *out, struct err *err)
{
	unsigned lines[HOOK_CALLS];

	hook_frame_end(&hooks->question, hooks->start);
	hooks->died = false;
	if (hooks->question.len > HOOK_FRAME_BYTES_MAX)
		return err_set(err, "%s: the header is too large for a hook",
		    hooks->conf->script);
	if (is_dying(hooks))
		return err_set(err, "%s: its process ended %u times within "
		    "%d s: it gets a rest", hooks->conf->script,
		    hooks->deaths, DEATHS_MS / 1000);
	hook_peer_look(&hooks->peer);
	if (!hook_peer_is_there(&hooks->peer) && hooks_begin(hooks,
	    str_slice(&hooks->text), &hooks->peer, lines, err) < 0)
		return -1;
	return ask_once(hooks, out, err);
}

bool
hooks_died(const struct hooks *hooks)
{
	return hooks->died;
}

unsigned
hooks_generation(const struct hooks *hooks)
{
	return hooks->generation;
}

const char *
hooks_path(const struct hooks *hooks)
{
	return hooks->conf->script;
}

int
hooks_check(const struct conf_hooks *conf, struct err *err)
{
	static const struct hook_host nobody = { .context = NULL };
	struct hooks *hooks = hooks_new(conf, &nobody);
	struct hook_peer peer;
	unsigned lines[HOOK_CALLS];
	int result;

	hook_peer_init(&peer);
	result = script_text_read(conf->script, &hooks->text, &hooks->seen,
	    err);
	if (result == 0)
		result = hooks_begin(hooks, str_slice(&hooks->text), &peer,
		    lines, err);
	hook_peer_end(&peer);
	hooks_free(&hooks);
	return result;
}
