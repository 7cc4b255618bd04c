# fuzz targets of tools
fuzz_targets += tests/fuzz/fuzz-journal
tests_fuzz_fuzz_journal_SOURCES = tests/fuzz/tools/fuzz_journal.c $(FUZZ_MAIN)
tests_fuzz_fuzz_journal_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-handover
tests_fuzz_fuzz_handover_SOURCES = tests/fuzz/tools/fuzz_handover.c $(FUZZ_MAIN)
tests_fuzz_fuzz_handover_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-archive
tests_fuzz_fuzz_archive_SOURCES = tests/fuzz/tools/fuzz_archive.c $(FUZZ_MAIN)
tests_fuzz_fuzz_archive_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-seal
tests_fuzz_fuzz_seal_SOURCES = tests/fuzz/tools/fuzz_seal.c $(FUZZ_MAIN)
tests_fuzz_fuzz_seal_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-scrape
tests_fuzz_fuzz_scrape_SOURCES = tests/fuzz/tools/fuzz_scrape.c $(FUZZ_MAIN)
tests_fuzz_fuzz_scrape_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-import
tests_fuzz_fuzz_import_SOURCES = tests/fuzz/tools/fuzz_import.c $(FUZZ_MAIN)
tests_fuzz_fuzz_import_LDADD = tools/libtools.a $(FUZZ_LIBS)

if HAVE_RECEIVED_REPORTS
fuzz_targets += tests/fuzz/fuzz-received
tests_fuzz_fuzz_received_SOURCES = tests/fuzz/tools/fuzz_received.c $(FUZZ_MAIN)
tests_fuzz_fuzz_received_LDADD = tools/reports/libreports.a $(FUZZ_LIBS) $(RECEIVED_REPORTS_LIBS)
endif

fuzz_targets += tests/fuzz/fuzz-opensmtpd
tests_fuzz_fuzz_opensmtpd_SOURCES = tests/fuzz/tools/fuzz_opensmtpd.c $(FUZZ_MAIN)
tests_fuzz_fuzz_opensmtpd_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-sendmail-mc
tests_fuzz_fuzz_sendmail_mc_SOURCES = tests/fuzz/tools/fuzz_sendmail_mc.c $(FUZZ_MAIN)
tests_fuzz_fuzz_sendmail_mc_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-authors
tests_fuzz_fuzz_authors_SOURCES = tests/fuzz/tools/fuzz_authors.c $(FUZZ_MAIN)
tests_fuzz_fuzz_authors_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-old-postfix
tests_fuzz_fuzz_old_postfix_SOURCES = tests/fuzz/tools/fuzz_old_postfix.c tests/fuzz/tools/fuzz_old.h $(FUZZ_MAIN)
tests_fuzz_fuzz_old_postfix_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-old-exim
tests_fuzz_fuzz_old_exim_SOURCES = tests/fuzz/tools/fuzz_old_exim.c tests/fuzz/tools/fuzz_old.h $(FUZZ_MAIN)
tests_fuzz_fuzz_old_exim_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-old-sendmail
tests_fuzz_fuzz_old_sendmail_SOURCES = tests/fuzz/tools/fuzz_old_sendmail.c tests/fuzz/tools/fuzz_old.h $(FUZZ_MAIN)
tests_fuzz_fuzz_old_sendmail_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-exim-conf
tests_fuzz_fuzz_exim_conf_SOURCES = tests/fuzz/tools/fuzz_exim_conf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_exim_conf_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-zmailer-conf
tests_fuzz_fuzz_zmailer_conf_SOURCES = tests/fuzz/tools/fuzz_zmailer_conf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_zmailer_conf_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-state
tests_fuzz_fuzz_state_SOURCES = tests/fuzz/tools/fuzz_state.c $(FUZZ_MAIN)
tests_fuzz_fuzz_state_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-published
tests_fuzz_fuzz_published_SOURCES = tests/fuzz/tools/fuzz_published.c $(FUZZ_MAIN)
tests_fuzz_fuzz_published_LDADD = tools/libtools.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-exim-sql
tests_fuzz_fuzz_exim_sql_SOURCES = tests/fuzz/tools/fuzz_exim_sql.c $(FUZZ_MAIN)
tests_fuzz_fuzz_exim_sql_LDADD = tools/libtools.a $(FUZZ_LIBS)
