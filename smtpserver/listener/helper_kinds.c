/* helper_kinds.c - what can be asked of helpers, one row each
 *
 * Out    helper_kinds
 * Spec   helper.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/consult/share_ask.h"
#include "mail/table/table.h"
#include "smtpserver/auth/dovecot.h"
#include "smtpserver/copies/copier.h"
#include "smtpserver/helper/etrn.h"
#include "smtpserver/listener/helper_kinds.h"
#include "smtpserver/milter/filter.h"
#include "smtpserver/milter/hungry.h"
#include "smtpserver/origin/judge.h"
#include "smtpserver/policy/serve.h"
#include "smtpserver/session/recipient/cut_through.h"

#include "base/banned.h"

const struct helper_kind helper_kinds[] = {
	/* router/ask/verify.h */
	{ .name = "router", .processes = 1, .at_once = 64, .for_ms = 20000,
	    .socket = "verify.sock", .outlives_reload = true,
	    .awaits = true },
	/* tables/ask/server.h, which gives up after 5 seconds */
	{ "tables", 1, 2048, 10000, NULL, TABLES_SOCKET, true, false, false },
	/* share/ask/inquirers.h, which always has an answer within the
	 * patience of the cluster; who asks waits a little longer */
	{ "share", 1, 2048, 10500, NULL, SHARE_SOCKET, true, false, false },
	/* the same: who was seen by any node */
	{ "greet", 1, 2048, 10500, NULL, SHARE_SOCKET, true, false, false },
	/* failed logins, told to all nodes; hearing.h hears of theirs */
	{ "news", 1, 2048, 10500, NULL, SHARE_SOCKET, true, false, false },
	{ "dns", 1, 2048, 15000, dns_serve, NULL, false, false, false },
	{ "rate", 1, 256, 10000, rate_serve, NULL, true, false, false },
	{ "policy", 8, 1, 20000, policyd_serve, NULL, false, false, false },
	{ "greylist", 1, 256, 10000, greylist_serve, NULL, true, false, false },
	{ "milter", 4, 8192, FILTER_FOR_MS, filter_serve, NULL, false,
	    true, false },
	{ "content", 8, 1, FILTER_FOR_MS, hungry_serve, NULL, false, false,
	    false },
	/* several: a sum of a large message holds the others up */
	{ judge_kind, 2, 64, JUDGE_FOR_MS, judge_serve, NULL, false, false,
	    false },
	/* copies/copier.h; it asks share, which is another after a reload */
	{ copier_kind, 1, 2048, COPIER_FOR_MS + 1000, copier_serve, NULL, true,
	    false, false },
	/* cut_through.h; longer than timeout cut-through can be */
	{ cut_through_kind, 1, 8192, 660000, NULL, "verdict.sock", true,
	    false, false },
	{ etrn_kind, 1, 1, 15000, etrn_serve, NULL, false, false, false },
	/* login.h */
	{ "auth", 4, 1, 40000, NULL, NULL, false, false, false },
	{ "dovecot", 1, 1024, 30000, auth_dovecot_serve, NULL, false, false,
	    false },
	{ NULL, 0, 0, 0, NULL, NULL, false, false, false }
};
