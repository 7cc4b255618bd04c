/* sts_ask.h - ask the process that knows MTA-STS policies (sts)
 *
 * For straight-line code: smtp agents, tools.  Each question has a connection
 * of its own, over RUN/sts.sock; doc/protocol/sts.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_STS_ASK_H
#define ZM_IO_CONSULT_STS_ASK_H

#include "grammar/sts.h"

/* The socket below RUN; the directory below the spool that has the policies. */
#define STS_SOCKET "sts.sock"
#define STS_DIR "sts"

enum { STS_ASK_FOR_MS = 10000 };	/* longest wait of mail */

enum sts_answer {
	STS_ANSWER_POLICY,
	STS_ANSWER_NONE,	/* the domain has none */
	STS_ANSWER_TROUBLE,	/* it announces one that cannot be fetched */
	STS_ANSWER_NOBODY	/* the process does not answer in time */
};

/* Ask for a domain's policy.
 * verb     "policy"; "refresh": look it up now
 * for_ms   how long this may take
 * out      the policy; its max_age_s is what is left of it
 * err      why there is none, for people; not for STS_ANSWER_POLICY */
enum sts_answer sts_ask(const char *run_dir, const char *verb,
    const char *domain, int64_t for_ms, struct sts_policy *out,
    struct err *err);

/* Append all known policies to out, each as a line "DOMAIN MODE LEFT ID MX...".
 * 0; -1: nobody answers (err). */
int sts_ask_list(const char *run_dir, struct str *out, struct err *err);

#endif
