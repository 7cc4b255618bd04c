/* send.h - which listener gets the mail of POST /send
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_WEB_SEND_H
#define ZM_TOOLS_WEB_SEND_H

#include "base/str.h"
#include "conf/conf.h"

/* Append the first listener for submission where users can log in, of: a path,
 * loopback, all addresses; as "unix:/PATH", "tcp:ADDRESS:PORT",
 * "tls:ADDRESS:PORT", or "none". */
void web_send_place(const struct conf *conf, struct str *out);

#endif
