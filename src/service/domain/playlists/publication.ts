/** Computes how much of the published version is prepared for the streams that play it. Pure: no I/O, no clock. */
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { findRendition } from '../../../core/resources/upload/spec.ts';
import type { Publication } from './record.ts';

/** Combines the states of one upload in all requested profiles; without profiles, the upload only has to be imported. */
function computeState(
  upload: Upload | undefined,
  profiles: readonly string[],
): { state: Publication['state']; progress: number } {
  if (!upload) return { state: 'failed', progress: 0 };
  const { status } = upload;
  if (!status?.media) return { state: status?.error ? 'failed' : 'preparing', progress: 0 };
  const renditions = profiles.map((profile) => findRendition(upload, profile)?.state);
  if (renditions.includes('failed')) return { state: 'failed', progress: 0 };
  if (renditions.every((state) => state === 'ready')) return { state: 'ready', progress: 1 };
  return { state: 'preparing', progress: status.phase === 'preparing' ? (status.progress ?? 0) : 0 };
}

/** `uploads` are those of the items and of what rules play, in order; undefined where one does not exist. */
export function computePublication(
  version: number | null,
  uploads: readonly (Upload | undefined)[],
  profiles: readonly string[],
): Publication {
  const stands = uploads.map((upload) => computeState(upload, profiles));
  const count = (state: Publication['state']) => stands.filter((stand) => stand.state === state).length;
  const [itemsReady, itemsFailed, itemsTotal] = [count('ready'), count('failed'), stands.length];
  const sum = stands.reduce((total, { progress }) => total + progress, 0);
  return {
    version,
    state: itemsFailed > 0 ? 'failed' : itemsReady === itemsTotal ? 'ready' : 'preparing',
    itemsReady,
    itemsFailed,
    itemsTotal,
    progress: itemsTotal === 0 ? 1 : Math.round((sum / itemsTotal) * 1000) / 1000,
  };
}
