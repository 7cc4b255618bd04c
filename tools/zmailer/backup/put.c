/* put.c - messages from an archive into the spool
 *
 * In     an archive and its index; a spool in which nothing runs
 * Out    each message that is not there yet, in the state it had
 * Holds  a group of messages that are written and not yet named
 * Trusts a control file only when its head is whole, of this message, and
 *        its body begins inside of it; else the message is routed again
 * Spec   doc/INTERNALS.md section 10, rows B2 to B5
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/fd.h"
#include "mail/control_file/control_file.h"
#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum {
	GROUP_MAX = 256,		/* messages of one sync */
	GROUP_BYTES_MAX = 64 << 20,
	COPY_BYTES = 256 << 10
};

struct putting {
	struct spool	*spool;
	int		 fd;		/* the archive */
	struct put_back	*out;
	backup_say_fn	*say;
	void		*context;
	struct spool_return backs[GROUP_MAX];
	struct backup_item *items[GROUP_MAX];
	size_t		 count;
	uint64_t	 bytes;
	struct str	 control;
	struct arena	*arena;
	char		*buffer;
};

/* ---- bytes ------------------------------------------------------------- */

static int
restore_body_copy(struct putting *putting, const struct backup_item *item,
    int fd)
{
	struct first_line promise = { .bytes = UINT64_MAX };
	bool has_promise = false;
	uint64_t done = 0;
	uint32_t crc = 0;

	while (done < item->body_bytes) {
		size_t n = item->body_bytes - done < COPY_BYTES ?
		    (size_t)(item->body_bytes - done) : COPY_BYTES;
		size_t skip = 0;

		if (fd_read_whole_at(putting->fd, putting->buffer, n,
		    item->body_at + done) != 0)
			return -1;
		if (done == 0) {
			struct slice front = { putting->buffer, n };

			has_promise = first_line_is_there(front) &&
			    n >= DRAFT_FIRST_LINE_BYTES;
			(void)first_line_read(front, &promise);
			skip = has_promise ? DRAFT_FIRST_LINE_BYTES : 0;
		}
		crc = crc32c(crc, putting->buffer + skip, n - skip);
		if (fd_write_all(fd, putting->buffer, n) != 0)
			return -1;
		done += n;
	}
	if (has_promise && (promise.crc != crc ||
	    promise.bytes + DRAFT_FIRST_LINE_BYTES != item->body_bytes))
		putting->out->damaged++;	/* the router will say so */
	return 0;
}

/* ---- one message -------------------------------------------------------- */

/* Rows S0 -> B2. */
static int
restore_stage(struct putting *putting, struct backup_item *item,
    struct err *err)
{
	struct spool_return *back = &putting->backs[putting->count];
	bool has_control = control_file_read_of(putting->arena, putting->fd,
	    item->control_at, item->control_bytes, item->key,
	    item->body_bytes, &putting->control);
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
	    { .tv_sec = (time_t)item->mtime_s } };

	if (item->area == AREA_QUEUE && !has_control)
		putting->out->routed_again++;
	if (spool_return_begin(putting->spool, has_control, back, err) != 0)
		return -1;
	if (restore_body_copy(putting, item, back->body_fd) != 0 ||
	    ((item->mode & S_IXUSR) != 0 &&	/* a person let it go */
	    !spool_frozen_write(back->body_fd)) ||
	    futimens(back->body_fd, times) != 0 ||
	    (has_control && fd_write_all(back->control_fd, putting->control.buf,
	    putting->control.len) != 0)) {
		err_sys(err, "copy %s", item->key);
		spool_return_drop(back);
		return -1;
	}
	if (spool_return_settle(back, err) != 0) {
		spool_return_drop(back);
		return -1;
	}
	putting->items[putting->count++] = item;
	putting->bytes += item->body_bytes + item->control_bytes;
	return 0;
}

/* The bytes first, then the names. */
static int
group_end(struct putting *putting, struct err *err)
{
	int result = putting->count == 0 ? 0 :
	    spool_sync(putting->spool, err);

	for (size_t i = 0; i < putting->count; i++) {
		struct backup_item *item = putting->items[i];
		char name[SPOOL_NAME_BYTES], file[SPOOL_NAME_BYTES + 16];
		struct spool_return *back = &putting->backs[i];
		enum spool_area area = item->area == AREA_QUEUE &&
		    back->control[0] == '\0' ? AREA_ROUTER : item->area;

		if (result != 0) {
			spool_return_drop(back);
			continue;
		}
		if (spool_return_publish(back, area, item->priority,
		    item->why, name, err) != 0) {
			putting->out->failed++;
			result = -1;
			continue;
		}
		putting->out->messages++;
		putting->out->bytes += item->body_bytes;
		snprintf(file, sizeof(file), "%s/%s", spool_area_names[area],
		    name);
		if (putting->say != NULL)
			putting->say(putting->context, item, file);
	}
	putting->count = 0;
	putting->bytes = 0;
	return result;
}

static bool
restore_is_wanted(const struct backup_item *item)
{
	return item->has_body && !item->is_present && !item->is_left;
}

/* Row O1, when nothing is ordered yet. */
static int
orders_put(struct putting *putting, const struct backup_index *index,
    struct err *err)
{
	int dir_fd = spool_dir_fd(putting->spool, AREA_TRANSPORT, 0), fd;
	bool is_good;

	if (index->orders_bytes == 0 ||
	    index->orders_bytes > CONTROL_BYTES_MAX ||
	    faccessat(dir_fd, SPOOL_ORDERS, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	(void)unlinkat(dir_fd, SPOOL_ORDERS ".new", 0);	/* O1: nobody's */
	fd = openat(dir_fd, SPOOL_ORDERS ".new", O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0660);
	if (fd < 0)
		return err_sys(err, "cannot write transport/" SPOOL_ORDERS);
	str_reset(&putting->control);
	is_good = fd_read_whole_at(putting->fd,
		      str_room(&putting->control, index->orders_bytes),
		      index->orders_bytes, index->orders_at) == 0 &&
	    fd_write_all(fd, putting->control.buf, index->orders_bytes) == 0 &&
	    fchmod(fd, 0660) == 0 && fsync(fd) == 0;
	if (close(fd) == 0 && is_good && renameat(dir_fd, SPOOL_ORDERS ".new",
	    dir_fd, SPOOL_ORDERS) == 0)		/* O1 */
		return 0;
	return err_sys(err, "cannot write transport/" SPOOL_ORDERS);
}

int
backup_put(struct spool *spool, int fd, struct backup_index *index,
    backup_say_fn *say, void *context, struct put_back *out, struct err *err)
{
	struct putting *putting = mem_alloc(1, sizeof(*putting));
	int result;

	memset(out, 0, sizeof(*out));
	*putting = (struct putting){ .spool = spool, .fd = fd, .out = out,
	    .say = say, .context = context, .control = STR_INIT,
	    .arena = arena_new(), .buffer = mem_alloc(1, COPY_BYTES) };
	result = orders_put(putting, index, err);
	for (size_t i = 0; i < index->count && result == 0; i++) {
		if (!restore_is_wanted(&index->items[i]))
			continue;
		result = restore_stage(putting, &index->items[i], err);
		if (result == 0 && (putting->count == GROUP_MAX ||
		    putting->bytes >= GROUP_BYTES_MAX))
			result = group_end(putting, err);
	}
	if (result == 0)
		result = group_end(putting, err);
	for (size_t i = 0; i < putting->count; i++)
		spool_return_drop(&putting->backs[i]);
	if (result == 0)
		result = spool_sync(spool, err);
	str_release(&putting->control);
	arena_free(&putting->arena);
	mem_free(&putting->buffer);
	mem_free(&putting);
	return result;
}
