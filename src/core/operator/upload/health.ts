/**
 * Judges whether an upload can be played, by its status: imported, and each rendition that a stream asks for can be played.
 * Pure: no I/O, no clock.
 */

import { findFix } from '../../lib/codes/codes.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { buildHealth, type Health } from '../../resources/common/health.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { isAside, isPlayable, type UploadStatus } from '../../resources/upload/spec.ts';
import { buildConditions } from '../runtime/controller.ts';

/** Reason of Ready while Kubernetes refuses a Job or its pod, which is tried again. */
export const JOB_REFUSED = 'JobRefused';

/** `refusal`: why a Job of the upload, or its pod, cannot be made, which only others can change. */
export function judgeUpload({ media, renditions = [], error, conditions }: UploadStatus, refusal?: string): Health {
  // Prepared repeats the problem of an import.
  const { status, reason = '', message = '' } = findCondition(conditions, media ? 'Prepared' : 'Imported') ?? {};
  if (error) {
    const fix = findFix(error.code, 'uploadError');
    return { state: 'stalled', reason, message: fix === undefined ? message : `${message} ${fix}` };
  }
  if (media && status === 'True') return { state: 'ready', reason, message };
  // A rendition on hold is in no list.
  const pending = renditions.filter(({ state, profile }) => state === 'pending' && !isAside(profile));
  if (media && pending.length > 0 && pending.every(isPlayable))
    return { state: 'ready', reason: 'Playable', message: `The upload can be played. ${message}` };
  if (refusal !== undefined) return { state: 'reconciling', reason: JOB_REFUSED, message: refusal };
  return { state: 'reconciling', reason, message };
}

/** The status with the conditions Ready, Reconciling and Stalled. */
export function addHealth({ metadata, status: before }: Upload, status: UploadStatus, now: Date, refusal?: string) {
  const health = buildHealth(judgeUpload(status, refusal));
  const conditions = buildConditions(health, before?.conditions, metadata.generation, now);
  return { ...status, conditions: [...conditions, ...(status.conditions ?? [])] };
}
