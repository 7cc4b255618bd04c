/* consulted.h - processes that daemons consult; internal to tools/run
 *
 * Who asks databases (tables), who fetches policies (sts), who counts with
 * other machines (share), who answers about names (resolver), who posts
 * events (notify): there when the configuration wants it, else not.
 * The socket below RUN, or the two at an address, stay open while the process
 * is replaced, at a reload or after its end: who asks then waits a moment.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_CONSULTED_H
#define ZM_TOOLS_RUN_CONSULTED_H

#include "conf/conf.h"
#include "daemon/sidecar.h"
#include "tools/run/handover/handover.h"

enum { CONSULTED_END_MS = 7000 };

/* What they have not in common. */
struct consulted_kind {
	const char	*program;	/* of libexec */
	const char	*socket;	/* below RUN; NULL: it listens at a
					 * loopback address, for streams and
					 * for datagrams */
	enum conf_role	 askers;	/* whose group may ask, below RUN */
	bool		(*is_wanted)(const struct conf *conf);
	int		(*prepare)(const struct conf *conf, struct err *err);
					/* before its start; NULL: nothing */
	/* Append what of *conf it is made of: where that is as before, a
	 * reload leaves it.  NULL: each reload replaces it. */
	void		(*describe)(const struct conf *conf, struct str *out);
};
enum { CONSULTED_KINDS = 5 };
extern const struct consulted_kind consulted_kinds[CONSULTED_KINDS];

struct consulted {
	const struct consulted_kind *kind;
	struct sidecar_kind	 how;
	struct sidecar		 sidecar;
	struct conf *const	*conf;		/* where the one in force is */
	const char		*conf_path;	/* its snapshot */
	struct str		 described;	/* at its last start */
	char			 address[64];	/* where it listens; "" below
						 * RUN, or nowhere */
	char			 refused[ERR_TEXT_BYTES];	/* why not */
};

/* Listen and start it, if *conf says so. */
void consulted_start(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path);
/* The same, after the program before us in this process: its socket goes on,
 * and a process of the program that is there now takes the place of its. */
void consulted_take_over(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    const struct handover_beside *had);
/* The configuration is another: a fresh process reads it, and the one before
 * answers what it was asked. */
void consulted_reload(struct consulted *consulted);
/* Nobody asks any more.  true: there is none; else ended_fn is called. */
bool consulted_stop(struct consulted *consulted, loop_fn *ended_fn,
    void *context);
/* pid was waited for: maybe it was that process. */
void consulted_ended(struct consulted *consulted, pid_t pid);

#endif
