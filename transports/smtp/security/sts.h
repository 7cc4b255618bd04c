/* sts.h - what the domain of a next hop says about its hosts (MTA-STS)
 *
 * RFC 8461 section 5.  Asked once for all hosts of a target, after DANE, which
 * comes first (section 2), did not decide about a host.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_SMTP_STS_H
#define ZM_TRANSPORTS_SMTP_STS_H

#include "io/consult/sts_ask.h"
#include "transports/smtp/client.h"

struct client_sts {		/* of a target; zeroed before the first call */
	bool			is_asked;
	enum sts_answer		answer;
	struct sts_policy	policy;
	struct err		err;	/* why there is none */
};

/* Decide how the connection to host number index of hosts must be protected,
 * after client_dane.
 * policy   becomes the host's
 * returns true; false: *out says why this host gets nothing now */
bool client_sts(const struct smtp_client *client,
    const struct client_hosts *hosts,
    size_t index, struct client_sts *sts, struct client_policy *policy,
    struct verdict *out);

/* The result type of RFC 8460 section 4.3 for OpenSSL's words about a
 * certificate, with or without "certificate: " before them. */
const char *client_tls_result(const char *words);

/* Record the result of a connection (hello->result, of starttls.c) to a domain
 * that publishes a TLS policy; nothing for others. */
void client_tell_session(const struct smtp_client *client, const char *domain,
    const struct client_hello *hello);

#endif
