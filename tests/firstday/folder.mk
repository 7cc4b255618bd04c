# firstday - a fresh Debian, from make install to each thing broken once; as
# root: make firstday [FIRSTDAYFLAGS="the last step"]
EXTRA_DIST += tests/firstday
.PHONY: firstday clean-firstday
firstday: all
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/firstday/run-firstday $(FIRSTDAYFLAGS)
clean-local: clean-firstday
clean-firstday:
	rm -rf tests/firstday/made tests/firstday/tree
