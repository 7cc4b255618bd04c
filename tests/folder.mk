# tests - unit and fuzz-corpus replay in make check; flow, crash and bench beside them
AM_TESTS_ENVIRONMENT = ZMAILER_SRC=$(abs_top_srcdir); export ZMAILER_SRC; \
	ZMAILER_BUILD=$(abs_top_builddir); export ZMAILER_BUILD; \
	LSAN_OPTIONS=suppressions=$(abs_top_srcdir)/tests/unit/lsan.supp:print_suppressions=0; \
	export LSAN_OPTIONS;
EXTRA_DIST += tests/unit/lsan.supp
include tests/unit/base/folder.mk
include tests/unit/journal/folder.mk
include tests/unit/grammar/folder.mk
include tests/unit/io/folder.mk
include tests/unit/tls/folder.mk
include tests/unit/past/folder.mk
include tests/unit/origin/folder.mk
include tests/unit/mail/folder.mk
include tests/unit/conf/folder.mk
include tests/unit/daemon/folder.mk
include tests/unit/smtpserver/folder.mk
include tests/unit/router/folder.mk
include tests/unit/scheduler/folder.mk
include tests/unit/transports/folder.mk
include tests/unit/sts/folder.mk
include tests/unit/share/folder.mk
include tests/unit/resolver/folder.mk
include tests/unit/tables/folder.mk
include tests/unit/web/folder.mk
include tests/unit/tools/folder.mk
include tests/fuzz/folder.mk
include tests/flow/folder.mk
include tests/promises/folder.mk
include tests/crash/folder.mk
include tests/model/folder.mk
include tests/soak/folder.mk
include tests/priv/folder.mk
include tests/corpus/folder.mk
include tests/real/folder.mk
include tests/firstday/folder.mk
include tests/packaging/folder.mk
include tests/portable/folder.mk
include tests/bench/folder.mk
