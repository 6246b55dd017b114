/** Says which picture is on air, and which one follows after an edit. Pure: no I/O, no clock. */
import type { LiveStats, Readiness, Stream } from '../../api/api.ts';
import { formatFramerate, formatProfile, formatQuality } from '../../lib/format.ts';

type Wanted = Pick<Stream, 'quality' | 'framerate'>;

/** The picture on air; undefined while nobody can say, or nothing is. */
const findOnAir = (stats: Pick<LiveStats, 'quality' | 'framerate'> | undefined): Wanted | undefined =>
  stats?.quality && stats.framerate ? { quality: stats.quality, framerate: stats.framerate } : undefined;

/** `1080p · 30 fps, 25 fps from the next clip`, while what is on air differs from what is wanted. */
export function formatPicture(
  wanted: Wanted,
  stats: Pick<LiveStats, 'quality' | 'framerate'> | undefined,
  readiness: Pick<Readiness, 'prepared'> | undefined,
): string {
  const onAir = findOnAir(stats) ?? wanted;
  const next = [
    ...(onAir.quality === wanted.quality ? [] : [formatQuality(wanted.quality)]),
    ...(onAir.framerate === wanted.framerate ? [] : [formatFramerate(wanted.framerate)]),
  ];
  const now = formatProfile(onAir.quality, onAir.framerate);
  if (next.length === 0) return now;
  const from = readiness && readiness.prepared < 1 ? 'once it is prepared' : 'from the next clip';
  return `${now}, ${next.join(' · ')} ${from}`;
}
