/* fit_table.c - what rules ask first: facts, and rows of tables
 *
 * In     a table of the configuration and a key; answers of helpers
 * Out    yes and the row, no, a need or trouble
 * Holds  nothing
 * Trusts nothing in a key; a database's answer as far as it can be read
 * Spec   zmailer.conf(5), table; doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "grammar/message/date.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

static const char tables_kind[] = "tables";

/* ---- facts ------------------------------------------------------------ */

const struct fact *
fact_or_need(struct trial *trial, const char *kind, struct slice question,
    enum fact_scope scope)
{
	const struct facts *facts = trial->question->facts;
	const struct fact *fact = facts == NULL ? NULL :
	    facts_find(&facts[scope], kind, question);

	if (fact == NULL && facts != NULL && scope != FACT_TURN)
		fact = facts_find(&facts[FACT_TURN], kind, question);
	if (fact == NULL)
		trial->out->need = (struct policy_need){ kind, question,
		    scope };
	return fact;
}

const char *
client_net(struct trial *trial, size_t bytes_4, size_t bytes_6)
{
	char *text = arena_alloc(trial->policy->scratch, INET6_ADDRSTRLEN);
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	unsigned char bytes[16] = { 0 };
	const unsigned char *all = trial->question->client.bytes;

	if (memcmp(all, mapped, sizeof(mapped)) == 0) {
		memcpy(bytes, all + 12, bytes_4);
		inet_ntop(AF_INET, bytes, text, INET6_ADDRSTRLEN);
	} else {
		memcpy(bytes, all, bytes_6);
		inet_ntop(AF_INET6, bytes, text, INET6_ADDRSTRLEN);
	}
	return text;
}

/* ---- tables ----------------------------------------------------------- */

struct table *
policy_table(const struct policy *policy, struct slice name)
{
	for (size_t i = 0; i < policy->conf->table_count; i++)
		if (slice_is(name, policy->conf->tables[i].name))
			return policy->tables[i];
	return NULL;
}

struct table *
trial_table(struct trial *trial, const char *pattern)
{
	struct slice name = slice_of(pattern);

	if (name.n < 3 || name.p[0] != '<')
		return NULL;
	return policy_table(trial->policy, slice_first(slice_from(name, 1),
	    name.n - 2));
}

static enum fit
fit_of(enum table_result result)
{
	return result == TABLE_TROUBLE ? FIT_TROUBLE :
	    result == TABLE_FOUND ? FIT_YES : FIT_NO;
}

/* A row that counts until a moment which is over does not. */
enum fit
fit_of_row(enum table_result result, struct slice value)
{
	return result == TABLE_FOUND && date_is_over(value, clock_wall_s()) ?
	    FIT_NO : fit_of(result);
}

/* Of a table in a database: who has it is asked first, unless it lent its
 * answer lately. */
static enum fit
table_row_asked(struct trial *trial, struct table *table, struct slice key)
{
	struct arena *scratch = trial->policy->scratch;
	struct cache *lent = trial->policy->lent;
	int64_t now_ms = clock_steady_ms(), for_ms;
	struct slice whole, question, answer;
	struct str text = STR_INIT;
	const struct fact *fact;

	if (slice_find(key, '\n') < key.n || key.n > PATH_MAX_BYTES)
		return FIT_NO;	/* no database has such a key */
	str_addf(&text, "lend %s ", table_name(table));
	str_add_slice(&text, slice_lower(scratch, key));
	question = slice_copy(scratch, str_slice(&text));
	str_release(&text);
	whole = slice_from(question, strlen("lend "));
	if (cache_find(lent, whole, now_ms, &answer))
		return fit_of(table_answer_read(slice_copy(scratch, answer),
		    &trial->row, &trial->out->err));
	fact = fact_or_need(trial, tables_kind, question, FACT_TURN);
	if (fact == NULL)
		return FIT_NEED;
	if (fact->state != ASK_TROUBLE) {
		answer = fact->answer;
		for_ms = table_answer_lent(&answer);
		if (for_ms > 0 && answer.n <= POLICY_LENT_BYTES)
			cache_add(lent, whole, answer, now_ms + for_ms);
		return fit_of(table_answer_read(answer, &trial->row,
		    &trial->out->err));
	}
	err_set(&trial->out->err, "table %s: " SLICE_FMT, table_name(table),
	    SLICE_ARG(fact->answer));
	return FIT_TROUBLE;
}

enum fit
table_row(struct trial *trial, struct table *table, struct slice key)
{
	trial->row = (struct slice){ NULL, 0 };
	if (table_is_asked(table))
		return table_row_asked(trial, table, key);
	return fit_of(table_lookup(table, key, &trial->row, NULL,
	    &trial->out->err));
}

enum fit
table_fits(struct trial *trial, struct table *table, struct slice key)
{
	enum fit fit = table_row(trial, table, key);

	return fit == FIT_YES ? fit_of_row(TABLE_FOUND, trial->row) : fit;
}

enum fit
table_fits_name(struct trial *trial, struct table *table, struct slice name)
{
	enum fit fit = table_fits(trial, table, name);
	size_t dot;

	while (fit == FIT_NO && table_takes_parts(table) &&
	    (dot = slice_find(name, '.')) < name.n) {
		name = slice_from(name, dot);
		fit = table_fits(trial, table, name);
		name = slice_from(name, 1);
	}
	return fit;
}

enum fit
table_fits_address(struct trial *trial, struct table *table,
    const struct canonical *address)
{
	struct arena *scratch = trial->policy->scratch;
	enum fit fit;

	if (address->text.n == 0)
		return table_fits(trial, table, SLICE("<>"));
	fit = table_fits(trial, table, address->text);
	if (fit != FIT_NO || address->domain.n == 0 ||
	    !table_takes_parts(table))
		return fit;
	fit = table_fits(trial, table, slice_of(arena_printf(scratch,
	    "@" SLICE_FMT, SLICE_ARG(address->domain))));
	if (fit == FIT_NO)
		fit = table_fits_name(trial, table, address->domain);
	if (fit == FIT_NO)
		fit = table_fits(trial, table, slice_of(arena_printf(scratch,
		    SLICE_FMT "@", SLICE_ARG(address->local))));
	return fit;
}
