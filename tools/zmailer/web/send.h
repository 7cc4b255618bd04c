/* send.h - which listener gets the mail of POST /send
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_WEB_SEND_H
#define ZM_TOOLS_WEB_SEND_H

#include "base/str.h"
#include "conf/conf.h"

/* The first that fits of: a path, loopback, all addresses; with submission,
 * where users can log in.  "unix:/PATH", "tcp:ADDRESS:PORT",
 * "tls:ADDRESS:PORT", or "none". */
void web_send_place(const struct conf *conf, struct str *out);

#endif
