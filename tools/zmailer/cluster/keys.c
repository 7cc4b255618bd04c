/* keys.c - zmailer cluster keys: what the nodes show each other
 *
 * In     the nodes of the configuration
 * Out    a directory with an authority's certificate, and a file with
 *        certificate and key for each node; what to copy where
 * Holds  the authority's key, which is written nowhere: a new one is made with
 *        new certificates for all
 * Spec   zmailer-cluster(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "tls/login/issue.h"
#include "tools/zmailer/cluster/cluster.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

enum { KEYS_PATH_BYTES = 4200 };

/* A file that exists stays, and is an error. */
static int
keys_write(const char *dir, const char *name, const struct str *text,
    struct err *err)
{
	char path[KEYS_PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.pem", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd < 0)
		return err_sys(err, "%s", path);
	if (write(fd, text->buf, text->len) != (ssize_t)text->len ||
	    fsync(fd) != 0) {
		(void)err_sys(err, "%s", path);
		close(fd);
		(void)unlink(path);
		return -1;
	}
	close(fd);
	return 0;
}

/* None of the files may be there: half of an old set is of no use. */
static int
keys_check(const struct conf_cluster *cluster, const char *dir,
    struct err *err)
{
	char path[KEYS_PATH_BYTES];

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_sys(err, "%s", dir);
	for (size_t i = 0; i <= cluster->node_count; i++) {
		snprintf(path, sizeof(path), "%s/%s.pem", dir,
		    i < cluster->node_count ? cluster->nodes[i] : "ca");
		if (access(path, F_OK) == 0)
			return err_set(err, "%s is there already: name an "
			    "empty directory", path);
	}
	return 0;
}

static int
keys_make(const struct conf_cluster *cluster, const char *dir,
    const struct tls_issuer *issuer, struct err *err)
{
	struct str text = STR_INIT;
	int result = tls_issuer_add(issuer, &text, err);

	if (result == 0)
		result = keys_write(dir, "ca", &text, err);
	for (size_t i = 0; result == 0 && i < cluster->node_count; i++) {
		str_reset(&text);
		result = tls_issue(issuer, cluster->nodes[i], &text, err);
		if (result == 0)
			result = keys_write(dir, cluster->nodes[i], &text,
			    err);
		explicit_bzero(text.buf, text.len);
	}
	str_release(&text);
	return result;
}

static void
keys_explain(const struct conf_cluster *cluster, const char *dir)
{
	printf("Copy to each node its own file and ca.pem, for root alone "
	    "(chmod 600), and remove\nthem here:\n\n");
	for (size_t i = 0; i < cluster->node_count; i++)
		printf("  %s:  %s/ca.pem %s/%s.pem\n", cluster->nodes[i],
		    dir, dir, cluster->nodes[i]);
	printf("\neach as node.pem, so that the configuration is the same on "
	    "all, and write into the\nblock of cluster %s:\n\n"
	    "  desk ca /etc/zmailer/desk/ca.pem certificate "
	    "/etc/zmailer/desk/node.pem\n\n"
	    "They end in ten years.  The key of the authority is kept "
	    "nowhere: for another node,\nmake new ones for all.\n",
	    cluster->name);
}

int
cluster_keys(const struct conf *conf, const char *dir)
{
	const struct conf_cluster *cluster = &conf->cluster;
	struct tls_issuer *issuer;
	struct err err;
	int result;

	if (cluster->name == NULL) {
		fputs("zmailer: cluster: no cluster is configured (zmailer "
		    "help cluster)\n", stderr);
		return EX_CONFIG;
	}
	if (keys_check(cluster, dir, &err) < 0)
		return verb_failed("cluster keys", &err, EX_CANTCREAT);
	issuer = tls_issuer_new(cluster->name, &err);
	if (issuer == NULL)
		return verb_failed("cluster keys", &err, EX_SOFTWARE);
	result = keys_make(cluster, dir, issuer, &err);
	tls_issuer_free(&issuer);
	if (result < 0)
		return verb_failed("cluster keys", &err, EX_CANTCREAT);
	keys_explain(cluster, dir);
	return EX_OK;
}
