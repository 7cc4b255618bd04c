/* demo.h - between the parts of zmailer demo
 *
 * A demo runs in a directory of its own: one instance or several, a sink as
 * their next hop.  Nothing outside of it is touched.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_DEMO_H
#define ZM_TOOLS_DEMO_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"

enum { STAGE_PATH_BYTES = 1024, STAGE_ID_BYTES = 64 };

struct stage {
	char		dir[STAGE_PATH_BYTES];	/* of the demo, absolute */
	char		self[STAGE_PATH_BYTES];	/* the program zmailer */
	unsigned	sink_port;
	pid_t		sink;		/* 0: none */
};

/* Print what went wrong.  returns -1 */
int stage_problem(const char *what, const char *detail);

/* Set the directory, which must not exist (where is relative to the working
 * directory), and start a sink.  0; an exit status, after words about it. */
int stage_open(struct stage *stage, const char *where);
/* End the sink and remove the directory, or say that it is kept. */
void stage_close(struct stage *stage, bool is_kept);

/* Remove a directory with all that is in it.  0 or -1. */
int stage_remove(const char *path);

/* Run zmailer -C conf with these words, which end with NULL; its output goes
 * to the file out, NULL: nowhere.  returns its exit status, or -1 */
int stage_run(const struct stage *stage, const char *conf,
    const char *const words[], const char *out);
/* Make an instance in dir with these statements before those of init, and
 * start it.  *out_port: where it takes mail.  0 or -1. */
int stage_start(const struct stage *stage, const char *dir,
    const char *statements, unsigned *out_port);

/* 0 or -1. */
int stage_write(const char *path, const char *text);

struct stage_mail {
	const char	*name, *from, *to;
};
/* Send a message in a session of its own.  0, the id that the 250 tells in
 * out_id; or -1. */
int stage_send(unsigned port, const struct stage_mail *mail,
    char out_id[STAGE_ID_BYTES]);

/* Call fn for each line of the journal of the instance in dir. */
typedef void stage_line_fn(void *context, struct slice line);
void stage_read_journal(const char *dir, stage_line_fn *fn, void *context);

/* Three machines with copies in PostgreSQL, one of which is destroyed.
 * returns an exit status: 0 when all its mail arrived */
int demo_cluster(const char *where, bool is_kept);

#endif
