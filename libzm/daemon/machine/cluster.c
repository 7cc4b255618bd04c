/* cluster.c - what a cluster needs of this machine
 *
 * In     a conf that is right in itself; the files of passwords, of TLS
 * Out    complaints: not there, empty, others'
 * Holds  nothing: the passwords are not kept
 * Spec   zmailer.conf(5), cluster
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/machine/look.h"
#include "daemon/skeleton.h"
#include "tls/pair.h"

#include "base/banned.h"

enum { PROGRAM_BYTES = 4200, CLUSTER_OTHERS = S_IRWXG | S_IRWXO };

static void
cluster_check_password(const struct machine_look *look, const char *whose,
    const char *path)
{
	struct conf_at at = look->conf->cluster.at;
	struct stat st;

	if (stat(path, &st) != 0) {
		bool is_denied = geteuid() != 0 && errno == EACCES;

		machine_tell(look, is_denied ? CONF_WARNING : CONF_ERROR, at,
		    is_denied ? "check it as root" : "make it: its first line "
		    "is the password", arena_printf(look->arena,
		    "the password of %s, %s: %s", whose, path,
		    strerror(errno)));
		return;
	}
	if ((st.st_mode & CLUSTER_OTHERS) != 0)
		machine_tell(look, CONF_ERROR, at, arena_printf(look->arena,
		    "chmod 600 %s", path), arena_printf(look->arena,
		    "the password of %s, %s, is not its owner's alone",
		    whose, path));
	else if (!S_ISREG(st.st_mode) || st.st_size == 0)
		machine_tell(look, CONF_ERROR, at, "write the password into "
		    "its first line", arena_printf(look->arena, "there is no "
		    "password of %s in %s", whose, path));
}

static void
cluster_check_pem(const struct machine_look *look, const char *what,
    const char *path)
{
	bool is_denied;

	if (path == NULL || access(path, R_OK) == 0)
		return;
	is_denied = geteuid() != 0 && errno == EACCES;
	machine_tell(look, is_denied ? CONF_WARNING : CONF_ERROR,
	    look->conf->cluster.at, is_denied ? "check it as root" :
	    "make it, or name another file", arena_printf(look->arena,
	    "the %s, %s: %s", what, path, strerror(errno)));
}

/* The pair that we show: as a listener's, it has to be one. */
static void
cluster_check_pair(const struct machine_look *look, const char *certificate,
    const char *key)
{
	struct tls_pair pair;
	struct err err;

	if (key == NULL)
		key = certificate;
	if (certificate == NULL || access(certificate, R_OK) != 0 ||
	    access(key, R_OK) != 0)
		return;			/* told already */
	if (tls_pair_load(&pair, certificate, key, &err) == 0)
		tls_pair_release(&pair);
	else
		machine_tell(look, CONF_ERROR, look->conf->cluster.at,
		    "name a certificate and its key, PEM", err.text);
}

/* Whoever has its key is this node. */
static void
cluster_check_nodes_key(const struct machine_look *look, const char *path)
{
	struct stat st;

	if (path != NULL && stat(path, &st) == 0 &&
	    (st.st_mode & CLUSTER_OTHERS) != 0)
		machine_tell(look, CONF_ERROR, look->conf->cluster.desk_at,
		    arena_printf(look->arena, "chmod 600 %s", path),
		    arena_printf(look->arena, "the key of the desk, %s, is not "
		    "its owner's alone", path));
}

/* A package of its own may have it. */
static void
cluster_check_program(const struct machine_look *look, const char *name,
    const char *does)
{
	char path[PROGRAM_BYTES];

	daemon_libexec(name, path, sizeof(path));
	if (access(path, X_OK) != 0)
		machine_tell(look, CONF_ERROR, look->conf->cluster.at,
		    "install it (Debian: the package zmailer-cluster)",
		    arena_printf(look->arena, "the program that %s other "
		    "machines, %s: %s", does, path, strerror(errno)));
}

void
machine_check_cluster(const struct machine_look *look)
{
	const struct conf_cluster *cluster = &look->conf->cluster;

	if (cluster->password_path != NULL)
		cluster_check_password(look, "Redis", cluster->password_path);
	if (cluster->postgres_password_path != NULL)
		cluster_check_password(look, "PostgreSQL",
		    cluster->postgres_password_path);
	cluster_check_pem(look, "roots for Redis", cluster->roots);
	cluster_check_pem(look, "certificate for Redis",
	    cluster->certificate);
	cluster_check_pem(look, "key for Redis", cluster->key);
	cluster_check_pair(look, cluster->certificate, cluster->key);
	cluster_check_pem(look, "authority of the desk", cluster->desk_ca);
	cluster_check_pem(look, "certificate of the desk",
	    cluster->desk_certificate);
	cluster_check_pem(look, "key of the desk", cluster->desk_key);
	cluster_check_pair(look, cluster->desk_certificate,
	    cluster->desk_key);
	cluster_check_nodes_key(look, cluster->desk_key != NULL ?
	    cluster->desk_key : cluster->desk_certificate);
	if (conf_asks_share(look->conf))
		cluster_check_program(look, "share", "counts with");
	if (conf_asks_nodes(look->conf))
		cluster_check_program(look, "nodes", "answers");
}
