# portable - on a processor of 32 bits; as root: make check-i386
EXTRA_DIST += tests/portable
.PHONY: check-i386
check-i386:
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/portable/run-i386
