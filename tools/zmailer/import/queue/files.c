/* files.c - the files of a message in an old queue, as bytes
 *
 * In     paths below the directory
 * Out    their bytes, mapped, read only
 * Trusts no name: no symbolic link, no device; at most 1 GB
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

enum { OLD_FILE_BYTES_MAX = 1 << 30 };

static int
old_file_open(const struct old_queue *queue, const char *path, struct stat *out,
    struct err *err)
{
	int fd = openat(queue->fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);

	if (fd < 0 || fstat(fd, out) != 0)
		err_sys(err, "%s", path);
	else if (!S_ISREG(out->st_mode))
		err_set(err, "%s is no regular file", path);
	else if (out->st_size > OLD_FILE_BYTES_MAX)
		err_set(err, "%s has more than 1 GB", path);
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
file_map(const struct old_queue *queue, const char *path, struct slice *out,
    int64_t *out_mtime_s, struct err *err)
{
	struct stat st;
	int fd = old_file_open(queue, path, &st, err);
	void *bytes = NULL;

	if (fd < 0)
		return -1;
	if (st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
		    fd, 0);
	if (bytes == MAP_FAILED)
		err_sys(err, "map %s", path);
	close(fd);
	if (bytes == MAP_FAILED)
		return -1;
	*out = (struct slice){ bytes, (size_t)st.st_size };
	*out_mtime_s = st.st_mtime;
	return 0;
}

static void
file_unmap(struct slice *bytes)
{
	if (bytes->n > 0)
		munmap((void *)(uintptr_t)bytes->p, bytes->n);
	*bytes = (struct slice){ NULL, 0 };
}

int
old_files_open(const struct old_queue *queue, const struct old_row *row,
    struct old_files *out, struct err *err)
{
	int64_t unused;

	*out = (struct old_files){ .id = row->id };
	if (file_map(queue, row->main, &out->main, &out->mtime_s, err) == 0 &&
	    (row->body == NULL ||
	    file_map(queue, row->body, &out->body, &unused, err) == 0) &&
	    (row->journal == NULL ||
	    file_map(queue, row->journal, &out->journal, &unused, err) == 0))
		return 0;
	old_files_close(out);
	return -1;
}

void
old_row_hear(struct old_queue *queue, struct old_row *row,
    const struct old_files *files)
{
	const char *path = old_words_path(queue->arena, queue->kind,
	    row->main);
	struct slice text = files->main, mapped = { NULL, 0 };
	struct str shown = STR_INIT;
	struct old_words words;
	int64_t unused;

	/* one that is not there has said nothing */
	if (path != NULL) {
		if (file_map(queue, path, &mapped, &unused, NULL) != 0)
			return;
		text = mapped;
	}
	old_words(queue->kind, queue->kind != &old_sendmail && path == NULL ?
	    SLICE("") : text, &words);
	str_add_escaped(&shown, words.said);
	row->said = slice_dup(queue->arena, str_slice(&shown));
	row->tries = words.tries;
	str_release(&shown);
	file_unmap(&mapped);
}

void
old_files_close(struct old_files *files)
{
	file_unmap(&files->main);
	file_unmap(&files->body);
	file_unmap(&files->journal);
}

bool
old_file_is_locked(const struct old_queue *queue, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;
	int fd = old_file_open(queue, path, &st, NULL);
	bool is_locked;

	if (fd < 0)
		return false;
	is_locked = (flock(fd, LOCK_SH | LOCK_NB) != 0 &&
	    errno == EWOULDBLOCK) || (fcntl(fd, F_GETLK, &lock) == 0 &&
	    lock.l_type != F_UNLCK);
	close(fd);
	return is_locked;
}
