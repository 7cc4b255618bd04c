/* message.c - one message file becomes a control file
 *
 * In     the bytes of a message file
 * Out    a control file, or the reason why there is none
 * Holds  one arena, released with the message
 * Trusts nothing of the file
 * Spec   doc/INTERNALS section 7; zmailer-message(5), zmailer-control(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "router/message/message.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "base/mem.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_code.h"
#include "grammar/smtp/xtext.h"
#include "mail/whole.h"
#include "router/message/copies.h"
#include "router/route/hooks.h"
#include "router/route/rewrite.h"

#include "base/banned.h"

enum {
	BUFFER_KEEP_BYTES = 1 << 20,	/* larger buffers are given back */
	BAD_ADDRESS_BYTES_MAX = 100
};

void
message_init(struct message *message)
{
	*message = (struct message){ .arena = arena_new() };
	str_init(&message->header);
	str_init(&message->control_text);
	str_init(&message->other);
	rcpts_init(&message->rcpts, message->arena);
}

void
message_release(struct message *message)
{
	rcpts_release(&message->rcpts);
	arena_free(&message->arena);
	str_release(&message->header);
	str_release(&message->control_text);
	str_release(&message->other);
}

static void
message_reset_buffer(struct str *buffer)
{
	if (buffer->cap > BUFFER_KEEP_BYTES)
		str_release(buffer);
	str_reset(buffer);
}

void
message_reset(struct message *message)
{
	arena_reset(message->arena);
	message_reset_buffer(&message->header);
	message_reset_buffer(&message->control_text);
	message_reset_buffer(&message->other);
	message->why[0] = 0;
	message->script_form = NULL;
	message->keeps_8bit = false;
	message->envelope.id[0] = 0;
}

/* Mail of sendmail(1) that milters want to see first (milter ... also
 * sendmail). */
static bool
message_is_unseen(const struct envelope *envelope, const struct conf *conf)
{
	return slice_is(envelope->with, ENVELOPE_LOCAL) &&
	    envelope->dsn_of.n == 0 && envelope->milters.n == 0 &&
	    conf_milters_see_local(conf);
}

/* The form of what milters refused: "refused 5.7.1 WORDS". */
static const char *
message_milters_form(struct message *message)
{
	struct slice words = message->envelope.milters, word;
	struct str form = STR_INIT;
	const char *result;

	if (!slice_word(&words, &word) || !slice_is(word, "refused"))
		return NULL;
	xtext_encode(&form, slice_trim(words));
	result = arena_dup(message->arena, form.buf, form.len);
	str_release(&form);
	return result;
}

static enum message_fate
message_broken(struct message *message, const char *why)
{
	snprintf(message->why, sizeof(message->why), "%s", why);
	return MESSAGE_BROKEN;
}

/* ---- recipients ------------------------------------------------------- */

/* A list waits until all others are routed. */
static int
message_route_one(struct message *message, struct router *router,
    struct given_rcpt *given, struct err *err)
{
	struct route_waiting *waiting;
	enum route_end end;

	if (message->envelope.terms.via.n > 0)
		return router_to_target(router, &message->rcpts, given,
		    message->envelope.terms.via, err);
	if (message->envelope.rcpt_count != 1 ||
	    message->envelope.header_rcpts)
		given->lists = ROUTE_LISTS_WAIT;
	end = router_address(router, &message->rcpts, given, err);
	if (end != ROUTE_WAITS)
		return end == ROUTE_FAILED ? -1 : 0;
	waiting = arena_alloc(message->arena, sizeof(*waiting));
	waiting->given = *given;
	waiting->given.lists = ROUTE_LISTS_WAITED;
	*message->waiting_end = waiting;
	message->waiting_end = &waiting->next;
	return 0;
}

static int
message_route_waiting(struct message *message, struct router *router,
    struct err *err)
{
	const struct route_waiting *waiting = message->waiting;

	for (; waiting != NULL; waiting = waiting->next)
		if (router_address(router, &message->rcpts,
		    &waiting->given, err) != ROUTE_ROUTED)
			return -1;
	return 0;
}

static int
message_route_envelope(struct message *message, struct router *router,
    const char *form, struct err *err)
{
	const struct envelope *envelope = &message->envelope;

	for (size_t i = 0; i < envelope->rcpt_count; i++) {
		const struct envelope_rcpt *rcpt = &envelope->rcpts[i];
		struct given_rcpt given = { rcpt->path, rcpt->notify,
		    rcpt->orcpt, ROUTE_LISTS_NOW };

		if (form == NULL && i % ROUTE_FORESEEN == 0)
			router_foresee_rcpts(router, message->arena, envelope,
			    i);
		if (form != NULL)
			router_refuse(&message->rcpts, &given, form);
		else if (message_route_one(message, router, &given, err) < 0)
			return -1;
	}
	return 0;
}

/* What cannot be read as an address, made fit for a line. */
static void
message_refuse_text(struct message *message, struct slice text)
{
	struct given_rcpt given = { .notify = 0 };
	char *copy;

	text = slice_first(slice_trim(text), BAD_ADDRESS_BYTES_MAX);
	copy = slice_dup(message->arena, text);
	for (size_t i = 0; i < text.n; i++)
		if (copy[i] <= ' ' || copy[i] > '~')
			copy[i] = '?';
	given.path.local = (struct slice){ copy, text.n };
	router_refuse(&message->rcpts, &given, "badaddress");
}

/* One To, Cc or Bcc field of sendmail -t. */
static int
message_route_field(struct message *message, struct router *router,
    struct slice value, const char *form, struct err *err)
{
	struct given_rcpt given = { .notify = 0 };
	struct slice rest = value, before = value;
	struct err bad;
	int more;

	while ((more = header_address(message->arena, &rest, &given.path,
	    &bad)) != HEADER_ADDRESS_END) {
		if (more < 0)
			message_refuse_text(message, slice_first(before,
			    before.n - rest.n));
		else if (form != NULL)
			router_refuse(&message->rcpts, &given, form);
		else if (message_route_one(message, router, &given, err) < 0)
			return -1;
		before = rest;
	}
	return 0;
}

/* form: what all recipients get, or NULL. */
static int
message_route_all(struct message *message, struct router *router,
    const struct conf *conf, const char *form, struct err *err)
{
	const struct headers *headers = &message->headers;
	const struct header_list *list;

	message->waiting = NULL;
	message->waiting_end = &message->waiting;
	if (headers->received > conf->limits.received) {
		counters_limit("received");
		form = "loopexceeded";
	} else if (headers->is_too_large) {
		counters_limit("header");
		form = "headerlimit";
	}
	if (message_route_envelope(message, router, form, err) < 0)
		return -1;
	list = headers->resent_to ? headers->resent_to : headers->to;
	for (; list != NULL; list = list->next)
		if (message_route_field(message, router, list->value, form,
		    err) < 0)
			return -1;
	return message_route_waiting(message, router, err);
}

/* ---- the sender ------------------------------------------------------- */

static bool
message_is_atom(struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (!ascii_is_lower(c) && !ascii_is_upper(c) &&
		    !ascii_is_digit(c) && c != '-' && c != '_')
			return false;
	}
	return text.n > 0;
}

/* The sender as the next hop shall see it. */
static struct slice
message_sender(struct message *message, const struct conf *conf)
{
	const struct envelope *envelope = &message->envelope;
	const struct path *from = &envelope->from;

	if (envelope->is_error)
		return (struct slice){ NULL, 0 };
	if (from->local.n == 0)		/* nobody said: the submitting user */
		return slice_of(arena_printf(message->arena,
		    SLICE_FMT "@%s", SLICE_ARG(message_is_atom(envelope->user) ?
		    envelope->user : SLICE("postmaster")), conf->host));
	return slice_of(arena_printf(message->arena,
	    SLICE_FMT "@" SLICE_FMT, SLICE_ARG(from->local),
	    SLICE_ARG(from->domain.n > 0 ? from->domain :
	    slice_of(conf->host))));
}

/* ---- rewriting -------------------------------------------------------- */

/* The header that was in the making is the message's. */
static void
message_take_other(struct message *message)
{
	struct str header = message->header;

	message->header = message->other;
	message->other = header;
	str_reset(&message->other);
}

/* From outside, and not by a user of ours. */
static bool
message_is_stranger(const struct envelope *envelope)
{
	return envelope->is_external && envelope->user.n == 0;
}

/* Whoever it is by name, the sender is an address from here on. */
static enum route_answer
message_rewrite_sender(struct routing *routing, const struct conf *conf,
    struct message *message, unsigned of, struct err *err)
{
	struct slice rest;
	struct path path;

	if (path_parse(message_sender(message, conf), PATH_BARE_OK | PATH_UTF8,
	    &path, &rest, NULL) != 0 || rest.n > 0)
		return ROUTE_NO;
	message->envelope.from = path;
	return rewrite_path(routing, of, &message->envelope.from, err);
}

/* Sender and header change before anything is routed.  Only where the
 * configuration wants that: others pay one look at it. */
static int
message_rewrite_in(struct message *message, struct router *router,
    struct err *err)
{
	const struct conf *conf = router_conf(router);
	struct routing routing = { .router = router,
	    .rcpts = &message->rcpts };
	bool stranger = message_is_stranger(&message->envelope);
	enum route_answer is_other;

	if (!rewrite_is_on(conf))
		return 0;
	rcpts_reset(&message->rcpts, 0, NULL, SLICE(""));
	if (!message->envelope.is_error && message_rewrite_sender(&routing,
	    conf, message, REWRITE_SENDERS | REWRITE_ENVELOPE |
	    (stranger ? REWRITE_STRANGERS : 0), err) == ROUTE_TROUBLE)
		return -1;
	is_other = rewrite_header(&routing, 0, stranger,
	    str_slice(&message->header), &message->other, err);
	if (is_other == ROUTE_YES)
		message_take_other(message);
	return is_other == ROUTE_TROUBLE ? -1 : 0;
}

/* ---- signing ---------------------------------------------------------- */

/* The message waits in deferred/N.sign. */
static void
message_unsigned(struct message *message)
{
	strlcpy(message->rcpts.trouble, "sign",
	    sizeof(message->rcpts.trouble));
}

/* Do its keys say 7bit?  Where a generic statement may make another From, any
 * of them counts: recipients share one body. */
static bool
message_is_for_7bit(struct message *message, const struct conf *conf)
{
	struct routing routing = { .router = message->router,
	    .rcpts = &message->rcpts };
	struct sign_rows found;
	struct err err;

	if (!sign_rows_any_7bit(conf))
		return false;
	if (conf->generic_count > 0)
		return true;
	rcpts_reset(&message->rcpts, 0, NULL, SLICE(""));
	if (sign_rows_find(&routing, signatures_domain(str_slice(
	    &message->header), message->arena), &found, &err) != 0)
		return false;	/* it waits: message_sign says why */
	for (size_t i = 0; i < found.count; i++)
		if (found.rows[i].is_7bit)
			return true;
	return false;
}

static bool
message_is_to_encode(struct message *message, const struct conf *conf,
    struct slice file)
{
	return !message->keeps_8bit && message->signatures != NULL &&
	    signatures_are_for(message->signatures, &message->envelope) &&
	    message_is_for_7bit(message, conf) &&
	    (!mime_is_ascii(str_slice(&message->header)) ||
	    !mime_is_ascii(slice_from(file, message->headers.body_offset)));
}

/* The last that happens to the header of all. */
static int
message_sign(struct message *message, struct slice file, struct err *err)
{
	struct signatures *signatures = message->signatures;
	struct routing routing = { .router = message->router,
	    .rcpts = &message->rcpts };

	message->signed_bytes = 0;
	if (signatures == NULL ||
	    !signatures_are_for(signatures, &message->envelope))
		return 0;
	signatures_begin(signatures, slice_from(file,
	    message->headers.body_offset));
	rcpts_reset(&message->rcpts, 0, NULL, SLICE(""));
	if (signatures_add(signatures, &routing, str_slice(&message->header),
	    &message->other, err) < 0)
		return -1;
	message->signed_bytes = message->other.len;
	if (message->signed_bytes == 0)
		return 0;
	str_add_slice(&message->other, str_slice(&message->header));
	message_take_other(message);
	return 0;
}

/* A header of some recipients has signatures of its own. */
static int
message_sign_other(struct message *message, struct slice *out,
    struct err *err)
{
	struct routing routing = { .router = message->router,
	    .rcpts = &message->rcpts };
	struct str whole = STR_INIT;
	int result = 0;

	if (message->signatures != NULL && signatures_are_for(
	    message->signatures, &message->envelope))
		result = signatures_add(message->signatures, &routing,
		    str_slice(&message->other), &whole, err);
	str_add_slice(&whole, str_slice(&message->other));
	*out = slice_copy(message->arena, str_slice(&whole));
	str_release(&whole);
	return result;
}

/* The header of recipients whose mail leaves by a generic statement. */
static int
message_rewrite_out(void *context, unsigned number, struct slice *out,
    struct err *err)
{
	struct message *message = context;
	struct routing routing = { .router = message->router,
	    .rcpts = &message->rcpts };
	enum route_answer is_other = rewrite_header(&routing, number, false,
	    slice_from(str_slice(&message->header), message->signed_bytes),
	    &message->other, err);
	int result = is_other == ROUTE_TROUBLE ? -1 : 0;

	*out = str_slice(&message->header);
	if (is_other == ROUTE_YES)
		result = message_sign_other(message, out, err);
	str_reset(&message->other);
	return result;
}

/* ---- the control file ------------------------------------------------- */

/* What does not depend on recipients, and where they will go. */
static void
message_draft_control(struct message *message, const struct conf *conf,
    struct slice file, ino_t inode, const struct control_sink *sink)
{
	const struct envelope *envelope = &message->envelope;
	struct control_file *control = &message->control_file;

	*control = (struct control_file){
		.inode = inode,
		.body_offset = message->headers.body_offset,
		.size_bytes = message->header.len + 1 + file.n -
		    message->headers.body_offset,
		.msgid = message->headers.msgid,
		.errors_to = message_sender(message, conf),
		.envid = envelope->envid,
		.ret = envelope->ret,
		.bodytype = envelope->bodytype,
		.user = envelope->user,
		.source = envelope_source(&message->envelope),
		.terms = envelope->terms,
	};
	if (control->terms.priority == 0)
		control->terms.priority = message->headers.precedence;
	/* RFC 8689 section 5: REQUIRETLS wins */
	control->terms.is_tls_optional = message->headers.is_tls_optional &&
	    !envelope->terms.needs_tls;
	memcpy(control->id, envelope->id, sizeof(control->id));
	control_draft_init(&message->control, message->arena,
	    &message->control_text, sink, control, str_slice(&message->header));
	message->generic_headers = (struct control_headers){ message,
	    conf->generic_count, message_rewrite_out };
	if (conf->generic_count > 0)
		message->control.others = &message->generic_headers;
	rcpts_reset(&message->rcpts, envelope->rcpt_count,
	    &message->control, control->errors_to);
	message->rcpts.user = envelope->user;
	if (control->terms.is_verp)
		rcpts_verp(&message->rcpts, conf->delimiters);
}

static enum message_fate
message_waits(struct message *message)
{
	bool is_frozen = message->rcpts.is_frozen;

	snprintf(message->why, sizeof(message->why), "%s",
	    message->rcpts.trouble);
	return is_frozen ? MESSAGE_FROZEN : MESSAGE_DEFERRED;
}

static enum message_fate
message_finish_control(struct message *message, struct slice file,
    struct err *err)
{
	if (chains_begin(&message->chains, message->signatures,
	    &message->envelope, file, message->headers.body_offset,
	    &message->rcpts))
		message->control.stamps = &message->chains.stamps;
	rcpts_finish(&message->rcpts);
	message->is_streamed = message->control.writer.taken > 0;
	if (control_draft_end(&message->control, err) == 0)
		return MESSAGE_ROUTED;
	if (message->control.is_unwritten)
		return MESSAGE_UNWRITTEN;
	if (message->control.is_deferred) {
		if (message->control.stamps != NULL)
			message_unsigned(message);
		return message_waits(message);
	}
	return message_broken(message, "badenvelope");
}

/* ---- all of it -------------------------------------------------------- */

/* What a script may know. */
static void
message_tell_rcpts(struct message *message)
{
	struct rcpts *rcpts = &message->rcpts;

	memcpy(rcpts->id, message->envelope.id, sizeof(rcpts->id));
	rcpts->envelope = &message->envelope;
	rcpts->is_released = message->is_released;
}

/* The script sees the header before its length is known to the control file.
 * *out_form: that of a refusal, or NULL. */
static int
message_ask_script(struct message *message, struct router *router,
    const char **out_form, struct err *err)
{
	*out_form = NULL;
	if (router_conf(router)->hooks.script == NULL)
		return 0;
	rcpts_reset(&message->rcpts, 0, NULL, message_sender(message,
	    router_conf(router)));
	message_tell_rcpts(message);
	return hooks_header(router, &message->rcpts, &message->header,
	    out_form, err);
}

enum message_fate
message_route(struct message *message, struct router *router,
    struct slice file, ino_t inode, const struct control_sink *sink,
    struct err *err)
{
	const struct conf *conf = router_conf(router);
	struct envelope *envelope = &message->envelope;
	const char *form;

	if (whole_bytes(file, err) != WHOLE_YES)
		return message_broken(message, "incomplete");
	if (envelope_parse(message->arena, file, envelope, err) != 0)
		return message_broken(message, "badenvelope");
	if (envelope->id[0] == 0)	/* a person put it here */
		conf_make_id(conf, inode, envelope->id);
	if (message_is_unseen(envelope, conf)) {
		snprintf(message->why, sizeof(message->why), "milter");
		return MESSAGE_UNSEEN;
	}
	message->router = router;
	headers_pass(message->arena, file, envelope, conf, &message->headers,
	    &message->header);
	if (message_rewrite_in(message, router, err) < 0 ||
	    message_ask_script(message, router, &form, err) < 0)
		return message_waits(message);
	message->script_form = form;
	if (envelope->milters.n > 0 && form == NULL)
		form = message_milters_form(message);
	if (form == NULL && message_is_to_encode(message, conf, file))
		return MESSAGE_TO_ENCODE;
	if (form == NULL && message_sign(message, file, err) < 0)
		return message_waits(message);
	message_draft_control(message, conf, file, inode, sink);
	message_tell_rcpts(message);
	if (message_route_all(message, router, conf, form, err) < 0)
		return message_waits(message);
	if (message->rcpts.count == 0 && envelope->is_error) {
		err_set(err, "neither recipients nor a sender to tell");
		return message_broken(message, "norecipients");
	}
	if (message->rcpts.count == 0) {
		struct given_rcpt none = {
		    .path.local = SLICE("unlisted-recipients") };

		router_refuse(&message->rcpts, &none, "norecipients");
	}
	if (copies_add(router, &message->rcpts, envelope, err) < 0)
		return message_waits(message);
	return message_finish_control(message, file, err);
}
