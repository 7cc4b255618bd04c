/* seen.c - a message of deferred/ goes on as the milters left it
 *
 * In     deferred/N.milter, locked by who calls; what milters made of it
 * Out    a durable message of our own in router/ or freezer/, with their word
 *        in its envelope; the original is gone
 * Holds  two mappings, one draft
 * Trusts the changed draft for sender, recipients, header and body alone
 * Spec   doc/INTERNALS.md rows L1 to L4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/envelope.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

struct seen_part {		/* a message file, mapped */
	struct slice	file;
	struct envelope	envelope;
	struct slice	text;		/* header and body */
};

static int
seen_part_read(int fd, struct arena *arena, struct seen_part *out,
    struct err *err)
{
	struct slice rest;
	struct stat st;
	void *map;

	if (fstat(fd, &st) != 0)
		return err_sys(err, "stat");
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return err_set(err, "it is no message");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "map");
	out->file = rest = (struct slice){ map, (size_t)st.st_size };
	if (slice_starts(rest, "complete "))	/* or it will be */
		rest = slice_from(rest, DRAFT_FIRST_LINE_BYTES);
	if (envelope_parse(arena, rest, &out->envelope, err) < 0)
		return -1;
	out->text = slice_from(rest, out->envelope.header_offset);
	return 0;
}

static void
seen_part_release(struct seen_part *part)
{
	if (part->file.n > 0)
		munmap((void *)(uintptr_t)part->file.p, part->file.n);
}

/* The draft that smtpserver's process left in public/. */
static int
seen_changed_read(const struct spool *spool, const char *name,
    struct arena *arena, struct seen_part *out, struct err *err)
{
	int fd = spool_open_file(spool->area_fd[AREA_PUBLIC], name, O_RDONLY);
	struct stat st;
	int result = -1;

	if (fd < 0)
		return err_sys(err, "public/%s", name);
	if (fstat(fd, &st) != 0 || !spool_is_own(st.st_uid))
		err_set(err, "public/%s is not the mail system's", name);
	else
		result = seen_part_read(fd, arena, out, err);
	close(fd);
	return result;
}

/* The name says of what: a crash cannot make two.  One that is there already
 * was left by a crash; the original is still there, so it is not the only
 * copy. */
static void
seen_stem(const struct spool_seen *seen, ino_t inode, const char *id,
    char out_name[SPOOL_NAME_BYTES])
{
	snprintf(out_name, SPOOL_NAME_BYTES, "%s%ju-%s", seen->freeze != NULL ?
	    SPOOL_SEEN_FROZEN : SPOOL_SEEN_OF, (uintmax_t)inode,
	    id[0] != '\0' ? id : "0");
}

static int
seen_write(struct draft *draft, const struct envelope *envelope,
    struct slice text, struct err *err)
{
	struct str lines = STR_INIT;
	int result = envelope_add(&lines, envelope, err);

	if (result == 0)
		result = draft_write(draft, lines.buf, lines.len, err);
	if (result == 0)
		result = draft_write(draft, text.p, text.n, err);
	str_release(&lines);
	return result == 0 && draft_sync(&draft, 1, err) == 1 ? 0 : -1;
}

static int
seen_original_unlink(struct spool *spool, const struct spool_seen *seen,
    ino_t inode)
{
	int dir = spool->area_fd[AREA_DEFERRED];
	struct stat st;

	if (fstatat(dir, seen->name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_ino != inode) {
		errno = ENOENT;
		return -1;
	}
	return unlinkat(dir, seen->name, 0);
}

/* Rows L2 to L4. */
static enum spool_gone
seen_go_on(struct spool *spool, const struct spool_seen *seen,
    const struct envelope *envelope, struct slice text, struct err *err)
{
	char stem[SPOOL_NAME_BYTES];
	struct envelope out = *envelope;
	struct draft draft;
	struct stat st;

	if (fstat(seen->fd, &st) != 0)
		return err_sys(err, "stat deferred/%s", seen->name);
	seen_stem(seen, st.st_ino, out.id, stem);
	if (draft_open_again(spool, stem, &draft, err) < 0)
		return SPOOL_GONE_TROUBLE;
	if (out.id[0] == '\0')
		memcpy(out.id, draft.id, sizeof(out.id));
	out.milters = slice_of(seen->word);
	if (seen->freeze != NULL && seen->reason != NULL)
		(void)spool_reason_write(draft.fd, seen->reason);
	if (seen_write(&draft, &out, text, err) < 0) {
		draft_abort(&draft);
		return SPOOL_GONE_TROUBLE;
	}
	/* durable: from here on a crash leaves both (the original goes) or
	 * this one.  Gone: a person has moved it, and it is his. */
	if (seen_original_unlink(spool, seen, st.st_ino) != 0) {
		enum spool_gone result = errno == ENOENT ? SPOOL_GONE_BEFORE :
		    (enum spool_gone)err_sys(err, "unlink deferred/%s",
		    seen->name);

		draft_abort(&draft);
		return result;
	}
	if (draft_publish(&draft, seen->freeze != NULL ? AREA_FREEZER :
	    AREA_ROUTER, 0, seen->freeze, err) == 0)
		return SPOOL_GONE_ON;
	draft_hand_over(&draft);	/* the only one: adopted (L3) */
	return SPOOL_GONE_TROUBLE;
}

enum spool_gone
spool_go_on_seen(struct spool *spool, const struct spool_seen *seen,
    struct err *err)
{
	struct arena *arena = arena_new();
	struct seen_part original = { .file = { NULL, 0 } };
	struct seen_part changed = { .file = { NULL, 0 } };
	enum spool_gone result = SPOOL_GONE_TROUBLE;
	struct slice text;

	if (seen_part_read(seen->fd, arena, &original, err) < 0)
		goto done;
	text = original.text;
	if (seen->changed != NULL) {
		if (seen_changed_read(spool, seen->changed, arena, &changed,
		    err) < 0)
			goto done;
		text = changed.text;
		original.envelope.from = changed.envelope.from;
		original.envelope.is_error = changed.envelope.is_error;
		original.envelope.rcpts = changed.envelope.rcpts;
		original.envelope.rcpt_count = changed.envelope.rcpt_count;
	}
	result = seen_go_on(spool, seen, &original.envelope, text, err);
done:
	if (seen->changed != NULL)
		(void)unlinkat(spool->area_fd[AREA_PUBLIC], seen->changed, 0);
	seen_part_release(&original);
	seen_part_release(&changed);
	arena_free(&arena);
	return result;
}

enum spool_gone
spool_discard_seen(struct spool *spool, const struct spool_seen *seen,
    struct err *err)
{
	struct stat st;

	if (fstat(seen->fd, &st) != 0)
		return err_sys(err, "stat deferred/%s", seen->name);
	if (seen_original_unlink(spool, seen, st.st_ino) == 0)
		return SPOOL_GONE_ON;
	return errno == ENOENT ? SPOOL_GONE_BEFORE : (enum spool_gone)
	    err_sys(err, "unlink deferred/%s", seen->name);
}
