/* fds.c - the descriptors that a record speaks of
 *
 * In     a record that was read, or is to be written
 * Out    whether they are what it says; whether they stay open over an exec
 * Trusts no number: what is open there is asked of the kernel
 * Spec   handover.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tools/run/handover/table.h"

#include "base/banned.h"

/* Called for each descriptor; 0: go on. */
typedef int fd_fn(void *context, const struct handover_line *line, int fd,
    unsigned what);

static int
handover_each_fd(const struct handover *handover, fd_fn *fn, void *context)
{
	const struct handover_line *line;
	int result = 0;

	for (line = handover_lines; line->word != NULL; line++)
		for (size_t i = 0; i < handover_rows(line, handover); i++)
			for (const struct handover_field *field =
			    line->fields; field->kind != HANDOVER_NONE &&
			    result == 0; field++) {
				const char *row = handover_row(line, handover,
				    i);
				int fd = field->kind == HANDOVER_FD ?
				    *(const int *)(const void *)(row +
				    field->at) : -1;

				if (fd >= 0)
					result = fn(context, line, fd,
					    field->more);
			}
	return result;
}

static bool
handover_fd_listens(int fd)
{
	socklen_t size = sizeof(int);
	int listens = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) ==
	    0 && listens != 0;
}

static bool
handover_fd_is(int fd, unsigned what)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if ((what & HANDOVER_LOCK) != 0)
		return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
	if ((what & HANDOVER_FILE) != 0)
		return S_ISREG(st.st_mode);
	if ((what & HANDOVER_PIPE) != 0)
		return S_ISFIFO(st.st_mode);
	return S_ISSOCK(st.st_mode) &&
	    handover_fd_listens(fd) == ((what & HANDOVER_LISTENING) != 0);
}

struct seen {
	const struct handover_line *line;
	int	fd;
	unsigned count;
};

static int
handover_fd_count_same(void *context, const struct handover_line *line, int fd,
    unsigned what)
{
	struct seen *seen = context;

	seen->count += fd == seen->fd;
	return 0;
}

struct checking {
	const struct handover *handover;
	struct err *err;
};

static int
handover_fd_check(void *context, const struct handover_line *line, int fd,
    unsigned what)
{
	struct checking *checking = context;
	struct seen seen = { line, fd, 0 };

	if (!handover_fd_is(fd, what))
		return err_set(checking->err, "descriptor %d of a %s is not "
		    "open, or is something else", fd, line->word);
	(void)handover_each_fd(checking->handover, handover_fd_count_same,
	    &seen);
	return seen.count == 1 ? 0 : err_set(checking->err,
	    "descriptor %d is named %u times", fd, seen.count);
}

int
handover_check(const struct handover *handover, struct err *err)
{
	struct checking checking = { handover, err };

	return handover_each_fd(handover, handover_fd_check, &checking);
}

static int
handover_fd_keep(void *context, const struct handover_line *line, int fd,
    unsigned what)
{
	(void)fcntl(fd, F_SETFD, *(const bool *)context ? 0 : FD_CLOEXEC);
	return 0;
}

void
handover_keep(const struct handover *handover, int fd, bool is_kept)
{
	(void)handover_each_fd(handover, handover_fd_keep, &is_kept);
	(void)fcntl(fd, F_SETFD, is_kept ? 0 : FD_CLOEXEC);
}
