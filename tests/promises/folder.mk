# promises - `make promises` shows each promise of doc/PROMISES.md
EXTRA_DIST += tests/promises/run-promises tests/promises/stage.flow \
	tests/promises/given tests/promises/later
# what it runs the flows run, too
if !SANITIZE
if HAVE_PYTHON3
LONG_TESTS += tests/promises/run-promises
endif
endif
.PHONY: promises
promises: all tests/unit/mail/unit-mail
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	$(PYTHON3) $(srcdir)/tests/promises/run-promises
