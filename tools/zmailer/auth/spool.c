/* spool.c - the message of an id, as it is in the spool
 *
 * In     an id or the name of a file in the spool
 * Out    the bytes of the message file, envelope and all
 * Spec   zmailer-auth(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/queue/view.h"
#include "tools/zmailer/auth/auth.h"

#include "base/banned.h"

struct auth_search {
	const char	   *what;
	const struct spool *spool;
	int		    fd, error;	/* error: errno, why fd is -1 */
	bool		    is_found;
};

static bool
auth_search_one(void *context, const struct view *view)
{
	struct auth_search *search = context;

	if (!view_is_named(view, search->what))
		return true;
	search->is_found = true;
	search->fd = view_open_message(search->spool, view);
	search->error = errno;
	return false;
}

/* What was found.  0 or -1. */
static int
auth_search_read(const struct auth_search *search, size_t max,
    struct str *out, struct err *err)
{
	if (!search->is_found)
		return err_set(err, "%s: there is no such file, and no "
		    "message of that id in the spool; `zmailer trace %s` "
		    "tells of one that is done", search->what, search->what);
	if (search->fd < 0 || fd_read_all(search->fd, max + 1, out) != 0)
		return err_set(err, "message %s cannot be read: %s",
		    search->what, strerror(search->fd < 0 ? search->error :
		    errno));
	return out->len <= max ? 0 : err_set(err, "message %s is longer than "
	    "%zu bytes", search->what, max);
}

int
auth_read_spool(const struct conf *conf, const char *what, size_t max,
    struct str *out, struct err *err)
{
	struct auth_search search = { .what = what, .fd = -1 };
	struct live live = { .is_up = false };
	struct spool *spool = NULL;
	struct err why;
	int result = -1;

	if (conf_spool_open(conf, 0, &spool, &why) == 0) {
		search.spool = spool;
		if (view_each(spool, &live, 0, auth_search_one, &search,
		    &why) == 0 || search.is_found)
			result = auth_search_read(&search, max, out, err);
		else
			spool_close(&spool);
	}
	if (spool == NULL)
		err_set(err, "%s: there is no such file, and the spool cannot "
		    "be searched for a message of that id: %s", what,
		    why.text);
	if (search.fd >= 0)
		close(search.fd);
	spool_close(&spool);
	return result;
}
