/* SPDX-License-Identifier: MIT */
/*
 * JSON lines that are no entries: findings, gaps, and the summary. Hooks of
 * pfd_sink_json.
 */
#ifndef PFD_JSON_NOTICES_H
#define PFD_JSON_NOTICES_H

#include "core/output/sink.h"

void pfd_json_finding(struct pfd_text *out, const struct pfd_finding *finding,
                      const struct pfd_sink_options *options);
void pfd_json_summary(struct pfd_text *out, const struct pfd_summary *summary,
                      const char *source,
                      const struct pfd_sink_options *options);
void pfd_json_gap(struct pfd_text *out, const struct pfd_gap *gap,
                  const char *source, const struct pfd_sink_options *options);

#endif
