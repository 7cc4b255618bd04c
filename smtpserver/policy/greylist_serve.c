/* greylist_serve.c - the helper that knows who was seen before
 *
 * In     "[passed ]AFTER WITHIN KEEP NET SENDER RECIPIENT", seconds and texts
 * Out    "pass", "wait SECONDS"
 * Holds  the greylist; its file is smtpserver/greylist in the spool
 * Trusts the workers' numbers; no address
 * Spec   zmailer.conf(5), greylist
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "journal/event.h"
#include "smtpserver/policy/greylist.h"
#include "smtpserver/helper/helper.h"
#include "smtpserver/policy/serve.h"

#include "base/banned.h"

static void
greylist_note_trouble(const struct err *err)
{
	if (err->text[0] != '\0')
		event(EV_POLICY_TROUBLE, NULL, "helper", SLICE("greylist"),
		    "reason", slice_of(err->text), NULL);
}

static bool
seconds_cut(struct slice *rest, int64_t *out)
{
	struct slice word;
	uint64_t number;

	if (!slice_word(rest, &word) ||
	    !slice_number(word, 1, UINT32_MAX, &number))
		return false;
	*out = (int64_t)number;
	return true;
}

static bool
greylist_answer(void *state, struct slice question, struct str *out)
{
	struct greylist_terms terms;
	struct err err = { "" };
	struct slice net;
	int64_t wait_s = 0;
	bool has_passed = slice_starts(question, "passed ");

	if (has_passed)
		question = slice_from(question, sizeof("passed ") - 1);
	if (!seconds_cut(&question, &terms.after_s) ||
	    !seconds_cut(&question, &terms.within_s) ||
	    !seconds_cut(&question, &terms.keep_s) ||
	    !slice_word(&question, &net)) {
		str_adds(out, "this is no triplet");
		return false;
	}
	if (has_passed)
		greylist_learn(state, net, question, &terms, clock_wall_s());
	else
		wait_s = greylist_ask(state, net, question, &terms,
		    clock_wall_s());
	if (greylist_flush(state, &err) != 0)
		greylist_note_trouble(&err);
	if (wait_s == 0)
		str_adds(out, "pass");
	else
		str_addf(out, "wait %" PRId64, wait_s);
	return true;
}

void
greylist_serve(struct process *process, int socket)
{
	struct str path = STR_INIT;
	struct greylist *greylist;
	struct err err;

	/* made by the start with its owner; a private instance makes it now */
	str_addf(&path, "%s/smtpserver", process->conf->spool_dir);
	(void)mkdir(path.buf, 0700);
	str_adds(&path, "/greylist");
	greylist = greylist_open(path.buf, clock_wall_s(), &err);
	greylist_note_trouble(&err);
	helper_serve(socket, greylist_answer, greylist);
	greylist_close(&greylist);
	str_release(&path);
}
