/* keeping.c - messages that stay: their copies get their present records
 *
 * In     jobs with new records, jobs that move
 * Out    `kept` to share, with both files
 * Holds  the inodes that wait, and those on their way
 * Trusts nothing: what has gone meanwhile is passed over
 * Spec   sharing.h; doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "scheduler/sharing/state.h"

#include "base/banned.h"

static void
copy_kept_push(struct sharing *sharing, ino_t inode)
{
	if (sharing->kept_first > 0 && sharing->kept_count ==
	    sharing->kept_room) {
		memmove(sharing->kept, sharing->kept + sharing->kept_first,
		    (sharing->kept_count - sharing->kept_first) *
		    sizeof(*sharing->kept));
		sharing->kept_count -= sharing->kept_first;
		sharing->kept_first = 0;
	}
	if (sharing->kept_count == sharing->kept_room) {
		sharing->kept_room = sharing->kept_room * 2 + 64;
		sharing->kept = mem_grow(sharing->kept, sharing->kept_room,
		    sizeof(*sharing->kept));
	}
	sharing->kept[sharing->kept_count++] = inode;
}

/* A descriptor of its own, without the lock that agents look at. */
int
copy_kept_open(const struct sharing *sharing, enum spool_area area,
    const char *name)
{
	return openat(spool_dir_fd(sharing->queue->spool, area, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* What is larger has no copy, and none is asked for again and again. */
bool
copy_kept_fits(const struct sharing *sharing, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size <=
	    sharing->queue->conf->cluster.copy_bytes_max;
}

static void
copy_kept_send(struct sharing *sharing, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	int fds[2];

	job->flags &= (uint16_t)~JOB_UNCOPIED;
	if (job_is_finished(job))
		return;			/* its end is told */
	spool_hashed_name(sharing->queue->spool, job->inode, name);
	fds[0] = copy_kept_open(sharing, AREA_QUEUE, name);
	fds[1] = copy_kept_open(sharing, AREA_TRANSPORT, name);
	if (!copy_kept_fits(sharing, fds[0]) ||	/* or gone: the rescan */
	    !copy_kept_fits(sharing, fds[1])) {	/* sees to it */
		if (fds[0] >= 0)
			close(fds[0]);
		if (fds[1] >= 0)
			close(fds[1]);
		if (job->flags & JOB_MOVING)
			moves_take_back(sharing->moves, job, "it is larger "
			    "than copies size, or its files are gone");
		return;
	}
	ipc_link_attach(sharing->link, fds, 2);
	str_addf(ipc_link_out(sharing->link), "k%ju kept %s\n",
	    (uintmax_t)job->inode, job->id);
	sharing->keeping[sharing->keeping_count++] = job->inode;
}

void
copy_kept_tell(struct sharing *sharing)
{
	bool is_told = false;

	while (sharing->link != NULL && !sharing->is_keeping_over &&
	    sharing->keeping_count < SHARING_KEEPING_MAX &&
	    sharing->kept_first < sharing->kept_count) {
		struct job *job = job_table_find(&sharing->queue->jobs,
		    sharing->kept[sharing->kept_first++]);

		if (job != NULL && (job->flags & JOB_UNCOPIED)) {
			copy_kept_send(sharing, job);
			is_told = true;
		}
	}
	if (sharing->kept_first == sharing->kept_count)
		sharing->kept_first = sharing->kept_count = 0;
	if (is_told)
		ipc_link_send(sharing->link);
}

void
copy_kept_note(struct sharing *sharing, struct job *job)
{
	if (job->flags & JOB_UNCOPIED)
		return;
	job->flags |= JOB_UNCOPIED;
	copy_kept_push(sharing, job->inode);
	copy_kept_tell(sharing);
}

/* It is to be copied again. */
void
copy_kept_again(struct sharing *sharing, ino_t inode)
{
	struct job *job = job_table_find(&sharing->queue->jobs, inode);

	if (job != NULL)
		copy_kept_note(sharing, job);
}

/* Of one that moves all that was said must be in its copy. */
static void
copy_kept_is_moved(struct sharing *sharing, ino_t inode)
{
	struct job *job = job_table_find(&sharing->queue->jobs, inode);

	if (job == NULL ||
	    (job->flags & (JOB_MOVING | JOB_UNCOPIED)) != JOB_MOVING)
		return;
	for (unsigned i = 0; i < sharing->keeping_count; i++)
		if (sharing->keeping[i] == inode)
			return;
	moves_kept(sharing->moves, job);
	sharing_say_moves(sharing);
}

void
copy_kept_answered(struct sharing *sharing, struct slice text, bool is_ok)
{
	uint64_t inode = 0;

	(void)slice_number(text, 1, UINT64_MAX, &inode);
	for (unsigned i = 0; i < sharing->keeping_count; i++)
		if (sharing->keeping[i] == (ino_t)inode) {
			sharing->keeping[i] =
			    sharing->keeping[--sharing->keeping_count];
			break;
		}
	if (!is_ok) {
		sharing->is_keeping_over = true;
		copy_kept_again(sharing, (ino_t)inode);
	} else {
		copy_kept_is_moved(sharing, (ino_t)inode);
	}
	copy_kept_tell(sharing);
}

void
sharing_note_kept(struct sharing *sharing, const struct job *job)
{
	struct job *mine;

	/* what moves was copied as it is, and may be another's by now */
	if (sharing == NULL || (job->flags & JOB_MOVING) ||
	    (mine = job_table_find(&sharing->queue->jobs, job->inode)) == NULL)
		return;
	copy_kept_note(sharing, mine);
}

/* The next one shall copy them when they have new records. */
void
copy_kept_forget(struct sharing *sharing, ino_t inode)
{
	struct job *job = job_table_find(&sharing->queue->jobs, inode);

	if (job != NULL)
		job->flags &= (uint16_t)~JOB_UNCOPIED;
}
