# portable - where zmailer is not at home, in roots of their own; as root:
# make check-i386, check-musl, check-cross
EXTRA_DIST += tests/portable
.PHONY: check-i386 check-musl check-cross
check-i386 check-musl check-cross:
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/portable/run-portable $(@:check-%=%)
