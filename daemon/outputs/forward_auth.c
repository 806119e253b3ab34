/* SPDX-License-Identifier: MIT */
#include "outputs/forward_auth.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/name.h"

static bool read_secret(struct pfdd_secret *ret, const char *path,
                        const char *what, char *err, size_t n_err)
{
    FILE *in = path ? fopen(path, "re") : NULL;
    ret->n = 0;
    if (!path)
        return true;
    if (in) {
        ret->n = fread(ret->at, 1, sizeof ret->at, in);
        fclose(in);
    }
    while (ret->n && strchr("\r\n", ret->at[ret->n - 1]))
        ret->n--;
    if (ret->n > 0 && ret->n <= PFDD_SECRET_MAX)
        return true;
    snprintf(err, n_err, "%s: no %s can be read there", path, what);
    return false;
}

bool pfdd_forward_auth_read(struct pfdd_forward_auth *g,
                            const struct pfdd_forward_auth_config *config,
                            char *err, size_t n_err)
{
    g->user = config->user;
    return read_secret(&g->key, config->key_file, "shared key", err, n_err) &&
           read_secret(&g->password, config->password_file, "password", err,
                       n_err);
}

bool pfdd_make_random(char *ret, size_t n_bytes)
{
    unsigned char bytes[16];
    if (getrandom(bytes, n_bytes, 0) != (ssize_t)n_bytes)
        return false;
    for (size_t i = 0; i < n_bytes; i++)
        sprintf(ret + 2 * i, "%02x", bytes[i]);
    return true;
}

/* Proves that a host knows the key. */
static bool prove(const struct pfdd_forward_auth *g, const char *host,
                  size_t n_host, char ret[PFDD_SHA512_TEXT])
{
    const struct pfdd_piece pieces[] = {
        { g->salt, strlen(g->salt) },
        { host, n_host },
        { g->nonce, g->n_nonce },
        { g->key.at, g->key.n },
    };
    return pfdd_sha512(pieces, 4, ret);
}

/* Proves the password, for a peer that asks for a user. */
static bool prove_user(const struct pfdd_forward_auth *g,
                       struct pfdd_piece salt, char ret[PFDD_SHA512_TEXT])
{
    const struct pfdd_piece pieces[] = {
        salt,
        { g->user, strlen(g->user) },
        { g->password.at, g->password.n },
    };
    return pfdd_sha512(pieces, 3, ret);
}

const char *pfdd_forward_auth_answer(struct pfdd_forward_auth *g,
                                     const struct pfdd_forward_said *helo,
                                     struct pfd_text *out)
{
    const struct pfdd_piece *nonce = &helo->nonce;
    char proof[PFDD_SHA512_TEXT];
    char digest[PFDD_SHA512_TEXT] = "";
    const char *host = pfdd_host_name();
    bool wants_user = helo->auth.n > 0;
    if (!nonce->n || nonce->n > sizeof g->nonce)
        return "its greeting has no nonce";
    if (wants_user && !g->user)
        return "it wants a user and a password";
    memcpy(g->nonce, nonce->at, nonce->n);
    g->n_nonce = nonce->n;
    if (!pfdd_make_random(g->salt, 16) ||
        !prove(g, host, strlen(host), proof) ||
        (wants_user && !prove_user(g, helo->auth, digest)))
        return "no proof can be made";
    pfdd_forward_ping(out, host, g->salt, proof, wants_user ? g->user : "",
                      digest);
    return NULL;
}

const char *pfdd_forward_auth_check(const struct pfdd_forward_auth *g,
                                    const struct pfdd_forward_said *pong)
{
    char proof[PFDD_SHA512_TEXT];
    if (!pong->is_known && g->user)
        return "it refuses our shared key, user or password";
    if (!pong->is_known)
        return "it refuses our shared key";
    if (!prove(g, pong->host.at, pong->host.n, proof) ||
        pong->proof.n != strlen(proof) ||
        memcmp(pong->proof.at, proof, pong->proof.n) != 0)
        return "it does not know the shared key";
    return NULL;
}
