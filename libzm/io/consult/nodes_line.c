/* nodes_line.c - lines and frames of the desk of a cluster
 *
 * In     lines
 * Out    what they say
 * Holds  nothing
 * Trusts nothing: words are counted, their bytes and lengths bounded
 * Spec   nodes_line.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "io/consult/nodes_line.h"

#include "base/banned.h"

static const char *const want_names[] = {
	[NODES_CONTROL] = "control", [NODES_VERB] = "verb",
	[NODES_CONFIG] = "config"
};
static const char *const frame_names[] = {
	[NODES_OUT] = "out", [NODES_ERR] = "err", [NODES_EXIT] = "exit"
};

/* As conf has it: small letters, digits, - _ and . */
static bool
nodes_name_is_good(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_lower(name.p[i]) && !ascii_is_digit(name.p[i]) &&
		    !ascii_is_among(name.p[i], "-_."))
			return false;
	return name.n > 0 && name.n <= NODES_NAME_BYTES_MAX;
}

bool
nodes_who_is_good(struct slice who)
{
	for (size_t i = 0; i < who.n; i++)
		if (who.p[i] <= ' ' || who.p[i] > '~' || who.p[i] == '"' ||
		    who.p[i] == '\\')
			return false;
	return who.n > 0 && who.n <= NODES_WHO_BYTES_MAX;
}

const char *
nodes_want_name(enum nodes_want want)
{
	return want_names[want];
}

/* The next word; a blank parts two, and no more than one. */
static bool
nodes_word(struct slice *rest, struct slice *out)
{
	return slice_cut(rest, ' ', out) && out->n > 0;
}

static bool
nodes_want_take(struct slice word, enum nodes_want *out)
{
	for (int i = NODES_CONTROL; i <= NODES_CONFIG; i++)
		if (slice_is(word, want_names[i])) {
			*out = (enum nodes_want)i;
			return true;
		}
	return false;
}

int
nodes_call_parse(struct slice line, struct nodes_call *out)
{
	struct slice rest = line, to, want;

	return line.n <= NODES_LINE_BYTES_MAX && !slice_ends(line, " ") &&
	    nodes_word(&rest, &to) &&
	    slice_is(to, "to") && nodes_word(&rest, &out->node) &&
	    nodes_name_is_good(out->node) && nodes_word(&rest, &want) &&
	    nodes_want_take(want, &out->want) && rest.n == 0 ? 0 : -1;
}

int
nodes_hello_parse(struct slice line, struct nodes_hello *out)
{
	struct slice rest = line, magic, version, want, right;

	if (line.n > NODES_LINE_BYTES_MAX || slice_ends(line, " ") ||
	    !nodes_word(&rest, &magic) ||
	    !slice_is(magic, "zmnodes") || !nodes_word(&rest, &version) ||
	    !slice_is(version, "1") || !nodes_word(&rest, &out->cluster) ||
	    !nodes_word(&rest, &out->from) || !nodes_word(&rest, &out->to) ||
	    !nodes_word(&rest, &want) || !nodes_want_take(want, &out->want) ||
	    !nodes_word(&rest, &right) || !nodes_word(&rest, &out->who))
		return -1;
	out->may_write = slice_is(right, "write");
	return rest.n == 0 && nodes_name_is_good(out->cluster) &&
	    nodes_name_is_good(out->from) && nodes_name_is_good(out->to) &&
	    nodes_who_is_good(out->who) &&
	    (out->may_write || slice_is(right, "read")) ? 0 : -1;
}

void
nodes_hello_add(struct str *out, const struct nodes_hello *hello)
{
	str_addf(out, "zmnodes 1 " SLICE_FMT " " SLICE_FMT " " SLICE_FMT
	    " %s %s " SLICE_FMT "\n", SLICE_ARG(hello->cluster),
	    SLICE_ARG(hello->from), SLICE_ARG(hello->to),
	    want_names[hello->want], hello->may_write ? "write" : "read",
	    SLICE_ARG(hello->who));
}

enum nodes_answer
nodes_answer_parse(struct slice line, uint64_t *out_number,
    struct slice *out_words)
{
	*out_number = 0;
	*out_words = (struct slice){ .p = "", .n = 0 };
	if (line.n > NODES_LINE_BYTES_MAX)
		return NODES_NONSENSE;
	if (slice_is(line, "ok") || (slice_starts(line, "ok ") &&
	    slice_number(slice_from(line, 3), 0, INT64_MAX, out_number)))
		return NODES_OK;
	if (!slice_starts(line, "no "))
		return NODES_NONSENSE;
	*out_words = slice_from(line, 3);
	return NODES_NO;
}

int
nodes_frame_parse(struct slice line, enum nodes_frame *out_kind,
    size_t *out_number)
{
	struct slice rest = line, word;
	uint64_t number;

	if (!nodes_word(&rest, &word))
		return -1;
	for (int i = NODES_OUT; i <= NODES_EXIT; i++) {
		if (!slice_is(word, frame_names[i]) || !slice_number(rest, 0,
		    i == NODES_EXIT ? 255 : NODES_FRAME_BYTES_MAX, &number))
			continue;
		*out_kind = (enum nodes_frame)i;
		*out_number = (size_t)number;
		return 0;
	}
	return -1;
}

void
nodes_frame_add(struct str *out, enum nodes_frame kind, struct slice bytes)
{
	str_addf(out, "%s %zu\n", frame_names[kind], bytes.n);
	str_add_slice(out, bytes);
}
