/* try.c - the smtp agent tries the host, as the edited texts say
 *
 * In     the texts of a change, or the configuration as it is
 * Out    a line for each step
 * Holds  drafts beside the files that they replace, until the agent has ended
 * Trusts the agent's exit status
 * Spec   transports/smtp/probe.h; doc/INTERNALS.md row E1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "tools/zmailer/smarthost/smarthost.h"

#include "base/banned.h"

/* Beside the file, as what is named relative to it must be found. */
static int
draft_put(struct change *change, const struct change_file *file,
    const char **out_path)
{
	struct change_file draft = *file;
	struct err err = { "" };

	draft.target = arena_printf(change->arena, "%s.try-%ld", file->target,
	    (long)getpid());
	draft.mode = 0600;
	draft.account = NULL;
	*out_path = draft.target;
	if (change_file_write(&draft, &err) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: smarthost: %s\n", err.text);
	return EX_CANTCREAT;
}

static int
agent_run(const char *conf_path, const char *field, const char *secrets)
{
	char path[PATH_MAX];
	int status = 0;
	pid_t pid;

	daemon_libexec("ta/smtp", path, sizeof(path));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl(path, path, "-C", conf_path, "--probe", field, secrets,
		    NULL);
		fprintf(stderr, "zmailer: smarthost: %s: %s\n", path,
		    strerror(errno));
		_exit(EX_UNAVAILABLE);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (pid > 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "zmailer: smarthost: %s could not be run\n", path);
	return EX_OSERR;
}

int
smarthost_try(struct change *change, const char *conf_path,
    const char *field)
{
	const char *main_draft = conf_path, *secrets = NULL;
	int status = EX_OK;

	for (size_t i = 0; change != NULL && status == EX_OK &&
	    i < change->file_count; i++)
		status = draft_put(change, &change->files[i],
		    change->files[i].is_table ? &secrets : &main_draft);
	if (status == EX_OK)
		status = agent_run(main_draft, field, secrets);
	/* E1: drafts of ours, named by our pid */
	if (change != NULL && main_draft != conf_path)
		(void)unlink(main_draft);
	if (change != NULL && secrets != NULL)
		(void)unlink(secrets);
	return status;
}
