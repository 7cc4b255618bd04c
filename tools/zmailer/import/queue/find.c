/* find.c - which messages an old queue has
 *
 * In     the directory of a queue, as its mailer lays it out
 * Out    a row for each message, with the paths of its files
 * Trusts only names of letters, digits and dashes; follows no link; the depth
 *        of directories is bounded
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

enum { WALK_DEPTH_MAX = 8, ROWS_MAX = 10000000 };

struct walk {
	struct old_queue	*queue;
	const char		*state;		/* of what is found */
	bool			 is_held;
	bool			(*enter)(const char *path, const char *name);
	void			(*file)(struct walk *walk, const char *path,
				    const char *name);
};

static bool
name_is_id(struct slice name, size_t shortest)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) && name.p[i] != '-')
			return false;
	return name.n >= shortest && name.n < OLD_ID_BYTES;
}

static const char *
path_join(struct arena *arena, const char *path, const char *name)
{
	return *path == '\0' ? arena_dup(arena, name, strlen(name)) :
	    arena_printf(arena, "%s/%s", path, name);
}

static struct old_row *
row_add(struct old_queue *queue, struct slice id, const char *main,
    const char *state)
{
	struct old_row *row;

	if (queue->count == queue->room) {
		queue->room = queue->room > 0 ? 2 * queue->room : 64;
		queue->rows = mem_grow(queue->rows, queue->room,
		    sizeof(*queue->rows));
	}
	row = &queue->rows[queue->count++];
	*row = (struct old_row){ .id = slice_dup(queue->arena, id),
	    .main = main, .state = state, .sender = "", .rcpts = "",
	    .lost = "", .said = "" };
	return row;
}

/* One entry: a directory is entered, a file is looked at. */
static int
walk_directory(struct walk *walk, const char *path, unsigned depth,
    struct err *err);

static int
walk_entry(struct walk *walk, int dir_fd, const char *path,
    const char *name, unsigned depth, struct err *err)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;		/* gone */
	if (S_ISDIR(st.st_mode) && depth < WALK_DEPTH_MAX &&
	    walk->enter(path, name))
		return walk_directory(walk, path_join(walk->queue->arena,
		    path, name), depth + 1, err);
	if (S_ISREG(st.st_mode) && walk->queue->count < ROWS_MAX)
		walk->file(walk, path, name);
	return 0;
}

static int
walk_directory(struct walk *walk, const char *path, unsigned depth,
    struct err *err)
{
	int fd = openat(walk->queue->fd, *path != '\0' ? path : ".",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int result = 0;

	if (dir == NULL) {
		err_sys(err, "%s/%s", walk->queue->dir, path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (result == 0 && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			result = walk_entry(walk, fd, path, entry->d_name,
			    depth, err);
	closedir(dir);
	return result;
}

static bool
queue_has(const struct old_queue *queue, const char *path)
{
	return faccessat(queue->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- Postfix ----------------------------------------------------------- */

/* hash_queue_names: a directory a letter. */
static bool
postfix_enter(const char *path, const char *name)
{
	(void)path;
	return strlen(name) == 1 && ascii_is_alnum(name[0]);
}

/* Its owner may run a file that is whole: that says so. */
static void
postfix_file(struct walk *walk, const char *path, const char *name)
{
	struct old_queue *queue = walk->queue;
	const char *whole = path_join(queue->arena, path, name);
	struct old_row *row;
	struct stat st;

	if (!name_is_id(slice_of(name), 5))
		return;
	row = row_add(queue, slice_of(name), whole, walk->state);
	row->is_held = walk->is_held;
	if (fstatat(queue->fd, whole, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (st.st_mode & S_IXUSR) == 0)
		row->fate = OLD_UNFINISHED;
}

static int
postfix_find(struct old_queue *queue, struct err *err)
{
	static const char *const dirs[] = { "maildrop", "incoming", "active",
		"deferred", "hold" };
	enum { POSTFIX_HELD = 4 };
	struct walk walk = { .queue = queue, .enter = postfix_enter,
		.file = postfix_file };
	bool is_queue = false;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!queue_has(queue, dirs[i]))
			continue;
		is_queue = true;
		walk.state = dirs[i];
		walk.is_held = i == POSTFIX_HELD;
		if (walk_directory(&walk, dirs[i], 0, err) != 0)
			return -1;
	}
	return is_queue ? 0 : err_set(err, "%s is no queue of Postfix: it has "
	    "none of maildrop, incoming, active, deferred and hold",
	    queue->dir);
}

/* ---- Exim -------------------------------------------------------------- */

/* input/, input/k/, and the same below the name of a queue. */
static bool
exim_enter(const char *path, const char *name)
{
	const char *last = strrchr(path, '/');

	last = last != NULL ? last + 1 : path;
	return *path == '\0' || strcmp(name, "input") == 0 ||
	    (strcmp(last, "input") == 0 && strlen(name) == 1);
}

static void
exim_file(struct walk *walk, const char *path, const char *name)
{
	struct old_queue *queue = walk->queue;
	struct slice id = slice_first(slice_of(name), strlen(name) > 2 ?
	    strlen(name) - 2 : 0);
	const char *body = path_join(queue->arena, path, arena_printf(
	    queue->arena, SLICE_FMT "-D", SLICE_ARG(id)));
	const char *journal = path_join(queue->arena, path, arena_printf(
	    queue->arena, SLICE_FMT "-J", SLICE_ARG(id)));
	struct old_row *row;

	if (strstr(path, "input") == NULL || !name_is_id(id, 16))
		return;
	if (slice_ends(slice_of(name), "-D") && !queue_has(queue, path_join(
	    queue->arena, path, arena_printf(queue->arena, SLICE_FMT "-H",
	    SLICE_ARG(id))))) {
		row = row_add(queue, id, body, "coming in");
		row->fate = OLD_UNFINISHED;
	}
	if (!slice_ends(slice_of(name), "-H"))
		return;
	row = row_add(queue, id, path_join(queue->arena, path, name),
	    "waiting");
	row->body = body;
	row->journal = queue_has(queue, journal) ? journal : NULL;
}

static int
exim_find(struct old_queue *queue, struct err *err)
{
	struct walk walk = { .queue = queue, .enter = exim_enter,
		.file = exim_file };

	if (!queue_has(queue, "input"))
		return err_set(err, "%s is no spool directory of Exim: it has "
		    "no input", queue->dir);
	return walk_directory(&walk, "", 0, err);
}

/* ---- sendmail ---------------------------------------------------------- */

/* qd*, and qf, df and xf below them. */
static bool
sendmail_enter(const char *path, const char *name)
{
	return strcmp(name, ".hoststat") != 0 && (*path == '\0' ||
	    strcmp(name, "qf") == 0 || strcmp(name, "df") == 0 ||
	    strchr(path, '/') == NULL);
}

static void
df_add(struct old_queue *queue, const char *path)
{
	if (queue->body_count == queue->body_room) {
		queue->body_room = queue->body_room > 0 ?
		    2 * queue->body_room : 64;
		queue->bodies = mem_grow(queue->bodies, queue->body_room,
		    sizeof(*queue->bodies));
	}
	queue->bodies[queue->body_count++] = path;
}

static void
sendmail_file(struct walk *walk, const char *path, const char *name)
{
	struct old_queue *queue = walk->queue;
	const char *whole = path_join(queue->arena, path, name);
	struct old_row *row;

	if (strlen(name) < 3 || name[1] != 'f' ||
	    !name_is_id(slice_of(name + 2), 5))
		return;
	if (name[0] == 'd')
		df_add(queue, whole);
	if (strchr("qhQ", name[0]) == NULL)
		return;
	row = row_add(queue, slice_of(name + 2), whole, name[0] == 'q' ?
	    "waiting" : name[0] == 'h' ? "quarantined" : "lost");
	row->is_held = name[0] == 'h';
	if (name[0] == 'Q') {
		row->fate = OLD_DAMAGED;
		row->wrong = "sendmail set it aside as one that it could not "
		    "read (Qf)";
	}
}

/* In the same directory, in df beside qf, or in another directory of the
 * group. */
static const char *
body_find(const struct old_queue *queue, const struct old_row *row)
{
	const char *last = strrchr(row->main, '/');
	const char *beside = arena_printf(queue->arena, "%.*sdf%s",
	    last != NULL ? (int)(last + 1 - row->main) : 0, row->main,
	    row->id);

	if (queue_has(queue, beside))
		return beside;
	/* qd1/qf/qfID has qd1/df/dfID */
	if (last != NULL && last - row->main >= 2 &&
	    strncmp(last - 2, "qf", 2) == 0) {
		const char *other = arena_printf(queue->arena,
		    "%.*sdf/df%s", (int)(last - 2 - row->main), row->main,
		    row->id);

		if (queue_has(queue, other))
			return other;
	}
	for (size_t i = 0; i < queue->body_count; i++) {
		const char *at = strrchr(queue->bodies[i], '/');

		at = at != NULL ? at + 1 : queue->bodies[i];
		if (strcmp(at + 2, row->id) == 0)
			return queue->bodies[i];
	}
	return beside;
}

static int
sendmail_find(struct old_queue *queue, struct err *err)
{
	struct walk walk = { .queue = queue, .enter = sendmail_enter,
		.file = sendmail_file };

	if (walk_directory(&walk, "", 0, err) != 0)
		return -1;
	for (size_t i = 0; i < queue->count; i++)
		queue->rows[i].body = body_find(queue, &queue->rows[i]);
	return 0;
}

int
old_queue_find(struct old_queue *queue, struct err *err)
{
	return queue->kind == &old_postfix ? postfix_find(queue, err) :
	    queue->kind == &old_exim ? exim_find(queue, err) :
	    sendmail_find(queue, err);
}
