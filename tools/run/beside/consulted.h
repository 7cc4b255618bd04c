/* consulted.h - processes that daemons consult; internal to tools/run
 *
 * They ask databases (tables), fetch policies (sts), count with other machines
 * (share), answer about names (resolver), post events (notify), or answer other
 * nodes of a cluster (nodes); each runs
 * only if the configuration needs it.  The socket below RUN, or the two at an
 * address, stay open while the process is replaced, at a reload or after its
 * end, so that callers only wait a moment.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_CONSULTED_H
#define ZM_TOOLS_RUN_CONSULTED_H

#include "conf/conf.h"
#include "daemon/sidecar.h"
#include "tools/run/handover/handover.h"

enum { CONSULTED_END_MS = 7000 };

/* The differences between them. */
struct consulted_kind {
	const char	*program;	/* of libexec */
	const char	*socket;	/* below RUN; NULL: it listens at a
					 * loopback address, for streams and
					 * for datagrams */
	enum conf_role	 askers;	/* the role whose group may ask */
	bool		 is_for_all;	/* mode 0666: it asks the kernel */
	/* A second socket, for streams from other machines; NULL: none. */
	const char	*(*network)(const struct conf *conf);
	bool		(*is_wanted)(const struct conf *conf);
	int		(*prepare)(const struct conf *conf, struct err *err);
					/* before its start; may be NULL */
	/* Append what it uses of *conf: if that is unchanged, a reload leaves
	 * the process.  NULL: each reload replaces it. */
	void		(*describe)(const struct conf *conf, struct str *out);
};
enum { CONSULTED_KINDS = 6 };
extern const struct consulted_kind consulted_kinds[CONSULTED_KINDS];

struct consulted {
	const struct consulted_kind *kind;
	struct sidecar_kind	 how;
	struct sidecar		 sidecar;
	struct conf *const	*conf;		/* points to the one in force */
	const char		*conf_path;	/* its snapshot */
	struct str		 described;	/* at its last start */
	char			 address[64];	/* where it, or its second
						 * socket, listens; "" */
	char			 refused[ERR_TEXT_BYTES];	/* why not */
};

/* Listen and start it, if *conf says so. */
void consulted_start(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path);
/* The same when we replaced another program in this process: its socket is
 * kept, and a process of the present program replaces its process. */
void consulted_take_over(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    const struct handover_beside *had);
/* The configuration has changed: a new process reads it, and the old one
 * answers what it was asked. */
void consulted_reload(struct consulted *consulted);
/* End it, because nobody asks any more.  true: there is none; otherwise
 * ended_fn is called when it has ended. */
bool consulted_stop(struct consulted *consulted, loop_fn *ended_fn,
    void *context);
/* pid was waited for, and may be that process. */
void consulted_ended(struct consulted *consulted, pid_t pid);

#endif
