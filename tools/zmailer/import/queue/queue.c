/* queue.c - zmailer import queue: the old mailer's waiting mail becomes ours
 *
 * In     zmailer import queue postfix|exim|sendmail DIR [--yes] [--json]
 * Out    what waits there and what would become of it; with --yes our
 *        messages, one after the other, each durable before the next
 * Holds  the lock of the file imported while it makes messages
 * Trusts nothing in DIR, and changes nothing there
 * Spec   zmailer-import(8); doc/INTERNALS.md rows I1 and I2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "mail/spool/imports.h"
#include "base/mem.h"
#include "journal/event.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

static const struct old_kind *const old_kinds[] =
    { &old_postfix, &old_exim, &old_sendmail };

static int
import_queue_fail(int status, const struct err *err)
{
	fprintf(stderr, "zmailer: import: %s\n", err->text);
	return status;
}

static int
import_queue_open(struct old_queue *queue, struct err *err)
{
	queue->fd = open(queue->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (queue->fd < 0) {
		err_sys(err, "%s", queue->dir);
		return err_is_denied(err) ? verb_failed("import", err,
		    EX_NOINPUT) : import_queue_fail(EX_NOINPUT, err);
	}
	if (old_queue_is_running(queue, err) != OLD_RUNNING_NO)
		return import_queue_fail(EX_TEMPFAIL, err);
	if (old_queue_find(queue, err) != 0)
		return err_is_denied(err) ? verb_failed("import", err,
		    EX_NOINPUT) : import_queue_fail(EX_NOINPUT, err);
	return EX_OK;
}

/* What a process has locked it works on, whatever its name. */
static int
queue_check_locks(const struct old_queue *queue, struct err *err)
{
	for (size_t i = 0; i < queue->count; i++) {
		const struct old_row *row = &queue->rows[i];
		const char *path = queue->kind == &old_exim &&
		    row->body != NULL ? row->body : row->main;

		if (old_file_is_locked(queue, path)) {
			err_set(err, "%s/%s is locked: something works on it; "
			    "stop it first (%s)", queue->dir, path,
			    queue->kind->stop);
			return import_queue_fail(EX_TEMPFAIL, err);
		}
	}
	return EX_OK;
}

static int
import_queue_take(struct old_queue *queue, struct spool *spool,
    struct spool_imports *imports, bool is_json)
{
	int status = EX_OK;
	struct err err;

	for (size_t i = 0; i < queue->count && status == EX_OK; i++) {
		struct old_row *row = &queue->rows[i];

		if (row->fate == OLD_WAITS &&
		    old_row_take(queue, row, spool, imports, &err) != 0)
			status = import_queue_fail(EX_TEMPFAIL, &err);
		old_row_show(queue, row, is_json);
		fflush(stdout);
	}
	return status;
}

static void
import_queue_show(const struct old_queue *queue, bool is_json)
{
	for (size_t i = 0; i < queue->count; i++)
		old_row_show(queue, &queue->rows[i], is_json);
}

static int
import_queue_count(struct old_queue *queue, int status, bool is_json,
    bool is_over)
{
	for (size_t i = 0; i < queue->count; i++)
		queue->fates[queue->rows[i].fate]++;
	old_queue_show_counts(queue, is_json, is_over);
	return status == EX_OK && queue->fates[OLD_DAMAGED] > 0 ?
	    EX_DATAERR : status;
}

/* Who only looks needs no spool: then nothing was taken before. */
static int
queue_look_only(struct old_queue *queue, const struct conf *conf,
    bool is_json)
{
	struct spool_imports *imports = NULL;
	struct spool *spool = NULL;
	struct err err;

	if (conf_spool_open(conf, 0, &spool, &err) == 0 &&
	    spool_imports_open(spool, false, &imports, &err) != 0) {
		spool_close(&spool);
		return import_queue_fail(EX_TEMPFAIL, &err);
	}
	old_queue_look(queue, imports);
	spool_imports_close(&imports);
	spool_close(&spool);
	import_queue_show(queue, is_json);
	return import_queue_count(queue, EX_OK, is_json, false);
}

static int
queue_make(struct old_queue *queue, const struct conf *conf, bool is_json)
{
	struct spool_imports *imports = NULL;
	struct spool *spool = NULL;
	struct err err;
	int status;

	if (dirs_prepare(conf, &err) != 0)
		return verb_failed("import", &err, EX_CANTCREAT);
	if (conf_spool_open(conf, 0, &spool, &err) != 0)
		return verb_failed("import", &err, EX_TEMPFAIL);
	(void)event_open(conf->log_dir);	/* mail does not wait for it */
	if (spool_imports_open(spool, true, &imports, &err) != 0) {
		status = verb_failed("import", &err, EX_TEMPFAIL);
	} else {
		old_queue_look(queue, imports);
		status = import_queue_take(queue, spool, imports, is_json);
		status = import_queue_count(queue, status, is_json, true);
	}
	spool_imports_close(&imports);
	spool_close(&spool);
	return status;
}

static const struct old_kind *
old_kind_find(const char *name)
{
	for (size_t i = 0; name != NULL && i < sizeof(old_kinds) /
	    sizeof(old_kinds[0]); i++)
		if (strcmp(old_kinds[i]->name, name) == 0)
			return old_kinds[i];
	return NULL;
}

int
import_queue_run(struct arguments *arguments)
{
	struct old_queue queue = { .fd = -1,
	    .kind = old_kind_find(arguments_word(arguments, 0)),
	    .dir = arguments_word(arguments, 1) };
	bool is_json = arguments_has(arguments, OPT_JSON);
	struct conf *conf;
	struct err err;
	int status;

	if (queue.kind == NULL)
		return arguments_refuse(arguments, "queue postfix, queue exim "
		    "or queue sendmail, then its directory");
	conf = verb_conf(arguments->conf_path);
	queue.arena = arena_new();
	status = import_queue_open(&queue, &err);
	if (status == EX_OK)
		status = queue_check_locks(&queue, &err);
	if (status == EX_OK)
		status = arguments_has(arguments, OPT_YES) ?
		    queue_make(&queue, conf, is_json) :
		    queue_look_only(&queue, conf, is_json);
	if (queue.fd >= 0)
		close(queue.fd);
	mem_free(&queue.rows);
	mem_free(&queue.bodies);
	arena_free(&queue.arena);
	conf_free(&conf);
	return status;
}
