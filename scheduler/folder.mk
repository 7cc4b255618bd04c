# scheduler
noinst_LIBRARIES += scheduler/libscheduler.a
scheduler_libscheduler_a_SOURCES = \
	scheduler/state.h scheduler/core.c scheduler/core.h \
	scheduler/intake/intake.c scheduler/intake/intake.h \
	scheduler/intake/scan.c scheduler/intake/scan.h \
	scheduler/intake/job_build.c scheduler/intake/job_build.h \
	scheduler/plan/queue.c scheduler/plan/queue.h \
	scheduler/plan/thread.c scheduler/plan/thread.h \
	scheduler/plan/heap.c scheduler/plan/heap.h \
	scheduler/plan/lanes.c scheduler/plan/lanes.h \
	scheduler/plan/pace.c scheduler/plan/pace.h \
	scheduler/plan/room.c scheduler/plan/room.h \
	scheduler/plan/provider.c scheduler/plan/provider.h \
	scheduler/plan/shape.c scheduler/plan/shape.h \
	scheduler/plan/zone.c scheduler/plan/zone.h \
	scheduler/plan/plan.c scheduler/plan/plan.h \
	scheduler/plan/retry.c scheduler/plan/retry.h \
	scheduler/agents/answer.c scheduler/agents/answer.h \
	scheduler/agents/agents.c scheduler/agents/agents.h \
	scheduler/agents/feed.c scheduler/agents/hear.c \
	scheduler/outcome/outcome.c scheduler/outcome/outcome.h \
	scheduler/outcome/rules.c scheduler/outcome/rules.h \
	scheduler/outcome/results.c scheduler/outcome/results.h \
	scheduler/outcome/expire.c scheduler/outcome/expire.h \
	scheduler/outcome/kept.c scheduler/outcome/kept.h \
	scheduler/outcome/group.c scheduler/outcome/group.h \
	scheduler/report/bounce.c scheduler/report/bounce.h \
	scheduler/report/bounce_internal.h scheduler/report/bounce_words.c \
	scheduler/report/bounce_fields.c scheduler/report/bounce_value.c \
	scheduler/report/formset.c scheduler/report/formset.h \
	scheduler/report/report.c scheduler/report/report.h \
	scheduler/report/letter.c scheduler/report/letter.h \
	scheduler/control/orders.c scheduler/control/orders.h \
	scheduler/control/request.c scheduler/control/request.h \
	scheduler/control/peer.c scheduler/control/peer.h \
	scheduler/control/visit.c scheduler/control/visit.h \
	scheduler/control/act.c scheduler/control/act.h \
	scheduler/control/act_list.c scheduler/control/act_count.c \
	scheduler/control/act_change.c scheduler/control/act_retry.c \
	scheduler/control/act_dest.c scheduler/control/act_undelete.c \
	scheduler/control/act_reroute.c \
	scheduler/control/resend.c scheduler/control/resend.h \
	scheduler/control/act_queue.c scheduler/control/act_events.c \
	scheduler/control/constraint.c scheduler/control/constraint.h \
	scheduler/control/act_next.c scheduler/control/act_job.c \
	scheduler/control/act_turns.c \
	scheduler/control/control.c scheduler/control/control.h \
	scheduler/control/words.c \
	scheduler/mailq/keeper.c scheduler/mailq/keeper.h \
	scheduler/mailq/listener.c scheduler/mailq/listener.h \
	scheduler/mailq/session.c scheduler/mailq/session.h
pkglibexec_PROGRAMS += scheduler/scheduler
scheduler_scheduler_SOURCES = scheduler/scheduler.c
scheduler_scheduler_LDADD = scheduler/libscheduler.a $(ZM_LIBS)
# the words of reports
formsdir = $(pkgdatadir)/forms
dist_forms_DATA = scheduler/report/forms/en scheduler/report/forms/de scheduler/report/forms/fi
