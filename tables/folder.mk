# tables - the process that asks databases
# order: engine < ask
noinst_LIBRARIES += tables/libtables.a
tables_libtables_a_SOURCES = \
	tables/engine/engine.h tables/engine/engines.c \
	tables/engine/query.c tables/engine/query.h \
	tables/engine/netstring.c tables/engine/netstring.h \
	tables/engine/link.c tables/engine/link.h \
	tables/engine/tcp_words.c tables/engine/tcp_words.h \
	tables/engine/filter.c tables/engine/filter.h \
	tables/engine/servers.c tables/engine/servers.h \
	tables/engine/pgsql.c tables/engine/mysql.c tables/engine/sqlite.c tables/engine/socketmap.c \
	tables/engine/ldap.c tables/engine/redis.c tables/engine/tcp.c \
	tables/ask/worker.c tables/ask/worker.h \
	tables/ask/pool.c tables/ask/pool.h \
	tables/ask/server.c tables/ask/server.h
tables_libtables_a_CFLAGS = $(AM_CFLAGS) $(PGSQL_CFLAGS) $(MARIADB_CFLAGS) \
	$(SQLITE3_CFLAGS) $(LDAP_CFLAGS)

pkglibexec_PROGRAMS += tables/tables
tables_tables_SOURCES = tables/tables.c
tables_tables_LDADD = tables/libtables.a $(ZM_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) \
	$(SQLITE3_LIBS) $(LDAP_LIBS)
