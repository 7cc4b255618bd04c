/* facts.c - events by selector: which lines of the journal are meant
 *
 * In     a selector, lines
 * Out    yes or no
 * Holds  the last FACTS_IDS_MAX messages that were meant
 * Trusts no line
 * Spec   facts.h; zmailer(8), events
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/json.h"
#include "base/mem.h"
#include "journal/event.h"
#include "tools/journal/facts.h"
#include "past/frame.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { ID_ROOM = 32 };

enum { F_FROM, F_TO, F_MSGID, F_USER, F_CLASS, F_STATE, F_WHY, F_SOURCE,
	F_CHANNEL, F_HOST, F_SIZE, F_TRIES, F_ORCPT, F_REPLY, F_COUNT };
static const char *const keys[F_COUNT] = { "from", "to", "msgid", "user",
	"class", "ev", "reason", "client", "channel", "host", "size", "tries",
	"orcpt", "reply" };

/* What lines of a message said that is true of its other lines, too. */
static const unsigned lasting[] = { F_FROM, F_MSGID, F_USER, F_SOURCE,
	F_SIZE };
enum { LASTING = sizeof(lasting) / sizeof(lasting[0]) };

struct known {			/* a message; "" none */
	char		 id[ID_ROOM];
	bool		 has_sender;
	struct str	 values[LASTING];
};

struct facts {
	const struct selector *selector;
	const char	*host;
	struct str	 values[F_COUNT];
	struct str	 dest;
	struct str	 routed;	/* whom `to` became */
	bool		 has_sender;
	struct known	 known[FACTS_IDS_MAX];
};

struct facts *
facts_new(const struct selector *selector, const char *host)
{
	struct facts *facts = mem_alloc(1, sizeof(*facts));

	facts->selector = selector;
	facts->host = host;
	for (size_t i = 0; i < F_COUNT; i++)
		str_init(&facts->values[i]);
	str_init(&facts->dest);
	str_init(&facts->routed);
	return facts;
}

void
facts_free(struct facts **facts)
{
	for (size_t i = 0; i < F_COUNT; i++)
		str_release(&(*facts)->values[i]);
	for (size_t i = 0; i < FACTS_IDS_MAX; i++)
		for (size_t k = 0; k < LASTING; k++)
			if ((*facts)->known[i].id[0] != '\0')
				str_release(&(*facts)->known[i].values[k]);
	str_release(&(*facts)->dest);
	str_release(&(*facts)->routed);
	mem_free(facts);
}

/* The slot of a message; whose it was before is forgotten. */
static struct known *
known_of(struct facts *facts, struct slice id)
{
	struct known *known;

	if (id.n == 0 || id.n >= ID_ROOM)
		return NULL;
	known = &facts->known[crc32c(0, id.p, id.n) % FACTS_IDS_MAX];
	if (slice_is(id, known->id))
		return known;
	for (size_t i = 0; i < LASTING; i++) {
		if (known->id[0] == '\0')
			str_init(&known->values[i]);
		str_reset(&known->values[i]);
	}
	memcpy(known->id, id.p, id.n);
	known->id[id.n] = '\0';
	known->has_sender = false;
	return known;
}

/* What the line does not say and its message is known by; what it says is
 * known from now on. */
static void
values_join(struct facts *facts, struct known *known)
{
	for (size_t i = 0; i < LASTING; i++) {
		struct str *own = &facts->values[lasting[i]];

		if (own->len > 0) {
			str_reset(&known->values[i]);
			str_add_slice(&known->values[i], str_slice(own));
		} else {
			str_add_slice(own, str_slice(&known->values[i]));
		}
	}
	if (facts->has_sender)
		known->has_sender = true;
	else
		facts->has_sender = known->has_sender;
}

static struct slice
facts_value_of(const struct facts *facts, size_t which)
{
	return str_slice(&facts->values[which]);
}

/* In rcpt.routed user= is whom the recipient became; elsewhere it is who
 * submitted. */
static void
values_read(struct facts *facts, struct slice line)
{
	struct str value = STR_INIT;
	struct known *known;
	struct slice key;
	size_t cursor = 0;

	for (size_t i = 0; i < F_COUNT; i++)
		str_reset(&facts->values[i]);
	while (json_next(line, &cursor, &key, &value))
		for (size_t i = 0; i < F_COUNT; i++)
			if (slice_is(key, keys[i]))
				str_add_slice(&facts->values[i],
				    str_slice(&value));
	str_release(&value);
	str_reset(&facts->routed);
	if (slice_is(facts_value_of(facts, F_STATE),
	    event_rows[EV_RCPT_ROUTED].name)) {
		str_add_slice(&facts->routed, facts_value_of(facts, F_USER));
		str_reset(&facts->values[F_USER]);
	}
	facts->has_sender = journal_line_has(line, "from", NULL);
	known = known_of(facts, journal_line_id(line));
	if (known != NULL)
		values_join(facts, known);
}

static int64_t
facts_number_of(const struct facts *facts, size_t which)
{
	uint64_t number;

	return slice_number(facts_value_of(facts, which), 0, INT64_MAX,
	    &number) ?
	    (int64_t)number : -1;
}

/* Where no sender is named none is known: not the null sender. */
static struct slice
facts_sender_of(const struct facts *facts)
{
	if (!facts->has_sender)
		return (struct slice){ NULL, 0 };
	return frame_bare(facts_value_of(facts, F_FROM));
}

static bool
line_fits(struct facts *facts, struct slice line)
{
	struct selector_subject subject;
	int64_t at_ms = journal_line_ms(line);

	values_read(facts, line);
	str_reset(&facts->dest);
	if (facts->values[F_CHANNEL].len > 0) {
		str_add_slice(&facts->dest, facts_value_of(facts, F_CHANNEL));
		str_addc(&facts->dest, '/');
		str_add_slice(&facts->dest, facts_value_of(facts, F_HOST));
	}
	memset(&subject, 0, sizeof(subject));
	subject.id = journal_line_id(line);
	subject.from = facts_sender_of(facts);
	subject.to = frame_bare(facts_value_of(facts, F_TO));
	subject.routed = str_slice(&facts->routed);
	subject.host = slice_of(facts->host);
	subject.orcpt = facts_value_of(facts, F_ORCPT);
	subject.dest = str_slice(&facts->dest);
	subject.state = facts_value_of(facts, F_STATE);
	subject.class = facts_value_of(facts, F_CLASS);
	subject.user = facts_value_of(facts, F_USER);
	subject.source = frame_client(facts_value_of(facts, F_SOURCE));
	subject.msgid = facts_value_of(facts, F_MSGID);
	subject.why = facts_value_of(facts, facts->values[F_WHY].len > 0 ?
	    F_WHY :
	    F_REPLY);
	subject.size_bytes = facts_number_of(facts, F_SIZE);
	subject.tries = facts_number_of(facts, F_TRIES);
	subject.priority = -1;
	subject.age_s = at_ms < 0 ? -1 : clock_wall_s() - at_ms / 1000;
	return selector_match(facts->selector, &subject);
}

bool
facts_fit(struct facts *facts, struct slice line)
{
	return facts->selector == NULL || line_fits(facts, line);
}
