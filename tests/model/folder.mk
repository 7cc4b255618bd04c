# model - `make spool-model` (of `make model`) checks the models and their broken variants (spin),
# `make model-traces` runs every flow under the trace checker, `make planted`
# breaks a copy of the source in 18 places; make check a sample
EXTRA_DIST += tests/model/spool.pml tests/model/cluster.pml tests/model/moves tests/model/check.py \
	tests/model/trace.py tests/model/traced.py tests/model/planted.py tests/model/faults.py \
	tests/model/test_trace.py tests/model/run-sample tests/model/whose.py tests/model/test_whose.py
if !SANITIZE
if HAVE_PYTHON3
LONG_TESTS += tests/model/run-sample
SHORT_TESTS += tests/model/test_trace.py tests/model/test_whose.py
endif
endif
.PHONY: spool-model model-traces planted
model: spool-model
spool-model:
	@$(PYTHON3) $(srcdir)/tests/model/check.py; status=$$?; test $$status -eq 77 || exit $$status
model-traces: all tests/crash/nth.so
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	$(PYTHON3) $(srcdir)/tests/flow/runner.py --traced $(FLOWS)
planted: all tests/crash/nth.so
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/model/planted.py
