/* filter.c - the helper that takes a message past all milters
 *
 * In     a question that names a draft
 * Out    one word about it; a changed draft when a milter changed it
 * Holds  the spool; one message at a time
 * Trusts the session for facts; no milter, no message
 * Spec   filter.h; doc/FILTERS.md; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/event.h"
#include "base/json.h"
#include "base/mem.h"
#include "smtpserver/helper/helper.h"
#include "smtpserver/milter/filter.h"

#include "base/banned.h"

struct filter {
	const struct conf	*conf;
	struct spool		*spool;
	struct str		 values[10];	/* of the question */
};

/* Members of a question, in the order of values. */
static const char *const keys[] = { "file", "id", "client", "name", "helo",
	"user", "tls", "cipher", "listener" };
enum { KEY_FILE, KEY_ID, KEY_CLIENT, KEY_NAME, KEY_HELO, KEY_USER, KEY_TLS,
	KEY_CIPHER, KEY_LISTENER, KEY_COUNT };

void
filter_question_add(struct str *out, const struct filter_facts *facts,
    const char *file)
{
	const struct slice values[KEY_COUNT] = { slice_of(file), facts->id,
	    facts->client, facts->client_name, facts->helo, facts->user,
	    facts->tls_version, facts->tls_cipher, facts->listener };

	json_open(out);
	for (int i = 0; i < KEY_COUNT; i++)
		if (values[i].n > 0)
			json_text(out, keys[i], values[i]);
	json_close(out);
	out->buf[--out->len] = '\0';	/* its LF */
}

static struct slice
value_of(const struct filter *filter, int key)
{
	return str_slice(&filter->values[key]);
}

static void
note_failure(const struct filter *filter, const struct conf_milter *milter,
    const char *why)
{
	event(EV_MILTER_FAILED, filter->values[KEY_ID].buf, "milter",
	    slice_of(milter->socket), "reason", slice_of(why), "fail",
	    slice_of(conf_milter_fails[milter->fail]), NULL);
}

static void
set_reply(struct filter_result *result, unsigned code, const char *status,
    const char *text)
{
	result->word = FILTER_REFUSE;
	result->code = code;
	snprintf(result->status, sizeof(result->status), "%s", status);
	str_reset(&result->text);
	str_adds(&result->text, text);
}

/* What is done for a milter that did not do its work. */
static void
make_do(const struct filter *filter, const struct conf_milter *milter,
    struct filter_result *result)
{
	note_failure(filter, milter, result->err.text);
	switch (milter->fail) {
	case MILTER_FAIL_ACCEPT:
		result->word = FILTER_PASS;
		break;
	case MILTER_FAIL_REJECT:
		set_reply(result, 550, "5.7.1", "a filter does not work here");
		break;
	case MILTER_FAIL_TEMPFAIL:
		set_reply(result, 451, "4.7.1",
		    "a filter does not work now, try later");
		break;
	}
}

static void
past_all(struct filter *filter, struct filter_mail *mail,
    struct filter_result *result)
{
	struct filter_facts facts = {
		.host = slice_of(filter->conf->host),
		.client = value_of(filter, KEY_CLIENT),
		.client_name = value_of(filter, KEY_NAME),
		.helo = value_of(filter, KEY_HELO),
		.user = value_of(filter, KEY_USER),
		.tls_version = value_of(filter, KEY_TLS),
		.tls_cipher = value_of(filter, KEY_CIPHER),
		.listener = value_of(filter, KEY_LISTENER),
		.id = value_of(filter, KEY_ID),
	};

	for (size_t i = 0; i < filter->conf->milter_count; i++) {
		const struct conf_milter *milter = &filter->conf->milters[i];

		milter_talk(milter, &facts, mail, result);
		if (result->word == FILTER_TROUBLE)
			make_do(filter, milter, result);
		if (result->word != FILTER_PASS)
			return;
	}
	if (mail->envelope.rcpt_count == 0)
		result->word = FILTER_DISCARD;	/* they took all away */
}

/* Row S0: the changed message, not complete yet; swept if nobody comes. */
static bool
write_changed(struct filter *filter, const struct filter_mail *mail,
    struct str *out)
{
	struct draft draft;
	struct err err;

	if (draft_open(filter->spool, NULL, &draft, &err) < 0) {
		str_adds(out, err.text);
		return false;
	}
	if (filter_mail_write(mail, &draft, &err) < 0 ||
	    draft_leave(&draft, &err) < 0) {
		draft_abort(&draft);
		str_adds(out, err.text);
		return false;
	}
	str_addf(out, " file=%s bytes=%" PRIu64 " crc=%08" PRIx32, draft.name,
	    draft.bytes, draft.crc);
	return true;
}

static bool
say(struct filter *filter, const struct filter_mail *mail,
    const struct filter_result *result, struct str *out)
{
	switch (result->word) {
	case FILTER_DISCARD:
		str_adds(out, "discard");
		return true;
	case FILTER_REFUSE:
		str_addf(out, "refuse %u %s ", result->code, result->status);
		str_add_slice(out, str_slice(&result->text));
		return true;
	case FILTER_PASS:
		break;
	case FILTER_TROUBLE:
		return false;
	}
	str_adds(out, "pass");
	if (result->freeze.len > 0) {
		event(EV_MILTER_QUARANTINE, filter->values[KEY_ID].buf,
		    "reason", str_slice(&result->freeze), NULL);
		str_adds(out, " freeze=milter");
	}
	return !mail->is_changed || write_changed(filter, mail, out);
}

static bool
look_at(struct filter *filter, int fd, struct str *out)
{
	struct filter_result result = { .text = STR_INIT,
	    .freeze = STR_INIT };
	struct filter_mail mail;
	struct err err;
	bool is_done = false;

	if (filter_mail_open(&mail, fd, &err) < 0) {
		str_adds(out, err.text);
	} else {
		past_all(filter, &mail, &result);
		is_done = say(filter, &mail, &result, out);
	}
	filter_mail_close(&mail);
	str_release(&result.text);
	str_release(&result.freeze);
	return is_done;
}

static bool
answer(void *state, struct slice question, struct str *out)
{
	struct filter *filter = state;
	bool is_done;
	int fd;

	for (int i = 0; i < KEY_COUNT; i++) {
		str_reset(&filter->values[i]);
		json_get(question, keys[i], &filter->values[i]);
	}
	fd = openat(spool_dir_fd(filter->spool, AREA_PUBLIC, 0),
	    filter->values[KEY_FILE].buf, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
	    O_NONBLOCK);
	if (fd < 0) {
		str_adds(out, "the draft is not there");
		return false;
	}
	is_done = look_at(filter, fd, out);
	close(fd);
	return is_done;
}

void
filter_serve(struct process *process, int socket)
{
	struct filter filter = { .conf = process->conf };
	struct err err;

	for (int i = 0; i < KEY_COUNT; i++)
		str_init(&filter.values[i]);
	if (spool_open(process->conf->spool_dir, 0,
		process->conf->hash_levels, &filter.spool, &err) < 0)
		fatal("%s", err.text);	/* the machine's error */
	helper_serve(socket, answer, &filter);
	spool_close(&filter.spool);
	for (int i = 0; i < KEY_COUNT; i++)
		str_release(&filter.values[i]);
}
