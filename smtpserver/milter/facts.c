/* facts.c - what filters are told of a session, by name
 *
 * In     JSON objects of a session
 * Out    values
 * Holds  a string for each fact that was ever said
 * Trusts the session
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "smtpserver/milter/facts.h"

#include "base/banned.h"

const char *const filter_fact_keys[] = {
#define FACT(symbol, key) key,
	FILTER_FACTS(FACT)
#undef FACT
	NULL
};

void
filter_facts_init(struct filter_facts *facts)
{
	for (int i = 0; i < FILTER_FACT_COUNT; i++)
		str_init(&facts->values[i]);
}

void
filter_facts_release(struct filter_facts *facts)
{
	for (int i = 0; i < FILTER_FACT_COUNT; i++)
		str_release(&facts->values[i]);
}

void
filter_facts_take(struct filter_facts *facts, struct slice object)
{
	struct str value = STR_INIT;

	for (int i = 0; i < FILTER_FACT_COUNT; i++) {
		str_reset(&value);
		if (!json_get(object, filter_fact_keys[i], &value))
			continue;
		str_reset(&facts->values[i]);
		str_add_slice(&facts->values[i], str_slice(&value));
	}
	str_release(&value);
}

struct slice
filter_fact(const struct filter_facts *facts, enum filter_fact fact)
{
	return str_slice(&facts->values[fact]);
}
