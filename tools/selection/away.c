/* away.c - a message that was set aside, given up or shown to somebody
 *
 * In     one message of deferred/, freezer/ or postman/
 * Out    a plan of nothing but failures; a new message with it as a part;
 *        events that say who
 * Trusts nothing in the message: what cannot be read is refused
 * Spec   selection.h; doc/INTERNALS.md rows D1, C1, P1; RFC 2046 section 5.2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "grammar/message/header.h"
#include "mail/envelope.h"
#include "mail/control_file/control_file.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

enum { WORDS_MAX = 200, SUBJECT_MAX = 100 };

/* ---- the message ------------------------------------------------------- */

struct paper {			/* a message file, mapped */
	struct slice	 file;
	struct envelope	 envelope;
	struct arena	*arena;
};

static int
paper_read(int fd, uint64_t bytes, struct paper *out, struct err *err)
{
	void *map = mmap(NULL, (size_t)bytes + 1, PROT_READ, MAP_PRIVATE, fd,
	    0);
	struct err why;

	*out = (struct paper){ .arena = NULL };
	if (map == MAP_FAILED)
		return err_sys(err, "cannot map the message");
	out->file = (struct slice){ map, (size_t)bytes };
	out->arena = arena_new();
	if (envelope_parse(out->arena, out->file, &out->envelope, &why) == 0)
		return 0;
	return err_set(err, "its envelope cannot be read: %s", why.text);
}

static void
paper_release(struct paper *paper)
{
	if (paper->arena != NULL) {
		munmap((void *)(uintptr_t)paper->file.p, paper->file.n + 1);
		arena_free(&paper->arena);
	}
}

/* Header and text; *out_subject is the field's value. */
static struct slice
paper_parts(const struct paper *paper, struct slice *out_text,
    struct slice *out_subject, struct slice *out_msgid)
{
	struct slice rest = slice_from(paper->file,
	    paper->envelope.header_offset), start = rest;
	struct header_field field;
	bool is_broken;

	*out_subject = *out_msgid = (struct slice){ "", 0 };
	while (header_next(&rest, &field, &is_broken)) {
		if (header_is(&field, "Subject"))
			*out_subject = slice_trim(field.value);
		if (header_is(&field, "Message-Id"))
			*out_msgid = slice_trim(field.value);
		start.n = (size_t)(field.whole.p + field.whole.n - start.p);
	}
	if (rest.p == start.p)
		start.n = 0;
	*out_text = rest;
	return start;
}

/* ---- bounce ------------------------------------------------------------ */

/* "5.7.1 words of the reason" as a host of channel error: blanks as "_",
 * and only what needs no quotes (transports/error). */
static struct slice
error_host(struct arena *arena, const char *reason)
{
	char *host = arena_printf(arena, "5.7.1_%.*s", WORDS_MAX,
	    *reason ? reason : "the postmaster returns this message");

	for (char *p = host; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			*p = '_';
	return slice_of(host);
}

static struct slice
away_address_text(struct arena *arena, const struct path *path)
{
	struct str text = STR_INIT;
	struct slice out;

	path_add(&text, path);
	out = slice_copy(arena, str_slice(&text));
	str_release(&text);
	if (out.n >= 2 && out.p[0] == '<' && out.p[out.n - 1] == '>')
		out = slice_first(slice_from(out, 1), out.n - 2);
	return out;
}

static void
failures_plan(struct paper *paper, const struct claim *claim,
    const char *reason, struct control_file *out)
{
	const struct envelope *envelope = &paper->envelope;
	struct arena *arena = paper->arena;
	struct control_group *group = arena_alloc(arena, sizeof(*group));
	struct slice text, subject, msgid;

	group->header = paper_parts(paper, &text, &subject, &msgid);
	group->sender = away_address_text(arena, &envelope->from);
	group->rcpt_count = envelope->rcpt_count;
	group->rcpts = arena_alloc(arena, (envelope->rcpt_count + 1) *
	    sizeof(*group->rcpts));
	for (size_t i = 0; i < envelope->rcpt_count; i++)
		group->rcpts[i] = (struct control_rcpt){
		    .channel = SLICE("error"),
		    .host = error_host(arena, reason),
		    .user = away_address_text(arena, &envelope->rcpts[i].path),
		    .uid = -2, .notify = envelope->rcpts[i].notify,
		    .orcpt = envelope->rcpts[i].orcpt };
	*out = (struct control_file){ .inode = claim->inode,
	    .body_offset = paper->file.n - text.n,
	    .size_bytes = group->header.n + 1 + text.n, .msgid = msgid,
	    .errors_to = group->sender, .envid = envelope->envid,
	    .ret = envelope->ret, .bodytype = envelope->bodytype,
	    .user = envelope->user, .groups = group, .group_count = 1 };
	/* what else its sender asked for is of a delivery */
	out->terms.is_never_reported = envelope->terms.is_never_reported;
	memcpy(out->id, envelope->id, sizeof(out->id));
}

static int
claim_bounce(struct spool *spool, struct claim *claim, const char *reason,
    struct err *err)
{
	struct str plan = STR_INIT;
	struct paper paper;
	struct control_file control;
	int result = paper_read(claim->fd, claim->bytes, &paper, err);

	if (result == 0 && (paper.envelope.is_error ||
	    paper.envelope.rcpt_count == 0))
		result = err_set(err, "nobody sent it (<>) or it has no "
		    "recipients: there is no one to tell");
	if (result == 0) {
		failures_plan(&paper, claim, reason, &control);
		result = control_file_format(&control, &plan, err) == 0 ?
		    spool_route(spool, claim, str_slice(&plan), err) : -1;
	}
	str_release(&plan);
	paper_release(&paper);
	return result;
}

int
selection_act_bounce(struct selection_choice *choice,
    const struct selection_item *item,
    const struct selection_options *options, struct err *err)
{
	char name[SPOOL_NAME_BYTES];
	struct claim claim;
	struct err why;
	enum spool_claimed result;

	if (item->is_copy)
		return err_set(err, "%s is a copy: that message went on its "
		    "way", item->name);
	result = spool_claim_aside(choice->spool, item->area, item->name,
	    &claim, err);
	if (result != SPOOL_CLAIMED)
		return result == SPOOL_CLAIM_TROUBLE ? -1 :
						       err_set(err,
							   "%s was moved "
							   "meanwhile",
							   item->name);
	if (claim_bounce(choice->spool, &claim, options->reason, err) < 0) {
		if (claim.fd >= 0 && spool_set_aside(choice->spool, &claim,
		    item->area, item->why, name, &why) < 0)
			warning("%s", why.text);
		return -1;
	}
	event(EV_MESSAGE_ROUTED, item->id, "from", item->sender, "rcpts",
	    event_number((int64_t)item->rcpt_total), NULL);
	selection_tell(EV_MESSAGE_RESUBMITTED, item, item->area, item->name,
	    options);
	return 1;
}

/* ---- forward ----------------------------------------------------------- */

static int
cover_add(struct str *out, const struct paper *paper, const char *id,
    const struct selection_item *item, const struct selection_options *options,
    struct err *err)
{
	struct envelope envelope = { .is_error = true };
	struct envelope_rcpt rcpt = { .notify = 0 };
	struct slice text, subject, msgid, rest;
	char date[CLOCK_TEXT_BYTES];

	if (path_parse(slice_of(options->to), PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &rcpt.path, &rest, err) != 0 || rest.n > 0)
		return err_set(err, "%s is no address", options->to);
	strlcpy(envelope.id, id, sizeof(envelope.id));
	envelope.rcpts = &rcpt;
	envelope.rcpt_count = 1;
	if (envelope_add(out, &envelope, err) != 0)
		return -1;
	(void)paper_parts(paper, &text, &subject, &msgid);
	clock_rfc5322(clock_wall_s(), date);
	str_addf(out, "From: Mail system <postmaster>\nTo: %s\nDate: %s\n"
	    "Subject: Fwd: ", options->to, date);
	for (size_t i = 0; i < subject.n && i < SUBJECT_MAX; i++)
		str_addc(out, subject.p[i] >= ' ' && subject.p[i] <= '~' ?
		    subject.p[i] : ' ');
	str_addf(out, "\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
	    "Content-Type: multipart/mixed; boundary=\"%s.part\"\n\n--%s.part\n"
	    "Content-Type: text/plain; charset=us-ascii\n\n"
	    "This message (%s) was set aside in %s/: %s.\n", id, id, item->id,
	    spool_area_names[item->area], item->why);
	if (*options->reason != '\0') {
		str_add_escaped(out, slice_of(options->reason));
		str_addc(out, '\n');
	}
	str_addf(out, "\n--%s.part\nContent-Type: message/rfc822\n"
	    "Content-Transfer-Encoding: 8bit\n\n", id);
	return 0;
}

static int
away_draft_fill(struct draft *draft, const struct paper *paper,
    const struct selection_item *item, const struct selection_options *options,
    struct err *err)
{
	struct slice whole = slice_from(paper->file,
	    paper->envelope.header_offset);
	struct str text = STR_INIT;
	struct draft *drafts[1] = { draft };
	int result = cover_add(&text, paper, draft->id, item, options, err);

	if (result == 0)
		result = draft_write(draft, text.buf, text.len, err);
	if (result == 0)
		result = draft_write(draft, whole.p, whole.n, err);
	str_reset(&text);
	str_addf(&text, "\n--%s.part--\n", draft->id);
	if (result == 0)
		result = draft_write(draft, text.buf, text.len, err);
	if (result == 0 && draft_sync(drafts, 1, err) != 1)
		result = -1;
	str_release(&text);
	return result;
}

static int
paper_forward(struct selection_choice *choice, const struct paper *paper,
    const struct selection_item *item, const struct selection_options *options,
    struct err *err)
{
	char by[VERB_BY_BYTES], file[SPOOL_NAME_BYTES * 2];
	struct draft draft;

	if (draft_open(choice->spool, NULL, &draft, err) < 0)
		return -1;
	if (away_draft_fill(&draft, paper, item, options, err) < 0 ||
	    draft_publish(&draft, AREA_ROUTER, 0, NULL, err) < 0) {
		draft_abort(&draft);
		return -1;
	}
	verb_by(by);
	snprintf(file, sizeof(file), "%s/%s", spool_area_names[item->area],
	    item->name);
	event(EV_MESSAGE_FORWARDED, item->id, "file", slice_of(file), "why",
	    slice_of(item->why), "by", slice_of(by), "reason",
	    slice_of(options->reason), "to", slice_of(options->to), "as",
	    slice_of(draft.id), NULL);
	return 1;
}

int
selection_act_forward(struct selection_choice *choice,
    const struct selection_item *item,
    const struct selection_options *options, struct err *err)
{
	int fd = openat(spool_dir_fd(choice->spool, item->area, 0),
	    item->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct paper paper = { .arena = NULL };
	struct stat st;
	int result;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		result = err_sys(err, "cannot open %s", item->name);
	} else {
		result = paper_read(fd, (uint64_t)st.st_size, &paper, err);
		if (result == 0)
			result = paper_forward(choice, &paper, item, options,
			    err);
	}
	paper_release(&paper);
	if (fd >= 0)
		close(fd);
	return result;
}

/* ---- note -------------------------------------------------------------- */

int
selection_act_note(struct selection_choice *choice,
    const struct selection_item *item,
    const struct selection_options *options, struct err *err)
{
	selection_tell(EV_MESSAGE_NOTED, item, item->area, item->name, options);
	return 1;
}
