/* desk_line.c - lines and frames of the desk of a cluster
 *
 * In     lines
 * Out    what they say
 * Holds  nothing
 * Trusts nothing: words are counted, their bytes and lengths bounded
 * Spec   desk_line.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "io/consult/desk_line.h"

#include "base/banned.h"

static const char *const want_names[] = {
	[DESK_CONTROL] = "control", [DESK_VERB] = "verb"
};
static const char *const frame_names[] = {
	[DESK_OUT] = "out", [DESK_ERR] = "err", [DESK_EXIT] = "exit"
};

/* As conf has it: small letters, digits, - _ and . */
static bool
desk_name_is_good(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_lower(name.p[i]) && !ascii_is_digit(name.p[i]) &&
		    !ascii_is_among(name.p[i], "-_."))
			return false;
	return name.n > 0 && name.n <= DESK_NAME_BYTES_MAX;
}

bool
desk_who_is_good(struct slice who)
{
	for (size_t i = 0; i < who.n; i++)
		if (who.p[i] <= ' ' || who.p[i] > '~' || who.p[i] == '"' ||
		    who.p[i] == '\\')
			return false;
	return who.n > 0 && who.n <= DESK_WHO_BYTES_MAX;
}

/* The next word; a blank parts two, and no more than one. */
static bool
desk_word(struct slice *rest, struct slice *out)
{
	return slice_cut(rest, ' ', out) && out->n > 0;
}

static bool
desk_want_take(struct slice word, enum desk_want *out)
{
	for (int i = DESK_CONTROL; i <= DESK_VERB; i++)
		if (slice_is(word, want_names[i])) {
			*out = (enum desk_want)i;
			return true;
		}
	return false;
}

int
desk_call_parse(struct slice line, struct desk_call *out)
{
	struct slice rest = line, to, want;

	return line.n <= DESK_LINE_BYTES_MAX && !slice_ends(line, " ") &&
	    desk_word(&rest, &to) &&
	    slice_is(to, "to") && desk_word(&rest, &out->node) &&
	    desk_name_is_good(out->node) && desk_word(&rest, &want) &&
	    desk_want_take(want, &out->want) && rest.n == 0 ? 0 : -1;
}

int
desk_hello_parse(struct slice line, struct desk_hello *out)
{
	struct slice rest = line, magic, version, want, right;

	if (line.n > DESK_LINE_BYTES_MAX || slice_ends(line, " ") ||
	    !desk_word(&rest, &magic) ||
	    !slice_is(magic, "zmnodes") || !desk_word(&rest, &version) ||
	    !slice_is(version, "1") || !desk_word(&rest, &out->cluster) ||
	    !desk_word(&rest, &out->from) || !desk_word(&rest, &out->to) ||
	    !desk_word(&rest, &want) || !desk_want_take(want, &out->want) ||
	    !desk_word(&rest, &right) || !desk_word(&rest, &out->who))
		return -1;
	out->may_write = slice_is(right, "write");
	return rest.n == 0 && desk_name_is_good(out->cluster) &&
	    desk_name_is_good(out->from) && desk_name_is_good(out->to) &&
	    desk_who_is_good(out->who) &&
	    (out->may_write || slice_is(right, "read")) ? 0 : -1;
}

void
desk_hello_add(struct str *out, const struct desk_hello *hello)
{
	str_addf(out, "zmnodes 1 " SLICE_FMT " " SLICE_FMT " " SLICE_FMT
	    " %s %s " SLICE_FMT "\n", SLICE_ARG(hello->cluster),
	    SLICE_ARG(hello->from), SLICE_ARG(hello->to),
	    want_names[hello->want], hello->may_write ? "write" : "read",
	    SLICE_ARG(hello->who));
}

enum desk_answer
desk_answer_parse(struct slice line, uint64_t *out_number,
    struct slice *out_words)
{
	*out_number = 0;
	*out_words = (struct slice){ .p = "", .n = 0 };
	if (line.n > DESK_LINE_BYTES_MAX)
		return DESK_NONSENSE;
	if (slice_is(line, "ok") || (slice_starts(line, "ok ") &&
	    slice_number(slice_from(line, 3), 0, INT64_MAX, out_number)))
		return DESK_OK;
	if (!slice_starts(line, "no "))
		return DESK_NONSENSE;
	*out_words = slice_from(line, 3);
	return DESK_NO;
}

int
desk_frame_parse(struct slice line, enum desk_frame *out_kind,
    size_t *out_number)
{
	struct slice rest = line, word;
	uint64_t number;

	if (!desk_word(&rest, &word))
		return -1;
	for (int i = DESK_OUT; i <= DESK_EXIT; i++) {
		if (!slice_is(word, frame_names[i]) || !slice_number(rest, 0,
		    i == DESK_EXIT ? 255 : DESK_FRAME_BYTES_MAX, &number))
			continue;
		*out_kind = (enum desk_frame)i;
		*out_number = (size_t)number;
		return 0;
	}
	return -1;
}

void
desk_frame_add(struct str *out, enum desk_frame kind, struct slice bytes)
{
	str_addf(out, "%s %zu\n", frame_names[kind], bytes.n);
	str_add_slice(out, bytes);
}
