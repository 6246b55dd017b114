/** Puts uploads in quarantine, and shows it. Pure: no I/O, no clock. */
import { kubeTime } from '../../../core/lib/clock.ts';
import { SENTENCES } from '../../../core/lib/sentences.ts';
import { findQuarantineTime } from '../../../core/resources/upload/quarantine.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import type { Quarantine } from '../../../core/resources/upload/spec.ts';
import { AppError } from '../../lib/errors.ts';
import type { Upload, UploadQuarantine } from './record.ts';

export function showQuarantine(upload: Pick<Resource, 'spec' | 'status'>): Upload['quarantine'] {
  const { quarantine } = upload.spec;
  if (!quarantine) return null;
  return { reason: quarantine.reason, since: findQuarantineTime(upload) ?? null, cut: quarantine.cut === true };
}

/**
 * Returns the merge patch of a quarantine; undefined where it is so already. One that is there keeps its time. Throws `upload_is_image`.
 */
export function patchQuarantine(
  { spec }: Resource,
  { reason: given, cut = false }: UploadQuarantine,
  now: Date,
): { [field in keyof Quarantine]: Quarantine[field] | null } | undefined {
  if (spec.track === 'image') throw new AppError('upload_is_image', `The upload ${SENTENCES.imageIsNoItem}`);
  const reason = given.trim();
  const before = spec.quarantine;
  if (before && before.reason === reason && (before.cut === true) === cut) return undefined;
  return { reason, cut: cut || null, since: before?.since ?? kubeTime(now) };
}
