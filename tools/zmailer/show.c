/* show.c - zmailer show: one message, all that is known of it
 *
 * In     a spool id, a file name or a selector; the spool
 * Out    envelope, every recipient with state and last words, header; or
 *        (--raw) header and text as they came
 * Spec   zmailer-show(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { RAW_PIECE_BYTES = 64 << 10 };

struct search {
	const char	*what;
	struct selection_test test;
	bool		 has_selector;	/* else what is a name alone */
	bool		 is_json, is_raw;
	unsigned	 count;
	const struct spool *spool;
	struct str	 trouble;	/* why the message cannot be read */
};

static bool
show_is_meant(const struct search *search, const struct view *view)
{
	if (view_is_named(view, search->what))
		return true;
	if (!search->has_selector)
		return false;
	for (size_t i = 0; i < view->rcpt_count; i++)
		if (selection_is_meant(&search->test, view, &view->rcpts[i]))
			return true;
	return view->rcpt_count == 0 &&
	    selection_is_meant(&search->test, view, NULL);
}

/* ---- the message itself ------------------------------------------------- */

/* All after the envelope. */
static bool
raw_put(int fd, struct str *text)
{
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct err err;
	bool is_good = fd_read_all(fd, VIEW_ENVELOPE_BYTES_MAX, text) == 0 &&
	    envelope_parse(arena, str_slice(text), &envelope, &err) == 0;

	if (is_good)
		str_consume(text, envelope.header_offset);
	while (is_good && text->len > 0) {
		is_good = fwrite(text->buf, 1, text->len, stdout) == text->len;
		str_reset(text);
		is_good = is_good &&
		    fd_read_all(fd, RAW_PIECE_BYTES, text) == 0;
	}
	arena_free(&arena);
	return is_good;
}

static void
show_raw(struct search *search, const struct view *view)
{
	struct str text = STR_INIT;
	int fd = view_open_message(search->spool, view);

	if (fd < 0 || !raw_put(fd, &text))
		str_addf(&search->trouble, "%s/%s: it cannot be read%s%s",
		    spool_area_names[view->area], view->name, fd < 0 ? ": " :
		    "", fd < 0 ? strerror(errno) : "");
	if (fd >= 0)
		close(fd);
	str_release(&text);
}

static bool
show_one(void *context, const struct view *view)
{
	struct search *search = context;
	struct str text = STR_INIT;

	if (!show_is_meant(search, view))
		return true;
	if (search->is_raw) {
		search->count++;
		show_raw(search, view);
		return false;
	}
	if (search->is_json)
		view_add_json(&text, view);
	else
		view_add_show(&text, view, clock_wall_s());
	if (search->count++ > 0 && !search->is_json)
		putchar('\n');
	fwrite(text.buf, 1, text.len, stdout);
	str_release(&text);
	return true;
}

static int
show_all(struct search *search, const struct conf *conf,
    const struct selector *selector)
{
	struct arena *arena = arena_new();
	struct spool *spool = NULL;
	struct live live;
	struct err err;
	int status = EX_OK;

	selection_test_init(&search->test, selector, conf, clock_wall_s());
	live_ask(conf->run_dir, arena, &live);
	if (conf_spool_open(conf, 0, &spool, &err) == 0)
		search->spool = spool;
	if (spool == NULL || view_each(spool, &live, VIEW_HEADER, show_one,
	    search, &err) < 0) {
		status = verb_failed("show", &err, EX_NOINPUT);
	} else if (search->count == 0) {
		fprintf(stderr, "zmailer: show: no message '%s' is in the "
		    "spool; `zmailer trace %s` knows what is done\n",
		    search->what, search->what);
		status = 1;
	} else if (search->trouble.len > 0) {
		fprintf(stderr, "zmailer: show: %s\n", search->trouble.buf);
		status = EX_NOINPUT;
	}
	spool_close(&spool);
	arena_free(&arena);
	return status;
}

int
verb_show(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct search search = { .what = NULL, .trouble = STR_INIT,
	    .is_raw = arguments_has(arguments, OPT_RAW) };
	struct arena *arena = arena_new();
	struct selector *selector = NULL;
	struct selection_options options;
	struct conf *conf;
	int status = selection_options_take(arguments, &options);

	search.is_json = options.is_json;
	search.what = options.words.buf;
	/* a name has no key: "freezer/4711.policy" */
	search.has_selector = strchr(search.what, '/') == NULL ||
	    strpbrk(search.what, ":=<> ") != NULL;
	if (status == EX_OK && search.has_selector)
		status = selection_selector(&options, arena, &selector);
	if (status == EX_OK) {
		conf = verb_conf_spool(conf_path);
		status = show_all(&search, conf, selector);
		conf_free(&conf);
	}
	selection_options_release(&options);
	str_release(&search.trouble);
	arena_free(&arena);
	return status;
}
