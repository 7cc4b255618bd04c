/* address.c - what the readers of old queues share
 *
 * In     addresses and parameters as another mailer keeps them
 * Out    the same as an envelope of ours has them
 * Trusts nothing: the grammar of RFC 5321 and RFC 3461 decides
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "grammar/smtp/xtext.h"
#include "tools/zmailer/import/queue/old.h"

#include "base/banned.h"

int
old_sink_add(struct old_sink *sink, struct slice bytes, struct err *err)
{
	size_t from = 0;

	for (size_t i = 0; i < bytes.n; i++) {
		unsigned char c = (unsigned char)bytes.p[i];
		bool is_lone = sink->is_after_cr && c != '\n';

		if (c == 0)
			return err_set(err, "line %ju has a NUL byte, which "
			    "mail cannot have", (uintmax_t)sink->line + 1);
		sink->has_8bit = sink->has_8bit || c > 127;
		if (is_lone || c == '\r') {	/* up to here, then LF */
			struct slice part = slice_first(slice_from(bytes,
			    from), i - from);

			if (part.n > 0 && sink->put(sink->context, part,
			    err) != 0)
				return -1;
			sink->bytes += part.n;
			from = c == '\r' ? i + 1 : i;
		}
		if (is_lone) {
			sink->lone_crs++;
			sink->line++;
			sink->bytes++;
			if (sink->put(sink->context, SLICE("\n"), err) != 0)
				return -1;
		}
		sink->is_after_cr = c == '\r';
		sink->line += c == '\n';
	}
	bytes = slice_from(bytes, from);
	sink->bytes += bytes.n;
	return bytes.n > 0 ? sink->put(sink->context, bytes, err) : 0;
}

int
old_sink_end(struct old_sink *sink, struct err *err)
{
	if (!sink->is_after_cr)
		return 0;
	sink->is_after_cr = false;
	sink->lone_crs++;
	sink->bytes++;
	return sink->put(sink->context, SLICE("\n"), err);
}

void
old_lost_add(struct old_message *message, const char *words)
{
	if (memmem(message->lost.buf, message->lost.len, words,
	    strlen(words)) != NULL)
		return;
	str_adds(&message->lost, message->lost.len > 0 ? "; " : "");
	str_adds(&message->lost, words);
}

struct envelope_rcpt *
old_rcpt_add(struct old_rcpts *rcpts)
{
	struct envelope_rcpt *row;

	if (rcpts->count == OLD_RCPTS_MAX)
		return NULL;
	if (rcpts->count == rcpts->room) {
		rcpts->room = rcpts->room > 0 ? 2 * rcpts->room : 16;
		rcpts->rows = mem_grow(rcpts->rows, rcpts->room,
		    sizeof(*rcpts->rows));
	}
	row = &rcpts->rows[rcpts->count++];
	memset(row, 0, sizeof(*row));
	return row;
}

void
old_rcpts_take(struct arena *arena, struct old_rcpts *rcpts,
    struct envelope *out)
{
	out->rcpt_count = rcpts->count;
	out->rcpts = arena_alloc(arena, (rcpts->count + 1) *
	    sizeof(*out->rcpts));
	if (rcpts->count > 0)
		memcpy(out->rcpts, rcpts->rows, rcpts->count *
		    sizeof(*out->rcpts));
	mem_free(&rcpts->rows);
	rcpts->count = rcpts->room = 0;
}

static bool
address_is_text(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 127)
			return false;
	return true;
}

int
old_address(struct arena *arena, struct slice text, struct path *out,
    struct err *err)
{
	struct slice rest, copy = slice_copy(arena, slice_first(
	    slice_trim(text), 4 * PATH_MAX_BYTES));

	if (!address_is_text(copy) || path_parse(copy, PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_POSTMASTER_OK | PATH_UTF8, out, &rest,
	    err) != 0 || rest.n > 0 || path_is_null(out)) {
		struct str shown = STR_INIT;

		str_add_escaped(&shown, slice_first(copy, 80));
		err_set(err, "'%s' is no address", shown.buf);
		str_release(&shown);
		return -1;
	}
	return 0;
}

/* RFC 5321 section 4.1.2: may it be written without quotes? */
static bool
local_is_dot_string(struct slice local)
{
	bool is_atom = false;

	for (size_t i = 0; i < local.n; i++) {
		unsigned char c = (unsigned char)local.p[i];

		if (c == '.' ? !is_atom : !(ascii_is_alnum((char)c) ||
		    c > 127 || strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL))
			return false;
		is_atom = c != '.';
	}
	return is_atom;
}

int
old_address_plain(struct arena *arena, struct slice text, struct path *out,
    struct err *err)
{
	struct slice local = text;
	struct str quoted = STR_INIT;
	int result;

	while (local.n > 0 && local.p[local.n - 1] != '@')
		local.n--;
	if (local.n == 0)
		local = text;
	else
		local.n--;
	if (text.n == 0 || local_is_dot_string(local) ||
	    slice_find(text, '\0') < text.n)
		return old_address(arena, text, out, err);
	str_addc(&quoted, '"');
	for (size_t i = 0; i < local.n; i++) {
		if (local.p[i] == '"' || local.p[i] == '\\')
			str_addc(&quoted, '\\');
		str_addc(&quoted, local.p[i]);
	}
	str_addc(&quoted, '"');
	str_add_slice(&quoted, slice_from(text, local.n));
	result = old_address(arena, str_slice(&quoted), out, err);
	str_release(&quoted);
	return result;
}

int
old_sender(struct arena *arena, struct slice text, bool is_plain,
    struct envelope *out, struct err *err)
{
	text = slice_trim(text);
	out->is_error = text.n == 0 || slice_is(text, "<>");
	if (out->is_error)
		return 0;
	if ((is_plain ? old_address_plain : old_address)(arena, text,
	    &out->from, err) != 0)
		return err_prefix(err, "sender");
	return 0;
}

/* A parameter as xtext, in the arena. */
static struct slice
parameter_take(struct arena *arena, struct slice text, bool has_xtext)
{
	struct str out = STR_INIT;
	struct slice copy;

	if (has_xtext)
		return slice_copy(arena, text);
	xtext_encode(&out, text);
	copy = slice_copy(arena, str_slice(&out));
	str_release(&out);
	return copy;
}

void
old_orcpt(struct arena *arena, struct slice text, bool has_xtext,
    struct old_message *message, struct slice *out)
{
	size_t at = slice_find(text, ';');
	struct slice type = slice_first(text, at), value, whole;

	if (text.n == 0)
		return;
	if (at < text.n && text.n <= DSN_ORCPT_BYTES_MAX) {
		value = parameter_take(arena, slice_from(text, at + 1),
		    has_xtext);
		whole = slice_of(arena_printf(arena, SLICE_FMT ";" SLICE_FMT,
		    SLICE_ARG(type), SLICE_ARG(value)));
		if (dsn_orcpt_check(whole, NULL) == 0) {
			*out = whole;
			return;
		}
	}
	old_lost_add(message, "an ORCPT that is none");
}

void
old_envid(struct arena *arena, struct slice text, bool has_xtext,
    struct old_message *message)
{
	struct slice value = parameter_take(arena, slice_first(text,
	    DSN_ENVID_BYTES_MAX + 1), has_xtext);

	if (text.n == 0)
		return;
	if (dsn_envid_check(value, NULL) == 0)
		message->envelope.envid = value;
	else
		old_lost_add(message, "an ENVID that is none");
}

/* A word of a comment: nothing in it ends the comment or a line. */
static void
came_word_add(struct str *out, struct slice word)
{
	for (size_t i = 0; i < word.n && i < 255; i++) {
		char c = word.p[i];

		str_addc(out, c > ' ' && c <= '~' && strchr("()[]\\", c) ==
		    NULL ? c : '?');
	}
}

void
old_came_from(struct arena *arena, const char *kind, const char *id,
    struct slice name, struct slice address, struct envelope *out)
{
	struct str text = STR_INIT;

	str_addf(&text, "localhost (queue of %s, %s", kind, id);
	if (name.n > 0) {
		str_adds(&text, ", from ");
		came_word_add(&text, name);
	}
	if (address.n > 0) {
		str_adds(&text, name.n > 0 ? " [" : ", from [");
		came_word_add(&text, address);
		str_addc(&text, ']');
	}
	str_addc(&text, ')');
	out->rcvdfrom = slice_copy(arena, str_slice(&text));
	str_release(&text);
}

void
old_user(struct arena *arena, struct slice user, struct old_message *message)
{
	user = slice_trim(user);
	if (user.n == 0)
		return;
	if (!address_is_text(user) || user.n > PATH_MAX_BYTES)
		old_lost_add(message, "the name of who logged in");
	else
		message->envelope.user = slice_copy(arena, user);
}
