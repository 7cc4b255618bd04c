/* visits.h - make pages and send them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_VISITS_H
#define ZM_WEB_VISITS_H

#include "web/ask/ask.h"
#include "web/pages/pages.h"
#include "web/serve/request.h"
#include "web/session/session.h"

enum { VISITS_AT_WORK_MAX = 4 };	/* the others wait */

/* Make the page and send it; rest is what follows the page's path.  The caller
 * must not touch the request any more. */
void visit_make(struct web_session *session,
    const struct web_request *request, const struct page_row *page,
    struct slice rest);

#endif
