/* definition.h - a table in a database: where it is, and which query
 *
 * The file of "pgsql:/PATH", "mysql:/PATH", "sqlite:/PATH", "ldap:/PATH",
 * "redis:/PATH", "socketmap:/PATH" and "tcp:/PATH": lines "WORD VALUE", as in a
 * table of type file.  It may hold a password; only the process tables
 * (tables/ask/server.h) reads it, and `zmailer check`.
 *
 *	word		of			is
 *	hosts		pgsql mysql ldap	NAME[:PORT]... or a directory of
 *						sockets (pgsql; preset
 *						/run/postgresql), a socket
 *						(mysql; preset
 *						/run/mysqld/mysqld.sock; ldap)
 *	database	pgsql mysql sqlite	its name, the file's path, its
 *			redis			number
 *	user		pgsql mysql ldap redis	who we are there
 *	password	pgsql mysql ldap redis	with which password
 *	password-file	pgsql mysql ldap redis	or the file that has it in its
 *						first line
 *	tls		pgsql mysql ldap	verify, or no; ldap: ldaps, too;
 *						preset verify
 *	ca		pgsql mysql ldap	certificates that may have
 *						signed the server's
 *	query		pgsql mysql sqlite	SELECT ... $1 ... : $1 is the
 *						key, $2 its part before the last
 *						@, $3 the part after it
 *			redis			GET NAME$1, HGET NAME $1
 *	list		pgsql mysql sqlite	SELECT of all names, without $1,
 *						to list them
 *	add, change,	pgsql mysql sqlite	INSERT, UPDATE, DELETE for
 *	remove					zmailer user; $4 is the value
 *	preset		pgsql mysql sqlite	SCHEMA KIND (preset.h) instead
 *						of all of these
 *	keys		all			address: what has no @ is not
 *						in it, and is not asked for
 *	base, scope	ldap			where it is looked for; base,
 *						one or sub, preset sub
 *	filter		ldap			of which entries: (mail=$1)
 *	attribute	ldap			whose values are the answer
 *	server		socketmap tcp redis	unix:/PATH or inet:ADDRESS:PORT
 *	map		socketmap		its name there
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_DEFINITION_H
#define ZM_MAIL_TABLE_DEFINITION_H

#include "base/err.h"
#include "base/str.h"

enum definition_word {
	DEFINITION_HOSTS, DEFINITION_DATABASE, DEFINITION_USER,
	DEFINITION_PASSWORD, DEFINITION_PASSWORD_FILE, DEFINITION_TLS,
	DEFINITION_CA, DEFINITION_BASE, DEFINITION_SCOPE, DEFINITION_FILTER,
	DEFINITION_ATTRIBUTE,
	DEFINITION_QUERY, DEFINITION_LIST, DEFINITION_PRESET,
	DEFINITION_ADD, DEFINITION_CHANGE, DEFINITION_REMOVE,
	DEFINITION_SERVER, DEFINITION_MAP, DEFINITION_KEYS,
	DEFINITION_WORDS
};

enum {
	DEFINITION_PARAMETERS = 3,	/* $1 $2 $3 */
	DEFINITION_WRITTEN = 4,		/* $4, too, of what writes */
	DEFINITION_NAME_BYTES_MAX = 1024,	/* of a list */
	DEFINITION_PLACES_MAX = 16	/* uses of parameters in a query */
};

struct definition {
	char		*values[DEFINITION_WORDS];	/* NULL: not given */
	unsigned	 parameters;	/* the highest $N of the query */
	bool		 may_write;	/* its owner asks (worker.h): add,
					 * change and remove are obeyed */
};

enum definition_result {
	DEFINITION_BAD = -1,		/* err: "FILE:LINE: what" */
	DEFINITION_UNREADABLE = 0,	/* we may not read it; err */
	DEFINITION_GOOD = 1
};

/* Read the definition of a table of this type at path into *out, which must be
 * freed by definition_release whatever the result is. */
enum definition_result definition_read(const char *type, const char *path,
    struct definition *out, struct err *err);

/* The word of a definition that is called that; DEFINITION_WORDS: none. */
enum definition_word definition_word_of(struct slice name);

/* Overwrite and free what it holds. */
void definition_release(struct definition *definition);

/* The three parameters of a query: the key, its part before the last @ (the
 * whole key if there is none), and the part after it ("" if there is none).
 * They borrow from key. */
void definition_parameters(struct slice key,
    struct slice out[DEFINITION_PARAMETERS]);

/* Can a database be asked for this key?  It must be valid UTF-8 (RFC 3629)
 * without control bytes; the names in a database are. */
bool definition_key_is_text(struct slice key);
/* May a table of this definition have the key?  false: the answer is none, and
 * nobody is asked. */
bool definition_may_have(const struct definition *definition,
    struct slice key);

#endif
