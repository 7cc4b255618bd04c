/* instance.h - a private instance whose programs are testd
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_TOOLS_INSTANCE_H
#define ZM_TESTS_TOOLS_INSTANCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"
#include "tools/run/supervisor.h"

struct instance {
	char	dir[256], conf[300], run[300], log[300], spool[300];
	pid_t	pid;		/* the supervisor; 0: not running */
};

/* A fresh directory with a configuration (host one.test) and libexec/. */
void instance_make(struct instance *in);
/* Write the configuration again: host NAME, then more. */
void instance_configure(const struct instance *in, const char *host,
    const char *more);
/* supervisor_run in a child; returns when it said ready (true) or ended. */
bool instance_start(struct instance *in);
/* Exit status of the supervisor; -1 when it does not end in time. */
int instance_wait(struct instance *in);
/* SIGTERM and wait. */
int instance_stop(struct instance *in);
/* Kill what is left and remove the directory. */
void instance_remove(struct instance *in);

/* Run the real zmailer with -C; output and errors in *out.  Exit status. */
int instance_zmailer(const struct instance *in, const char *const words[],
    struct str *out);

/* The same, and the test fails unless it ends with status and says text. */
void instance_says(const struct instance *in, const char *const words[],
    struct str *out, int status, const char *text);

/* Poll until text stands in RUN/facts (or LOG's journal, or the state
 * file) count times; fails the test after the bound. */
void instance_expect(const struct instance *in, const char *file,
    const char *text, unsigned count);
/* Pid of a child that is ready. */
pid_t instance_child(const struct instance *in, const char *name);

#endif
