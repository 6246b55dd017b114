/** Stores how the parts of a rendition are made, so that other Jobs make some of them without reading the source to its end before. */
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { planKey } from '../../rendition/index.ts';
import type { Storage } from '../../storage/storage.ts';
import type { PlanInput } from './plan.ts';

/** Another version is another way of making parts, which do not fit together. */
const VERSION = 2;

/** The makers of parts agree on it. */
export interface PartsPlan {
  version: typeof VERSION;
  /** Pictures of the whole. */
  videoFrames: number;
  /** Pictures from the beginning on that are in chunks of another way, e.g. of a copy: the parts follow them. */
  keptFrames: number;
  input: Omit<PlanInput, 'path' | 'overlays'>;
}

export function describeParts(
  { path: _, overlays: ___, ...input }: PlanInput,
  videoFrames: number,
  keptFrames: number,
): PartsPlan {
  const { packets: __, ...scan } = input.scan;
  // JSON drops what is undefined, so that a plan equals itself when it is read.
  return JSON.parse(
    JSON.stringify({ version: VERSION, videoFrames, keptFrames, input: { ...input, scan } }),
  ) as PartsPlan;
}

/** Returns undefined where there is none, or one of another release. Rejects with StorageError. */
export async function readPartsPlan(
  storage: Pick<Storage, 'head' | 'read'>,
  renditionKey: string,
): Promise<PartsPlan | undefined> {
  const key = planKey(renditionKey);
  if (!(await storage.head(key))) return undefined;
  const plan = JSON.parse(await text(await storage.read(key))) as PartsPlan;
  return plan.version === VERSION ? plan : undefined;
}

/** Rejects with StorageError. */
export const writePartsPlan = (storage: Pick<Storage, 'write'>, renditionKey: string, plan: PartsPlan): Promise<void> =>
  storage.write(planKey(renditionKey), Buffer.from(JSON.stringify(plan)));

export const isSamePlan = (a: PartsPlan | undefined, b: PartsPlan): boolean => isDeepStrictEqual(a, b);
