/* init.c - zmailer cluster init: the tables for copies, as SQL
 *
 * In     nothing
 * Out    SQL, which may be run again
 * Holds  nothing
 * Spec   zmailer-cluster(8); doc/protocol/share.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>

#include "tools/zmailer/cluster/cluster.h"

#include "base/banned.h"

/* Identifiers are compared by their bytes.  Mail does not shrink: it is stored
 * as it comes.  Rows live for seconds: what was deleted is cleaned up soon. */
static const char sql[] =
    "-- zmailer: copies of accepted mail.  Run it once, as the owner of the\n"
    "-- database, and again after an upgrade; it changes nothing that is "
    "there:\n"
    "--\n"
    "--     zmailer cluster init | psql -v ON_ERROR_STOP=1 -d zmailer\n"
    "--\n"
    "begin;\n"
    "set local client_min_messages = warning;  -- not of what is there\n"
    "\n"
    "create table if not exists zm_node (\n"
    "    cluster      text collate \"C\" not null,\n"
    "    name         text collate \"C\" not null,\n"
    "    epoch        bigint not null,\n"
    "    lease_until  timestamptz,       -- null: another node has taken it "
    "over\n"
    "    taken_by     text collate \"C\",\n"
    "    taken_at     timestamptz,\n"
    "    offers       bigint not null default 0,\n"
    "    primary key (cluster, name)\n"
    ");\n"
    "alter table zm_node add column if not exists\n"
    "    offers       bigint not null default 0;\n"
    "\n"
    "create table if not exists zm_copy (\n"
    "    cluster      text collate \"C\" not null,\n"
    "    node         text collate \"C\" not null,\n"
    "    id           text collate \"C\" not null,\n"
    "    area         text not null,\n"
    "    first_line   bytea not null,\n"
    "    body_bytes   bigint not null,\n"
    "    control      bytea,\n"
    "    kept_at      timestamptz not null,\n"
    "    owned_at     timestamptz not null default now(),\n"
    "    move_to      text collate \"C\",  -- null: it stays\n"
    "    primary key (cluster, id)\n"
    ");\n"
    "alter table zm_copy add column if not exists\n"
    "    move_to      text collate \"C\";\n"
    "create index if not exists zm_copy_node on zm_copy (cluster, node, id);\n"
    "create index if not exists zm_copy_move on zm_copy (cluster, move_to, "
    "id)\n"
    "    where move_to is not null;\n"
    "alter table zm_copy set (autovacuum_vacuum_scale_factor = 0.05,\n"
    "    autovacuum_vacuum_cost_delay = 0);\n"
    "\n"
    "create table if not exists zm_part (\n"
    "    cluster      text collate \"C\" not null,\n"
    "    id           text collate \"C\" not null,\n"
    "    n            integer not null,\n"
    "    bytes        bytea not null,\n"
    "    primary key (cluster, id, n)\n"
    ");\n"
    "alter table zm_part alter column bytes set storage external;\n"
    "alter table zm_part set (autovacuum_vacuum_scale_factor = 0.05,\n"
    "    autovacuum_vacuum_cost_delay = 0,\n"
    "    toast.autovacuum_vacuum_scale_factor = 0.05,\n"
    "    toast.autovacuum_vacuum_cost_delay = 0);\n"
    "\n"
    "create table if not exists zm_taken (\n"
    "    cluster      text collate \"C\" not null,\n"
    "    node         text collate \"C\" not null,\n"
    "    id           text collate \"C\" not null,\n"
    "    taker        text collate \"C\" not null,\n"
    "    taken_at     timestamptz not null,\n"
    "    primary key (cluster, node, id)\n"
    ");\n"
    "\n"
    "commit;\n"
    "\n"
    "-- The nodes need an account of their own, with a password, and nothing "
    "else:\n"
    "--\n"
    "--     create role zmailer login;    \\password zmailer\n"
    "--     grant select, insert, update, delete\n"
    "--         on zm_node, zm_copy, zm_part, zm_taken to zmailer;\n"
    "--\n"
    "-- With synchronous_standby_names a copy is on two machines before its "
    "message is\n"
    "-- accepted; name two standbys (any 1 of them), or mail waits while one "
    "is down.\n";

int
cluster_init(void)
{
	return fputs(sql, stdout) < 0 || fflush(stdout) != 0 ? EX_IOERR :
	    EX_OK;
}
