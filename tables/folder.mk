# tables - the process that asks databases
# order: engine < ask
noinst_LIBRARIES += tables/libtables.a
tables_libtables_a_SOURCES = \
	tables/engine/engine.h tables/engine/engines.c \
	tables/engine/query.c tables/engine/query.h \
	tables/engine/netstring.c tables/engine/netstring.h \
	tables/engine/servers.c tables/engine/servers.h \
	tables/engine/pgsql.c tables/engine/mysql.c tables/engine/sqlite.c tables/engine/socketmap.c \
	tables/ask/worker.c tables/ask/worker.h \
	tables/ask/pool.c tables/ask/pool.h \
	tables/ask/server.c tables/ask/server.h
tables_libtables_a_CFLAGS = $(AM_CFLAGS) $(PGSQL_CFLAGS) $(MARIADB_CFLAGS) \
	$(SQLITE3_CFLAGS)

pkglibexec_PROGRAMS += tables/tables
tables_tables_SOURCES = tables/tables.c
tables_tables_LDADD = tables/libtables.a $(ZM_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) \
	$(SQLITE3_LIBS)
