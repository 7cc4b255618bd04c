/* serve.h - the desk as a web server on loopback
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SERVE_H
#define ZM_WEB_SERVE_H

#include "base/err.h"
#include "web/ask/ask.h"

/* Listen at 127.0.0.1 (port 0: a free one), print the link that lets one
 * person in, and serve until SIGINT or SIGTERM.  asker names who is asked; its
 * base is set here.
 * returns 0; -1: it cannot listen */
int web_serve(struct asker *asker, unsigned port, struct err *err);

#endif
