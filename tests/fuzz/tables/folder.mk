# fuzz targets of tables
fuzz_targets += tests/fuzz/fuzz-netstring tests/fuzz/fuzz-definition \
	tests/fuzz/fuzz-tcp_words
tests_fuzz_fuzz_netstring_SOURCES = tests/fuzz/tables/fuzz_netstring.c $(FUZZ_MAIN)
tests_fuzz_fuzz_netstring_LDADD = tables/libtables.a $(FUZZ_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) $(SQLITE3_LIBS) $(LDAP_LIBS)
tests_fuzz_fuzz_definition_SOURCES = tests/fuzz/tables/fuzz_definition.c $(FUZZ_MAIN)
tests_fuzz_fuzz_definition_LDADD = tables/libtables.a $(FUZZ_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) $(SQLITE3_LIBS) $(LDAP_LIBS)
tests_fuzz_fuzz_tcp_words_SOURCES = tests/fuzz/tables/fuzz_tcp_words.c $(FUZZ_MAIN)
tests_fuzz_fuzz_tcp_words_LDADD = tables/libtables.a $(FUZZ_LIBS) $(PGSQL_LIBS) $(MARIADB_LIBS) $(SQLITE3_LIBS) $(LDAP_LIBS)
