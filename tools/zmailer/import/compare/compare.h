/* compare.h - where the old mailer and ours would send the same address
 *
 * An answer is a list of places in words that both have, sorted, each once:
 * "smtp HOST", "smtp HOST:PORT" (not 25), "lmtp PLACE", "local USER",
 * "file PATH", "program COMMAND", "refused", "deferred", "discarded".
 * Nothing is sent, and nothing is changed anywhere.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_COMPARE_H
#define ZM_TOOLS_IMPORT_COMPARE_H

#include "tools/zmailer/import/import.h"

enum {
	COMPARE_ADDRESSES_MAX = 10000, COMPARE_PLACES_MAX = 100,
	COMPARE_PROGRAM_MS = 60000, COMPARE_OUTPUT_MAX = 1 << 18
};
struct compare_answer {
	const char	*places[COMPARE_PLACES_MAX];
	size_t		 count;
	const char	*trouble;	/* NULL: there was an answer */
};
struct compare {
	struct import	*import;	/* the old configuration, read */
	const char	*conf_path;	/* of the new one */
	const char	*program;	/* of the old one, or NULL: presets */
	const char	**addresses;
	size_t		 count;
};

/* ---- the addresses (addresses.c) ---------------------------------------- */

/* Read a file with an address on each line: those that begin with -, have a
 * blank or a control, or are longer than 320 bytes are refused.
 * returns 0; -1: it cannot be read, or a line is refused */
int compare_addresses_read(struct compare *compare, const char *path,
    struct err *err);
/* Take the keys of the tables that the importer made, and an unknown user in
 * each domain that these and domain statements name. */
void compare_addresses_find(struct compare *compare);

/* ---- answers (answer.c) ------------------------------------------------- */

/* Add a place; too many places are trouble. */
void compare_place_add(struct compare *compare, struct compare_answer *answer,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sort the places, and keep each once. */
void compare_answer_settle(struct compare_answer *answer);
bool compare_answer_equal(const struct compare_answer *one,
    const struct compare_answer *other);

/* ---- the two sides ------------------------------------------------------ */

/* Run a program (words end with NULL) without a shell and with empty input, for
 * at most a minute and 256 KB.  A name without / is looked for in PATH and
 * sbin.
 * returns its exit status, or -1 */
int compare_run(const char *const *words, struct str *out, struct err *err);
/* The old mailer's answer (old.c, postfix.c).  returns 0; -1: it cannot be
 * asked */
int compare_old(struct compare *compare, const char *address,
    struct compare_answer *out, struct err *err);
int compare_postfix(struct compare *compare, const char *address,
    struct compare_answer *out, struct err *err);
/* Our answers for all addresses (ours.c).  returns 0; -1: there is no router */
int compare_ours(struct compare *compare, struct compare_answer *out,
    struct err *err);

/* ---- all of it ---------------------------------------------------------- */

/* Ask both about all addresses and print what differs.
 * returns an exit status: 0 nothing, 1 something, 69 one cannot be asked */
int compare_both(struct compare *compare, bool is_json);

#endif
