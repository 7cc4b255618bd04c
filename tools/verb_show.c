/* verb_show.c - zmailer show: one message, all that is known of it
 *
 * In     a spool id or a file name; the spool
 * Out    envelope, every recipient with state and last words, header
 * Spec   zmailer-show(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "tools/queue/view.h"
#include "tools/verb.h"

#include "base/banned.h"

struct search {
	const char	*what;
	bool		 is_json;
	unsigned	 count;
};

/* "ID", "4711", "D/4711", "transport/D/4711", "freezer/4711.policy". */
static bool
is_meant(const struct search *search, const struct view *view)
{
	const char *what = search->what, *last = strrchr(view->name, '/');
	const char *area = spool_area_names[view->area];
	size_t n = strlen(area);

	if (strcmp(what, view->id) == 0 || strcmp(what, view->name) == 0 ||
	    (last != NULL && strcmp(what, last + 1) == 0))
		return true;
	if (view->area == AREA_TRANSPORT && strncmp(what, "queue/", 6) == 0)
		return strcmp(what + 6, view->name) == 0;
	return strncmp(what, area, n) == 0 && what[n] == '/' &&
	    strcmp(what + n + 1, view->name) == 0;
}

static bool
show_one(void *context, const struct view *view)
{
	struct search *search = context;
	struct str text = STR_INIT;

	if (!is_meant(search, view))
		return true;
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

int
verb_show(int argc, char **argv, const char *conf_path)
{
	struct search search = { NULL, false, 0 };
	struct arena *arena = arena_new();
	struct spool *spool;
	struct live live;
	struct conf *conf;
	struct err err;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			search.is_json = true;
		else if (argv[i][0] == '-' || search.what != NULL)
			return verb_usage(argv[0], "'%s' is too much",
			    argv[i]);
		else
			search.what = argv[i];
	}
	if (search.what == NULL)
		return verb_usage(argv[0], "which message?");
	conf = verb_conf(conf_path);
	live_ask(conf->run_dir, arena, &live);
	if (spool_open(conf->spool_dir, 0, conf->hash_levels, &spool,
	    &err) < 0 || view_each(spool, &live, VIEW_HEADER, show_one,
	    &search, &err) < 0) {
		fprintf(stderr, "zmailer: show: %s\n", err.text);
		return EX_NOINPUT;
	}
	if (search.count == 0)
		fprintf(stderr, "zmailer: show: no message '%s' is in the "
		    "spool; `zmailer trace %s` knows what is done\n",
		    search.what, search.what);
	spool_close(&spool);
	arena_free(&arena);
	conf_free(&conf);
	return search.count == 0 ? 1 : EX_OK;
}
