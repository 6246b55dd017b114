/**
 * Handles uploads that clients send in parallel parts (tus extension concatenation). A part is an upload that is never imported.
 * The joined upload takes over their bytes in place, and their share of the limits.
 */

import { isSameJson } from '../../../core/lib/json-equal.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { isArriving, MAX_PARTS, type RenditionPart } from '../../../core/resources/upload/spec.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';

const wrong = (message: string) => validationFailed([{ path: '/Upload-Concat', message }]);

export type Concat = { isPart: true } | { isPart: false; partIds: string[] };

export function readConcat(header: string | undefined): Concat | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (text === 'partial') return { isPart: true };
  const [, list] = /^final; *(.*)$/s.exec(text) ?? [];
  if (list === undefined) throw wrong('must be `partial`, or `final;` and the URLs of the parts');
  // Proxies may have changed host and path of the URLs; only the id counts.
  const partIds = list
    .split(/\s+/)
    .filter(Boolean)
    .map((url) => url.split(/[?#]/, 1)[0]?.split('/').findLast(Boolean) ?? '');
  if (partIds.length === 0 || partIds.length > MAX_PARTS) throw wrong(`must name 1 to ${MAX_PARTS} parts`);
  return { isPart: false, partIds };
}

/** Returns the `Upload-Concat` header of an upload; undefined unless it is a part or joined from parts. */
export function concatHeader({ spec }: Resource, path: string): string | undefined {
  const { isPart, parts } = spec.source.sent ?? {};
  if (isPart) return 'partial';
  return parts && `final;${parts.map(({ name }) => `${path}/${name}`).join(' ')}`;
}

export interface Parts {
  /** The upload that an earlier try of the same request created. Where that try has not joined the parts, they are in `found`. */
  made?: Resource;
  found: Resource[];
  sizeBytes: number;
}

/** Finds an account's parts by id. Throws `upload_not_found`, `upload_conflict` and `validation_failed`. */
export async function findParts(
  uploads: OwnedResources<Resource>,
  accountId: string,
  ids: readonly string[],
): Promise<Parts> {
  // Another server may have received them a moment ago.
  for (const id of new Set(ids)) if (!uploads.isKnown(accountId, id)) await uploads.load(accountId, id);
  const findMade = () => uploads.list(accountId).find(({ spec }) => areSame(spec.source.sent?.parts, ids));
  let made = findMade();
  if (made && isArriving(made.spec)) {
    await uploads.load(accountId, made.metadata.name);
    made = findMade();
  }
  if (made && !isArriving(made.spec)) return { made, found: [], sizeBytes: made.spec.source.sent?.sizeBytes ?? 0 };
  const found = ids.map((id) => uploads.get(accountId, id));
  let sizeBytes = 0;
  for (const { metadata, spec } of found) {
    const { sent } = spec.source;
    if (!sent?.isPart) throw wrong(`names ${metadata.name}, which was not created with Upload-Concat: partial`);
    if (sent.sizeBytes === undefined || sent.receivedBytes < sent.sizeBytes)
      throw new AppError('upload_conflict', `Part ${metadata.name} is not complete.`);
    sizeBytes += sent.sizeBytes;
  }
  if (made && !isSameJson(made.spec.source.sent?.parts, found.map(toPart)))
    throw new AppError('upload_conflict', 'The upload that this request made before names other parts. Delete it.');
  return { ...(made && { made }), found, sizeBytes };
}

const areSame = (parts: readonly RenditionPart[] | undefined, ids: readonly string[]): boolean =>
  parts?.length === ids.length && parts.every(({ name }, i) => name === ids[i]);

export const toPart = ({ metadata: { name, uid } }: Resource): RenditionPart => ({ name, uid });

/** Returns the UIDs of parts whose bytes belong to another upload. */
export const listJoinedParts = (all: readonly Resource[]): Set<string> =>
  new Set(all.flatMap(({ spec }) => (spec.source.sent?.parts ?? []).map(({ uid }) => uid)));
