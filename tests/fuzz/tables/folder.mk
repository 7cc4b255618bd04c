# fuzz targets of tables
fuzz_targets += tests/fuzz/fuzz-netstring tests/fuzz/fuzz-definition
tests_fuzz_fuzz_netstring_SOURCES = tests/fuzz/tables/fuzz_netstring.c $(FUZZ_MAIN)
tests_fuzz_fuzz_netstring_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_netstring_LDADD = tables/libtables.a $(ZM_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) $(SQLITE3_LIBS)
tests_fuzz_fuzz_definition_SOURCES = tests/fuzz/tables/fuzz_definition.c $(FUZZ_MAIN)
tests_fuzz_fuzz_definition_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_definition_LDADD = tables/libtables.a $(ZM_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) $(SQLITE3_LIBS)
