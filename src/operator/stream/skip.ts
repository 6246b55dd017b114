/** Which skip a stream is asked for and has not done. Pure: no I/O, no clock. */

import { SKIP_ANNOTATIONS } from '../../resources/common/names.ts';
import type { Program } from '../../resources/stream/program.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';

export interface Skip {
  track: 'video' | 'audio';
  /** The value of the annotation. */
  id: string;
  /** Too old, or of a track that the stream does not have. */
  void: boolean;
}

/** Whoever asked for the next item does not want it minutes later. */
const VALID_MS = 120_000;
const TRACKS = ['video', 'audio'] as const;

const asked = ({ metadata }: LoopStream, track: Skip['track']): string | undefined =>
  metadata.annotations?.[SKIP_ANNOTATIONS[track]] || undefined;

const isOld = (id: string, now: Date): boolean => now.getTime() - Date.parse(id.split(' ', 1)[0] ?? '') > VALID_MS;

export function pendingSkip(stream: LoopStream, { skipped, audio }: Program, now: Date): Skip | undefined {
  for (const track of TRACKS) {
    const id = asked(stream, track);
    if (id === undefined || id === skipped?.[track]) continue;
    return { track, id, void: isOld(id, now) || (track === 'audio' && !audio) };
  }
  return undefined;
}

/** Everything that was asked for until now, as done: a stream that goes on air anew begins at the beginning. */
export function allSkipped(stream: LoopStream): Pick<Program, 'skipped'> {
  const video = asked(stream, 'video');
  const audio = asked(stream, 'audio');
  if (video === undefined && audio === undefined) return {};
  return { skipped: { ...(video !== undefined && { video }), ...(audio !== undefined && { audio }) } };
}

export const withSkipped = (program: Program, { track, id }: Skip): Program => ({
  ...program,
  skipped: { ...program.skipped, [track]: id },
});
