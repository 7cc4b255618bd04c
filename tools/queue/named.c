/* named.c - a message by its id or the name of its file
 *
 * In     a view of it; what somebody wrote
 * Out    whether that is its name; its message file
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>

#include "tools/queue/view.h"

#include "base/banned.h"

bool
view_is_named(const struct view *view, const char *what)
{
	const char *last = strrchr(view->name, '/');
	const char *area = spool_area_names[view->area];
	size_t n = strlen(area);

	if (strcmp(what, view->id) == 0 || strcmp(what, view->name) == 0 ||
	    (last != NULL && strcmp(what, last + 1) == 0))
		return true;
	if (view->area == AREA_TRANSPORT && strncmp(what, "queue/", 6) == 0)
		return strcmp(what + 6, view->name) == 0;
	return strncmp(what, area, n) == 0 && what[n] == '/' &&
	    strcmp(what + n + 1, view->name) == 0;
}

/* What a control file is about lies in queue/ under the same name. */
int
view_open_message(const struct spool *spool, const struct view *view)
{
	bool is_control = view->area == AREA_TRANSPORT;

	return openat(spool_dir_fd(spool, is_control ? AREA_QUEUE :
	    view->area, view->priority), view->name, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC);
}
