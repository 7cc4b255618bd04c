/* keys.c - the file of keys, written beside the loop
 *
 * In     keys that begin and end
 * Out    lines on disk; who waits for one hears of it
 * Holds  DIR, locked; a thread that waits for the disk, one batch at a time
 * Trusts nothing it reads back (key_table.c)
 * Spec   keys.h
 *
 * What comes while a batch is written is the next one: a thousand clients
 * cost a few syncs.  The thread touches its batch and its descriptors, and
 * no other memory.
 *
 * If the machine stops
 *   before a line is whole     nothing was sent for it: it was never there
 *   after B, before D          the next one of this key asks the journal
 *   in keys.new                keys is the old one, whole; keys.new is
 *                              written over by the next start
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "web/send/key_table.h"

#include "base/banned.h"

enum { REWRITE_BYTES_MIN = 1 << 20, REWRITE_PAUSE_MS = 60000 };

struct keys_waiter {
	STAILQ_ENTRY(keys_waiter) line;
	struct key	*key;
	keys_fn		*fn;
	void		*context;
};
STAILQ_HEAD(keys_waiters, keys_waiter);

struct keys_batch {		/* the thread's while is_busy */
	struct str	 text;
	bool		 is_all;	/* the whole file anew */
	bool		 is_good;
};

struct keys {
	char			 path[32];	/* of dir_fd */
	struct key_table	 table;
	int			 dir_fd, fd, lock_fd;
	off_t			 size;		/* of the file */
	struct keys_batch	 batch;
	bool			 is_busy;
	bool			 must_rewrite;	/* its end is torn */
	int64_t			 rewrite_ms;	/* not before */
	struct str		 next;		/* lines of the next batch */
	struct keys_waiters	 waits, waits_next;
	pthread_mutex_t		 mutex;
	pthread_cond_t		 is_wanted;
	bool			 has_work;
	int			 told[2];	/* a byte: a batch ended */
};

/* ---- the thread --------------------------------------------------------- */

/* All of it, or the file is as it was. */
static bool
keys_append(struct keys *keys)
{
	const struct str *text = &keys->batch.text;
	bool is_good = write(keys->fd, text->buf, text->len) ==
	    (ssize_t)text->len && fdatasync(keys->fd) == 0;

	if (is_good)
		keys->size += (off_t)text->len;
	else if (ftruncate(keys->fd, keys->size) < 0)
		keys->must_rewrite = true;
	return is_good;
}

static bool
keys_rewrite(struct keys *keys)
{
	int fd;

	(void)unlinkat(keys->dir_fd, "keys.new", 0);	/* of one that died */
	fd = openat(keys->dir_fd, "keys.new", O_WRONLY | O_CREAT | O_EXCL |
	    O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	if (fd_write_all(fd, keys->batch.text.buf, keys->batch.text.len) < 0 ||
	    fsync(fd) < 0 || renameat(keys->dir_fd, "keys.new",
	    keys->dir_fd, "keys") < 0) {
		close(fd);
		(void)unlinkat(keys->dir_fd, "keys.new", 0);
		return false;
	}
	if (keys->fd >= 0)
		close(keys->fd);
	keys->fd = fd;
	keys->size = (off_t)keys->batch.text.len;
	keys->must_rewrite = false;
	return fsync(keys->dir_fd) == 0;
}

static void
keys_do_batch(struct keys *keys)
{
	keys->batch.is_good = keys->batch.is_all ? keys_rewrite(keys) :
	    keys_append(keys);
}

static void *
keys_thread(void *context)
{
	struct keys *keys = context;

	for (;;) {
		(void)pthread_mutex_lock(&keys->mutex);
		while (!keys->has_work)
			(void)pthread_cond_wait(&keys->is_wanted,
			    &keys->mutex);
		keys->has_work = false;
		(void)pthread_mutex_unlock(&keys->mutex);
		keys_do_batch(keys);
		while (write(keys->told[1], "", 1) < 0 && errno == EINTR)
			;
	}
	return NULL;
}

/* ---- the loop ----------------------------------------------------------- */

/* Lines that say nothing any more are as many as those that do. */
static bool
keys_want_rewrite(const struct keys *keys, int64_t now_ms)
{
	enum { LINES_BYTES = 2 * (2 * DIGEST_SHA256_BYTES + 40) + 80 };
	size_t live = keys->table.count * LINES_BYTES +
	    keys->table.refused_bytes;

	return keys->must_rewrite || (keys->size > REWRITE_BYTES_MIN &&
	    (size_t)keys->size > 2 * live && now_ms >= keys->rewrite_ms);
}

static void
keys_kick(struct keys *keys)
{
	int64_t now_ms = clock_steady_ms();
	struct str was = keys->batch.text;

	if (keys->is_busy || keys->next.len == 0)
		return;
	keys->batch.is_all = keys_want_rewrite(keys, now_ms);
	str_reset(&was);
	if (keys->batch.is_all) {
		keys->rewrite_ms = now_ms + REWRITE_PAUSE_MS;
		key_table_write(&keys->table, clock_wall_s(), &was);
		keys->batch.text = was;
		str_reset(&keys->next);
	} else {
		keys->batch.text = keys->next;
		keys->next = was;
	}
	STAILQ_CONCAT(&keys->waits, &keys->waits_next);
	keys->is_busy = true;
	(void)pthread_mutex_lock(&keys->mutex);
	keys->has_work = true;
	(void)pthread_cond_signal(&keys->is_wanted);
	(void)pthread_mutex_unlock(&keys->mutex);
}

static void
keys_on_told(evutil_socket_t fd, short what, void *context)
{
	struct keys *keys = context;
	struct keys_waiters waits = STAILQ_HEAD_INITIALIZER(waits);
	struct keys_waiter *one;
	bool is_good = keys->batch.is_good;	/* fn may begin the next one */
	char byte;

	if (read(fd, &byte, 1) != 1)
		return;
	STAILQ_CONCAT(&waits, &keys->waits);
	keys->is_busy = false;
	while ((one = STAILQ_FIRST(&waits)) != NULL) {
		STAILQ_REMOVE_HEAD(&waits, line);
		if (!is_good)
			key_table_remove(&keys->table, one->key);
		one->fn(one->context, is_good);
		mem_free(&one);
	}
	keys_kick(keys);
}

void
keys_begin(struct keys *keys, struct key *key, keys_fn *fn, void *context)
{
	struct keys_waiter *one = mem_alloc(1, sizeof(*one));

	*one = (struct keys_waiter){ .key = key, .fn = fn,
	    .context = context };
	key->is_under_way = true;
	key_add_begun(&keys->next, key);
	STAILQ_INSERT_TAIL(&keys->waits_next, one, line);
	keys_kick(keys);
}

void
keys_end(struct keys *keys, struct key *key, const char *id)
{
	key->is_under_way = false;
	strlcpy(key->id, id, sizeof(key->id));
	key_add_end(&keys->next, key);
	keys_kick(keys);
}

void
keys_forget(struct keys *keys, struct key *key)
{
	key_add_end(&keys->next, key);
	key_table_remove(&keys->table, key);
	keys_kick(keys);
}

struct key_table *
keys_table(struct keys *keys)
{
	return &keys->table;
}

/* ---- the start ---------------------------------------------------------- */

static int
keys_open_dir(struct keys *keys, const char *dir, uid_t owner,
    struct err *err)
{
	struct stat at;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "%s", dir);
	keys->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
	    O_NOFOLLOW);
	if (keys->dir_fd < 0 || fstat(keys->dir_fd, &at) < 0)
		return err_sys(err, "%s", dir);
	snprintf(keys->path, sizeof(keys->path), "/proc/self/fd/%d",
	    keys->dir_fd);
	if ((at.st_uid != geteuid() && at.st_uid != owner) ||
	    (at.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(err, "%s: others may write it: it must be "
		    "yours alone (chmod 700)", dir);
	keys->lock_fd = openat(keys->dir_fd, "lock", O_RDWR | O_CREAT |
	    O_CLOEXEC | O_NOFOLLOW, 0600);
	if (keys->lock_fd < 0)
		return err_sys(err, "%s/lock", dir);
	if (flock(keys->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, "%s: another desk has it", dir);
	return 0;
}

static int
keys_read(struct keys *keys, const char *dir, struct err *err)
{
	struct str text = STR_INIT;
	struct slice rest, line;
	int fd = openat(keys->dir_fd, "keys", O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW), result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "%s/keys", dir);
	if (fd_read_all(fd, KEYS_FILE_BYTES_MAX, &text) < 0)
		result = err_sys(err, "%s/keys", dir);
	close(fd);
	for (rest = str_slice(&text); rest.n > 0;) {
		size_t n = slice_find(rest, '\n');

		line = slice_first(rest, n);
		if (n < rest.n)
			(void)key_table_take(&keys->table, line);
		rest = slice_from(rest, n + 1);
	}
	str_release(&text);
	return result;
}

/* returns NULL */
static struct keys *
keys_give_up(struct keys *keys)
{
	key_table_release(&keys->table);
	str_release(&keys->batch.text);
	if (keys->lock_fd >= 0)
		close(keys->lock_fd);
	if (keys->dir_fd >= 0)
		close(keys->dir_fd);
	mem_free(&keys);
	return NULL;
}

struct keys *
keys_new(const char *dir, uid_t owner, struct err *err)
{
	struct keys *keys = mem_alloc(1, sizeof(*keys));

	*keys = (struct keys){ .dir_fd = -1, .fd = -1, .lock_fd = -1,
	    .batch = { .text = STR_INIT }, .next = STR_INIT };
	key_table_init(&keys->table);
	STAILQ_INIT(&keys->waits);
	STAILQ_INIT(&keys->waits_next);
	/* a limit on the size of files is a full disk, no death */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (keys_open_dir(keys, dir, owner, err) < 0 ||
	    keys_read(keys, dir, err) < 0)
		return keys_give_up(keys);
	key_table_write(&keys->table, clock_wall_s(), &keys->batch.text);
	if (!keys_rewrite(keys)) {
		(void)err_sys(err, "%s/keys.new", dir);
		return keys_give_up(keys);
	}
	return keys;
}

int
keys_give(struct keys *keys, uid_t uid, gid_t gid, struct err *err)
{
	if (geteuid() == 0 && (fchown(keys->dir_fd, uid, gid) < 0 ||
	    fchown(keys->fd, uid, gid) < 0))
		return err_sys(err, "the directory of --send");
	return 0;
}

const char *
keys_dir(const struct keys *keys)
{
	return keys->path;
}

void
keys_thread_begin(struct keys *keys, struct event_base *base)
{
	sigset_t all, before;
	struct event *event;
	pthread_t thread;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pipe2(keys->told, O_CLOEXEC) < 0 ||
	    pthread_mutex_init(&keys->mutex, NULL) != 0 ||
	    pthread_cond_init(&keys->is_wanted, NULL) != 0 ||
	    pthread_create(&thread, NULL, keys_thread, keys) != 0)
		panic("no thread for the file of keys");
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	event = event_new(base, keys->told[0], EV_READ | EV_PERSIST,
	    keys_on_told, keys);
	if (event == NULL || event_add(event, NULL) < 0)
		panic("no event for the file of keys");
}
