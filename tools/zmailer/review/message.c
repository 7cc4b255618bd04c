/* message.c - the message at the cursor as lines that are safe to show
 *
 * In     a message file, its first REVIEW_TEXT_BYTES_MAX bytes
 * Out    facts, header and text; controls as \xHH
 * Holds  the text in struct review
 * Trusts nothing it reads
 * Spec   review.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "mail/envelope.h"
#include "tools/zmailer/review/review.h"

#include "base/banned.h"

enum { RCPTS_SHOWN = 5, TAB_COLUMNS = 8 };

static void
review_add_line(struct str *out, const char *label, struct slice value)
{
	if (value.n == 0)
		return;
	str_addf(out, "%-9s ", label);
	str_add_escaped(out, value);
	str_addc(out, '\n');
}

static void
add_envelope(struct str *out, const struct envelope *envelope)
{
	struct str address = STR_INIT;

	path_add(&address, &envelope->from);
	review_add_line(out, "sender", address.len > 0 ? str_slice(&address) :
	    SLICE("<> (a report)"));
	review_add_line(out, "from", envelope->rcvdfrom);
	review_add_line(out, "user", envelope->user);
	for (size_t i = 0; i < envelope->rcpt_count && i < RCPTS_SHOWN; i++) {
		str_reset(&address);
		path_add(&address, &envelope->rcpts[i].path);
		review_add_line(out, "to", str_slice(&address));
	}
	if (envelope->rcpt_count > RCPTS_SHOWN)
		str_addf(out, "          and %zu more\n",
		    envelope->rcpt_count - RCPTS_SHOWN);
	str_release(&address);
}

/* A tab, which folds a header field or indents text, as blanks. */
static void
review_add_tabbed(struct str *out, struct slice line)
{
	size_t begin = out->len;
	struct slice part;

	while (slice_cut(&line, '\t', &part)) {
		str_add_escaped(out, part);
		if (line.p == NULL)
			break;		/* no tab after it */
		do
			str_addc(out, ' ');
		while ((out->len - begin) % TAB_COLUMNS != 0);
	}
}

static void
review_add_text(struct str *out, struct slice text)
{
	struct slice line;

	while (text.n > 0) {
		line = slice_first(text, slice_find(text, '\n'));
		text = slice_from(text, line.n + 1);
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		review_add_tabbed(out, line);
		str_addc(out, '\n');
	}
}

void
review_read(struct review *review)
{
	const struct selection_item *item;
	struct str bytes = STR_INIT;
	struct envelope envelope;
	struct arena *arena;
	struct err err;
	int fd;

	if (review->cursor >= review->count)
		return;
	item = review->rows[review->cursor].item;
	if (item == review->text_of)
		return;
	review->text_of = item;
	str_reset(&review->text);
	if (review->rows[review->cursor].note != NULL)
		review_add_line(&review->text, "note",
		    slice_of(review->rows[review->cursor].note));
	if (item->reason.n > 0)
		review_add_line(&review->text, "reason",
		    item->reason);
	if (review->rows[review->cursor].reason != NULL)
		review_add_line(&review->text, "reason",
		    slice_of(review->rows[review->cursor].reason));
	fd = openat(spool_dir_fd(review->choice->spool, item->area, 0),
	    item->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, REVIEW_TEXT_BYTES_MAX, &bytes) < 0) {
		str_adds(&review->text, "It cannot be read: it may have been "
		    "moved meanwhile (g reads the list again).\n");
	} else {
		arena = arena_new();
		if (envelope_parse(arena, str_slice(&bytes), &envelope,
			&err) == 0) {
			add_envelope(&review->text, &envelope);
			str_addc(&review->text, '\n');
			review_add_text(&review->text,
			    slice_from(str_slice(&bytes),
			    envelope.header_offset));
		} else {
			str_addf(&review->text, "%s\n\n", err.text);
			review_add_text(&review->text, str_slice(&bytes));
		}
		arena_free(&arena);
	}
	if (fd >= 0)
		close(fd);
	str_release(&bytes);
}
