/* definition.c - what a table in a database is: where, and which question
 *
 * In     the lines of a definition's file
 * Out    its words, each checked; or the line that is wrong
 * Holds  nothing
 * Trusts the file's owner; not that he can spell
 * Spec   definition.h, zmailer-table(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "io/unix_socket.h"
#include "mail/table/definition.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum { SPEC_BYTES = 4200, OTHERS = S_IROTH | S_IWOTH | S_IWGRP };

/* Whose word it is, and whether it must be there. */
enum definition_of {
	OF_PGSQL = 1, OF_SQLITE = 2, OF_SOCKETMAP = 4, OF_MYSQL = 8,
	OF_SERVER = OF_PGSQL | OF_MYSQL, OF_SQL = OF_SERVER | OF_SQLITE
};

static const struct definition_row {
	const char	*word;
	unsigned	 of, needed_by;
} definition_rows[DEFINITION_WORDS] = {
	[DEFINITION_HOSTS] = { "hosts", OF_SERVER, 0 },
	[DEFINITION_DATABASE] = { "database", OF_SQL, OF_SQL },
	[DEFINITION_USER] = { "user", OF_SERVER, 0 },
	[DEFINITION_PASSWORD] = { "password", OF_SERVER, 0 },
	[DEFINITION_TLS] = { "tls", OF_SERVER, 0 },
	[DEFINITION_CA] = { "ca", OF_SERVER, 0 },
	[DEFINITION_QUERY] = { "query", OF_SQL, OF_SQL },
	[DEFINITION_SERVER] = { "server", OF_SOCKETMAP, OF_SOCKETMAP },
	[DEFINITION_MAP] = { "map", OF_SOCKETMAP, OF_SOCKETMAP },
};

struct definition_reading {
	struct definition	*out;
	const char		*path;
	unsigned		 of;
	struct err		*err;	/* filled when a line is wrong */
	bool			 is_bad;
};

static unsigned
definition_of_type(const char *type)
{
	return strcmp(type, "pgsql") == 0 ? OF_PGSQL :
	    strcmp(type, "mysql") == 0 ? OF_MYSQL :
	    strcmp(type, "sqlite") == 0 ? OF_SQLITE : OF_SOCKETMAP;
}

/* ---- values ----------------------------------------------------------- */

/* The highest $N outside of quotes; -1: one that there is not. */
static int
query_parameters(const char *query)
{
	char quote = '\0';
	int highest = 0, places = 0;

	for (const char *p = query; *p != '\0'; p++) {
		if (quote != '\0') {
			quote = *p == quote ? '\0' : quote;
			continue;
		}
		if (*p == '\'' || *p == '"')
			quote = *p;
		if (*p != '$' || !ascii_is_digit(p[1]))
			continue;
		if (p[1] < '1' || p[1] > '0' + DEFINITION_PARAMETERS ||
		    ascii_is_digit(p[2]) || ++places > DEFINITION_PLACES_MAX)
			return -1;
		if (p[1] - '0' > highest)
			highest = p[1] - '0';
	}
	return quote == '\0' ? highest : -1;
}

static const char *
query_mend(struct definition *definition, const char *query)
{
	int parameters = query_parameters(query);

	if (strstr(query, "%s") != NULL || strstr(query, "%u") != NULL ||
	    strstr(query, "%d") != NULL)
		return "write $1 for %s, $2 for %u, $3 for %d, without "
		    "quotes around them: what is asked for is never part of "
		    "the text";
	if (parameters < 0)
		return "there is $1 for the key, $2 for what stands in it "
		    "before @, $3 after it, outside of quotes, and quotes end";
	if (parameters == 0)
		return "no $1 in it: every key would have the same answer";
	definition->parameters = (unsigned)parameters;
	return NULL;
}

/* NULL: the value is good. */
static const char *
definition_mend(struct definition_reading *reading, enum definition_word word,
    const char *value)
{
	switch (word) {
	case DEFINITION_QUERY:
		return query_mend(reading->out, value);
	case DEFINITION_TLS:
		return strcmp(value, "verify") == 0 ||
		    strcmp(value, "no") == 0 ? NULL : "write verify, or no";
	case DEFINITION_CA:
		return value[0] == '/' ? NULL : "write the path of a file";
	case DEFINITION_DATABASE:
		return reading->of != OF_SQLITE || value[0] == '/' ? NULL :
		    "write the path of the file, from / on";
	case DEFINITION_SERVER:
		return unix_socket_is_meant(slice_of(value)) ||
		    strncmp(value, "inet:", 5) == 0 ? NULL :
		    "write unix:/PATH or inet:ADDRESS:PORT";
	default:
		return NULL;
	}
}

/* ---- the file --------------------------------------------------------- */

static bool
definition_fault(struct definition_reading *reading, unsigned line,
    const char *word, const char *what)
{
	err_set(reading->err, "%s:%u: %s: %s", reading->path, line, word,
	    what);
	reading->is_bad = true;
	return false;
}

/* table_fn */
static bool
definition_take(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct definition_reading *reading = context;
	char **values = reading->out->values;
	const char *mend;
	char word[32];

	snprintf(word, sizeof(word), SLICE_FMT, SLICE_ARG(slice_first(key,
	    sizeof(word) - 1)));
	for (size_t i = 0; i < DEFINITION_WORDS; i++) {
		if (!slice_is(key, definition_rows[i].word) ||
		    !(definition_rows[i].of & reading->of))
			continue;
		if (values[i] != NULL)
			return definition_fault(reading, line, word,
			    "stands here twice");
		if (value.n == 0)
			return definition_fault(reading, line, word,
			    "a value is missing");
		if (slice_starts(value, "="))	/* as Postfix writes it */
			return definition_fault(reading, line, word,
			    "leave the = out: the word, a blank, its value");
		values[i] = mem_alloc(1, value.n + 1);
		memcpy(values[i], value.p, value.n);
		mend = definition_mend(reading, (enum definition_word)i,
		    values[i]);
		return mend == NULL || definition_fault(reading, line, word,
		    mend);
	}
	return definition_fault(reading, line, word, reading->of ==
	    OF_SOCKETMAP ? "no such word: there are server and map" :
	    reading->of == OF_SQLITE ? "no such word: there are database and "
	    "query" : "no such word: there are hosts, database, user, "
	    "password, tls, ca and query");
}

static enum definition_result
definition_whole(const struct definition_reading *reading,
    const struct stat *st)
{
	for (size_t i = 0; i < DEFINITION_WORDS; i++)
		if ((definition_rows[i].needed_by & reading->of) &&
		    reading->out->values[i] == NULL) {
			err_set(reading->err, "%s: it says no %s",
			    reading->path, definition_rows[i].word);
			return DEFINITION_BAD;
		}
	if (reading->out->values[DEFINITION_PASSWORD] != NULL &&
	    (st->st_mode & OTHERS) != 0) {
		err_set(reading->err, "%s: others may read or change the "
		    "password in it: chmod 600 %s", reading->path,
		    reading->path);
		return DEFINITION_BAD;
	}
	return DEFINITION_GOOD;
}

enum definition_result
definition_read(const char *type, const char *path, struct definition *out,
    struct err *err)
{
	struct definition_reading reading = { .out = out, .path = path,
	    .of = definition_of_type(type), .err = err };
	struct table *table;
	char spec[SPEC_BYTES];
	struct stat st;
	enum table_result found;

	*out = (struct definition){ .parameters = 0 };
	if (stat(path, &st) != 0) {
		err_sys(err, "%s", path);
		return errno == EACCES ? DEFINITION_UNREADABLE :
		    DEFINITION_BAD;
	}
	if (access(path, R_OK) != 0) {
		err_sys(err, "%s", path);
		return DEFINITION_UNREADABLE;
	}
	if (snprintf(spec, sizeof(spec), "file:%s", path) >=
	    (int)sizeof(spec)) {
		err_set(err, "the path is too long");
		return DEFINITION_BAD;
	}
	table = table_new("definition", spec);
	found = table_each(table, definition_take, &reading, err);
	table_free(&table);
	return found == TABLE_TROUBLE || reading.is_bad ? DEFINITION_BAD :
	    definition_whole(&reading, &st);
}

void
definition_release(struct definition *definition)
{
	for (size_t i = 0; i < DEFINITION_WORDS; i++) {
		if (definition->values[i] != NULL)
			explicit_bzero(definition->values[i],
			    strlen(definition->values[i]));
		mem_free(&definition->values[i]);
	}
}

/* ---- keys ------------------------------------------------------------- */

void
definition_parameters(struct slice key, struct slice out[DEFINITION_PARAMETERS])
{
	size_t at = key.n;

	while (at > 0 && key.p[at - 1] != '@')
		at--;
	out[0] = key;
	out[1] = at > 0 ? slice_first(key, at - 1) : key;
	out[2] = at > 0 ? slice_from(key, at) : SLICE("");
}

bool
definition_key_is_text(struct slice key)
{
	while (key.n > 0) {
		unsigned char c = (unsigned char)key.p[0];
		size_t n = c < 0x80 ? 1 : slice_utf8(key);

		if (n == 0 || c < ' ' || c == 0x7f)
			return false;
		key = slice_from(key, n);
	}
	return true;
}
