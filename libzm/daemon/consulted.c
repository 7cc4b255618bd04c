/* consulted.c - a process that daemons consult: from its start to its loop
 *
 * In     -C FILE
 * Out    a process with its configuration, journal and loop
 * Spec   consulted.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/title.h"
#include "daemon/consulted.h"
#include "journal/event.h"

#include "base/banned.h"

static struct conf *
consulted_conf(const char *path)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_load(path, arena, &report);
	char words[ERR_TEXT_BYTES];

	if (conf == NULL) {
		daemon_report_line(&report, words, sizeof(words));
		fatal("%s", words);
	}
	arena_free(&arena);
	return conf;
}

int
consulted_begin(struct process *out, const struct daemon *daemon, int argc,
    char **argv)
{
	int status;

	fd_claim_standard();
	*out = (struct process){ .daemon = daemon, .lifeline = -1,
	    .room_fd = -1 };
	title_open(argc, argv);		/* argv moves */
	status = daemon_arguments(argc, argv, out);
	if (status >= 0)
		return status;
	err_program(daemon->name);
	title_set("%s", daemon->name);
	out->conf = consulted_conf(out->conf_path);
	if (event_open(out->conf->log_dir) < 0)
		fatal("%s: %s", out->conf->log_dir, strerror(errno));
	LIST_INIT(&out->children);
	out->loop = loop_new();
	return -1;
}

int
consulted_end(struct process *process)
{
	event_flush();
	loop_free(&process->loop);
	conf_free(&process->conf);
	return EX_OK;
}
