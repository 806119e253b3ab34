/* SPDX-License-Identifier: MIT */
/*
 * debugPrintf calls that validation leaves out because it rejects their format
 * strings: they never write a record. Logs each of them.
 */
#ifndef LAYER_LEFT_OUT_H
#define LAYER_LEFT_OUT_H

#include "device.h"

/* Logs each call of the module, [n] bytes of SPIR-V, that this version of
 * validation leaves out, once in a process. number: the module's. Any
 * thread. */
void left_out_log(uint32_t version, uint64_t number, const void *bytes,
                  size_t n);

#endif
