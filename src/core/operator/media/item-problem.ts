/**
 * Judges whether an item of a playlist can be played at all. A stream asks for more, a rendition in its own profile (items.ts).
 * Pure: no I/O, no clock.
 */

import type { ReadinessReason } from '../../lib/codes/streams.ts';
import { SENTENCES } from '../../lib/sentences.ts';
import { beginWith, callObject } from '../../resources/common/called.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import type { HealthProblem } from '../../resources/common/health.ts';
import type { PlaylistSpec } from '../../resources/playlist/spec.ts';
import { findUploadName } from '../../resources/upload/name.ts';
import { describeQuarantine } from '../../resources/upload/quarantine.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { isAside, isPlayable } from '../../resources/upload/spec.ts';

export type ItemProblem = Omit<HealthProblem, 'since'>;

const problem = (reason: ReadinessReason, outlook: HealthProblem['outlook'], message: string): ItemProblem => ({
  reason,
  outlook,
  message,
});

/** Whether something of the upload can be played: a rendition, or all that streams ask for, which may be nothing. */
function isUsable({ status }: Upload): boolean {
  if (status?.renditions?.some((one) => !isAside(one.profile) && isPlayable(one))) return true;
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

/**
 * Why an item of a playlist of this kind cannot be played; undefined when it can. The message has no progress in it, so that a playlist
 * is not written with every second that is prepared.
 */
export function findItemProblem(
  name: string,
  upload: Upload | undefined,
  kind: PlaylistSpec['track'],
): ItemProblem | undefined {
  if (!upload) return problem('UploadNotFound', 'appears', `${beginWith(callObject('upload', name))} does not exist.`);
  const { track, quarantine } = upload.spec;
  const isSound = kind === 'video' && track === 'audio';
  // The name is parsed from the link, which costs more than all the rest: most items need none.
  if (!isSound && track !== 'image' && !quarantine && isUsable(upload)) return undefined;
  const what = beginWith(callObject('upload', name, findUploadName(upload)));
  if (isSound) return problem('MediaFailed', 'stays', `${what} is audio; the playlist needs videos.`);
  if (track === 'image') return problem('MediaFailed', 'stays', `${what} ${SENTENCES.imageIsNoItem}`);
  if (quarantine) return problem('UploadQuarantined', 'stays', describeQuarantine(what, quarantine.reason));
  const stalled = findCondition(upload.status?.conditions, 'Stalled');
  if (stalled) return problem('MediaFailed', 'stays', `${what} cannot be played: ${stalled.message}`);
  return upload.status?.media
    ? problem('MediaPreparing', 'passes', `${what} is being prepared.`)
    : problem('MediaImporting', 'passes', `${what} is still being imported.`);
}
