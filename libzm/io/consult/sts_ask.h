/* sts_ask.h - ask the process that knows MTA-STS policies (sts)
 *
 * For straight-line code: smtp agents, tools.  A connection a question, over
 * RUN/sts.sock; doc/protocol/sts.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_STS_ASK_H
#define ZM_IO_CONSULT_STS_ASK_H

#include "grammar/sts.h"

/* Below RUN; below the spool: where the process keeps policies. */
#define STS_SOCKET "sts.sock"
#define STS_DIR "sts"

enum { STS_ASK_FOR_MS = 10000 };	/* mail waits no longer */

enum sts_answer {
	STS_ANSWER_POLICY,
	STS_ANSWER_NONE,	/* the domain has none */
	STS_ANSWER_TROUBLE,	/* it says it has one, which cannot be had */
	STS_ANSWER_NOBODY	/* the process does not answer (in time) */
};

/* Ask for a domain's policy.
 * verb     "policy"; "refresh": look it up now
 * out      the policy; its max_age_s is what is left of it
 * err      why there is none, for people; not for STS_ANSWER_POLICY */
enum sts_answer sts_ask(const char *run_dir, const char *verb,
    const char *domain, int64_t for_ms, struct sts_policy *out,
    struct err *err);

/* All policies that are known: a line each, "DOMAIN MODE LEFT ID MX...",
 * appended to out.  0; -1: nobody answers (err). */
int sts_ask_list(const char *run_dir, struct str *out, struct err *err);

#endif
