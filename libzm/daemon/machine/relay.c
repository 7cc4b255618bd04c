/* relay.c - networks that are everybody's when they are put together
 *
 * In     rules that let networks relay, trusts; the tables that they name
 * Out    a warning where they become too many
 * Holds  the networks while they are added up
 * Spec   zmailer(8), check
 *
 * One network that is too wide is a fault of its line (conf/part/reach.c);
 * here are those that are narrow enough alone: 0.0.0.0/1 in a table,
 * 128.0.0.0/1 in another one.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/machine/look.h"
#include "grammar/net.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum {
	RELAY_BITS_4 = 96 + 7,		/* as wide as two /8 of IPv4, */
	RELAY_BITS_6 = 15,		/* and /15 of IPv6 */
	RELAY_SPANS_MAX = 1000000
};

/* Of IPv4 the last 32 bits, of IPv6 the first 64: nobody is given less. */
struct relay_span {
	uint64_t	first, last;
};

struct relay_family {
	struct relay_span *spans;
	size_t		 count, room;
	uint64_t	 enough;	/* strangers */
	uint64_t	 own;		/* addresses that are nobody's alone */
};

struct relay {
	struct relay_family four, six;
	struct conf_at	 at;		/* of what is added now */
};

static const char *const own_nets[] = { "10.0.0.0/8", "127.0.0.0/8",
	"172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10",
	"fc00::/7", "fe80::/10" };

/* ---- adding up --------------------------------------------------------- */

static void
family_add(struct relay_family *family, uint64_t first, uint64_t last)
{
	if (family->count == RELAY_SPANS_MAX)
		return;
	if (family->count == family->room) {
		family->room = family->room > 0 ? 2 * family->room : 64;
		family->spans = mem_grow(family->spans, family->room,
		    sizeof(*family->spans));
	}
	family->spans[family->count++] = (struct relay_span){ first, last };
}

static bool
net_is_of_four(const struct net *net)
{
	static const struct net all_4 = { { [10] = 0xff, [11] = 0xff }, 96 };

	return net_contains(&all_4, net);
}

static void
relay_add(struct relay *relay, const struct net *net)
{
	bool is_four = net_is_of_four(net);
	unsigned at = is_four ? 12 : 0, width = is_four ? 32 : 64;
	unsigned bits = net->bits < 96 || !is_four ? net->bits : net->bits -
	    96;
	uint64_t first = 0, rest;

	for (unsigned i = 0; i < width / 8; i++)
		first = first << 8 | net->bytes[at + i];
	rest = bits >= width ? 0 : bits == 0 && width == 64 ? UINT64_MAX :
	    ((uint64_t)1 << (width - bits)) - 1;
	family_add(is_four ? &relay->four : &relay->six, first, first | rest);
}

static int
span_compare(const void *a, const void *b)
{
	const struct relay_span *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Addresses in at least one of them; UINT64_MAX: all of 64 bits. */
static uint64_t
family_count(struct relay_family *family)
{
	uint64_t sum = 0, next = 0, first;
	bool is_begun = false;

	if (family->count > 0)
		qsort(family->spans, family->count, sizeof(*family->spans),
		    span_compare);
	for (size_t i = 0; i < family->count; i++) {
		const struct relay_span *span = &family->spans[i];

		if (is_begun && span->last < next)
			continue;
		first = is_begun && span->first < next ? next : span->first;
		if (span->last - first >= UINT64_MAX - sum)
			return UINT64_MAX;
		sum += span->last - first + 1;
		if (span->last == UINT64_MAX)
			return sum;
		next = span->last + 1;
		is_begun = true;
	}
	return sum;
}

static bool
family_is_wide(struct relay_family *family)
{
	return family_count(family) - family->own >= family->enough;
}

static void
relay_init(struct relay *relay)
{
	struct net net;

	*relay = (struct relay){
		.four.enough = (uint64_t)1 << (128 - RELAY_BITS_4),
		.six.enough = (uint64_t)1 << (64 - RELAY_BITS_6) };
	for (size_t i = 0; i < sizeof(own_nets) / sizeof(own_nets[0]); i++)
		if (net_parse(slice_of(own_nets[i]), &net, NULL) == 0)
			relay_add(relay, &net);
	relay->four.own = family_count(&relay->four);
	relay->six.own = family_count(&relay->six);
}

static void
relay_release(struct relay *relay)
{
	mem_free(&relay->four.spans);
	mem_free(&relay->six.spans);
}

/* ---- who is added ------------------------------------------------------ */

/* table_fn */
static bool
relay_take_line(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct net net;

	if (net_parse(key, &net, NULL) == 0)
		relay_add(context, &net);
	return true;
}

static void
relay_add_table(struct machine_look *look, struct relay *relay,
    const char *name)
{
	const struct conf_table *entry = conf_table_find(look->conf, name);
	struct table *table;
	struct err err;

	if (entry == NULL)
		return;
	table = table_new(entry->name, entry->spec);
	(void)table_each(table, relay_take_line, relay, &err);
	table_free(&table);
}

/* True: now it is too much, and said. */
static bool
relay_judge(struct machine_look *look, struct relay *relay, const char *hint,
    const char *text)
{
	bool is_wide = family_is_wide(&relay->four) ||
	    family_is_wide(&relay->six);

	if (is_wide)
		machine_tell(look, CONF_WARNING, relay->at, hint, text);
	return is_wide;
}

static void
relay_check_rules(struct machine_look *look)
{
	const struct conf *conf = look->conf;
	struct relay relay;
	bool is_said = false;

	relay_init(&relay);
	for (size_t i = 0; i < conf->rule_count && !is_said; i++) {
		const struct conf_rule *rule = &conf->rules[i];

		if (rule->at.file == NULL || !conf_rule_serves_clients(rule))
			continue;
		relay.at = rule->at;
		if (rule->from_table != NULL)
			relay_add_table(look, &relay, rule->from_table);
		else if (!rule->has_from_net ||
		    conf_net_is_wide(&rule->from_net))
			continue;	/* said at that line alone */
		else
			relay_add(&relay, &rule->from_net);
		is_said = relay_judge(look, &relay, "name the networks of "
		    "your own machines alone, here and in the rules before "
		    "it", "this is as good as an open relay: the networks "
		    "that may relay are, all together, strangers' to a large "
		    "part");
	}
	relay_release(&relay);
}

static void
relay_check_trusts(struct machine_look *look)
{
	const unsigned serious = 1u << TRUST_PROXY | 1u << TRUST_XCLIENT |
	    1u << TRUST_AUTH;
	const struct conf *conf = look->conf;
	struct relay relay;
	bool is_said = false;

	relay_init(&relay);
	for (size_t i = 0; i < conf->trust_count && !is_said; i++) {
		const struct conf_peers *peers = &conf->trusts[i];

		if (peers->at.file == NULL || !(peers->words & serious) ||
		    (peers->table == NULL && conf_net_is_wide(&peers->net)))
			continue;
		relay.at = peers->at;
		if (peers->table != NULL)
			relay_add_table(look, &relay, peers->table);
		else
			relay_add(&relay, &peers->net);
		is_said = relay_judge(look, &relay, "name the addresses of "
		    "proxies and gateways alone", "those who may say that "
		    "they are another client or user are, all together, "
		    "strangers to a large part: they can relay through this "
		    "host");
	}
	relay_release(&relay);
}

void
machine_check_relay(struct machine_look *look)
{
	relay_check_rules(look);
	relay_check_trusts(look);
}
