/* target.c - what is to be blocked
 *
 * In     a word of the command line
 * Out    a network, a sender or a user, as its table has it
 * Holds  nothing
 * Trusts nothing: what bars half the world, or this machine, is refused
 * Spec   zmailer-block(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/ascii.h"
#include "conf/conf.h"
#include "grammar/smtp/path.h"
#include "tools/zmailer/block/target.h"

#include "base/banned.h"

enum {
	NET_BITS_LEAST = 16,	/* IPv6; wider ones are half the world */
	NET_BITS_LEAST_4 = 96 + 8
};

const struct block_kind block_kinds[BLOCK_KINDS] = {
	{ "blocked-clients", -1, "", "reject from <blocked-clients> "
	    "text \"mail from your address is blocked here\"\n" },
	{ "blocked-senders", PATTERN_SENDER, "", "reject sender "
	    "<blocked-senders> text \"mail from this sender is blocked "
	    "here\"\n" },
	{ "blocked-users", PATTERN_USER, "user:", "reject user <blocked-users> "
	    "text \"this account is blocked here\"\n" },
};

/* ---- what is meant ------------------------------------------------------ */

static bool
block_is_loopback(const struct net *net)
{
	struct net four, six;

	return net_parse(SLICE("127.0.0.0/8"), &four, NULL) == 0 &&
	    net_parse(SLICE("::1"), &six, NULL) == 0 &&
	    (net_contains(&four, net) || net_contains(net, &six));
}

static int
block_take_net(struct arena *arena, const char *word, struct block_target *out)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool is_four = memcmp(out->net.bytes, mapped, 12) == 0;

	if (out->net.bits < (is_four ? (unsigned)NET_BITS_LEAST_4 :
	    (unsigned)NET_BITS_LEAST)) {
		fprintf(stderr, "zmailer: block: %s is too wide: at least /8, "
		    "or /16 of IPv6\n", word);
		return EX_USAGE;
	}
	if (block_is_loopback(&out->net)) {
		fprintf(stderr, "zmailer: block: %s is this machine itself\n",
		    word);
		return EX_USAGE;
	}
	out->kind = &block_kinds[BLOCK_KIND_CLIENTS];
	out->key = arena_printf(arena, "%s", word);
	return EX_OK;
}

/* user@domain, @domain, domain, .domain, user@: keys of a table of rules. */
static bool
is_sender(struct slice word)
{
	size_t at = slice_find(word, '@');
	struct slice domain = slice_from(word, at == word.n ? 0 : at + 1);

	if (word.n < 2 || word.n > 320 || word.p[0] == '#')
		return false;
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] <= 32 || word.p[i] == 127 ||
		    ascii_is_among(word.p[i], "<>\":;,()[]\\*?"))
			return false;
	if (slice_starts(domain, ".") && at == word.n)
		domain = slice_from(domain, 1);
	if (domain.n == 0)
		return at > 0 && at < word.n;	/* user@ */
	return domain_parse(domain, NULL) == 0 &&
	    (at < word.n || slice_find(domain, '.') < domain.n);
}

/* As one logs in; a table has its keys in small letters. */
static int
block_take_user(struct arena *arena, const char *word, struct block_target *out)
{
	struct slice user = slice_of(word + strlen("user:"));
	bool is_good = user.n > 0 && user.n <= 255 && user.p[0] != '#';

	for (size_t i = 0; i < user.n; i++)
		is_good = is_good && (unsigned char)user.p[i] > 32 &&
		    user.p[i] != 127;
	out->kind = &block_kinds[BLOCK_KIND_USERS];
	out->key = slice_lower(arena, user).p;
	if (!is_good)
		fprintf(stderr, "zmailer: block: user: wants the name with "
		    "which somebody logs in (user:alice, "
		    "user:alice@example.org)\n");
	return is_good ? EX_OK : EX_USAGE;
}

int
block_target_take(struct arena *arena, const char *word,
    struct block_target *out)
{
	struct str shown = STR_INIT;
	struct err err;
	size_t n = strlen(word);

	if (strncmp(word, "user:", 5) == 0)
		return block_take_user(arena, word, out);
	if (n > 0 && strspn(word, "0123456789abcdefABCDEF.:/") == n &&
	    strpbrk(word, ".:/") != NULL) {
		if (net_parse(slice_of(word), &out->net, &err) == 0)
			return block_take_net(arena, word, out);
		if (strchr(word, '/') != NULL || strchr(word, ':') != NULL) {
			fprintf(stderr, "zmailer: block: %s: %s\n", word,
			    err.text);
			return EX_USAGE;
		}
	}
	if (is_sender(slice_of(word))) {
		out->kind = &block_kinds[BLOCK_KIND_SENDERS];
		out->key = slice_lower(arena, slice_of(word)).p;
		return EX_OK;
	}
	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: block: '%s' is no network (192.0.2.0/24), no "
	    "sender (user@domain, @domain, domain, .domain) and no user who "
	    "logs in (user:NAME)\n", shown.buf);
	str_release(&shown);
	return EX_USAGE;
}
