/* place.h - where the submission listener is
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_PLACE_H
#define ZM_WEB_PLACE_H

#include "web/send/dialogue.h"

/* Read "unix:/PATH", "tcp:HOST:PORT" or "tls:HOST:PORT" (TLS from the first
 * byte; also at port 465).  A name is looked up now.
 * returns 0; -1: err says what to do */
int submit_place_find(const char *text, struct submit_place *out,
    struct err *err);

#endif
