/* take.c - messages of the cluster's database come into this spool
 *
 * In     rows of the cluster's database, through the process share
 * Out    the messages in this spool, in the states that they had there
 * Holds  a group of them in public/ that is not ours yet (row I1)
 * Trusts a control file only when its head is whole, of this message, and
 *        its body begins inside of it; else the message is routed again;
 *        and how a recipient is delivered only as vet.h says
 * Spec   take.h; doc/protocol/share.md section 4; doc/INTERNALS.md rows I1
 *        to I4
 *
 * A row is made ours before the message is here: nothing that its owner does
 * afterwards changes it, if it was dead or not, and its list of what others
 * have names it.  It stays marked until it is durable here, so that whoever
 * dies in between is followed by another run.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "daemon/skeleton.h"
#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "mail/spool/takeover.h"
#include "tools/copies/take.h"
#include "tools/copies/vet.h"

#include "base/banned.h"

enum {
	GROUP_MAX = 100,		/* messages of one sync */
	GROUP_BYTES_MAX = 64 << 20,
	COPY_BYTES = 256 << 10,
	FRONT_BYTES = 64 << 10,		/* of a message: the terms are before
					 * its recipients */
	FAILED_TRIES = 3		/* `arrived`, while share is away */
};

struct row {			/* a message, as share tells of it */
	char		 id[SPOOL_ID_BYTES];
	char		 area[SPOOL_NAME_BYTES];	/* router,
							 * freezer/CAUSE */
	uint64_t	 body_bytes, control_bytes, since;
};

struct staged {			/* a message of the group */
	struct row	 row;
	struct takeover	 files;
	bool		 is_had;	/* it was taken before; only the
					 * database does not know */
};

struct take {
	const char	*node;		/* that had them; "-": nobody knows */
	struct share_order *order;
	struct spool	*spool;
	struct spool_imports *imports;
	int		 memory;	/* a row's bytes */
	struct arena	*arena;
	struct str	 control;
	struct vet	*vet;
	char		*buffer;
	const char	*by;
	struct staged	 group[GROUP_MAX];
	size_t		 count;
	uint64_t	 bytes;		/* of the group */
	char		 after[SPOOL_ID_BYTES];
	struct take_done done;
};

/* ---- a row -------------------------------------------------------------- */

/* "message ID AREA BODY_BYTES CONTROL_BYTES SINCE" */
static bool
lost_row_read(struct slice answer, struct row *out)
{
	struct slice word, id, area, body, control;

	memset(out, 0, sizeof(*out));
	if (!slice_word(&answer, &word) || !slice_is(word, "message") ||
	    !slice_word(&answer, &id) || !slice_word(&answer, &area) ||
	    !slice_word(&answer, &body) || !slice_word(&answer, &control) ||
	    !spool_id_is(id) || area.n >= sizeof(out->area) ||
	    !slice_number(body, 0, INT64_MAX, &out->body_bytes) ||
	    !slice_number(control, 0, CONTROL_BYTES_MAX,
	    &out->control_bytes) || !slice_number(slice_trim(answer), 0,
	    INT64_MAX, &out->since))
		return false;
	memcpy(out->id, id.p, id.n);
	memcpy(out->area, area.p, area.n);
	return strcmp(out->area, "router") == 0 ||
	    slice_starts(area, "freezer/");
}

static const char *
lost_row_cause(const struct row *row)
{
	return slice_starts(slice_of(row->area), "freezer/") ?
	    row->area + strlen("freezer/") : "";
}

/* Of this message, as that node had it since then: if it goes back to that
 * node and is taken over again, that is another key. */
static void
lost_row_key(const struct row *row, char out[SPOOL_IMPORT_KEY_BYTES])
{
	snprintf(out, SPOOL_IMPORT_KEY_BYTES, "node-%s-%" PRIu64, row->id,
	    row->since);
}

/* The next row's bytes into memory.  1; 0: there is none; -1: err. */
static int
lost_row_fetch(struct take *take, struct row *out, struct err *err)
{
	struct slice answer;
	char question[SPOOL_ID_BYTES + 16];

	if (ftruncate(take->memory, 0) != 0)
		return err_sys(err, "empty a file in memory");
	snprintf(question, sizeof(question), "arriving %s",
	    take->after[0] != '\0' ? take->after : "-");
	if (share_order_ask(take->order, question, take->memory, &answer,
	    err) != 0)
		return -1;
	if (slice_is(answer, "end"))
		return 0;
	if (!lost_row_read(answer, out))
		return err_set(err, "PostgreSQL: " SLICE_FMT,
		    SLICE_ARG(answer));
	return 1;
}

/* ---- its files ----------------------------------------------------------- */

static int
body_write(struct take *take, const struct row *row, int fd)
{
	for (uint64_t at = 0; at < row->body_bytes;) {
		size_t n = row->body_bytes - at < COPY_BYTES ?
		    (size_t)(row->body_bytes - at) : COPY_BYTES;

		if (fd_read_whole_at(take->memory, take->buffer, n, at) != 0 ||
		    fd_write_all(fd, take->buffer, n) != 0)
			return -1;
		at += n;
	}
	return 0;
}

/* Its control file, as this node may follow it.  A message without one that
 * chose a way goes to a person: so the row says then. */
static bool
lost_row_control(struct take *take, struct row *row)
{
	struct str front = STR_INIT;
	size_t n = row->body_bytes < FRONT_BYTES ? (size_t)row->body_bytes :
	    FRONT_BYTES;

	if (control_file_read_of(take->arena, take->memory, row->body_bytes,
	    row->control_bytes, row->id, row->body_bytes, &take->control) &&
	    vet_control(take->vet, row->id, take->node, &take->control) == 0)
		return true;
	if (fd_read_whole_at(take->memory, str_room(&front, n), n, 0) == 0 &&
	    vet_front_is_odd((struct slice){ front.buf, n }))
		strlcpy(row->area, "freezer/doubted", sizeof(row->area));
	str_release(&front);
	return false;
}

/* Row I1. */
static int
lost_row_stage(struct take *take, struct row *row, struct err *err)
{
	struct staged *staged = &take->group[take->count];
	char key[SPOOL_IMPORT_KEY_BYTES];
	bool has_control;

	lost_row_key(row, key);
	*staged = (struct staged){ .row = *row, .files = {
	    .body = { .fd = -1 }, .control = { .fd = -1 } },
	    .is_had = spool_imports_has(take->imports, key) };
	if (staged->is_had) {
		take->count++;
		return 0;
	}
	has_control = lost_row_control(take, row);
	staged->row = *row;
	if (spool_free_bytes(take->spool) < SPOOL_RESERVE_BYTES +
	    row->body_bytes + row->control_bytes) {
		errno = ENOSPC;
		return err_sys(err, "the spool");
	}
	if (takeover_begin(take->spool, key, lost_row_cause(row)[0] != '\0',
	    has_control, &staged->files, err) != 0)
		return -1;
	if (body_write(take, row, staged->files.body.fd) != 0 ||
	    (has_control && fd_write_all(staged->files.control.fd,
	    take->control.buf, take->control.len) != 0)) {
		err_sys(err, "write %s", row->id);
		takeover_drop(&staged->files);
		return -1;
	}
	take->count++;
	take->bytes += row->body_bytes + row->control_bytes;
	return 0;
}

/* ---- a group ------------------------------------------------------------ */

/* Those of the group that are not ours yet.  returns how many */
static size_t
takeover_group_lines(const struct take *take,
    struct spool_import_line lines[GROUP_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < take->count; i++)
		if (!take->group[i].is_had)
			lines[count++] = (struct spool_import_line){
				take->group[i].files.key, take->group[i].row.id
			};
	return count;
}

/* Row I2: they are here. */
static int
takeover_group_own(struct take *take, struct err *err)
{
	struct spool_import_line lines[GROUP_MAX];
	size_t count = takeover_group_lines(take, lines);

	if (spool_sync(take->spool, err) != 0)
		return -1;
	return count == 0 ? 0 : spool_imports_add_all(take->imports, lines,
	    count, err);
}

/* What the database did not hear it is told by the next run, which finds the
 * lines. */
static int
takeover_group_tell(struct take *take, struct err *err)
{
	struct str question = STR_INIT;
	struct slice answer;
	int result = -1;

	str_adds(&question, "arrived");
	for (size_t i = 0; i < take->count; i++)
		str_addf(&question, " %s", take->group[i].row.id);
	for (int i = 0; i < FAILED_TRIES && result != 0; i++) {
		if (share_order_ask(take->order, question.buf, -1, &answer,
		    err) != 0)
			break;
		if (slice_is(answer, "ok"))
			result = 0;
		else
			err_set(err, "PostgreSQL: " SLICE_FMT,
			    SLICE_ARG(answer));
	}
	str_release(&question);
	return result;
}

static void
staged_note(struct take *take, const struct staged *staged)
{
	const struct row *row = &staged->row;

	take->done.messages++;
	take->done.bytes += row->body_bytes;
	take->done.frozen += lost_row_cause(row)[0] != '\0';
	event(EV_MESSAGE_TAKEN_OVER, row->id, "node", slice_of(take->node),
	    "by", slice_of(take->by), NULL);
}

static int
takeover_group_publish(struct take *take, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < take->count; i++) {
		struct staged *staged = &take->group[i];

		if (staged->is_had) {
			take->done.had++;
			continue;
		}
		take->done.with_state += staged->files.control.fd >= 0;
		if (takeover_publish(&staged->files,
		    lost_row_cause(&staged->row), err) != 0) {
			takeover_leave(&staged->files);
			result = -1;
			continue;
		}
		staged_note(take, staged);
	}
	event_flush();
	return result;
}

/* What is in the group is here, or nothing of it. */
static int
takeover_group_end(struct take *take, struct err *err)
{
	int result = 0;

	if (take->count > 0 && takeover_group_own(take, err) != 0) {
		/* with a line or without: the next start knows */
		for (size_t i = 0; i < take->count; i++)
			takeover_leave(&take->group[i].files);
		result = -1;
	} else if (take->count > 0) {
		result = takeover_group_tell(take, err);
		if (takeover_group_publish(take, err) != 0)
			result = -1;
	}
	take->count = 0;
	take->bytes = 0;
	return result;
}

int
take_arriving(struct take *take, const char *node, const char *by,
    struct err *err)
{
	struct row row;
	int got;

	take->node = node;
	take->by = by;
	take->after[0] = '\0';
	while ((got = lost_row_fetch(take, &row, err)) == 1) {
		memcpy(take->after, row.id, sizeof(take->after));
		if (lost_row_stage(take, &row, err) != 0) {
			got = -1;
			break;
		}
		if ((take->count == GROUP_MAX || take->bytes >=
		    GROUP_BYTES_MAX) && takeover_group_end(take, err) != 0)
			return -1;
	}
	if (got != 0) {
		for (size_t i = 0; i < take->count; i++)
			if (!take->group[i].is_had)
				takeover_drop(&take->group[i].files);
		return -1;
	}
	if (takeover_group_end(take, err) != 0)
		return -1;
	return spool_sync(take->spool, err);
}

/* ---- whose they are ------------------------------------------------------ */

/* "ok COUNT more|all": some are ours in the database. */
static int
take_claim(struct take *take, const char *node, uint64_t *out_count,
    bool *out_is_left, struct err *err)
{
	char question[CLUSTER_NAME_BYTES_MAX + 16];
	struct slice answer, rest, word, count;

	snprintf(question, sizeof(question), "take %s", node);
	if (share_order_ask(take->order, question, -1, &answer, err) != 0)
		return -1;
	rest = answer;
	if (!slice_word(&rest, &word) || !slice_is(word, "ok") ||
	    !slice_word(&rest, &count) ||
	    !slice_number(count, 0, INT64_MAX, out_count) ||
	    !slice_word(&rest, &word))
		return err_set(err, "PostgreSQL: " SLICE_FMT,
		    SLICE_ARG(answer));
	*out_is_left = !slice_is(word, "all");
	return 0;
}

int
take_from(struct take *take, const char *node, const char *by,
    bool *out_is_left, struct err *err)
{
	uint64_t count;

	do {
		if (take_claim(take, node, &count, out_is_left, err) != 0 ||
		    take_arriving(take, node, by, err) != 0)
			return -1;
	} while (count > 0);
	return 0;
}

/* ---- from outside ------------------------------------------------------- */

/* As root: the file of imports.  Then as the router, as whose all files are
 * made. */
static int
take_prepare(struct take *take, const struct conf *conf, struct err *err)
{
	struct spool *spool = NULL;
	int result = -1, error;

	if (conf_spool_open(conf, 0, &spool, err) != 0)
		return -1;
	if (spool_imports_open(spool, true, &take->imports, err) == 0 &&
	    daemon_drop(conf, ROLE_ROUTER, err) >= 0 &&
	    conf_spool_open(conf, 0, &take->spool, err) == 0)
		result = 0;
	error = errno;
	spool_close(&spool);
	take->memory = memfd_create("takeover", MFD_CLOEXEC);
	if (result == 0 && take->memory < 0)
		return err_sys(err, "make a file in memory");
	event_open(conf->log_dir);
	errno = error;
	return result;
}

int
take_begin(const struct conf *conf, struct share_order *order,
    struct take **out, struct err *err)
{
	struct take *take = mem_alloc(1, sizeof(*take));
	int error;

	take->order = order;
	take->memory = -1;
	str_init(&take->control);
	take->arena = arena_new();
	take->vet = vet_new(conf);
	take->buffer = mem_alloc(1, COPY_BYTES);
	if (take_prepare(take, conf, err) == 0) {
		*out = take;
		return 0;
	}
	error = errno;
	take_end(&take);
	*out = NULL;
	errno = error;
	return -1;
}

void
take_end(struct take **ptake)
{
	struct take *take = *ptake;

	if (take == NULL)
		return;
	mem_free(&take->buffer);
	vet_free(&take->vet);
	arena_free(&take->arena);
	str_release(&take->control);
	if (take->memory >= 0)
		close(take->memory);
	spool_imports_close(&take->imports);
	spool_close(&take->spool);
	mem_free(ptake);
}

bool
take_has_room(const struct take *take, uint64_t bytes)
{
	return spool_free_bytes(take->spool) >= SPOOL_RESERVE_BYTES + bytes;
}

const struct take_done *
take_done(const struct take *take)
{
	return &take->done;
}
