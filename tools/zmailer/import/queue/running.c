/* running.c - does the queue's own mailer still work on it?
 *
 * In     the lock of Postfix's master; processes that work in the queue's
 *        directory; locks on files of messages
 * Out    yes, and what to do
 * Holds  no lock: it takes one that is free, and releases it
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/fd.h"
#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

enum { COMM_BYTES = 64 };

static enum old_running
running_say(const struct old_queue *queue, const char *who, struct err *err)
{
	err_set(err, "%s works on %s: stop it first (%s)", who, queue->dir,
	    queue->kind->stop);
	return OLD_RUNNING_YES;
}

/* The name of a process, from its directory below /proc. */
static void
process_name(int proc_fd, const char *pid, char out[COMM_BYTES])
{
	char path[COMM_BYTES];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%.20s/comm", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = fd_read_at(fd, out, COMM_BYTES - 1, 0);
		close(fd);
	}
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/* Exim and sendmail work in their queue's directory. */
static enum old_running
running_by_directory(const struct old_queue *queue, struct err *err)
{
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *proc = proc_fd < 0 ? NULL : fdopendir(proc_fd);
	enum old_running result = OLD_RUNNING_NO;
	char path[COMM_BYTES], name[COMM_BYTES];
	const struct dirent *entry;
	struct stat here, there;

	if (proc == NULL || fstat(queue->fd, &here) != 0) {
		if (proc != NULL)
			closedir(proc);
		err_sys(err, "cannot look who works on %s: /proc", queue->dir);
		return OLD_RUNNING_UNKNOWN;
	}
	while (result == OLD_RUNNING_NO && (entry = readdir(proc)) != NULL) {
		if (!ascii_is_digit(entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%.20s/cwd", entry->d_name);
		if (fstatat(proc_fd, path, &there, 0) != 0 ||
		    there.st_dev != here.st_dev || there.st_ino != here.st_ino)
			continue;
		process_name(proc_fd, entry->d_name, name);
		if (slice_starts(slice_of(name), queue->kind->name)) {
			snprintf(path, sizeof(path), "%.20s (process %.20s)",
			    name, entry->d_name);
			result = running_say(queue, path, err);
		}
	}
	closedir(proc);
	return result;
}

enum old_running
old_queue_is_running(const struct old_queue *queue, struct err *err)
{
	if (queue->kind == &old_postfix)
		return old_file_is_locked(queue, "pid/master.pid") ?
		    running_say(queue, "Postfix", err) : OLD_RUNNING_NO;
	return running_by_directory(queue, err);
}
