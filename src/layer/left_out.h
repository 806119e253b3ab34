/* SPDX-License-Identifier: MIT */
/*
 * debugPrintf calls that validation leaves out, since it does not like their
 * format string: no record of them is ever written, and they are told.
 */
#ifndef LAYER_LEFT_OUT_H
#define LAYER_LEFT_OUT_H

#include "device.h"

/* Says each call of the module, [n] bytes of SPIR-V, that this version of
 * validation leaves out, once in a process. number: the module's. Any thread. */
void left_out_tell(uint32_t version, uint64_t number, const void *bytes,
                   size_t n);

#endif
