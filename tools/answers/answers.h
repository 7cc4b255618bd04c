/* answers.h - verbs that read the journal, for those who may not read it
 *
 * `zmailer run` keeps a process at RUN/answers.sock, as the router's account.
 * A verb that may not read the journal or the spool itself sends its words
 * there with two pipes; the process looks who asks (the kernel says so), runs
 * the same verb as far as that person may, and says how it ended.  Who has
 * the right to read (`control operators`, `control admins`) gets all; who has
 * not, what is about mail that he submitted himself.
 *
 * A process a question, a few at a time, for a limited time, without a way to
 * write anywhere but into the pipes.  doc/protocol/control.md section 8.
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
	ANSWERS_WORDS_MAX = 64,
	ANSWERS_BYTES_MAX = 16384,	/* of a question */
	ANSWERS_QUESTION_FOR_S = 5,	/* until the question is whole */
	ANSWERS_FOR_S = 120		/* then it is cut off */
};

#define ANSWERS_NAME "answers.sock"

/* ---- a verb ------------------------------------------------------------- */

/* Has this person no eyes for that directory, and is there one to ask?  Then
 * it is asked for what was ordered, what it says goes to standard output and
 * error, and *out_status is the exit status.  false: go on. */
bool answers_have(const struct conf *conf, const char *dir,
    const struct arguments *arguments, int *out_status);
/* The same for these words, a NULL after them, with what it says on standard
 * output at the end of out. */
bool answers_collect(const struct conf *conf, const char *dir,
    const char *const *words, struct str *out, int *out_status);
/* In the process that answers: who asked.  NULL: the caller is himself. */
const struct rights_peer *answers_asker(void);

/* ---- the supervisor ----------------------------------------------------- */

/* What runs a verb, of which argv[0] is the name; returns its exit status.
 * Without one nobody answers. */
typedef int answers_run_fn(int argc, char **argv, const char *conf_path);
void answers_offer(answers_run_fn *run);

struct answers {
	struct sidecar		 sidecar;	/* no socket: nobody answers */
	struct conf *const	*conf;	/* where the one in force is */
};

/* Listen, and start the process; an instance that runs as one user has
 * none.  What does not work is a warning. */
void answers_start(struct answers *answers, struct loop *loop,
    struct conf *const *conf);
/* The same, after the program before us in this process: a process of this
 * program follows on the one that there is (pid 0: none), at the same socket;
 * -1: there was none. */
void answers_take_over(struct answers *answers, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int socket);
/* The configuration is another. */
void answers_reload(struct answers *answers);
void answers_stop(struct answers *answers);
/* pid was waited for: maybe it was that process. */
void answers_ended(struct answers *answers, pid_t pid);

/* ---- for tests ---------------------------------------------------------- */

struct answers_question {
	char	*words[ANSWERS_WORDS_MAX + 1];	/* a NULL after them */
	int	 count;
};

/* Take a line apart: words that NUL bytes end.  bytes are changed, and have
 * a NUL after them.  0; -1: it is no question. */
int answers_question_read(char *bytes, size_t n,
    struct answers_question *out);
/* May somebody with this right run that verb with these words?  out_text: who
 * may, when not. */
bool answers_may(enum right right, const struct answers_question *question,
    struct str *out_text);
/* Is it one for what comes from now on, until who asks goes away? */
bool answers_follow(const struct answers_question *question);

#endif
