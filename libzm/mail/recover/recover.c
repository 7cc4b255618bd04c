/* recover.c - every combination of names back to a row of the table
 *
 * In     a spool as a crash, a power cut or a person left it
 * Out    rows of doc/INTERNALS.md section 2; a count and an event for each
 *        thing that was mended
 * Holds  nothing: each part locks a message while it looks at it
 * Spec   doc/INTERNALS.md sections 2 and 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "journal/event.h"
#include "mail/recover/internal.h"

#include "base/banned.h"

void
recover_make_durable(const struct recover *r)
{
	if ((r->mode & (RECOVERY_START | RECOVERY_ROUTED)) == 0 ||
	    !recover_acts(r))
		return;
#ifdef HAVE_SYNCFS
	if (syncfs(r->spool->area_fd[AREA_QUEUE]) != 0)
		warning("syncfs of the spool: %s", strerror(errno));
#else
	sync();
#endif
}

int
spool_recover(struct spool *spool, enum recovery_mode mode,
    recovery_fn *fn, void *context, struct recovery *out, struct err *err)
{
	struct recover r = { .spool = spool, .mode = mode, .fn = fn,
	    .context = context, .out = out };
	int result = 0;

	memset(out, 0, sizeof(*out));
	r.arena = arena_new();
	if ((mode & RECOVERY_ROUTED) == 0 &&
	    (recover_router(&r, err) != 0 || recover_public(&r, err) != 0))
		result = -1;
	if (result == 0 && (mode & RECOVERY_UNROUTED) == 0 &&
	    ((recover_is_full(&r) && recover_queued(&r, err) != 0) ||
	    recover_reports(&r, err) != 0))
		result = -1;
	if (r.is_changed)
		recover_make_durable(&r);
	arena_free(&r.arena);
	return result;
}
