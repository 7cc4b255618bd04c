/* text.c - what a message says, for people; the message itself as a file
 *
 * In     zmailer show --raw of an id
 * Out    its texts; HTML in a frame that may do nothing; names of files.
 *        Or the bytes, to be kept
 * Trusts nothing: HTML is shown by a frame with an empty sandbox that has the
 *        Content-Security-Policy of the page, so that it loads nothing
 * Spec   pages.h; HTML (WHATWG) 4.8.5, srcdoc and sandbox
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "grammar/message/mime_parts.h"
#include "web/page/charset.h"
#include "web/page/html.h"
#include "web/pages/parts.h"

#include "base/banned.h"

static void
text_add_head(struct str *out, const struct mime_part *part)
{
	str_adds(out, "<h3>");
	html_text(out, part->name[0] != '\0' ? slice_of(part->name) :
	    slice_of(part->type));
	str_adds(out, "</h3>\n");
}

/* The frame is not of this site, has no scripts, no forms, no way out of
 * itself, and the policy of the page around it. */
static void
text_add_frame(struct str *out, const struct mime_part *part,
    struct slice text)
{
	str_adds(out, "<iframe sandbox=\"\" referrerpolicy=\"no-referrer\"");
	html_attribute(out, "title", slice_of(part->name[0] != '\0' ?
	    part->name : "HTML of the message"));
	html_srcdoc(out, text);
	str_adds(out, "></iframe>\n");
}

static void
text_add_part(struct visit *visit, const struct mime_part *part)
{
	struct str *out = &visit->out;
	struct str text = STR_INIT;

	text_add_head(out, part);
	charset_add(&text, part->body, part->charset);
	if (!part->is_text) {
		str_adds(out, "<p>");
		html_words(out, part->type);
		str_adds(out, ", ");
		page_add_size(out, (int64_t)part->coded.n);
		str_adds(out, " encoded: not shown</p>\n");
	} else if (strcmp(part->type, "text/html") == 0) {
		text_add_frame(out, part, str_slice(&text));
	} else {
		html_block(out, str_slice(&text));
	}
	if (part->is_cut)
		str_adds(out, "<p>There is more of it.</p>\n");
	str_release(&text);
}

void
message_ask_text(struct visit *visit)
{
	const char *raw[] = { "show", "--raw", "--", slice_dup(visit->arena,
	    visit->rest), NULL };

	visit_ask_text(visit, "raw", raw);
}

void
message_add_text(struct visit *visit)
{
	const struct question_answer *answer = visit_answer(visit, "raw");
	struct mime_part *parts = arena_alloc(visit->arena,
	    MIME_READ_PARTS_MAX * sizeof(*parts));
	bool is_more;
	size_t count = mime_parts_read(str_slice(&answer->text), visit->arena,
	    HTML_BLOCK_BYTES_MAX, parts, &is_more);

	str_adds(&visit->out, "<section aria-labelledby=\"text\"><h2 "
	    "id=\"text\">What it says</h2>\n");
	if (!answer->is_cut)
		page_add_trouble(&visit->out, answer);
	if (answer->text.len > 0)
		for (size_t i = 0; i < count; i++)
			text_add_part(visit, &parts[i]);
	if (is_more || answer->is_cut)
		str_adds(&visit->out, "<p>It has more parts, or more bytes, "
		    "than are shown.</p>\n");
	str_adds(&visit->out, "</section>\n");
}

/* ---- as a file ---------------------------------------------------------- */

static int
raw_begin(struct visit *visit)
{
	if (!page_is_id(visit->rest)) {
		visit->status = 404;
		str_adds(&visit->out, "That is no id of a message.");
		return -1;
	}
	message_ask_text(visit);
	return 0;
}

/* Half a message is none. */
static void
raw_show(struct visit *visit)
{
	const struct question_answer *answer = visit_answer(visit, "raw");

	if (answer->kind == ANSWER_GOOD && !answer->is_cut) {
		str_add_slice(&visit->out, str_slice(&answer->text));
		visit->file_name = arena_printf(visit->arena, SLICE_FMT ".eml",
		    SLICE_ARG(visit->rest));
		return;
	}
	if (answer->is_cut) {
		visit->status = 403;
		str_addf(&visit->out, "<p role=\"alert\">It is larger than %d "
		    "MiB. On the machine: <code>zmailer show --raw " SLICE_FMT
		    "</code></p>\n", ANSWER_BYTES_MAX >> 20,
		    SLICE_ARG(visit->rest));
	} else {
		page_add_trouble(&visit->out, answer);
	}
}

const struct page_row page_raw = {
	.path = "/raw/", .title = "The message as a file", .none_status = 404,
	.is_order = true, .begin = raw_begin, .show = raw_show,
};
