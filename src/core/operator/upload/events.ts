/** Tells what changed in the status of an upload as Events. Pure: no I/O, no clock. */

import type { EventInput } from '../../kube/events.ts';
import { toPascalCase } from '../../lib/codes/code-text.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { nameProfile } from '../../resources/upload/loudness.ts';
import { QUARANTINED_CONDITION } from '../../resources/upload/quarantine.ts';
import type { UploadStatus } from '../../resources/upload/spec.ts';
import { buildNormalEvent, buildWarningEvent } from '../runtime/controller.ts';

export function buildUploadEvents(before: UploadStatus | undefined, status: UploadStatus): EventInput[] {
  const events: EventInput[] = [];
  if (status.media && !before?.media) {
    events.push(
      buildNormalEvent('MediaImported', `The file was imported: ${status.media.durationSeconds} s of media.`),
    );
  }
  for (const { code, message } of status.warnings ?? []) {
    const known = before?.warnings?.some((other) => other.code === code);
    if (!known) events.push(buildWarningEvent(toPascalCase(code), message));
  }
  for (const { profile, state, playable, error } of status.renditions ?? []) {
    const made = nameProfile(profile);
    const earlier = before?.renditions?.find((other) => other.profile === profile);
    if (playable && !earlier?.playable)
      events.push(buildNormalEvent('MediaPlayable', `Enough of the upload is prepared to play it in ${made}.`));
    if (earlier?.state === state) continue;
    if (state === 'ready') events.push(buildNormalEvent('MediaPrepared', `The upload is prepared for ${made}.`));
    if (state === 'failed')
      events.push(buildWarningEvent('MediaFailed', `Preparing the upload for ${made} failed: ${error?.message ?? ''}`));
  }
  if (status.waiting && status.waiting.tries !== before?.waiting?.tries) {
    events.push(
      buildWarningEvent(
        'LinkAway',
        `${status.waiting.message} The import retries the link at ${status.waiting.nextTryAt}.`,
      ),
    );
  }
  if (status.error && !status.media && before?.error?.code !== status.error.code) {
    events.push(buildWarningEvent('MediaFailed', status.error.message));
  }
  return [...events, ...buildQuarantineEvents(before, status)];
}

/** One event for each quarantine that begins or ends. */
function buildQuarantineEvents(before: UploadStatus | undefined, { conditions }: UploadStatus): EventInput[] {
  const now = findCondition(conditions, QUARANTINED_CONDITION);
  const earlier = findCondition(before?.conditions, QUARANTINED_CONDITION);
  if (!now || now.status === (earlier?.status ?? 'False')) return [];
  const build = now.status === 'True' ? buildWarningEvent : buildNormalEvent;
  return [build(now.reason, now.message)];
}
