/**
 * Tells which uploads are in quarantine: those that somebody has taken off every list, whose versions stay as they are.
 * Pure: no I/O, no clock.
 */
import { beginWith, callObject } from '../common/called.ts';
import { findCondition } from '../common/conditions.ts';
import { findUploadName } from './name.ts';
import type { Upload } from './resource.ts';

export const QUARANTINED_CONDITION = 'Quarantined';

/** Says that an upload is in quarantine; `what` begins the sentence. */
export const describeQuarantine = (what: string, reason: string): string => `${what} is in quarantine: ${reason}`;

/** The same of an upload that no list names. */
export const explainQuarantine = ({ metadata, spec, status }: Upload, reason: string): string =>
  describeQuarantine(
    beginWith(callObject('upload', metadata.name, findUploadName({ metadata, spec, ...(status && { status }) }))),
    reason,
  );

/** Time since which an upload is in quarantine; undefined of one that is not, or that the operator has not seen yet. */
export function findQuarantineTime({ spec, status }: Pick<Upload, 'spec' | 'status'>): string | undefined {
  if (!spec.quarantine) return undefined;
  const condition = findCondition(status?.conditions, QUARANTINED_CONDITION);
  return spec.quarantine.since ?? (condition?.status === 'True' ? condition.lastTransitionTime : undefined);
}
