# the house rules that a compiler does not know
EXTRA_DIST += tools/lint
if HAVE_PYTHON3
if !SANITIZE
LONG_TESTS += tools/lint/test_lint.py
endif
LINT = $(PYTHON3) $(srcdir)/tools/lint/lint.py
LINT_COMPILER = $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS)
lint:
	@$(LINT) $(srcdir) $(LINT_COMPILER)
# what pending rules find, too
lint-all:
	@$(LINT) --all $(srcdir) $(LINT_COMPILER)
format:
	@$(PYTHON3) $(srcdir)/tools/lint/layout.py $(srcdir)
else
lint lint-all format:
	@echo "make $@ needs python3: apt-get install python3" >&2
	@exit 1
endif
.PHONY: lint lint-all format
