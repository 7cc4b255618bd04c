/* form.h - the words of delivery reports in one language
 *
 * A form file is text in UTF-8 with lines "key: words"; a line that begins with
 * a blank continues the one before it; # begins a comment.  The keys are those
 * of form_rows.  Rows "advice STATUS" say what the reader can do; they are
 * chosen by the beginning of the status after its class (".1.1", ".4."), and
 * the first match counts.  {host} and the like are replaced.  A missing text
 * is English.  zmailer-forms(5).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_FORM_H
#define ZM_MAIL_FORM_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum {
	FORM_FILE_BYTES_MAX = 65536,
	FORM_TEXT_BYTES_MAX = 1000,
	FORM_ADVICE_MAX = 64
};

enum form_key {
	FORM_NAME,		/* of the language, in it */
	FORM_FROM,		/* display name of the report's author */
	FORM_SUBJECT_FAILED, FORM_SUBJECT_DELAYED, FORM_SUBJECT_DELIVERED,
	FORM_SUBJECT_MORE,	/* {n} more recipients */
	FORM_OPENING,		/* {host} */
	FORM_FAILED, FORM_DELAYED, FORM_DELIVERED,	/* the gravest */
	FORM_ALSO_FAILED, FORM_ALSO_DELAYED, FORM_ALSO_DELIVERED,
	FORM_UNREACHED,		/* no attempt met anybody */
	FORM_SAID,		/* {who} */
	FORM_RELAYED,
	FORM_EXPANDED,
	FORM_UNTIL,		/* {date} */
	FORM_BY,		/* {date}: DELIVERBY */
	FORM_CLOSING,		/* {id} */
	FORM_KEYS
};

struct form_row {
	const char	*key;
	const char	*places;	/* words allowed in braces, separated
					 * by blanks */
	const char	*english;
};
extern const struct form_row form_rows[FORM_KEYS];

struct form_advice {
	const char	*status;	/* ".1.1"; "" matches all */
	const char	*text;
};

struct report_form {
	const char	*language;	/* tag of RFC 5646: "de" */
	const char	*texts[FORM_KEYS];
	struct form_advice advice[FORM_ADVICE_MAX];
	size_t		 advice_count;
};

/* English, built in. */
const struct report_form *form_english(void);

/* Read a form into the arena.  0; -1: err names the line and the trouble. */
int form_parse(struct arena *arena, const char *language, struct slice text,
    struct report_form *out, struct err *err);
/* Read the form DIR/LANGUAGE.  As form_parse. */
int form_load(struct arena *arena, const char *dir, const char *language,
    struct report_form *out, struct err *err);

/* Append a text in which {name} is replaced by value. */
void form_add(struct str *out, const struct report_form *form,
    enum form_key key, const char *name, const char *value);

/* What the reader can do about this status ("5.1.1"). */
const char *form_advice(const struct report_form *form, const char *status);

#endif
