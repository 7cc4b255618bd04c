/* vacation.c - who gets an answer, and what it says
 *
 * In     envelope sender and header of a message, the user's own words
 * Out    a reason to be silent, or the answer's header and body
 * Holds  nothing; pure
 * Trusts no field: two automata must never answer each other
 * Spec   RFC 3834 sections 2 to 5; zmailer-mailbox(8), Vacation
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/header.h"
#include "transports/mailbox/vacation.h"
#include "transports/pipe/command.h"

#include "base/banned.h"

enum { SUBJECT_BYTES_MAX = 400 };

/* ---- the command ------------------------------------------------------- */

bool
vacation_is(struct slice command)
{
	struct slice rest = slice_trim(command), word;
	const char *slash;

	if (!slice_word(&rest, &word))
		return false;
	slash = memrchr(word.p, '/', word.n);
	if (slash != NULL)
		word = slice_from(word, (size_t)(slash - word.p) + 1);
	return slice_is(word, "vacation");
}

static int
vacation_parse_days(struct slice text, unsigned *out, struct err *err)
{
	uint64_t days;

	if (slice_ends(text, "d"))
		text.n--;
	if (!slice_number(text, 1, 365, &days))
		return err_set(err, "vacation: -t takes days, 1 to 365");
	*out = (unsigned)days;
	return 0;
}

int
vacation_parse(struct arena *arena, struct slice command,
    struct vacation *out, struct err *err)
{
	char **words;

	*out = (struct vacation){ .days = VACATION_DAYS };
	if (command_split(arena, command, &words, err) < 0)
		return -1;
	for (words++; *words != NULL; words++) {
		struct slice value = slice_of(words[1]);

		if (words[0][0] != '-')
			continue;	/* the user's name: we know it */
		if (!ascii_is_among(words[0][1], "atm") ||
		    words[0][2] != '\0' || words[1] == NULL)
			return err_set(err, "vacation: %.40s is not known, "
			    "or needs a word after it", words[0]);
		if (words[0][1] == 't' && vacation_parse_days(value, &out->days,
		    err) < 0)
			return -1;
		if (words[0][1] == 'm')
			out->file = value;
		if (words[0][1] == 'a' && out->name_count <
		    VACATION_NAMES_MAX)
			out->names[out->name_count++] = value;
		words++;
	}
	return 0;
}

/* ---- who gets an answer ------------------------------------------------ */

static bool
vacation_ends_nocase(struct slice text, const char *end)
{
	size_t n = strlen(end);

	return text.n >= n &&
	    slice_is_nocase(slice_from(text, text.n - n), end);
}

static bool
vacation_starts_nocase(struct slice text, const char *start)
{
	return slice_is_nocase(slice_first(text, strlen(start)), start);
}

/* Local parts that programs have (section 2). */
static bool
vacation_is_automaton(struct slice sender)
{
	static const char *const names[] = { "mailer-daemon", "postmaster",
	    "listserv", "majordomo", "mailman", "uucp", "root", "noreply",
	    "no-reply", "do-not-reply", "donotreply", "daemon" };
	static const char *const ends[] = { "-request", "-relay", "-owner",
	    "-bounces", "-bounce", "-noreply", "-no-reply" };
	struct slice local = slice_first(sender, slice_find(sender, '@'));

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is_nocase(local, names[i]))
			return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (vacation_ends_nocase(local, ends[i]))
			return true;
	return vacation_starts_nocase(local, "owner-") ||
	    vacation_starts_nocase(local, "bounce-") ||
	    vacation_starts_nocase(local, "bounces+");
}

static bool
vacation_is_own(const struct path *path, const struct slice own[],
    size_t own_count)
{
	struct str text = STR_INIT;
	bool found = false;

	path_add(&text, path);
	for (size_t i = 0; i < own_count && !found; i++)
		found = slice_equal_nocase(own[i], str_slice(&text)) ||
		    (slice_find(own[i], '@') == own[i].n &&
		    slice_equal_nocase(own[i], path->local));
	str_release(&text);
	return found;
}

static bool
vacation_names_own(struct arena *arena, const struct header_field *field,
    const struct slice own[], size_t own_count)
{
	static const char *const names[] = { "To", "Cc", "Resent-To",
	    "Resent-Cc", "Bcc" };
	struct slice rest = field->value;
	struct path path;
	struct err err;
	bool is_one = false;
	int got;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_one = is_one || header_is(field, names[i]);
	while (is_one && (got = header_address(arena, &rest, &path,
	    &err)) != HEADER_ADDRESS_END)
		if (got > 0 && vacation_is_own(&path, own, own_count))
			return true;
	return false;
}

/* Why this field forbids an answer, or NULL. */
static const char *
vacation_field_refusal(const struct header_field *field)
{
	struct slice value = slice_trim(field->value);

	if (header_is(field, "Auto-Submitted") &&
	    !slice_is_nocase(slice_first(value, 2), "no"))
		return "it was submitted by a program";
	if (header_is(field, "Precedence") && (slice_is_nocase(value,
	    "bulk") || slice_is_nocase(value, "list") ||
	    slice_is_nocase(value, "junk")))
		return "its precedence is that of bulk mail";
	if (vacation_starts_nocase(field->name, "List-") ||
	    header_is(field, "Mailing-List"))
		return "it comes from a mailing list";
	if (header_is(field, "X-Auto-Response-Suppress") &&
	    !slice_is_nocase(value, "None"))
		return "its sender wants no answers";
	if (header_is(field, "X-Spam-Flag") && vacation_starts_nocase(value,
	    "yes"))
		return "it is taken for spam";
	if (header_is(field, "Content-Type") &&
	    vacation_starts_nocase(value, "multipart/report"))
		return "it is a report";
	return NULL;
}

const char *
vacation_refusal(struct arena *arena, struct slice sender,
    struct slice header, const struct slice own[], size_t own_count)
{
	struct header_field field;
	bool is_broken = false, is_to_us = false;
	const char *reason;

	if (sender.n == 0)
		return "it has no sender";
	if (vacation_is_automaton(sender))
		return "its sender is a program";
	while (header.n > 0) {
		if (header_next(&header, &field, &is_broken) == 0) {
			(void)header_junk(&header);
			continue;
		}
		reason = vacation_field_refusal(&field);
		if (reason != NULL)
			return reason;
		is_to_us = is_to_us || vacation_names_own(arena, &field, own,
		    own_count);
	}
	return is_to_us ? NULL : "it does not name the user in To or Cc";
}

int64_t
vacation_last(struct slice memory, struct slice sender)
{
	struct slice line, word;
	int64_t last_s = 0;
	uint64_t when_s;

	while (slice_cut(&memory, '\n', &line))
		if (slice_word(&line, &word) && slice_number(word, 1,
		    INT64_MAX, &when_s) &&
		    slice_equal_nocase(slice_trim(line), sender))
			last_s = (int64_t)when_s;
	return last_s;
}

void
vacation_since(struct slice memory, int64_t since_s, struct str *out)
{
	struct slice line, rest, word;
	uint64_t when_s;

	while (slice_cut(&memory, '\n', &line)) {
		rest = line;
		if (slice_word(&rest, &word) && slice_number(word, 1,
		    INT64_MAX, &when_s) && (int64_t)when_s > since_s) {
			str_add_slice(out, line);
			str_addc(out, '\n');
		}
	}
}

/* ---- what it says ------------------------------------------------------ */

/* The value of a field on one line, cut to a bound; empty: none. */
static void
vacation_get_field(struct slice header, const char *name, struct str *out)
{
	struct header_field field;
	bool is_broken = false;

	while (header.n > 0 && out->len == 0)
		if (header_next(&header, &field, &is_broken) == 0)
			(void)header_junk(&header);
		else if (header_is(&field, name))
			header_add_unfolded(out, field.value);
	if (out->len > SUBJECT_BYTES_MAX) {
		out->len = SUBJECT_BYTES_MAX;
		out->buf[out->len] = '\0';
	}
}

static void
vacation_fill(struct str *out, struct slice text, struct slice subject)
{
	while (text.n > 0) {
		if (slice_starts(text, "$SUBJECT")) {
			str_add_slice(out, subject);
			text = slice_from(text, 8);
			continue;
		}
		str_addc(out, text.p[0]);
		text = slice_from(text, 1);
	}
}

/* Fields of the user's own are taken, but those that are ours to say. */
static void
vacation_own_fields(struct str *out, struct slice fields, struct slice subject)
{
	static const char *const ours[] = { "To", "Cc", "Bcc", "Sender",
	    "Return-Path", "Auto-Submitted", "In-Reply-To", "References",
	    "Precedence", "Received", "Delivered-To", "Date", "Message-Id" };
	struct header_field field;
	bool is_broken = false;

	while (fields.n > 0) {
		bool is_ours = false;

		if (header_next(&fields, &field, &is_broken) == 0) {
			(void)header_junk(&fields);
			continue;
		}
		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			is_ours = is_ours || header_is(&field, ours[i]);
		if (!is_ours)
			vacation_fill(out, field.whole, subject);
	}
}

/* The user's message: fields in front of the first empty line, if its first
 * line is one. */
static struct slice
vacation_fields(struct slice message)
{
	struct slice rest = message;
	struct header_field field;
	bool is_broken = false;

	if (header_next(&rest, &field, &is_broken) == 0)
		return slice_first(message, 0);
	return slice_first(message, header_bytes(message));
}

static bool
vacation_has_field(struct slice header, const char *name)
{
	struct str value = STR_INIT;
	bool found;

	vacation_get_field(header, name, &value);
	found = value.len > 0;
	str_release(&value);
	return found;
}

static void
vacation_answer_fields(struct str *out, struct slice fields,
    struct slice header,
    struct slice subject, const char *from, struct slice sender)
{
	struct str id = STR_INIT;

	if (!vacation_has_field(fields, "From"))
		str_addf(out, "From: <%s>\n", from);
	str_addf(out, "To: <" SLICE_FMT ">\n", SLICE_ARG(sender));
	if (!vacation_has_field(fields, "Subject"))
		str_addf(out, "Subject: Auto: " SLICE_FMT "\n",
		    SLICE_ARG(subject));
	vacation_get_field(header, "Message-Id", &id);
	if (id.len > 0)
		str_addf(out, "In-Reply-To: %s\nReferences: %s\n", id.buf,
		    id.buf);
	str_adds(out, "Auto-Submitted: auto-replied (vacation)\n"
	    "Precedence: bulk\n");
	if (!vacation_has_field(fields, "Content-Type"))
		str_adds(out, "MIME-Version: 1.0\n"
		    "Content-Type: text/plain; charset=utf-8\n"
		    "Content-Transfer-Encoding: 8bit\n");
	str_release(&id);
}

void
vacation_answer(struct str *out_header, struct str *out_body,
    struct slice message, struct slice header, const char *from,
    struct slice sender)
{
	struct slice fields = vacation_fields(message);
	struct str subject = STR_INIT;

	vacation_get_field(header, "Subject", &subject);
	vacation_answer_fields(out_header, fields, header, str_slice(&subject),
	    from,
	    sender);
	vacation_own_fields(out_header, fields, str_slice(&subject));
	vacation_fill(out_body, slice_from(message, fields.n),
	    str_slice(&subject));
	if (out_body->len > 0 && out_body->buf[out_body->len - 1] != '\n')
		str_addc(out_body, '\n');
	str_release(&subject);
}
