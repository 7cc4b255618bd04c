/* probe.h - does a next hop take us: hello without mail
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_PROBE_H
#define ZM_TRANSPORTS_PROBE_H

enum { PROBE_WAIT_MS = 15000 };	/* for each answer, at most */

/* Connect to a host as a route names it ("[h]:587", "example.org"), with TLS
 * and login as the configuration says, then QUIT.  Prints a line a step on
 * stdout: "connected", "tls", "login", "good", each with a blank and words; or
 * "trouble STATUS WHO: WORDS".
 * conf_path  of the configuration
 * secrets    a file that is read in place of the table of auth-to; or NULL
 * returns 0; 69: it was not reached, or refused us; 77: no TLS or login as the
 *         configuration requires; 78: the configuration is wrong. */
int client_probe(const char *conf_path, const char *host,
    const char *secrets);

#endif
