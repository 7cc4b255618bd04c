/* sandbox.h - a process confines itself
 *
 * It keeps its open descriptors; of the file system it keeps only what struct
 * sandbox names.  Landlock does that (by raw system calls; the return value
 * says if the kernel lacks it).  A system call filter (libseccomp, if present)
 * forbids what no agent needs: other programs, other users, other processes,
 * listening, changing names and modes of files.
 *
 * There is no way back.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_SANDBOX_H
#define ZM_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { SANDBOX_PATHS_MAX = 32 };

struct sandbox {
	const char	*appended[SANDBOX_PATHS_MAX];	/* directories where
					 * files may be made and written, not
					 * read */
	size_t		 appended_count;
	const char	*readable[SANDBOX_PATHS_MAX];	/* directories whose
					 * files may be read */
	size_t		 readable_count;
	bool		 may_list;	/* also the names in them */
	/* directories where files may be made, read, written, renamed and
	 * removed */
	const char	*worked[SANDBOX_PATHS_MAX];
	size_t		 worked_count;
	/* the same, but nothing in them may be read */
	const char	*written[SANDBOX_PATHS_MAX];
	size_t		 written_count;
	/* directories that files may be renamed into, nothing else */
	const char	*filed[SANDBOX_PATHS_MAX];
	size_t		 filed_count;
	bool		 may_link;	/* a file in a written directory may get
					 * a second name in a filed or a shut
					 * one, and one in a filed one there */
	/* as filed; a file in one of these cannot get a second name in a
	 * written or filed one */
	const char	*shut[SANDBOX_PATHS_MAX];
	size_t		 shut_count;
	enum sandbox_sockets {		/* sockets to make and connect */
		SOCKETS_ALL,
		SOCKETS_LOCAL,		/* to processes of this machine */
		SOCKETS_NONE
	}		 sockets;
	bool		 may_accept;	/* at a socket that listens already */
	bool		 is_parent;	/* it may accept, and kill processes
					 * that it made */
};

enum sandbox_wall {
	SANDBOX_FILES = 1,	/* Landlock holds */
	SANDBOX_CALLS = 2	/* the system call filter holds */
};

/* Confine this process.  returns the enum sandbox_wall bits that hold (0: this
 * system has none of them); -1: one that the system has failed (err). */
int sandbox_enter(const struct sandbox *rules, struct err *err);

/* Only the system call filter; files may be renamed and removed if there are
 * worked directories.  *out_stands: false when it is not built in.
 * 0 or -1. */
int sandbox_calls(const struct sandbox *rules, bool *out_stands,
    struct err *err);

/* Try from inside what must not work: open, make and list files, run a program,
 * signal and trace, listen, take another identity.  Prints a line to stdout for
 * each that succeeded.
 * returns how many did */
unsigned sandbox_try_escape(void);

#endif
