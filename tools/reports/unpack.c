/* unpack.c - reports as they come: in messages, mailboxes, archives
 *
 * In     a file's bytes
 * Out    the reports in it, handed to who reads them
 * Trusts nothing: bounds in received.h; this runs locked in (jail.c)
 * Spec   received.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/mime.h"
#include "grammar/message/mime_parts.h"
#include "tools/reports/received.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 * 1024 };

void
received_row_add(struct received_rows *rows,
    const struct slice values[RECEIVED_FIELDS])
{
	if (rows->count == RECEIVED_ROWS_MAX ||
	    rows->out.len > RECEIVED_OUT_MAX) {
		rows->is_full = true;
		return;
	}
	rows->count++;
	str_addf(&rows->out, "%zu", rows->reports);
	for (size_t i = 0; i < RECEIVED_FIELDS; i++) {
		str_addc(&rows->out, '\t');
		str_add_escaped(&rows->out, slice_first(values[i],
		    RECEIVED_VALUE_MAX));
	}
	str_addc(&rows->out, '\n');
}

/* A report that cannot be read, for people. */
static void
received_complain(struct received_rows *rows, const char *text)
{
	if (rows->complaints++ >= RECEIVED_COMPLAINTS_MAX)
		return;
	str_adds(&rows->out, "! ");
	str_add_escaped(&rows->out, slice_first(slice_of(text),
	    RECEIVED_VALUE_MAX));
	str_addc(&rows->out, '\n');
}

/* ---- a report, packed or plain ------------------------------------------ */

static char
first_sign(struct slice text)
{
	if (slice_starts(text, "\xff\xfe") || slice_starts(text, "\xfe\xff"))
		return '<';		/* XML in UTF-16 */
	if (slice_starts(text, "\xef\xbb\xbf"))
		text = slice_from(text, 3);
	text = slice_trim(text);
	return text.n > 0 ? text.p[0] : '\0';
}

static void
received_plain(struct received_rows *rows, struct slice text)
{
	struct err err = { "" };
	char sign = first_sign(text);
	int result;

	if (sign != '<' && sign != '{')
		return;
	result = sign == '<' ? received_dmarc(rows, text, &err) :
	    received_tls(rows, text, &err);
	if (result == 0)
		rows->reports++;
	else if ((sign == '<') == (rows->kind == RECEIVED_DMARC))
		received_complain(rows, err.text);
}

/* An entry of an archive, whole.  false: it is too large, or broken. */
static bool
entry_read(struct archive *archive, size_t most, struct str *out)
{
	for (;;) {
		la_ssize_t n = archive_read_data(archive, str_room(out,
		    PIECE_BYTES), PIECE_BYTES);

		if (n <= 0)
			return n == 0;
		out->len += (size_t)n;
		out->buf[out->len] = '\0';
		if (out->len > most)
			return false;
	}
}

static void
archive_each(struct received_rows *rows, struct archive *archive)
{
	struct archive_entry *entry;
	size_t left = RECEIVED_TEXT_MAX, count = 0;
	int result;

	while ((result = archive_read_next_header(archive, &entry)) ==
	    ARCHIVE_OK) {
		struct str text = STR_INIT;
		bool is_good = ++count <= RECEIVED_ENTRIES_MAX &&
		    entry_read(archive, left, &text);

		if (is_good)
			received_plain(rows, str_slice(&text));
		left -= is_good ? text.len : 0;
		str_release(&text);
		if (!is_good) {
			received_complain(rows, "an archive that is too large "
			    "or broken");
			return;
		}
	}
	if (result != ARCHIVE_EOF)
		received_complain(rows, "an archive that is broken");
}

static void
received_archive(struct received_rows *rows, struct slice bytes)
{
	struct archive *archive = archive_read_new();

	if (archive == NULL)
		return;
	(void)archive_read_support_filter_gzip(archive);
	(void)archive_read_support_format_zip(archive);
	(void)archive_read_support_format_raw(archive);
	if (archive_read_open_memory(archive, bytes.p, bytes.n) == ARCHIVE_OK)
		archive_each(rows, archive);
	else
		received_complain(rows, "an archive that cannot be opened");
	(void)archive_read_free(archive);
}

static void
received_blob(struct received_rows *rows, struct slice bytes)
{
	if (slice_starts(bytes, "PK\3\4") || slice_starts(bytes, "\x1f\x8b"))
		received_archive(rows, bytes);
	else
		received_plain(rows, bytes);
}

/* ---- messages, mailboxes ------------------------------------------------ */

static void
received_part(struct received_rows *rows, const struct mime_part *part)
{
	struct str bytes = STR_INIT;

	if (strcmp(part->type, "text/html") == 0)
		return;			/* words about the report */
	if (part->encoding == MIME_BASE64)
		(void)mime_unsix(part->coded, RECEIVED_FILE_MAX, &bytes);
	else if (part->encoding == MIME_QUOTED)
		(void)mime_unquote(part->coded, RECEIVED_FILE_MAX, &bytes);
	received_blob(rows, part->encoding == MIME_BASE64 || part->encoding ==
	    MIME_QUOTED ? str_slice(&bytes) : part->coded);
	str_release(&bytes);
}

static void
received_message(struct received_rows *rows, struct slice message)
{
	struct arena *arena = arena_new();
	struct mime_part parts[MIME_READ_PARTS_MAX];
	bool is_more;
	size_t count = mime_parts_read(message, arena, 0, parts, &is_more);

	for (size_t i = 0; i < count; i++)
		received_part(rows, &parts[i]);
	arena_free(&arena);
}

/* "From " at the beginning of a line, after an empty one, begins another. */
static size_t
mbox_end(struct slice rest)
{
	for (size_t at = 5; at + 8 < rest.n; at++) {
		struct slice here = slice_from(rest, at);

		if (rest.p[at] != '\n')
			continue;
		if (slice_starts(here, "\n\nFrom "))
			return at + 2;
		if (slice_starts(here, "\n\r\nFrom "))
			return at + 3;
	}
	return rest.n;
}

static void
received_mbox(struct received_rows *rows, struct slice rest)
{
	while (rest.n > 0) {
		size_t n = mbox_end(rest);
		struct slice one = slice_first(rest, n);

		received_message(rows, slice_from(one, slice_find(one, '\n') +
		    1));
		rest = slice_from(rest, n);
	}
}

/* Does it begin as a header does: a name, a colon? */
static bool
is_message(struct slice file)
{
	size_t n = slice_find(file, ':');

	for (size_t i = 0; i < n && n < file.n; i++)
		if (file.p[i] <= ' ' || file.p[i] >= 0x7f ||
		    file.p[i] == '{' || file.p[i] == '<')
			return false;
	return n > 0 && n < file.n;
}

void
received_read(struct received_rows *rows, struct slice file)
{
	if (slice_starts(file, "From "))
		received_mbox(rows, file);
	else if (is_message(file))
		received_message(rows, file);
	else
		received_blob(rows, file);
	if (rows->is_full || rows->complaints > RECEIVED_COMPLAINTS_MAX)
		str_adds(&rows->out, "! it holds more than is read\n");
}
