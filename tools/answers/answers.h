/* answers.h - verbs that read the journal, for users who may not read it
 *
 * `zmailer run` has a process at RUN/answers.sock with the router's account.  A
 * verb that may not read the journal or the spool itself sends its words there
 * with two pipes.  The process finds out who asks (from the kernel), runs the
 * same verb as far as that user may, and returns its exit status.  Users with
 * the right to read (`control operators`, `control admins`) get everything;
 * others only what is about mail that they submitted.
 *
 * Each question has a process of its own, a few at a time, for a limited time,
 * which can write only to the pipes.  doc/protocol/control.md section 8.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ANSWERS_H
#define ZM_TOOLS_ANSWERS_H

#include "daemon/rights.h"
#include "daemon/sidecar.h"
#include "tools/verb/verb.h"

enum {
	ANSWERS_AT_ONCE = 8,
	ANSWERS_OF_ONE_USER = 2,
	ANSWERS_OF_NODES = 6,		/* for users of other nodes */
	ANSWERS_WORDS_MAX = 64,
	ANSWERS_BYTES_MAX = 16384,	/* of a question */
	ANSWERS_QUESTION_FOR_S = 5,	/* until the question is complete */
	ANSWERS_FOR_S = 120		/* then it is cut off */
};

#define ANSWERS_NAME "answers.sock"

/* ---- a verb ------------------------------------------------------------- */

/* If the caller may not read that directory, and there is a process to ask: ask
 * it, write its answer to standard output and error, and set *out_status to the
 * exit status.  false: continue without. */
bool answers_have(const struct conf *conf, const char *dir,
    const struct arguments *arguments, int *out_status);
/* The same for these words, which end with NULL; the answer's standard output
 * is appended to out. */
bool answers_collect(const struct conf *conf, const char *dir,
    const char *const *words, struct str *out, int *out_status);
/* In the process that answers: who asked.  NULL: in any other process. */
const struct rights_peer *answers_asker(void);

/* ---- the supervisor ----------------------------------------------------- */

/* Set the function that runs a verb, whose name is argv[0], and returns its
 * exit status.  Without one nobody answers. */
typedef int answers_run_fn(int argc, char **argv, const char *conf_path);
void answers_offer(answers_run_fn *run);

struct answers {
	struct sidecar		 sidecar;	/* no socket: nobody answers */
	struct conf *const	*conf;	/* points to the one in force */
};

/* Listen, and start the process, unless the instance runs as one user.  A
 * failure is a warning. */
void answers_start(struct answers *answers, struct loop *loop,
    struct conf *const *conf);
/* The same when we replaced another program in this process: a process of this
 * program succeeds the existing one (pid 0: none) at the same socket; -1: there
 * was none. */
void answers_take_over(struct answers *answers, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int socket);
/* The configuration has changed. */
void answers_reload(struct answers *answers);
void answers_stop(struct answers *answers);
/* pid was waited for, and may be that process. */
void answers_ended(struct answers *answers, pid_t pid);

/* ---- for tests ---------------------------------------------------------- */

struct answers_question {
	char	*words[ANSWERS_WORDS_MAX + 1];	/* a NULL after them */
	int	 count;
};

/* Parse a question: words that end with NUL.  bytes are changed, and have a NUL
 * after them.  0; -1: it is not a question. */
int answers_question_read(char *bytes, size_t n,
    struct answers_question *out);
/* May a user with this right run that verb with these words?  If not, out_text
 * says who may. */
bool answers_may(enum right right, const struct answers_question *question,
    struct str *out_text);
/* Does it ask for what comes from now on, until the asker goes away? */
bool answers_follow(const struct answers_question *question);

#endif
