# corpus - headers of real mail, against what was recorded
check_PROGRAMS += tests/corpus/headers
SHORT_TESTS += tests/corpus/run-headers
tests_corpus_headers_SOURCES = tests/corpus/headers.c
tests_corpus_headers_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-headers tests/corpus/headers.expect
# the published cases of SPF
check_PROGRAMS += tests/corpus/spf
SHORT_TESTS += tests/corpus/run-spf
tests_corpus_spf_SOURCES = tests/corpus/spf.c
tests_corpus_spf_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-spf
# signatures of others
check_PROGRAMS += tests/corpus/dkim
SHORT_TESTS += tests/corpus/run-dkim
tests_corpus_dkim_SOURCES = tests/corpus/dkim.c tests/corpus/judge_files.h
tests_corpus_dkim_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-dkim
# signatures of ours, verified by others
check_PROGRAMS += tests/corpus/dkim_sign
SHORT_TESTS += tests/corpus/run-dkim-ours
tests_corpus_dkim_sign_SOURCES = tests/corpus/dkim_sign.c
tests_corpus_dkim_sign_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-dkim-ours
# both, between us and opendkim
SHORT_TESTS += tests/corpus/run-opendkim
EXTRA_DIST += tests/corpus/run-opendkim
# DMARC, beside opendmarc
check_PROGRAMS += tests/corpus/dmarc
SHORT_TESTS += tests/corpus/run-opendmarc
tests_corpus_dmarc_SOURCES = tests/corpus/dmarc.c
tests_corpus_dmarc_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-opendmarc
# chains of seals
check_PROGRAMS += tests/corpus/arc
SHORT_TESTS += tests/corpus/run-arc
tests_corpus_arc_SOURCES = tests/corpus/arc.c tests/corpus/judge_files.h
tests_corpus_arc_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-arc
# chains of DKIM2
check_PROGRAMS += tests/corpus/dkim2
SHORT_TESTS += tests/corpus/run-dkim2
tests_corpus_dkim2_SOURCES = tests/corpus/dkim2.c
tests_corpus_dkim2_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/corpus/run-dkim2
