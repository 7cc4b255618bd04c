# soak - mixed mail and trouble: `make soak SOAK_MINUTES=120`, each trouble
# twice in make check
EXTRA_DIST += tests/soak/run-soak tests/soak/soak.py tests/soak/next_hop.py \
	tests/soak/watch.py
if !SANITIZE
if HAVE_PYTHON3
LONG_TESTS += tests/soak/run-soak
endif
endif
SOAK_MINUTES = 120
SOAK_RATE = 20
.PHONY: soak
soak: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/soak/soak.py --minutes $(SOAK_MINUTES) --rate $(SOAK_RATE)
