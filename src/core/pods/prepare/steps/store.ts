/** Finds a complete rendition in storage, and completes one: the last step. */
import { text } from 'node:stream/consumers';
import { parseCardProfile } from '../../../resources/upload/card.ts';
import { parseSoundProfile } from '../../../resources/upload/loudness.ts';
import type { RenditionStatus } from '../../../resources/upload/spec.ts';
import type { UploadWarning } from '../../../resources/upload/warnings.ts';
import {
  chunkKey,
  indexKey,
  parseIndex,
  planKey,
  type RenditionIndex,
  type RenditionIndexV1,
} from '../../rendition/index.ts';
import type { Storage } from '../../storage/storage.ts';
import { listChunks } from '../transcode/chunk-writer.ts';
import type { Target } from './context.ts';

export interface Rendered {
  rendition: RenditionStatus;
  warnings: UploadWarning[];
}

type Place = Pick<Target, 'profile' | 'renditionKey'>;

/** Resolves with undefined where it is not complete. Rejects with StorageError. */
export async function findRendition(
  target: Pick<Target, 'type'> & Place,
  storage: Storage,
): Promise<Rendered | undefined> {
  const index = await readIndex(target, storage);
  return index && (await hasChunks(target, index, storage)) ? describeReady(target, index) : undefined;
}

/** Writes the index, which comes last: it says that the rendition is complete. Rejects with StorageError. */
export async function storeRendition(target: Place, index: RenditionIndex, storage: Storage): Promise<Rendered> {
  await storage.write(indexKey(target.renditionKey), Buffer.from(JSON.stringify(index)));
  await storage.delete(planKey(target.renditionKey));
  return describeReady(target, index);
}

const describeReady = ({ profile, renditionKey }: Place, index: RenditionIndex | RenditionIndexV1): Rendered => {
  const { durationSeconds, bitrateKbps, warnings = [] } = index;
  const loudness = index.version === 1 ? undefined : index.loudness;
  const about = { durationSeconds, bitrateKbps, ...(loudness && { loudness }) };
  return { rendition: { profile, state: 'ready', key: renditionKey, ...about }, warnings };
};

/** Returns the index of a rendition of this kind, also of one that an earlier release made. */
async function readIndex(
  { renditionKey, profile, type }: Pick<Target, 'type'> & Place,
  storage: Storage,
): Promise<RenditionIndex | RenditionIndexV1 | undefined> {
  const key = indexKey(renditionKey);
  if (!(await storage.head(key))) return undefined;
  const index = parseIndex(await text(await storage.read(key)));
  const hasPictures = parseCardProfile(profile) !== undefined || (type !== 'audio' && !parseSoundProfile(profile));
  return index?.profile === profile && (index.video !== undefined) === hasPictures ? index : undefined;
}

async function hasChunks(
  { renditionKey }: Place,
  index: RenditionIndex | RenditionIndexV1,
  storage: Storage,
): Promise<boolean> {
  if (index.version === 1) return (await storage.head(renditionKey))?.sizeBytes === index.sizeBytes;
  const there = new Set<string>();
  for await (const { key } of listChunks(storage, renditionKey)) there.add(key);
  for (const chunk of index.chunks) {
    const key = chunkKey(renditionKey, chunk, index.version);
    // A listing may be old.
    if (!there.has(key) && !(await storage.head(key))) return false;
  }
  return true;
}
