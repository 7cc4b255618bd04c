# packaging - the package that make deb makes, in a fresh Debian; as root:
# make packaging
EXTRA_DIST += tests/packaging
.PHONY: packaging
packaging: deb
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/packaging/run-packaging deb/zmailer_*.deb
