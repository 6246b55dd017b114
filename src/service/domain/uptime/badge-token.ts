/**
 * Makes the tokens of badges, which stand in the addresses of public images. A token holds the UID of its stream and a MAC of it, so that
 * none can be guessed, and nothing has to be stored. It names neither the stream nor its account.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UID_BYTES = 16;
const MAC_BYTES = 16;

export function createBadgeTokens(secret: string) {
  const sign = (uid: Buffer): Buffer =>
    createHmac('sha256', secret).update('badge\0').update(uid).digest().subarray(0, MAC_BYTES);
  return {
    /** Kubernetes' UIDs are UUIDs (RFC 9562). */
    build(streamUid: string): string {
      if (!UID.test(streamUid)) throw new Error(`${streamUid} is no UID of Kubernetes.`);
      const uid = Buffer.from(streamUid.replaceAll('-', ''), 'hex');
      return Buffer.concat([uid, sign(uid)]).toString('base64url');
    },

    /** Returns the UID of the stream; undefined for what is no token of ours. */
    read(token: string): string | undefined {
      const bytes = Buffer.from(token, 'base64url');
      // The same bytes have one spelling: caches keep an image once.
      if (bytes.length !== UID_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined;
      const uid = bytes.subarray(0, UID_BYTES);
      if (!timingSafeEqual(sign(uid), bytes.subarray(UID_BYTES))) return undefined;
      return uid.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}
