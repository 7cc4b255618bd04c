/* err.h - three audiences for what goes wrong
 *
 * The mail's: a struct err filled by err_set and a return value of -1; the
 *   caller may add who and where, and never replaces the words.
 * The machine's: fatal() exits 111 so that the parent starts us again;
 *   allowed only in daemon/, main files and base/mem.c.
 * Ours: panic() dumps core, for what cannot be.
 * No byte from outside the system can reach fatal or panic.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_ERR_H
#define ZM_BASE_ERR_H

#include <stdbool.h>

enum { ERR_TEXT_BYTES = 512, EXIT_FATAL = 111 };

struct err {
	char	text[ERR_TEXT_BYTES];	/* what, where, what to do */
};

/* Set the text (truncated to fit); always returns -1, so that a function
 * can say `return err_set(err, ...)`.  err may be NULL. */
int err_set(struct err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* As err_set, with ": " and the words for the current errno after it. */
int err_sys(struct err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Was it set by err_sys with errno EACCES or EPERM, so that the caller lacks a
 * right? */
bool err_is_denied(const struct err *err);

/* Put "words: " in front of what is there; returns -1. */
int err_prefix(struct err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Set the name that begins each line of warning, fatal and panic.  It is not
 * copied.  The process skeleton calls this once. */
void err_program(const char *name);
const char *err_program_name(void);

/* One line on stderr: "name: warning: text". */
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr, exit 111. */
void fatal(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* One line on stderr, abort. */
void panic(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif
