/* logrotate.c - zmailer logrotate: keep the journal in its bounds now
 *
 * In     the log directory, the limits of the configuration
 * Out    parts closed, packed, removed; one line about them
 * Spec   zmailer(8); tools/journal/keep.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>
#include <time.h>

#include "journal/event.h"
#include "base/json.h"
#include "past/frame.h"
#include "tools/journal/keep.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { ROUND_WAIT_MS = 5000, ROUND_AGAIN_MS = 20 };

static void
kept_print(const struct kept *kept, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_number(&out, "closed", kept->closed);
		json_number(&out, "packed", kept->packed);
		json_number(&out, "removed", kept->removed);
		json_number(&out, "bytes", (int64_t)kept->bytes);
		json_close(&out);
	} else {
		str_addf(&out, "%u closed, %u packed, %u removed; "
		    "%llu bytes of journal are kept\n", kept->closed,
		    kept->packed, kept->removed,
		    (unsigned long long)kept->bytes);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

/* A round, after that of another process: most take milliseconds, one that
 * packs a day's file takes seconds. */
static enum keep_result
keep_patiently(const struct conf *conf, bool closes_all, struct kept *out,
    struct err *err)
{
	struct timespec nap = { .tv_nsec = ROUND_AGAIN_MS * 1000000L };
	enum keep_result result = journal_keep(conf, closes_all, out, err);

	for (int waited_ms = 0; result == KEEP_BUSY &&
	    waited_ms < ROUND_WAIT_MS; waited_ms += ROUND_AGAIN_MS) {
		(void)nanosleep(&nap, NULL);
		result = journal_keep(conf, closes_all, out, err);
	}
	return result;
}

static int
logrotate_rotate(const struct conf *conf, bool closes_all, bool is_json)
{
	struct kept kept;
	struct err err;
	enum keep_result result = keep_patiently(conf, closes_all, &kept, &err);

	if (result == KEEP_DONE) {
		event_flush();
		kept_print(&kept, is_json);
		return EX_OK;
	}
	if (result == KEEP_FAILED)
		return verb_failed("logrotate", &err, EX_IOERR);
	fprintf(stderr, "zmailer: logrotate: another process compresses the "
	    "journal; try again in a minute\n");
	return EX_TEMPFAIL;
}

int
verb_logrotate(struct arguments *arguments)
{
	struct conf *conf;
	int status;

	conf = verb_conf_spool(arguments->conf_path);
	(void)event_open(conf->log_dir);
	status = logrotate_rotate(conf,
	    arguments_has(arguments, OPT_NOW),
	    arguments_has(arguments, OPT_JSON));
	conf_free(&conf);
	return status;
}
