# unit tests of tables
if HAVE_CRITERION
check_PROGRAMS += tests/unit/tables/unit-tables
SHORT_TESTS += tests/unit/tables/unit-tables
tests_unit_tables_unit_tables_SOURCES = \
	tests/unit/tables/test_asked.c tests/unit/tables/test_definition.c \
	tests/unit/tables/test_netstring.c tests/unit/tables/test_query.c \
	tests/unit/tables/test_preset.c \
	tests/unit/tables/test_tcp_words.c tests/unit/tables/test_filter.c
tests_unit_tables_unit_tables_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_tables_unit_tables_LDADD = tables/libtables.a $(ZM_LIBS) \
	$(PGSQL_LIBS) $(MARIADB_LIBS) $(SQLITE3_LIBS) $(LDAP_LIBS) $(CRITERION_LIBS)
endif
