/** Keeps the public keys of the JWKS by id, for the verification of access tokens. */
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { Clock } from '../../core/lib/clock.ts';
import { OVERLAP_SECONDS } from './better-auth.ts';
import type { SigningKeyRow } from './store.ts';

/** An unknown key id reads the keys anew, so that another server may sign with a new key at once; no more often than this. */
const LOOK_AGAIN_MS = 1000;
/** A key that was taken away is trusted for no longer than this. */
const KEYS_MS = 60_000;

export interface SigningKeysDeps {
  read: () => Promise<SigningKeyRow[]>;
  clock: Clock;
}

export type SigningKeys = ReturnType<typeof createSigningKeys>;

export function createSigningKeys({ read, clock }: SigningKeysDeps) {
  let known = new Map<string, string>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function readAll(): Promise<void> {
    const now = clock.now().getTime();
    const rows = (await read()).filter(
      ({ alg, retiredAt }) => alg === 'ES256' && (!retiredAt || retiredAt.getTime() + 1000 * OVERLAP_SECONDS > now),
    );
    known = new Map(rows.map(({ id, publicKey }) => [id, toPem(publicKey)]));
    readAt = clock.monotonicMs();
  }

  return {
    /**
     * Resolves to the key in PEM, or to undefined when no key of ours has this id. Rejects when the database fails. A
     * token's other hints about keys are ignored: its key is one of these (RFC 8725, section 3.10).
     */
    async find(id: unknown): Promise<string | undefined> {
      if (typeof id !== 'string') return undefined;
      const age = clock.monotonicMs() - readAt;
      if (age > KEYS_MS || (age > LOOK_AGAIN_MS && !known.has(id))) {
        reading ??= readAll().finally(() => {
          reading = undefined;
        });
        await reading;
      }
      return known.get(id);
    },

    forget(): void {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

const toPem = (jwk: string): string =>
  createPublicKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  }) as string;
