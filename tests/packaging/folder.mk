# packaging - Debian's packages, built and tried in roots of their own; as
# root: make packaging [PACKAGINGFLAGS=--made]
EXTRA_DIST += tests/packaging
.PHONY: packaging
packaging:
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/packaging/run-packaging deb $(PACKAGINGFLAGS)
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/packaging/run-image deb zmailer-image.tar

# a machine of its own: Debian's kernel with AppArmor, by qemu; never a part of
# make check: make check-vm [VMFLAGS="STEP|PART..."]
CLEANFILES += vm-console.log
.PHONY: check-vm
check-vm:
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	sh $(srcdir)/tests/packaging/run-vm deb $(VMFLAGS)
