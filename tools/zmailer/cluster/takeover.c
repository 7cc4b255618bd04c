/* takeover.c - zmailer cluster takeover: the mail of a node that is lost
 *
 * In     rows of the cluster's database, through the process share
 * Out    the messages in this spool, in the states that they had there
 * Holds  a group of them in public/ that is not ours yet (row I1)
 * Trusts a control file only when its head is whole, of this message, and
 *        its body begins inside of it; else the message is routed again
 * Spec   zmailer-cluster(8); doc/protocol/share.md section 4; doc/INTERNALS.md
 *        rows I1 to I3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "daemon/skeleton.h"
#include "grammar/units.h"
#include "io/consult/share_ask.h"
#include "io/consult/share_order.h"
#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "mail/spool/takeover.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/cluster/cluster.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	GROUP_MAX = 100,		/* messages of one sync */
	GROUP_BYTES_MAX = 64 << 20,
	COPY_BYTES = 256 << 10,
	FAILED_TRIES = 3		/* `took`, while share is away */
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

struct takeover_run {
	const struct conf *conf;
	const char	*node;
	struct share_order *order;
	struct spool	*spool;
	struct spool_imports *imports;
	int		 memory;	/* a row's bytes */
	struct arena	*arena;
	struct str	 control;
	char		*buffer;
	char		 by[64];
	struct staged	 group[GROUP_MAX];
	size_t		 count;
	uint64_t	 bytes;		/* of the group */
	char		 after[SPOOL_ID_BYTES];
	bool		 is_over;	/* no row is left */
	struct {
		uint64_t messages, bytes, with_state, frozen, had;
	} done;
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
lost_row_fetch(struct takeover_run *run, struct row *out, struct err *err)
{
	struct slice answer;
	char question[200];

	if (ftruncate(run->memory, 0) != 0)
		return err_sys(err, "empty a file in memory");
	snprintf(question, sizeof(question), "fetch %s %s", run->node,
	    run->after[0] != '\0' ? run->after : "-");
	if (share_order_ask(run->order, question, run->memory, &answer,
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
body_write(struct takeover_run *run, const struct row *row, int fd)
{
	for (uint64_t at = 0; at < row->body_bytes;) {
		size_t n = row->body_bytes - at < COPY_BYTES ?
		    (size_t)(row->body_bytes - at) : COPY_BYTES;

		if (fd_read_whole_at(run->memory, run->buffer, n, at) != 0 ||
		    fd_write_all(fd, run->buffer, n) != 0)
			return -1;
		at += n;
	}
	return 0;
}

/* Row I1. */
static int
lost_row_stage(struct takeover_run *run, const struct row *row, struct err *err)
{
	struct staged *staged = &run->group[run->count];
	char key[SPOOL_IMPORT_KEY_BYTES];
	bool has_control = control_file_read_of(run->arena, run->memory,
	    row->body_bytes, row->control_bytes, row->id, row->body_bytes,
	    &run->control);

	*staged = (struct staged){ .row = *row, .files = {
	    .body = { .fd = -1 }, .control = { .fd = -1 } } };
	lost_row_key(row, key);
	staged->is_had = spool_imports_has(run->imports, key);
	if (staged->is_had) {
		run->count++;
		return 0;
	}
	if (spool_free_bytes(run->spool) < SPOOL_RESERVE_BYTES +
	    row->body_bytes + row->control_bytes) {
		errno = ENOSPC;
		return err_sys(err, "the spool");
	}
	if (takeover_begin(run->spool, key, lost_row_cause(row)[0] != '\0',
	    has_control, &staged->files, err) != 0)
		return -1;
	if (body_write(run, row, staged->files.body.fd) != 0 ||
	    (has_control && fd_write_all(staged->files.control.fd,
	    run->control.buf, run->control.len) != 0)) {
		err_sys(err, "write %s", row->id);
		takeover_drop(&staged->files);
		return -1;
	}
	run->count++;
	run->bytes += row->body_bytes + row->control_bytes;
	return 0;
}

/* ---- a group ------------------------------------------------------------ */

/* Those of the group that are not ours yet.  returns how many */
static size_t
takeover_group_lines(const struct takeover_run *run,
    struct spool_import_line lines[GROUP_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		if (!run->group[i].is_had)
			lines[count++] = (struct spool_import_line){
				run->group[i].files.key, run->group[i].row.id
			};
	return count;
}

/* Row I2: they are ours, unless the database says no. */
static int
takeover_group_own(struct takeover_run *run, struct err *err)
{
	struct spool_import_line lines[GROUP_MAX];
	size_t count = takeover_group_lines(run, lines);

	if (spool_sync(run->spool, err) != 0)
		return -1;
	return count == 0 ? 0 : spool_imports_add_all(run->imports, lines,
	    count, err);
}

/* The database shall know it, before anybody can finish one of them.
 * *out_is_refused: it has said no, and is sure that it did not say yes. */
static int
takeover_group_tell(struct takeover_run *run, bool *out_is_refused,
    struct err *err)
{
	struct str question = STR_INIT;
	struct slice answer, word;
	int result = -1;

	*out_is_refused = false;
	str_addf(&question, "took %s", run->node);
	for (size_t i = 0; i < run->count; i++)
		str_addf(&question, " %s", run->group[i].row.id);
	for (int i = 0; i < FAILED_TRIES && result != 0; i++) {
		if (share_order_ask(run->order, question.buf, -1, &answer,
		    err) != 0)
			break;
		if (slice_is(answer, "ok")) {
			result = 0;
			continue;
		}
		err_set(err, "PostgreSQL: " SLICE_FMT, SLICE_ARG(answer));
		if (!slice_word(&answer, &word) || !slice_is(word, "none"))
			continue;
		*out_is_refused = i == 0;	/* later: one before may have
						 * been committed */
		break;
	}
	str_release(&question);
	return result;
}

/* That node is back, or another one has them: I2 -> I1, and gone.  Whatever
 * stays in between is ours for the next start. */
static void
takeover_group_give_back(struct takeover_run *run)
{
	struct spool_import_line lines[GROUP_MAX];
	size_t count = takeover_group_lines(run, lines);
	struct err err;
	bool is_back = count == 0 || spool_imports_take_back(run->imports,
	    lines, count, &err) == 0;

	if (!is_back)
		warning("cluster takeover: %s", err.text);
	for (size_t i = 0; i < run->count; i++) {
		if (is_back)
			takeover_drop(&run->group[i].files);
		else
			takeover_leave(&run->group[i].files);
	}
}

static void
staged_note(struct takeover_run *run, const struct staged *staged)
{
	const struct row *row = &staged->row;

	run->done.messages++;
	run->done.bytes += row->body_bytes;
	run->done.frozen += lost_row_cause(row)[0] != '\0';
	event(EV_MESSAGE_TAKEN_OVER, row->id, "node", slice_of(run->node),
	    "by", slice_of(run->by), NULL);
}

static int
takeover_group_publish(struct takeover_run *run, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < run->count; i++) {
		struct staged *staged = &run->group[i];

		if (staged->is_had) {
			run->done.had++;
			continue;
		}
		run->done.with_state += staged->files.control.fd >= 0;
		if (takeover_publish(&staged->files,
		    lost_row_cause(&staged->row), err) != 0) {
			takeover_leave(&staged->files);
			result = -1;
			continue;
		}
		staged_note(run, staged);
	}
	event_flush();
	return result;
}

/* What is in the group is ours, or nothing of it. */
static int
takeover_group_end(struct takeover_run *run, struct err *err)
{
	bool is_ours = run->count > 0 && takeover_group_own(run, err) == 0;
	int result = run->count == 0 ? 0 : -1;
	bool is_refused = false;

	if (is_ours)
		result = takeover_group_tell(run, &is_refused, err);
	if (is_ours && result == 0)
		result = takeover_group_publish(run, err);
	else if (is_refused)
		takeover_group_give_back(run);
	else		/* with a line or without: the next start knows */
		for (size_t i = 0; i < run->count; i++)
			takeover_leave(&run->group[i].files);
	run->count = 0;
	run->bytes = 0;
	return result;
}

static int
takeover_all(struct takeover_run *run, struct err *err)
{
	struct row row;
	int got;

	while ((got = lost_row_fetch(run, &row, err)) == 1) {
		memcpy(run->after, row.id, sizeof(run->after));
		if (lost_row_stage(run, &row, err) != 0) {
			got = -1;
			break;
		}
		if ((run->count == GROUP_MAX || run->bytes >=
		    GROUP_BYTES_MAX) && takeover_group_end(run, err) != 0)
			return -1;
	}
	if (got != 0) {
		for (size_t i = 0; i < run->count; i++)
			if (!run->group[i].is_had)
				takeover_drop(&run->group[i].files);
		return -1;
	}
	if (takeover_group_end(run, err) != 0)
		return -1;
	return spool_sync(run->spool, err);
}

/* ---- the verb ----------------------------------------------------------- */

static int
takeover_fail(int status, const char *text)
{
	fprintf(stderr, "zmailer: cluster takeover: %s\n", text);
	return status;
}

static bool
takeover_has_node(const struct conf_cluster *cluster, const char *node)
{
	for (size_t i = 0; i < cluster->node_count; i++)
		if (strcmp(cluster->nodes[i], node) == 0)
			return true;
	return false;
}

/* "ok COUNT", "alive SECONDS", "none WORDS", "away WORDS".  EX_OK: go on. */
static int
takeover_claim(struct takeover_run *run)
{
	struct str question = STR_INIT;
	struct slice answer, word;
	struct err err;
	int got;

	str_addf(&question, "takeover %s", run->node);
	got = share_order_ask(run->order, question.buf, -1, &answer, &err);
	str_release(&question);
	if (got != 0)
		return takeover_fail(EX_UNAVAILABLE, err.text);
	(void)slice_word(&answer, &word);
	answer = slice_trim(answer);
	if (slice_is(word, "ok"))
		return EX_OK;
	if (slice_is(word, "alive"))
		err_set(&err, "%s is there, or was until a moment ago: its "
		    "lease has to be over for 15 s, which takes " SLICE_FMT
		    " s more; stop it first (zmailer stop), or wait",
		    run->node, SLICE_ARG(answer));
	else
		err_set(&err, "PostgreSQL: " SLICE_FMT, SLICE_ARG(answer));
	return takeover_fail(slice_is(word, "alive") ? EX_TEMPFAIL :
	    EX_UNAVAILABLE, err.text);
}

static void
takeover_show(const struct takeover_run *run, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "node", slice_of(run->node));
		json_number(&out, "messages", (int64_t)run->done.messages);
		json_number(&out, "bytes", (int64_t)run->done.bytes);
		json_number(&out, "tried", (int64_t)run->done.with_state);
		json_number(&out, "frozen", (int64_t)run->done.frozen);
		json_number(&out, "had", (int64_t)run->done.had);
		json_close(&out);
	} else {
		str_addf(&out, "%" PRIu64 " message%s of %s taken over (",
		    run->done.messages, run->done.messages == 1 ? "" : "s",
		    run->node);
		units_add_bytes(&out, run->done.bytes);
		str_addf(&out, "): %" PRIu64 " had been tried there, %" PRIu64
		    " are in freezer/\n", run->done.with_state,
		    run->done.frozen);
		if (run->done.had > 0)
			str_addf(&out, "%" PRIu64 " were here already\n",
			    run->done.had);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

/* As root: the file of imports.  Then as the router, as whose all files are
 * made. */
static int
takeover_prepare(struct takeover_run *run, struct err *err)
{
	struct spool *spool = NULL;
	int result = -1;

	if (dirs_prepare(run->conf, err) != 0 ||
	    conf_spool_open(run->conf, 0, &spool, err) != 0)
		return -1;
	if (spool_imports_open(spool, true, &run->imports, err) == 0 &&
	    daemon_drop(run->conf, ROLE_ROUTER, err) >= 0 &&
	    conf_spool_open(run->conf, 0, &run->spool, err) == 0)
		result = 0;
	spool_close(&spool);
	run->memory = memfd_create("takeover", MFD_CLOEXEC);
	if (result == 0 && run->memory < 0)
		return err_sys(err, "make a file in memory");
	event_open(run->conf->log_dir);
	return result;
}

static int
takeover_run(struct takeover_run *run, bool is_json)
{
	struct err err;
	int status = EX_OK;

	if (takeover_prepare(run, &err) != 0)
		return takeover_fail(EX_CANTCREAT, err.text);
	status = takeover_claim(run);
	if (status != EX_OK)
		return status;
	if (takeover_all(run, &err) != 0) {
		err_prefix(&err, "%" PRIu64 " messages are here, the same "
		    "command does the rest", run->done.messages);
		return takeover_fail(EX_TEMPFAIL, err.text);
	}
	takeover_show(run, is_json);
	return EX_OK;
}

/* What the database has, without a change. */
static int
takeover_look(const struct takeover_run *run)
{
	struct str lines = STR_INIT;
	struct share_line owner;
	struct slice rest, line;
	struct err err;
	bool is_found = false;

	if (share_ask_status(run->conf->run_dir, SHARE_ASK_FOR_MS, &lines,
	    &err) != 0)
		return takeover_fail(EX_UNAVAILABLE, err.text);
	rest = str_slice(&lines);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (share_line_parse(line, &owner) != SHARE_OWNER ||
		    !slice_is(owner.name, run->node))
			continue;
		printf("%s has %" PRIu64 " messages that can be taken over",
		    run->node, owner.count);
		if (!owner.is_known)
			puts("; --yes does it");
		else if (owner.seconds == 0)
			puts("; --yes does it, once its lease is over for "
			    "15 s");
		else
			printf(", but it is there (its lease goes on for %"
			    PRIu64 " s)\n", owner.seconds);
		is_found = true;
	}
	str_release(&lines);
	return is_found ? EX_OK : takeover_fail(EX_UNAVAILABLE,
	    "the database does not know that node, or does not answer: "
	    "zmailer cluster status");
}

int
cluster_takeover(const struct conf *conf, const char *node, bool is_yes,
    bool is_json)
{
	struct takeover_run run = { .conf = conf, .node = node,
	    .memory = -1 };
	struct err err;
	int status;

	if (!takeover_has_node(&conf->cluster, node))
		return takeover_fail(EX_USAGE, "there is no such node in the "
		    "cluster");
	if (strcmp(conf->cluster.self, node) == 0)
		return takeover_fail(EX_USAGE, "that is this machine");
	if (!is_yes)
		return takeover_look(&run);
	run.order = share_order_open(conf->run_dir, &err);
	if (run.order == NULL)
		return takeover_fail(err_is_denied(&err) ? EX_NOPERM :
		    EX_UNAVAILABLE, err.text);
	verb_who(run.by, sizeof(run.by));
	str_init(&run.control);
	run.arena = arena_new();
	run.buffer = mem_alloc(1, COPY_BYTES);
	status = takeover_run(&run, is_json);
	mem_free(&run.buffer);
	arena_free(&run.arena);
	str_release(&run.control);
	if (run.memory >= 0)
		close(run.memory);
	spool_imports_close(&run.imports);
	spool_close(&run.spool);
	share_order_close(&run.order);
	return status;
}
