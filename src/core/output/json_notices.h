/* SPDX-License-Identifier: MIT */
/*
 * Lines of JSON between those of entries, and behind them: what was found, what
 * was lost on the way, and the summary. See pfd_sink, whose hooks these are.
 */
#ifndef PFD_JSON_NOTICES_H
#define PFD_JSON_NOTICES_H

#include "core/output/sink.h"

void pfd_json_finding(struct pfd_text *out, const struct pfd_finding *finding,
                      const struct pfd_sink_options *options);
void pfd_json_summary(struct pfd_text *out, const struct pfd_summary *summary,
                      const char *source);
void pfd_json_gap(struct pfd_text *out, const struct pfd_gap *gap,
                  const char *source, const struct pfd_sink_options *options);

#endif
