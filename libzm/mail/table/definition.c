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
#include "mail/table/preset.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum {
	SPEC_BYTES = 4200, PASSWORD_BYTES = 1024,
	OTHERS = S_IROTH | S_IWOTH | S_IWGRP
};

/* Whose word it is, and whether it must be there. */
enum definition_of {
	OF_PGSQL = 1, OF_SQLITE = 2, OF_SOCKETMAP = 4, OF_MYSQL = 8,
	OF_LDAP = 16, OF_REDIS = 32, OF_TCP = 64,
	OF_SQL = OF_PGSQL | OF_MYSQL | OF_SQLITE,
	OF_TLS = OF_PGSQL | OF_MYSQL | OF_LDAP, OF_LOGIN = OF_TLS | OF_REDIS,
	OF_PROGRAM = OF_SOCKETMAP | OF_TCP | OF_REDIS,
	OF_ALL = OF_SQL | OF_LDAP | OF_PROGRAM
};

static const struct definition_type {
	const char	*name;
	unsigned	 of;
} definition_types[] = {
	{ "pgsql", OF_PGSQL }, { "mysql", OF_MYSQL }, { "sqlite", OF_SQLITE },
	{ "ldap", OF_LDAP }, { "redis", OF_REDIS }, { "tcp", OF_TCP },
	{ "socketmap", OF_SOCKETMAP },
};

static const struct definition_row {
	const char	*word;
	unsigned	 of, needed_by;
} definition_rows[DEFINITION_WORDS] = {
	[DEFINITION_HOSTS] = { "hosts", OF_TLS, OF_LDAP },
	[DEFINITION_DATABASE] = { "database", OF_SQL | OF_REDIS, OF_SQL },
	[DEFINITION_USER] = { "user", OF_LOGIN, 0 },
	[DEFINITION_PASSWORD] = { "password", OF_LOGIN, 0 },
	[DEFINITION_PASSWORD_FILE] = { "password-file", OF_LOGIN, 0 },
	[DEFINITION_TLS] = { "tls", OF_TLS, 0 },
	[DEFINITION_CA] = { "ca", OF_TLS, 0 },
	[DEFINITION_BASE] = { "base", OF_LDAP, OF_LDAP },
	[DEFINITION_SCOPE] = { "scope", OF_LDAP, 0 },
	[DEFINITION_FILTER] = { "filter", OF_LDAP, OF_LDAP },
	[DEFINITION_ATTRIBUTE] = { "attribute", OF_LDAP, OF_LDAP },
	[DEFINITION_QUERY] = { "query", OF_SQL | OF_REDIS,
	    OF_SQL | OF_REDIS },
	[DEFINITION_LIST] = { "list", OF_SQL, 0 },
	[DEFINITION_PRESET] = { "preset", OF_SQL, 0 },
	[DEFINITION_ADD] = { "add", OF_SQL, 0 },
	[DEFINITION_CHANGE] = { "change", OF_SQL, 0 },
	[DEFINITION_REMOVE] = { "remove", OF_SQL, 0 },
	[DEFINITION_SERVER] = { "server", OF_PROGRAM, OF_PROGRAM },
	[DEFINITION_MAP] = { "map", OF_SOCKETMAP, OF_SOCKETMAP },
	[DEFINITION_KEYS] = { "keys", OF_ALL, 0 },
};

struct definition_reading {
	struct definition	*out;
	const char		*type;
	struct err		 why;	/* of definition_mend */
	const char		*path;
	unsigned		 of;
	struct err		*err;	/* filled when a line is wrong */
	bool			 is_bad;
};

static unsigned
definition_of_type(const char *type)
{
	for (size_t i = 0; i < sizeof(definition_types) /
	    sizeof(definition_types[0]); i++)
		if (strcmp(type, definition_types[i].name) == 0)
			return definition_types[i].of;
	return 0;
}

/* ---- values ----------------------------------------------------------- */

/* The highest $N outside of quotes; -1: one beyond $max. */
static int
query_parameters_to(const char *query, int max)
{
	char quote = '\0';
	int highest = 0, places = 0;

	for (const char *p = query; *p != '\0'; p++) {
		if (quote != '\0') {
			quote = *p == quote ? '\0' : quote;
			continue;
		}
		if (*p == '\'' || *p == '"' || *p == '`')
			quote = *p;
		if (*p != '$' || !ascii_is_digit(p[1]))
			continue;
		if (p[1] < '1' || p[1] > '0' + max ||
		    ascii_is_digit(p[2]) || ++places > DEFINITION_PLACES_MAX)
			return -1;
		if (p[1] - '0' > highest)
			highest = p[1] - '0';
	}
	return quote == '\0' ? highest : -1;
}

static int
query_parameters(const char *query)
{
	return query_parameters_to(query, DEFINITION_PARAMETERS);
}

/* A row is written for one name: without it every row would be. */
static const char *
writing_mend(const char *value)
{
	return query_parameters_to(value, DEFINITION_WRITTEN) > 0 &&
	    (strstr(value, "$1") != NULL || strstr(value, "$2") != NULL) ?
	    NULL : "write $1 for the name, $2 for its part before @, $3 for "
	    "the part after it, $4 for the value, outside of quotes; the name "
	    "must be in it";
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

/* GET NAME$1 or HGET NAME $1, which change nothing there. */
static const char *
command_mend(struct definition *definition, const char *value)
{
	struct slice rest = slice_of(value), word = SLICE("");
	int parameters = query_parameters(value);
	size_t wanted, count = 0;

	(void)slice_word(&rest, &word);
	wanted = slice_is(word, "GET") ? 1 : slice_is(word, "HGET") ? 2 : 0;
	while (slice_word(&rest, &word))
		count++;
	if (wanted == 0 || count != wanted || parameters <= 0)
		return "write GET NAME$1 or HGET NAME $1: $1 for the key, $2 "
		    "for what stands in it before @, $3 after it";
	definition->parameters = (unsigned)parameters;
	return NULL;
}

/* ( ) around it, in it as many of the one as of the other (RFC 4515). */
static const char *
filter_mend(struct definition *definition, const char *value)
{
	int parameters = query_parameters(value), open = 0;
	bool is_one = value[0] == '(';

	for (const char *p = value; *p != '\0' && is_one; p++) {
		open += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		is_one = open > 0 || (open == 0 && p[1] == '\0');
	}
	if (!is_one || open != 0)
		return "write (ATTRIBUTE=$1), or (&(...)(...)) of several";
	if (parameters <= 0)
		return "there is $1 for the key, $2 for what stands in it "
		    "before @, $3 after it: one of them must be in it";
	definition->parameters = (unsigned)parameters;
	return NULL;
}

static const char *
tls_mend(const struct definition_reading *reading, const char *value)
{
	if (reading->of == OF_LDAP && strcmp(value, "ldaps") == 0)
		return NULL;
	return strcmp(value, "verify") == 0 || strcmp(value, "no") == 0 ?
	    NULL : reading->of == OF_LDAP ? "write verify (StartTLS), ldaps, "
	    "or no" : "write verify, or no";
}

static bool
definition_is_number(const char *value)
{
	uint64_t number;

	return slice_number(slice_of(value), 0, 65535, &number);
}

/* NULL: the value is good. */
static const char *
definition_mend(struct definition_reading *reading, enum definition_word word,
    const char *value)
{
	switch (word) {
	case DEFINITION_QUERY:
		return reading->of == OF_REDIS ? command_mend(reading->out,
		    value) : query_mend(reading->out, value);
	case DEFINITION_FILTER:
		return filter_mend(reading->out, value);
	case DEFINITION_SCOPE:
		return strcmp(value, "sub") == 0 ||
		    strcmp(value, "one") == 0 || strcmp(value, "base") == 0 ?
		    NULL : "write sub, one or base";
	case DEFINITION_LIST:
		return query_parameters(value) == 0 ? NULL :
		    "it has all names: no $1 in it, and quotes end";
	case DEFINITION_ADD:
	case DEFINITION_CHANGE:
	case DEFINITION_REMOVE:
		return writing_mend(value);
	case DEFINITION_PRESET:
		return table_preset_find(slice_of(value), &reading->why) !=
		    NULL ? NULL : reading->why.text;
	case DEFINITION_TLS:
		return tls_mend(reading, value);
	case DEFINITION_CA:
	case DEFINITION_PASSWORD_FILE:
		return value[0] == '/' ? NULL : "write the path of a file";
	case DEFINITION_DATABASE:
		if (reading->of == OF_REDIS)
			return definition_is_number(value) ? NULL :
			    "write its number";
		return reading->of != OF_SQLITE || value[0] == '/' ? NULL :
		    "write the path of the file, from / on";
	case DEFINITION_KEYS:
		return strcmp(value, "address") == 0 ? NULL : "write address, "
		    "if what has no @ is not in it, or leave the line out";
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

static bool
definition_no_word(struct definition_reading *reading, unsigned line,
    const char *word)
{
	struct str words = STR_INIT;

	str_adds(&words, "no such word: there are");
	for (size_t i = 0; i < DEFINITION_WORDS; i++)
		if (definition_rows[i].of & reading->of)
			str_addf(&words, " %s", definition_rows[i].word);
	(void)definition_fault(reading, line, word, words.buf);
	str_release(&words);
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
	return definition_no_word(reading, line, word);
}

static void
definition_fill_word(struct definition *out, enum definition_word word,
    const char *text)
{
	if (out->values[word] == NULL && text != NULL)
		out->values[word] = mem_strdup(text);
}

/* What stands for a query and a list.  false: there is a query as well. */
static bool
definition_fill(const struct definition_reading *reading)
{
	struct definition *out = reading->out;
	const struct table_preset *preset;
	const struct table_writing *writing;

	if (out->values[DEFINITION_PRESET] == NULL)
		return true;
	if (out->values[DEFINITION_QUERY] != NULL)
		return false;
	preset = table_preset_find(slice_of(out->values[DEFINITION_PRESET]),
	    reading->err);
	out->values[DEFINITION_QUERY] = mem_strdup(table_preset_query(preset,
	    reading->type));
	out->parameters = (unsigned)query_parameters(
	    out->values[DEFINITION_QUERY]);
	definition_fill_word(out, DEFINITION_LIST, preset->list);
	if (table_preset_has_addresses(preset))
		definition_fill_word(out, DEFINITION_KEYS, "address");
	writing = table_preset_writing(preset);
	if (writing != NULL) {
		definition_fill_word(out, DEFINITION_ADD, writing->add);
		definition_fill_word(out, DEFINITION_CHANGE, writing->change);
		definition_fill_word(out, DEFINITION_REMOVE, writing->remove);
	}
	return true;
}

/* The first line of a file that is its owner's alone.  false: err. */
static bool
definition_read_password(const struct definition_reading *reading)
{
	char **values = reading->out->values, line[PASSWORD_BYTES] = "";
	const char *path = values[DEFINITION_PASSWORD_FILE];
	struct stat st;
	FILE *file;
	bool is_read;

	if (path == NULL)
		return true;
	if (values[DEFINITION_PASSWORD] != NULL) {
		err_set(reading->err, "%s: a password, or a password-file: "
		    "keep one of them", reading->path);
		return false;
	}
	file = fopen(path, "re");
	if (file == NULL || fstat(fileno(file), &st) != 0) {
		err_sys(reading->err, "%s", path);
		if (file != NULL)
			fclose(file);
		return false;
	}
	is_read = (st.st_mode & OTHERS) == 0 &&
	    fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	line[strcspn(line, "\r\n")] = '\0';
	if (is_read && line[0] != '\0')
		values[DEFINITION_PASSWORD] = mem_strdup(line);
	else
		err_set(reading->err, (st.st_mode & OTHERS) != 0 ?
		    "%s: others may read or change it: chmod 600" :
		    "%s: its first line is empty", path);
	explicit_bzero(line, sizeof(line));
	return values[DEFINITION_PASSWORD] != NULL;
}

static enum definition_result
definition_whole(const struct definition_reading *reading,
    const struct stat *st)
{
	if (!definition_read_password(reading))
		return DEFINITION_BAD;
	if (!definition_fill(reading)) {
		err_set(reading->err, "%s: a preset is a query: keep one of "
		    "them", reading->path);
		return DEFINITION_BAD;
	}
	for (size_t i = 0; i < DEFINITION_WORDS; i++)
		if ((definition_rows[i].needed_by & reading->of) &&
		    reading->out->values[i] == NULL) {
			err_set(reading->err, "%s: it says no %s",
			    reading->path, definition_rows[i].word);
			return DEFINITION_BAD;
		}
	if (reading->out->values[DEFINITION_PASSWORD] != NULL &&
	    reading->out->values[DEFINITION_PASSWORD_FILE] == NULL &&
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
	struct definition_reading reading = { .out = out, .type = type,
	    .path = path,
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

enum definition_word
definition_word_of(struct slice name)
{
	for (size_t i = 0; i < DEFINITION_WORDS; i++)
		if (slice_is(name, definition_rows[i].word))
			return (enum definition_word)i;
	return DEFINITION_WORDS;
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

bool
definition_may_have(const struct definition *definition, struct slice key)
{
	return definition_key_is_text(key) &&
	    (definition->values[DEFINITION_KEYS] == NULL ||
	    slice_find(key, '@') < key.n);
}
