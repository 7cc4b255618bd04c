/* mail_form.c - may a message go to this host, and in which form
 *
 * In     a job, what the peer announced
 * Out    verdicts for those it cannot serve; BODY, chunks, conversion
 * Holds  the conversion, as long as the connection
 * Trusts no declaration of the sender: what matters is looked for in the
 *        bytes before anything is given up
 * Spec   RFC 6152 section 3 (8BITMIME); RFC 3030 sections 2 and 3; RFC 6531
 *        section 3.2 (SMTPUTF8); RFC 1870 section 5 (SIZE); RFC 2852
 *        section 4.1 (DELIVERBY)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "journal/event.h"
#include "base/fd.h"
#include "transports/smtp/transaction/mail.h"

#include "base/banned.h"


/* ---- addresses and header in UTF-8 ------------------------------------- */

static void
refuse_utf8(struct mail *mail, size_t index, const char *words)
{
	struct verdict verdict;

	verdict_set(&verdict, VERDICT_FAILED, "5.6.7", mail->client->who,
	    "%s", words);
	if (index < mail->job->rcpt_count)
		mail_settle(mail, index, &verdict);
	else
		mail_settle_all(mail, &verdict);
}

/* RFC 6531 section 3.2: mail with UTF-8 in addresses or header goes only
 * where it is understood.  Asked for but not used, it goes anywhere. */
static void
utf8_check(struct mail *mail)
{
	const struct control_job *job = mail->job;
	bool is_sender_ascii = mime_is_ascii(job->sender), is_any = false;

	mail->is_utf8 = false;
	if (mail->client->offer.extensions & CLIENT_SMTPUTF8) {
		for (size_t i = 0; i < job->rcpt_count && !is_any; i++)
			is_any = !mime_is_ascii(job->rcpts[i].user);
		mail->is_utf8 = is_any || !is_sender_ascii ||
		    job->terms.is_utf8;
		return;
	}
	if (!is_sender_ascii)
		refuse_utf8(mail, SIZE_MAX, "the host does not take addresses "
		    "in UTF-8, and the sender's is one");
	else if (job->terms.is_utf8 && !mime_is_ascii(job->header))
		refuse_utf8(mail, SIZE_MAX, "the host does not take headers "
		    "in UTF-8 (SMTPUTF8), and the message has one");
	for (size_t i = 0; i < job->rcpt_count; i++)
		if (mail->states[i] == RCPT_WAITING &&
		    !mime_is_ascii(job->rcpts[i].user))
			refuse_utf8(mail, i, "the host does not take "
			    "addresses in UTF-8");
}

/* ---- size and time ----------------------------------------------------- */

/* RFC 1870 section 5: what is over the peer's limit is not even tried. */
static void
form_check_size(struct mail *mail)
{
	const struct smtp_client *client = mail->client;
	struct verdict verdict;

	if (client->offer.size_bytes == 0 ||
	    mail->job->size_bytes <= client->offer.size_bytes)
		return;
	verdict_set(&verdict, VERDICT_FAILED, "5.3.4", client->who,
	    "the message has %llu bytes, the host takes %llu",
	    (unsigned long long)mail->job->size_bytes,
	    (unsigned long long)client->offer.size_bytes);
	mail_settle_all(mail, &verdict);
}

/* RFC 2852 section 4.1: "return it when it is late" goes only to hosts that
 * promise to, and in time. */
static void
form_check_by(struct mail *mail)
{
	const struct terms *terms = &mail->job->terms;
	const struct smtp_client *client = mail->client;
	int64_t left_s = terms->by_s - clock_wall_s();
	struct verdict verdict;

	if (terms->by_s == 0 || !terms->by_returns || client->is_lmtp)
		return;
	if (left_s <= 0)
		verdict_set(&verdict, VERDICT_FAILED, "5.4.7", client->who,
		    "the time that the sender gave is over (DELIVERBY)");
	else if (!(client->offer.extensions & CLIENT_DELIVERBY))
		verdict_set(&verdict, VERDICT_FAILED, "5.3.3", client->who,
		    "the sender gave a time, which the host cannot keep "
		    "(it lacks DELIVERBY)");
	else if ((uint64_t)left_s < client->offer.by_min_s)
		verdict_set(&verdict, VERDICT_FAILED, "5.4.7", client->who,
		    "%lld s are left of the time that the sender gave, the "
		    "host wants %llu", (long long)left_s,
		    (unsigned long long)client->offer.by_min_s);
	else
		return;
	mail_settle_all(mail, &verdict);
}

/* ---- conversion -------------------------------------------------------- */

/* The first pass: what is in the message? 0; -1: it cannot be read. */
static int
form_look(struct mail *mail)
{
	uint64_t offset = mail->job->body_offset;
	char *piece;
	size_t bytes = client_piece(mail->client, mail->job->size_bytes,
	    &piece);
	ssize_t n;

	mime_down_header(mail->down, mail->job->header, NULL);
	while ((n = fd_read_at(mail->body_fd, piece, bytes,
	    offset)) > 0 && !mail->down->is_too_much) {
		mime_down_body(mail->down,
		    (struct slice){ piece, (size_t)n }, NULL);
		offset += (uint64_t)n;
	}
	mime_down_end(mail->down, NULL);
	return n < 0 ? -1 : 0;
}

static void
form_give_up(struct mail *mail, int looked)
{
	struct verdict verdict;

	if (looked < 0)
		verdict_set(&verdict, VERDICT_DEFERRED, "4.3.0", "smtp",
		    "cannot read the message");
	else		/* RFC 3463 section 3.7 */
		verdict_set(&verdict, VERDICT_FAILED, "5.6.3",
		    mail->client->who, "the host does not take %s, and the "
		    "message cannot be converted: %s",
		    mail->is_binary ? "binary content" : "8-bit text",
		    mail->down->is_too_much ? "it has too many parts" :
		    mail->down->obstacle);
	mail_settle_all(mail, &verdict);
}

static void
form_told(const struct mail *mail)
{
	event(EV_MESSAGE_CONVERTED, mail->job->id, "host",
	    slice_of(mail->client->who), "lacks", mail->is_binary ?
	    SLICE("BINARYMIME") : SLICE("8BITMIME"), "signature",
	    mail->down->is_signed ? SLICE("broken") : SLICE("none"), NULL);
}

/* Nearly all mail that goes to such hosts: not a byte over 127. */
static bool
form_is_plain(struct mail *mail)
{
	char *piece;
	size_t bytes = client_piece(mail->client, mail->job->size_bytes,
	    &piece);
	uint64_t offset = mail->job->body_offset;
	ssize_t n;

	if (!mime_is_ascii(mail->job->header))
		return false;
	do {
		n = fd_read_at(mail->body_fd, piece, bytes, offset);
		if (n < 0 || !mime_is_ascii((struct slice){ piece,
		    (size_t)n }))
			return false;
		offset += (uint64_t)n;
	} while ((size_t)n == bytes);
	return true;
}

/* Convert it, if there is something to convert. */
static void
form_convert(struct mail *mail, unsigned goal)
{
	int looked;

	if (goal == MIME_TO_7BIT && form_is_plain(mail))
		return;
	mail->down = mem_alloc(1, sizeof(*mail->down));
	mime_down_init(mail->down, goal);
	looked = form_look(mail);
	if (looked < 0 || ((mail->down->is_too_much ||
	    mail->down->is_undoable) && mime_down_is_needed(mail->down)))
		form_give_up(mail, looked);
	else if (mail->is_binary || mime_down_is_needed(mail->down)) {
		form_told(mail);
		return;
	}
	mail_form_release(mail);
}

static void
form_choose_body(struct mail *mail)
{
	unsigned has = mail->client->offer.extensions;
	const struct control_job *job = mail->job;
	bool has_8bit = has & CLIENT_8BITMIME;

	mail->body = NULL;
	mail->is_binary = slice_is_nocase(job->bodytype, "BINARYMIME");
	mail->is_chunked = has & CLIENT_CHUNKING;
	if (mail->is_binary && mail->is_chunked && (has & CLIENT_BINARYMIME))
		mail->body = "BINARYMIME";
	else if (mail->is_binary)
		form_convert(mail, MIME_FROM_BINARY | (has_8bit ? 0 :
		    MIME_TO_7BIT));
	else if (!has_8bit)
		form_convert(mail, MIME_TO_7BIT);
	if (mail->body == NULL && has_8bit)
		mail->body = mail->is_binary || slice_is_nocase(
		    job->bodytype, "8BITMIME") ? "8BITMIME" :
		    job->bodytype.n > 0 ? "7BIT" : NULL;
	mail->is_binary = mail->is_binary && mail->down == NULL;
}

void
mail_form_choose(struct mail *mail)
{
	mail_form_release(mail);
	form_check_size(mail);
	form_check_by(mail);
	utf8_check(mail);
	for (size_t i = 0; i < mail->job->rcpt_count; i++)
		if (mail->states[i] == RCPT_WAITING) {
			form_choose_body(mail);
			return;
		}
}

void
mail_form_release(struct mail *mail)
{
	if (mail->down == NULL)
		return;
	mime_down_release(mail->down);
	mem_free(&mail->down);
}

bool
mail_form_is_small(const struct mail *mail)
{
	return mail->is_chunked && mail->down == NULL &&
	    mail->job->size_bytes <= FORM_SMALL_BYTES;
}
