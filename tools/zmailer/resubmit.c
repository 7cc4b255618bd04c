/* resubmit.c - zmailer resubmit: back to router/ what was set aside
 *
 * In     names or spool ids; without any, all of deferred/
 * Out    each message in router/, with the reason why it was aside; an
 *        event for each; exit status 0 done, 1 nothing matched
 * Trusts nothing: copies (with "_") and control files are never moved
 * Spec   zmailer-resubmit(8); doc/INTERNALS.md row D3
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/json.h"
#include "daemon/skeleton.h"
#include "mail/spool/moves.h"
#include "mail/spool/spool.h"
#include "tools/selection/progress.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct file {			/* a message that waits */
	enum spool_area	 area;
	const char	*name;
	char		 id[SPOOL_ID_BYTES];	/* "" when it has none */
	struct file	*next;
};

enum { RESUBMIT_INTERRUPTED = 130 };

struct resubmit {
	struct spool	*spool;
	struct arena	*arena;
	struct file	*files, **tail;
	enum spool_area	 area;		/* being read */
	int		 only;		/* --from, or -1 */
	bool		 is_json;
	struct selection_progress	 progress;
	unsigned	 total;		/* files */
	unsigned	 handled;	/* moved, or failed */
	bool		 is_stopped;	/* by ctrl-C */
	unsigned	 moved, failed;
	char		 by[64];
};

static void
resubmit_read_id(const struct resubmit *r, struct file *file)
{
	int fd = openat(spool_dir_fd(r->spool, file->area, 0), file->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || !spool_read_id(fd, file->id))
		file->id[0] = '\0';
	if (fd >= 0)
		close(fd);
}

static bool
resubmit_take_file(void *context, const char *name)
{
	struct resubmit *r = context;
	struct spool_name parts;
	struct file *file;

	if (!spool_name_parse(slice_of(name), &parts) || parts.pid != 0 ||
	    parts.why.n == 0 || slice_starts(parts.why, "_") ||
	    slice_ends(parts.why, ".control"))
		return true;
	file = arena_alloc(r->arena, sizeof(*file));
	file->area = r->area;
	file->name = arena_dup(r->arena, name, strlen(name));
	resubmit_read_id(r, file);
	*r->tail = file;
	r->tail = &file->next;
	r->total++;
	return true;
}

static int
read_areas(struct resubmit *r, bool has_names, struct err *err)
{
	static const enum spool_area areas[] =
	    { AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN };

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		r->area = areas[i];
		if (r->only >= 0 ? (int)r->area != r->only :
		    !has_names && r->area != AREA_DEFERRED)
			continue;
		if (spool_scan(r->spool, r->area, 0, resubmit_take_file, r,
		    err) != 0)
			return -1;
	}
	return 0;
}

/* "no-dns-2" was set aside for the reason "no-dns"; it is shown whole. */
static struct slice
why_of(const struct file *file)
{
	struct spool_name parts;

	spool_name_parse(slice_of(file->name), &parts);
	return parts.why;
}

static void
resubmit_say(const struct resubmit *r, const struct file *file)
{
	struct str line = STR_INIT;

	if (r->is_json) {
		json_open_answer(&line);
		json_text(&line, "id", slice_of(file->id));
		json_text(&line, "from",
		    slice_of(spool_area_names[file->area]));
		json_text(&line, "file", slice_of(file->name));
		json_text(&line, "why", why_of(file));
		json_close(&line);
	} else {
		str_addf(&line, "%s %s/%s was there because: " SLICE_FMT
		    "\n", file->id[0] ? file->id : "-",
		    spool_area_names[file->area], file->name,
		    SLICE_ARG(why_of(file)));
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

static void
resubmit_move(struct resubmit *r, const struct file *file)
{
	char label[SPOOL_NAME_BYTES * 2];
	struct err err;

	int result = spool_resubmit(r->spool, file->area, file->name, &err);

	progress_hide(&r->progress);
	r->is_stopped = !progress_step(&r->progress, ++r->handled);
	if (result != 0) {
		r->failed++;
		fprintf(stderr, "zmailer: resubmit: %s\n", err.text);
		return;
	}
	r->moved++;
	resubmit_say(r, file);
	snprintf(label, sizeof(label), "%s/%s", spool_area_names[file->area],
	    file->name);
	event(EV_MESSAGE_RESUBMITTED, file->id[0] ? file->id : NULL, "file",
	    slice_of(label), "why", why_of(file), "by", slice_of(r->by),
	    NULL);
}

/* "123.no-dns", "deferred/123.no-dns", "123" or the spool id. */
static bool
resubmit_is_meant(const struct file *file, const char *word)
{
	struct spool_name parts;
	const char *slash = strchr(word, '/');

	if (strcmp(file->id, word) == 0)
		return true;
	if (slash != NULL) {
		if (!slice_is((struct slice){ word, (size_t)(slash - word) },
			spool_area_names[file->area]))
			return false;
		word = slash + 1;
	}
	if (strcmp(file->name, word) == 0)
		return true;
	return spool_name_parse(slice_of(file->name), &parts) &&
	    strlen(word) == (size_t)(parts.why.p - file->name) - 1 &&
	    strncmp(file->name, word, strlen(word)) == 0;
}

/* Before the last word: what was answered, no power cut undoes. */
static void
sync_moved(struct resubmit *r)
{
	struct err err;

	if (spool_sync_moves(r->spool, &err) == 0)
		return;
	r->failed++;
	fprintf(stderr, "zmailer: resubmit: %s\n", err.text);
}

static void
move_meant(struct resubmit *r, const char *word)
{
	unsigned count = 0;

	for (struct file *file = r->files; file != NULL && !r->is_stopped;
	    file = file->next)
		if (resubmit_is_meant(file, word)) {
			count++;
			resubmit_move(r, file);
		}
	if (count > 0)
		return;
	r->failed++;
	fprintf(stderr, "zmailer: resubmit: nothing that can be routed again "
	    "is called %s\n", word);
}

static int
resubmit_run(struct resubmit *r, const struct conf *conf, char *const words[],
    int count)
{
	struct err err = { "" };

	verb_who(r->by, sizeof(r->by));
	if (daemon_drop(conf, ROLE_ROUTER, &err) < 0 ||
	    conf_spool_open(conf, 0, &r->spool,
		&err) != 0 || read_areas(r, count > 0, &err) != 0) {
		return verb_failed("resubmit", &err, EX_NOPERM);
	}
	event_open(conf->log_dir);
	/* with names it is less, and nobody knows how much */
	progress_begin(&r->progress, "resubmit", "resubmitted", r->total);
	for (int i = 0; i < count && !r->is_stopped; i++)
		move_meant(r, words[i]);
	for (struct file *file = r->files; count == 0 && file != NULL &&
	    !r->is_stopped; file = file->next)
		resubmit_move(r, file);
	sync_moved(r);
	event_flush();
	if (progress_end(&r->progress, r->moved))
		return RESUBMIT_INTERRUPTED;
	if (!r->is_json)
		printf("%u message%s back in router/\n", r->moved,
		    r->moved == 1 ? "" : "s");
	return r->moved == 0 || r->failed > 0 ? 1 : EX_OK;
}

static int
area_parse(const char *name)
{
	static const enum spool_area areas[] =
	    { AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN };

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++)
		if (strcmp(name, spool_area_names[areas[i]]) == 0)
			return (int)areas[i];
	return -1;
}

/* The words have a test of a selector, or --dry-run. */
static bool
is_selecting(const struct arguments *arguments)
{
	if (arguments_has(arguments, OPT_DRY_RUN) ||
	    arguments_has(arguments, OPT_YES))
		return true;
	for (int i = 0; i < arguments->count; i++)
		if (strcmp(arguments->words[i], "all") == 0 ||
		    strpbrk(arguments->words[i], ":=<>(") != NULL)
			return true;
	return false;
}

/* As read_areas: without names and --from those of deferred/. */
static unsigned
areas_meant(const struct arguments *arguments, const char *from)
{
	int only = from != NULL ? area_parse(from) : -1;

	if (only >= 0)
		return 1u << only;
	return arguments->count == 0 ? 1u << AREA_DEFERRED :
	    1u << AREA_DEFERRED | 1u << AREA_FREEZER | 1u << AREA_POSTMAN;
}

int
verb_resubmit(struct arguments *arguments)
{
	struct selection_order by_selector = { .done = "resubmitted",
	    .act = selection_act_release };
	const char *from = arguments_text(arguments, OPT_FROM_AREA);
	struct resubmit r = { .only = from != NULL ? area_parse(from) : -1,
	    .is_json = arguments_has(arguments, OPT_JSON) };
	struct conf *conf;
	int status;

	if (is_selecting(arguments)) {
		by_selector.areas = areas_meant(arguments, from);
		return selection_order(arguments, &by_selector);
	}
	r.tail = &r.files;
	conf = verb_conf(arguments->conf_path);
	r.arena = arena_new();
	status = resubmit_run(&r, conf, arguments->words, arguments->count);
	spool_close(&r.spool);
	arena_free(&r.arena);
	conf_free(&conf);
	return status;
}
