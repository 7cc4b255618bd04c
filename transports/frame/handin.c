/* handin.c - a message that an agent gives to the spool
 *
 * In     an envelope, a header, a body
 * Out    a durable file in router/, or in public/ for the router to copy
 * Holds  the spool's directories and one draft while it writes
 * Trusts nobody: what belongs to another user is copied in and checked
 * Spec   doc/INTERNALS.md rows S0-S2 and S4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/fd.h"
#include "grammar/smtp/path.h"
#include "transports/frame/handin.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 * 1024 };

void
handin_of_job(const struct control_job *job, int body_fd, struct handin *out)
{
	*out = (struct handin){
		.sender = job->sender, .header = job->header,
		.body_fd = body_fd, .body_offset = job->body_offset,
		.ret = job->ret, .envid = job->envid,
		.bodytype = job->bodytype, .terms = job->terms,
	};
}

/* It came from elsewhere before, so that no fields are added to it. */
static int
handin_envelope(const struct handin *what, struct envelope *out,
    struct err *err)
{
	struct slice rest;

	*out = (struct envelope){
		.is_external = true, .is_error = what->sender.n == 0,
		.rcvdfrom = SLICE("localhost"), .with = slice_of(what->with),
		.bodytype = what->bodytype, .envid = what->envid,
		.user = slice_of(what->user), .ret = what->ret,
		.terms = what->terms, .rcpt_count = what->rcpt_count,
		.rcpts = (struct envelope_rcpt *)(uintptr_t)what->rcpts,
	};
	if (what->sender.n == 0)
		return 0;
	if (path_parse(what->sender, PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &out->from, &rest, err) != 0 || rest.n > 0)
		return err_set(err, "the sender " SLICE_FMT " cannot be "
		    "written", SLICE_ARG(slice_first(what->sender, 200)));
	return 0;
}

static int
handin_copy_body(const struct handin *what, struct draft *draft,
    struct err *err)
{
	char *piece = mem_alloc(1, PIECE_BYTES);
	uint64_t offset = what->body_offset;
	int result = 0;
	ssize_t n;

	while (result == 0 && (n = fd_read_at(what->body_fd, piece, PIECE_BYTES,
	    offset)) != 0) {
		if (n < 0) {
			result = err_sys(err, "read the message");
			break;
		}
		result = draft_write(draft, piece, (size_t)n, err);
		offset += (uint64_t)n;
	}
	mem_free(&piece);
	return result;
}

/* Into a draft (row S0), and durable (S1). */
static int
handin_fill_draft(const struct handin *what, struct envelope *envelope,
    struct draft *draft, struct err *err)
{
	struct str head = STR_INIT;
	int result;

	memcpy(envelope->id, draft->id, sizeof(envelope->id));
	result = envelope_add(&head, envelope, err) < 0 ? -1 : 0;
	str_add_slice(&head, what->trace);
	str_add_slice(&head, what->header);
	if (what->header.n > 0 && what->header.p[what->header.n - 1] != '\n')
		str_addc(&head, '\n');
	str_addc(&head, '\n');
	if (result == 0)
		result = draft_write(draft, head.buf, head.len, err);
	str_release(&head);
	if (result == 0 && what->body_fd >= 0)
		result = handin_copy_body(what, draft, err);
	else if (result == 0)
		result = draft_write(draft, what->text.p, what->text.n, err);
	if (result == 0 && draft_sync(&draft, 1, err) != 1)
		result = -1;
	return result;
}

/* S1 -> S2; where the present user may not rename, S4 finds it in public/,
 * gives it an id of its own, and says that it was accepted.  ENOENT: S4 was
 * quicker than a root who may. */
static int
handin_publish(struct draft *draft, const struct envelope *envelope,
    struct err *err)
{
	if (draft_publish(draft, AREA_ROUTER, 0, NULL, err) < 0) {
		if (errno != EACCES && errno != EPERM && errno != ENOENT)
			return -1;
		err->text[0] = '\0';
		draft_hand_over(draft);
		return 0;
	}
	event(EV_MESSAGE_ACCEPTED, envelope->id, "with", envelope->with,
	    "rcpts", event_number((int64_t)envelope->rcpt_count), "size",
	    event_number((int64_t)draft->bytes), "uid",
	    event_number((int64_t)geteuid()), NULL);
	return 0;
}

int
handin_submit(const struct conf *conf, const struct handin *what,
    char out_id[SPOOL_ID_BYTES], struct err *err)
{
	struct spool *spool = NULL;
	struct envelope envelope;
	struct draft draft;
	int result = -1, kept;

	errno = EINVAL;
	if (handin_envelope(what, &envelope, err) < 0 ||
	    conf_spool_open(conf, 0, &spool,
	    err) < 0)
		return -1;
	if (draft_open(spool, NULL, &draft, err) == 0) {
		memcpy(out_id, draft.id, SPOOL_ID_BYTES);
		if (handin_fill_draft(what, &envelope, &draft, err) == 0)
			result = handin_publish(&draft, &envelope, err);
		kept = errno;
		if (result < 0)
			draft_abort(&draft);	/* S0: nothing was promised */
		errno = kept;
	}
	kept = errno;
	spool_close(&spool);
	errno = kept;
	return result;
}
