/*
 * Implements the one function of GnuTLS that libsrt calls, with random bytes of the kernel: keys and salts of SRT's encryption. The
 * ciphers are Nettle's. scripts/build-sender links it, because Debian has no static libraries of what GnuTLS itself needs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sys/random.h>

int gnutls_rnd(gnutls_rnd_level_t level, void *data, size_t size) {
  (void)level; /* The kernel's bytes are good enough for every level. */
  for (size_t filled = 0; filled < size;) {
    ssize_t got = getrandom((unsigned char *)data + filled, size - filled, 0);
    if (got >= 0) filled += got;
    else if (errno != EINTR) return GNUTLS_E_RANDOM_FAILED;
  }
  return GNUTLS_E_SUCCESS;
}
