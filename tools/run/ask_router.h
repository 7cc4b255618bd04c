/* ask_router.h - where mail for addresses would go, by the router
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ASK_ROUTER_H
#define ZM_TOOLS_ASK_ROUTER_H

#include "base/str.h"

/* Run the router for addresses (NULL ends them) and append its answers: lines
 * of JSON, as zmailer-route(8) has them.  conf_path: of the configuration;
 * NULL: the default.
 * returns the path of the program; NULL: it could not be run */
const char *router_asked(const char *conf_path, const char *const *addresses,
    struct str *out);

#endif
