/** Converts the conditions of a stream to the issues and warnings that clients see. Pure: no I/O, no clock. */
import { findFix } from '../../../core/lib/codes/codes.ts';
import { DEGRADATIONS } from '../../../core/lib/codes/streams.ts';
import { type Condition, findCondition } from '../../../core/resources/common/conditions.ts';
import { findConditionField, getConditionFix, getReasonCode } from '../../../core/resources/stream/readiness.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { MEDIA_FIELDS } from '../../../core/resources/stream/spec.ts';
import type { ReadinessIssue, ReadinessWarning } from './record.ts';

export function toIssue(
  { type, status, reason, message, lastTransitionTime }: Condition,
  stream?: Pick<LoopStream, 'spec' | 'status'>,
): ReadinessIssue {
  return {
    code: getReasonCode(reason),
    message,
    fix: getConditionFix({ type, status, reason }),
    field: findConditionField(type, stream, reason),
    since: lastTransitionTime,
  };
}

/** Lists items that are left out of the program. While media keeps the stream off air, they are its issues. */
export function toWarnings(stream: Pick<LoopStream, 'spec' | 'status'>): ReadinessWarning[] {
  const { unplayable, conditions } = stream.status ?? {};
  const media = findCondition(conditions, 'MediaReady');
  if (!unplayable || media?.status !== 'True') return [];
  const warnings = unplayable.items.map(
    ({ field, playlist, index, upload, name, reason, message, since }): ReadinessWarning => {
      const code = getReasonCode(reason);
      const fix = findFix(code, 'leftOut') ?? getConditionFix({ type: 'MediaReady', status: 'False', reason });
      const item = {
        playlistID: playlist ?? null,
        index: index ?? null,
        objectID: upload ?? null,
        name: name ?? null,
      };
      return { code, message, fix, field: MEDIA_FIELDS[field], since, item };
    },
  );
  const more = unplayable.count - warnings.length;
  if (more <= 0) return warnings;
  const message = `${more} more of ${unplayable.total} items are left out.`;
  const { code, fix } = DEGRADATIONS.ItemsLeftOut;
  const field = findConditionField('MediaReady', stream);
  return [...warnings, { code, message, fix, field, since: media.lastTransitionTime, item: null }];
}
