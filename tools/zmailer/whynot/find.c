/* find.c - which mail an id means
 *
 * In     an id of a session ("ref" of a reply) or of a message; the record,
 *        else the journal
 * Out    a mail
 * Trusts nothing in a line
 * Spec   zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "journal/event.h"
#include "tools/journal/record_files.h"
#include "tools/zmailer/whynot/whynot.h"

#include "base/banned.h"

static const struct journal_span find_always = { 0, INT64_MAX };

static void
find_take(struct whynot *whynot, struct slice line, const char *key,
    const char **out)
{
	struct str value = STR_INIT;

	if (json_get(line, key, &value) && value.len > 0)
		*out = slice_dup(whynot->arena, str_slice(&value));
	str_release(&value);
}

static void
find_take_mail(struct whynot *whynot, struct slice line)
{
	struct whynot_mail *mail = &whynot->mail;

	find_take(whynot, line, "t", &mail->t);
	find_take(whynot, line, "client", &mail->client);
	find_take(whynot, line, "listener", &mail->listener);
	find_take(whynot, line, "session", &mail->session);
	find_take(whynot, line, "helo", &mail->helo);
	find_take(whynot, line, "from", &mail->from);
	find_take(whynot, line, "user", &mail->user);
}

/* "RCPT TO:<a@b> NOTIFY=NEVER" */
static void
find_take_command(struct whynot *whynot, struct slice line)
{
	const char *command = NULL, *open, *close;
	struct whynot_mail *mail = &whynot->mail;

	find_take(whynot, line, "command", &command);
	if (command == NULL || (open = strchr(command, '<')) == NULL ||
	    (close = strchr(open, '>')) == NULL)
		return;
	open = slice_dup(whynot->arena, (struct slice){ open + 1,
	    (size_t)(close - open - 1) });
	if (strncasecmp(command, "rcpt", 4) == 0)
		mail->to = open;
	else if (strncasecmp(command, "mail", 4) == 0)
		mail->from = open;
}

/* One line of the journal that has the id. */
static void
find_in_line(struct whynot *whynot, struct slice line)
{
	const char *to = NULL;

	find_take_mail(whynot, line);
	if (json_is(line, "ev", event_rows[EV_COMMAND_REFUSED].name))
		find_take_command(whynot, line);
	if (json_is(line, "ev", event_rows[EV_RCPT_ROUTED].name) ||
	    json_is(line, "ev", event_rows[EV_RCPT_FAIL].name))
		find_take(whynot, line, "to", &to);
	if (to != NULL)
		whynot->mail.to = to;
	if (json_get_number(line, "size") > 0)
		whynot->mail.size_bytes = (uint64_t)json_get_number(line,
		    "size");
}

static int
find_in_journal(struct whynot *whynot, const char *id, struct err *err)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct slice line, value;

	if (journal_open_all(whynot->conf->log_dir, &journal, err) < 0)
		return -1;
	while (journal_next(journal, &cursor, &line))
		if (slice_is(journal_line_id(line), id) ||
		    (journal_line_has(line, "session", &value) &&
		    slice_is(value, id)))
			find_in_line(whynot, line);
	journal_close(&journal);
	return 0;
}

/* The last line of the record that is of the session and was not simply
 * accepted. */
static int
find_in_record(struct whynot *whynot, const char *session, struct err *err)
{
	struct record_reader *reader;
	struct slice line, value;

	if (record_reader_open(whynot->conf->log_dir, &find_always, &reader,
	    err) < 0)
		return -1;
	while (record_reader_next(reader, &line)) {
		if (!journal_line_has(line, "session", &value) ||
		    !slice_is(value, session) ||
		    (json_get_number(line, "code") < 400 &&
		    !json_is(line, "aside", "yes")))
			continue;
		whynot->mail.line = slice_dup(whynot->arena, line);
		find_take_mail(whynot, line);
		find_take(whynot, line, "to", &whynot->mail.to);
		find_take(whynot, line, "mech", &whynot->mail.mech);
		find_take(whynot, line, "facts", &whynot->mail.facts);
		whynot->mail.size_bytes = (uint64_t)json_get_number(line,
		    json_get_number(line, "bytes") > 0 ? "bytes" : "size");
		whynot->mail.is_esmtp = json_is(line, "esmtp", "yes");
		whynot->mail.is_encrypted = json_is(line, "tls", "yes");
	}
	record_reader_close(&reader);
	return 0;
}

int
whynot_find(struct whynot *whynot, const char *id, struct err *err)
{
	struct whynot_mail *mail = &whynot->mail;

	if (find_in_journal(whynot, id, err) < 0 ||
	    find_in_record(whynot, mail->session != NULL &&
	    mail->session[0] != '\0' ? mail->session : id, err) < 0)
		return -1;
	if (mail->client == NULL || mail->t == NULL)
		return err_set(err, "nothing is known of '%s': an id of a "
		    "message, or what stands after ref in a reply", id);
	if (mail->line == NULL && mail->to == NULL)
		return err_set(err, "no recipient of '%s' is known; say "
		    "--from, --to and --client, or record sessions (record "
		    "for 7d)", id);
	return 0;
}
