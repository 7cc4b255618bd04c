/* encode.c - a claimed message becomes one without 8-bit bytes
 *
 * In     a claim, its bytes
 * Out    the same message, its parts encoded, in the place of the first
 * Holds  one draft; a part's lines at a time
 * Trusts no byte of the message: what cannot be encoded stays as it is
 * Spec   doc/INTERNALS.md rows C2 and C3; RFC 6152 section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/spool/encode.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_down.h"
#include "mail/envelope.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

enum { ENCODE_PIECE_BYTES = 65536 };

struct encoding {		/* of one message */
	struct slice	 header, body;
	struct mime_down *down;
	struct draft	 draft;
	struct str	 text;		/* a piece of what is written */
	bool		 is_ascii;	/* all that was written */
};

/* ---- may it be encoded? ------------------------------------------------- */

/* A signature that is there is of the bytes as they are. */
static bool
encode_is_signed(struct slice header)
{
	static const char *const names[] = { "DKIM-Signature",
		"DKIM2-Signature", "ARC-Message-Signature" };
	struct header_field field;
	bool is_broken = false;

	while (header.n > 0) {
		if (header_next(&header, &field, &is_broken) != 1) {
			if (!is_broken || header_junk(&header).n == 0)
				break;
			continue;
		}
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (header_is(&field, names[i]))
				return true;
	}
	return false;
}

/* The first pass: what is in it? */
static bool
encode_can(struct encoding *encoding)
{
	struct mime_down *down = encoding->down;
	struct slice rest = encoding->body;

	mime_down_header(down, encoding->header, NULL);
	while (rest.n > 0 && !down->is_too_much) {
		mime_down_body(down, slice_first(rest, ENCODE_PIECE_BYTES),
		    NULL);
		rest = slice_from(rest, rest.n < ENCODE_PIECE_BYTES ? rest.n :
		    ENCODE_PIECE_BYTES);
	}
	mime_down_end(down, NULL);
	return mime_down_is_needed(down) && !down->is_too_much &&
	    !down->is_undoable && !down->is_sealed;
}

/* Header and body of the file.  False: it has no end of its header. */
static bool
encode_find(struct encoding *encoding, struct slice text)
{
	size_t at = 0;

	while (at < text.n && text.p[at] != '\n') {
		at += slice_find(slice_from(text, at), '\n');
		at += at < text.n;
	}
	if (at >= text.n)
		return false;
	encoding->header = slice_first(text, at);
	encoding->body = slice_from(text, at + 1);
	return true;
}

/* ---- writing ------------------------------------------------------------ */

static int
encode_put(struct encoding *encoding, struct err *err)
{
	int result = draft_write(&encoding->draft, encoding->text.buf,
	    encoding->text.len, err);

	encoding->is_ascii = encoding->is_ascii && mime_is_ascii(str_slice(
	    &encoding->text));
	str_reset(&encoding->text);
	return result;
}

static int
encode_write(struct encoding *encoding, const struct envelope *envelope,
    struct err *err)
{
	struct slice rest = encoding->body;
	struct str lines = STR_INIT;
	int result = envelope_add(&lines, envelope, err);

	if (result == 0)
		result = draft_write(&encoding->draft, lines.buf, lines.len,
		    err);
	str_release(&lines);
	mime_down_again(encoding->down);
	mime_down_header(encoding->down, encoding->header, &encoding->text);
	while (result == 0 && rest.n > 0) {
		struct slice piece = slice_first(rest, ENCODE_PIECE_BYTES);

		mime_down_body(encoding->down, piece, &encoding->text);
		rest = slice_from(rest, piece.n);
		result = encode_put(encoding, err);
	}
	if (result != 0)
		return -1;
	mime_down_end(encoding->down, &encoding->text);
	return encode_put(encoding, err);
}

/* Row C2 to C3: one rename puts it in the place of the first, whose name it
 * has until it is called after its own number. */
static enum spool_encoded
encode_replace(struct spool *spool, struct encoding *encoding,
    struct claim *claim, struct err *err)
{
	struct draft *draft = &encoding->draft, *drafts[1] = { draft };
	int router = spool_dir_fd(spool, AREA_ROUTER, claim->priority);
	struct timespec times[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };
	struct stat st;
	char name[SPOOL_NAME_BYTES];

	/* it came when the first one did */
	if (fstat(claim->fd, &st) == 0)
		times[1] = st.st_mtim;
	if (spool_was_frozen(claim->fd))
		(void)spool_frozen_write(draft->fd);
	if (draft_sync(drafts, 1, err) != 1)
		return SPOOL_ENCODE_TROUBLE;
	(void)futimens(draft->fd, times);
	/* C2: durable; the draft is no message yet, a crash leaves the first */
	if (renameat(spool_dir_fd(spool, AREA_PUBLIC, 0), draft->name, router,
	    claim->name) != 0) {
		err_sys(err, "rename %s", draft->name);
		return SPOOL_ENCODE_TROUBLE;
	}
	/* C3: the first is gone; who looks for names finds this one.  Not
	 * locked then: a worker that comes at once must find it free, and if
	 * recovery has renamed it meanwhile, that is as good. */
	draft_hand_over(draft);
	snprintf(name, sizeof(name), "%ju", (uintmax_t)draft->inode);
	(void)spool_rename(router, claim->name, router, name);
	if ((spool->flags & SPOOL_STRICT) != 0)
		(void)spool_sync_dirs(spool, router, router, err);
	close(claim->fd);
	claim->fd = -1;
	claim->inode = draft->inode;
	return SPOOL_ENCODED;
}

static enum spool_encoded
encode_draft(struct spool *spool, struct encoding *encoding,
    struct claim *claim, struct envelope *envelope, struct err *err)
{
	enum spool_encoded result = SPOOL_ENCODE_TROUBLE;
	char stem[SPOOL_NAME_BYTES];

	snprintf(stem, sizeof(stem), SPOOL_ENCODED_OF "%ju-%s",
	    (uintmax_t)claim->inode, envelope->id);
	if (draft_open_again(spool, stem, &encoding->draft, err) < 0)
		return SPOOL_ENCODE_TROUBLE;
	if (envelope->bodytype.n > 0)
		envelope->bodytype = SLICE("7BIT");
	encoding->is_ascii = true;
	if (encode_write(encoding, envelope, err) == 0)
		result = encoding->is_ascii ? encode_replace(spool, encoding,
		    claim, err) : SPOOL_ENCODED_NOT;
	if (result != SPOOL_ENCODED)
		draft_abort(&encoding->draft);
	return result;
}

enum spool_encoded
spool_encode(struct spool *spool, struct claim *claim, struct slice file,
    struct err *err)
{
	struct encoding encoding = { .text = STR_INIT };
	enum spool_encoded result = SPOOL_ENCODED_NOT;
	struct arena *arena = arena_new();
	struct envelope envelope;
	bool is_binary;

	if (envelope_parse(arena, file, &envelope, err) == 0 &&
	    envelope.id[0] != '\0' && encode_find(&encoding,
	    slice_from(file, envelope.header_offset)) &&
	    !encode_is_signed(encoding.header) &&
	    (!envelope.terms.is_utf8 || mime_is_ascii(encoding.header))) {
		is_binary = slice_is_nocase(envelope.bodytype, "BINARYMIME");
		encoding.down = mem_alloc(1, sizeof(*encoding.down));
		mime_down_init(encoding.down, MIME_TO_7BIT | (is_binary ?
		    (unsigned)MIME_FROM_BINARY : 0));
		if (encode_can(&encoding))
			result = encode_draft(spool, &encoding, claim,
			    &envelope, err);
		mime_down_release(encoding.down);
		mem_free(&encoding.down);
	}
	str_release(&encoding.text);
	arena_free(&arena);
	return result;
}
