/* reports.c - zm-reports: the reports of others below some paths
 *
 * zmailer report dmarc|tls becomes this program: what unpacks archives needs
 * libraries that no other verb should load at its start.
 *
 * In     files; directories, Maildirs too; "-" is standard input
 * Out    the table on standard output; on standard error what of it could not
 *        be read
 * Holds  one file at a time
 * Trusts no file: each is read by a process of its own (jail.c)
 * Spec   received.h; zmailer-report(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/reports/received.h"

#include "base/banned.h"

enum { FILES_DEPTH_MAX = 4, WORDS_BEFORE = 3 };

struct report_files {
	enum received_kind kind;
	struct received_table *table;
	size_t		 files, bad;
};

static void
files_complain(struct report_files *all, const char *path, const char *why)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(path));
	fprintf(stderr, "zmailer: report: %s: %s\n", shown.buf, why);
	str_release(&shown);
	all->bad++;
}

static void
files_take_bytes(struct report_files *all, const char *path, struct slice bytes)
{
	struct str rows = STR_INIT, complaints = STR_INIT, name = STR_INIT;
	struct err err;

	str_add_escaped(&name, slice_of(path));
	all->files++;
	if (received_jail(all->kind, bytes, &rows, &err) != 0)
		files_complain(all, path, err.text);
	else
		received_table_take(all->table, name.buf, str_slice(&rows),
		    &complaints);
	if (complaints.len > 0) {
		fprintf(stderr, "%s", complaints.buf);
		all->bad++;
	}
	str_release(&name);
	str_release(&rows);
	str_release(&complaints);
}

static void
files_read_one(struct report_files *all, const char *path, int fd)
{
	struct str bytes = STR_INIT;

	if (fd_read_all(fd, RECEIVED_FILE_MAX + 1, &bytes) != 0)
		files_complain(all, path, "it cannot be read");
	else if (bytes.len > RECEIVED_FILE_MAX)
		files_complain(all, path, "it is larger than 64 MiB: split "
		    "it, or give a directory of messages");
	else
		files_take_bytes(all, path, str_slice(&bytes));
	str_release(&bytes);
}

static void files_read(struct report_files *all, const char *path,
    unsigned depth);

static void
files_read_dir(struct report_files *all, const char *path, unsigned depth)
{
	DIR *dir = depth == FILES_DEPTH_MAX ? NULL : opendir(path);
	const struct dirent *entry;

	if (dir == NULL) {
		files_complain(all, path, depth == FILES_DEPTH_MAX ?
		    "directories too deep" : strerror(errno));
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		struct str below = STR_INIT;

		str_addf(&below, "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.' &&
		    strcmp(entry->d_name, "tmp") != 0)
			files_read(all, below.buf, depth + 1);
		str_release(&below);
	}
	closedir(dir);
}

static void
files_read(struct report_files *all, const char *path, unsigned depth)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, &st) != 0)
		files_complain(all, path, strerror(errno));
	else if (S_ISDIR(st.st_mode))
		files_read_dir(all, path, depth);
	else if (S_ISREG(st.st_mode))
		files_read_one(all, path, fd);
	if (fd >= 0)
		close(fd);
}

/* An exit status. */
static int
files_show(struct report_files *all, bool is_json)
{
	size_t rows = received_table_rows(all->table);
	struct str out = STR_INIT;

	if (rows > 0)
		received_table_show(all->table, is_json, &out);
	fputs(out.buf, stdout);
	if (rows == 0)
		fprintf(stderr, "zmailer: report: no %s report in %zu file%s\n",
		    all->kind == RECEIVED_DMARC ? "DMARC" : "TLS", all->files,
		    all->files == 1 ? "" : "s");
	str_release(&out);
	return all->bad > 0 ? EX_DATAERR : rows == 0 ? EX_NOINPUT : EX_OK;
}

int
main(int argc, char **argv)
{
	struct report_files all = { .kind = RECEIVED_DMARC };
	int status;

	fd_claim_standard();
	if (argc <= WORDS_BEFORE) {
		fputs("usage: zm-reports dmarc|tls text|json PATH...\n\n"
		    "zmailer report dmarc|tls starts it; see "
		    "zmailer-report(8).\n", stderr);
		return EX_USAGE;
	}
	if (strcmp(argv[1], "tls") == 0)
		all.kind = RECEIVED_TLS;
	all.table = received_table_new(all.kind);
	for (int i = WORDS_BEFORE; i < argc; i++)
		if (strcmp(argv[i], "-") == 0)
			files_read_one(&all, "-", STDIN_FILENO);
		else
			files_read(&all, argv[i], 0);
	status = files_show(&all, strcmp(argv[2], "json") == 0);
	received_table_free(&all.table);
	return status;
}
