/**
 * Names the items that a stream goes without: those that the operator leaves out of the program, and those that the pod could
 * not play, such as one whose file is gone from the storage. Pure: no I/O, no clock.
 */
import { kubeTime } from '../../lib/clock.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import {
  MAX_UNPLAYABLE,
  type MediaField,
  READINESS_ISSUES,
  type Unplayable,
  type UnplayableItem,
} from '../../resources/stream/spec.ts';
import { assessTracks, countItems, type Entry, unplayableEntries } from '../media/items.ts';
import { pascalCase } from '../runtime/events.ts';
import type { World } from './observe.ts';
import type { BrokenItem } from './pod-report.ts';

/** Items that one sentence names; more are counted. */
const MAX_NAMED = 3;

export function describeLeftOut(count: number, total: number, messages: readonly string[]): string {
  const more = count - Math.min(messages.length, MAX_NAMED);
  return [
    `${count} of ${total} items ${count === 1 ? 'is' : 'are'} left out.`,
    ...messages.slice(0, MAX_NAMED),
    ...(more > 0 ? [`${more} more cannot be played.`] : []),
    `${count === 1 ? 'It joins' : 'Each joins'} by itself when it can be played.`,
  ].join(' ');
}

type Found = Omit<UnplayableItem, 'since'>;

const foundOf = ({ problem, ...entry }: Entry): Found[] =>
  problem ? [{ ...entry, reason: problem.reason, message: problem.message }] : [];

function brokenOf({ spec }: LoopStream, { id, name, track, code, message, index, playlist }: BrokenItem): Found {
  const video: MediaField = spec.playlistRefs?.length ? 'playlistRefs' : 'uploadRef';
  return {
    field: track === 'audio' ? 'audioPlaylistRefs' : video,
    ...(playlist !== undefined && { playlist }),
    ...(index !== undefined && { index }),
    ...{ upload: id, name, reason: pascalCase(code), message: `"${name}" (${id}) could not be played: ${message}` },
  };
}

const samePlace = (a: Found, b: Found): boolean =>
  a.field === b.field && a.playlist === b.playlist && a.index === b.index && a.upload === b.upload;

interface About {
  /** The stream has a pod. */
  hasPod: boolean;
  /** What the pod plays is another list than the stream now has: only what the pod says counts. */
  brokenOnly?: boolean;
}

/** Items that the pod could not play, as it told last; as the status has them while it tells nothing. */
function toldBy({ spec, status, ...rest }: LoopStream, { news }: World): Found[] {
  if (news) return (news.broken ?? []).map((broken) => brokenOf({ spec, ...rest }, broken));
  return (status?.unplayable?.items ?? []).filter(({ reason }) => !Object.hasOwn(READINESS_ISSUES, reason));
}

/** Undefined when everything can be played. */
export function unplayableOf(
  stream: LoopStream,
  world: World,
  { hasPod, brokenOnly = false }: About,
): Unplayable | undefined {
  const tracks = assessTracks(stream, world);
  const known = unplayableEntries(tracks).flatMap(foundOf);
  const told = (hasPod ? toldBy(stream, world) : []).filter(
    ({ field, upload }) => !known.some((one) => one.field === field && one.upload === upload),
  );
  const all = brokenOnly ? told : [...told, ...known];
  if (all.length === 0) return undefined;
  const before = stream.status?.unplayable?.items ?? [];
  const items = all.slice(0, MAX_UNPLAYABLE).map((item) => {
    const since = before.find((one) => samePlace(one, item) && one.reason === item.reason)?.since;
    return { ...item, since: since ?? kubeTime(world.now) };
  });
  return { total: countItems(tracks), count: all.length, items };
}
