/* SPDX-License-Identifier: MIT */
#include "base/sha512.h"

#if HAVE_TLS
#include <openssl/evp.h>
#include <stdio.h>

bool pfdd_sha512(const struct pfdd_piece *pieces, size_t n,
                 char ret[PFDD_SHA512_TEXT])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context && EVP_DigestInit_ex(context, EVP_sha512(), NULL) == 1;
    for (size_t i = 0; ok && i < n; i++)
        ok = EVP_DigestUpdate(context, pieces[i].at, pieces[i].n) == 1;
    ok = ok && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    for (size_t i = 0; ok && i < PFDD_SHA512_TEXT / 2; i++)
        sprintf(ret + 2 * i, "%02x", digest[i]);
    return ok;
}

#else

bool pfdd_sha512(const struct pfdd_piece *pieces, size_t n,
                 char ret[PFDD_SHA512_TEXT])
{
    return false;
}

#endif
