/* signatures.c - the DKIM signatures that a message of ours gets
 *
 * In     a header as it leaves, a body, sign statements
 * Out    DKIM-Signature fields, or the reason why there can be none
 * Holds  a socket to the process that has the keys
 * Spec   zmailer.conf(5), sign; RFC 6376
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "grammar/base64.h"
#include "grammar/message/header.h"
#include "journal/event.h"
#include "origin/dkim/sign.h"
#include "router/route/route.h"
#include "router/sign/signatures.h"
#include "router/sign/signer.h"

#include "base/banned.h"

enum { KINDS_MAX = 256 };	/* that are known */

void
signatures_init(struct signatures *signatures, const struct conf *conf,
    int socket)
{
	*signatures = (struct signatures){ .conf = conf, .socket = socket };
	signatures->kinds = cache_new(KINDS_MAX);
	ipc_inbox_init(&signatures->inbox);
}

static void
signatures_hang_up(struct signatures *signatures)
{
	if (signatures->socket >= 0)
		close(signatures->socket);
	signatures->socket = -1;
}

void
signatures_release(struct signatures *signatures)
{
	signatures_hang_up(signatures);
	ipc_inbox_release(&signatures->inbox);
	cache_free(&signatures->kinds);
}

bool
signatures_are_for(const struct signatures *signatures,
    const struct envelope *envelope)
{
	return conf_signs(signatures->conf) &&
	    (!envelope->is_external || envelope->user.n > 0 ||
	    envelope->is_to_sign);
}

void
signatures_begin(struct signatures *signatures, struct slice body)
{
	signatures->body = body;
	signatures->has_sum = false;
}

/* ---- the process that has the keys ------------------------------------ */

static int
signatures_wait(struct signatures *signatures)
{
	struct pollfd ready = { .fd = signatures->socket, .events = POLLIN };
	int64_t end_ms = clock_steady_ms() + SIGNATURES_ANSWER_MS, left_ms;
	int n;

	do {
		left_ms = end_ms - clock_steady_ms();
		n = poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0);
	} while (n < 0 && errno == EINTR && left_ms > 0);
	return n == 1 ? 0 : -1;
}

/* One line there, one line back, which is out's.  What comes after an answer
 * that was late would be another's: then it is hung up. */
static int
signatures_talk(struct signatures *signatures, struct str *question,
    struct str *out, struct err *err)
{
	size_t cursor = 0;
	struct slice line = { NULL, 0 };
	int more = IPC_LINE_NONE;

	str_addc(question, '\n');
	if (signatures->socket >= 0 && ipc_send(signatures->socket,
	    str_slice(question), NULL, 0) == (ssize_t)question->len)
		do {
			if (signatures_wait(signatures) != 0 ||
			    ipc_receive(signatures->socket,
			    &signatures->inbox) != IPC_GOT)
				break;
			more = ipc_line(&signatures->inbox, &cursor, &line);
		} while (more == IPC_LINE_NONE);
	if (more != IPC_LINE) {
		signatures_hang_up(signatures);
		return err_set(err, "the process that has the keys does not "
		    "answer");
	}
	str_add_slice(out, line);
	ipc_inbox_consume(&signatures->inbox, cursor);
	return 0;
}

/* The answer begins with this word: the rest of it. */
static int
signatures_ask(struct signatures *signatures, struct str *question,
    const char *word, struct str *out, struct err *err)
{
	struct str answer = STR_INIT;
	struct slice rest, first;
	int result = signatures_talk(signatures, question, &answer, err);

	rest = str_slice(&answer);
	if (result == 0 && slice_word(&rest, &first) &&
	    slice_is(first, word))
		str_add_slice(out, slice_trim(rest));
	else if (result == 0)
		result = err_set(err, SLICE_FMT, SLICE_ARG(slice_trim(rest)));
	str_release(&answer);
	return result;
}

/* ---- whose mail it is ------------------------------------------------- */

struct slice
signatures_domain(struct slice header, struct arena *arena)
{
	struct header_field field;
	bool is_broken = false;
	struct path path;
	struct slice rest, domain = { NULL, 0 };
	struct err err;

	while (header.n > 0) {
		if (!header_next(&header, &field, &is_broken)) {
			if (!is_broken || header_junk(&header).n == 0)
				break;
			continue;
		}
		if (!header_is(&field, "From"))
			continue;
		rest = field.value;
		if (header_address(arena, &rest, &path, &err) !=
		    HEADER_ADDRESS || path.domain.n == 0 ||
		    router_domain(arena, path.domain, &domain, &err) != 0)
			return (struct slice){ NULL, 0 };
		return domain;
	}
	return domain;
}

/* ---- one signature ---------------------------------------------------- */

static int
signatures_sum(struct signatures *signatures, struct err *err)
{
	if (!signatures->has_sum &&
	    dkim_sign_body(signatures->body, signatures->sum) != 0)
		return err_set(err, "cannot sum the body up");
	signatures->has_sum = true;
	return 0;
}

int
signatures_kind(struct signatures *signatures, const struct conf_sign *row,
    enum verify_kind *out_kind, struct err *err)
{
	struct str question = STR_INIT, kind = STR_INIT, name = STR_INIT;
	int64_t now_ms = clock_steady_ms();
	struct slice known;
	int result = 0;

	str_addf(&question, "key %s %s", row->domain, row->selector);
	if (row->table != NULL)
		str_addf(&question, " %s", row->table);
	str_add_slice(&name, str_slice(&question));
	signatures->knew_kind = cache_find(signatures->kinds,
	    str_slice(&name), now_ms, &known);
	if (signatures->knew_kind)
		str_add_slice(&kind, known);
	else if ((result = signatures_ask(signatures, &question, "kind",
	    &kind, err)) == 0)
		cache_add(signatures->kinds, str_slice(&name),
		    str_slice(&kind), now_ms + SIGNATURES_KIND_MS);
	*out_kind = strcmp(kind.buf, SIGNER_RSA) == 0 ? VERIFY_RSA_SHA256 :
	    VERIFY_ED25519_SHA256;
	str_release(&question);
	str_release(&kind);
	str_release(&name);
	return result;
}

int
signatures_sign(struct signatures *signatures, const struct conf_sign *row,
    enum verify_kind kind, const unsigned char *sum, struct str *out,
    struct err *err)
{
	struct str question = STR_INIT, answer = STR_INIT;
	struct slice rest, word;
	int result;

	str_addf(&question, "sign %s %s ", row->domain, row->selector);
	base64_add(&question, (struct slice){ (const char *)sum,
	    DIGEST_SHA256_BYTES });
	if (row->table != NULL)
		str_addf(&question, " %s", row->table);
	result = signatures_ask(signatures, &question, "signed", &answer,
	    err);
	rest = str_slice(&answer);
	if (result == 0 && (!slice_word(&rest, &word) || !slice_is(word,
	    kind == VERIFY_RSA_SHA256 ? SIGNER_RSA : SIGNER_ED25519) ||
	    base64_decode(slice_trim(rest), out, NULL) != 0))
		result = err_set(err, "the key has just become another");
	if (result != 0)
		cache_clear(signatures->kinds);
	str_release(&question);
	str_release(&answer);
	return result;
}

static int
signatures_try_one(struct signatures *signatures,
    const struct conf_sign *row, struct dkim_sign *sign, struct slice header,
    struct arena *arena, struct str *out, struct err *err)
{
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct str signature = STR_INIT;
	int result = -1;

	if (signatures_kind(signatures, row, &sign->kind, err) != 0)
		return -1;
	if (dkim_sign_begin(sign, header, arena, out, sum) != 0)
		err_set(err, "cannot sum the header up");
	else
		result = signatures_sign(signatures, row, sign->kind, sum,
		    &signature, err);
	if (result == 0)
		dkim_sign_end(out, str_slice(&signature));
	str_release(&signature);
	return result;
}

/* The key may be of another kind than it was: then once more. */
static int
signatures_add_one(struct signatures *signatures, const struct conf_sign *row,
    struct slice header, struct arena *arena, struct str *out,
    struct err *err)
{
	struct dkim_sign sign = { .domain = slice_of(row->domain),
		.selector = slice_of(row->selector),
		.time_s = clock_wall_s(), .body_sum = signatures->sum };
	size_t begun = out->len;

	if (dkim_sign_is_there(header, &sign))
		return 0;
	if (signatures_sum(signatures, err) != 0)
		return -1;
	if (signatures_try_one(signatures, row, &sign, header, arena, out,
	    err) == 0)
		return 0;
	if (!signatures->knew_kind)
		return -1;
	str_truncate(out, begun);
	return signatures_try_one(signatures, row, &sign, header, arena, out,
	    err);
}

/* The reason for people: which table, which key. */
static int
signatures_failed(const struct conf_sign *row, const struct err *why,
    struct err *err)
{
	if (row->table == NULL)
		return err_set(err, "cannot sign for %s, selector %s: %s",
		    row->domain, row->selector, why->text);
	return err_set(err, "cannot sign for %s, selector %s of table <%s>: "
	    "%s", row->domain, row->selector, row->table, why->text);
}

int
signatures_add(struct signatures *signatures, struct routing *routing,
    struct slice header, struct str *out, struct err *err)
{
	struct arena *arena = routing->rcpts->arena;
	struct slice domain = signatures_domain(header, arena);
	size_t begun = out->len;
	struct sign_rows found;
	struct err why;

	if (domain.n == 0)
		return 0;
	if (sign_rows_find(routing, domain, &found, err) != 0)
		return -1;
	for (size_t i = 0; i < found.count; i++) {
		const struct conf_sign *row = &found.rows[i];
		size_t before = out->len;

		if (signatures_add_one(signatures, row, header, arena, out,
		    &why) == 0)
			continue;
		str_truncate(out, row->else_send ? before : begun);
		if (row->else_send)
			continue;
		(void)routing_trouble(routing, "sign", "");
		return signatures_failed(row, &why, err);
	}
	return 0;
}
