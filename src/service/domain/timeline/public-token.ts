/**
 * Makes the secret part of the addresses at which anyone may read what a stream plays. It follows from a random number and a secret of the
 * service, and the stream keeps its hash and that number: neither tells it to who reads the stream. Pure: no I/O, no clock.
 */
import { createHmac, hash } from 'node:crypto';
import { PUBLIC_NOW_ANNOTATION } from '../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { formatSecret, isSecretLike } from '../../auth/key-format.ts';

const PREFIX = 'lsn_';

/** Random part of a token. */
export const NONCE_BYTES = 16;

export interface PublicAccess {
  /** SHA-256 of the token. */
  hash: string;
  nonce: string;
  /** RFC 3339. */
  since: string;
}

export const isPublicToken = (text: string): boolean => isSecretLike(PREFIX, text);

/** Tokens have 238 bits, so a plain hash suffices. */
export const hashToken = (token: string): string => hash('sha256', token, 'base64url');

export const buildPublicToken = (secret: string, streamUid: string, nonce: string): string =>
  formatSecret(PREFIX, createHmac('sha512', secret).update(`now\0${streamUid}\0${nonce}`).digest());

/** Undefined for a stream that is not public. */
export function readPublicAccess({ metadata }: Pick<LoopStream, 'metadata'>): PublicAccess | undefined {
  const [hash = '', nonce, since] = metadata.annotations?.[PUBLIC_NOW_ANNOTATION]?.split(' ') ?? [];
  return hash === '' || nonce === undefined || since === undefined ? undefined : { hash, nonce, since };
}

export const formatPublicAccess = ({ hash, nonce, since }: PublicAccess): string => `${hash} ${nonce} ${since}`;
