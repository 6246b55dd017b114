/**
 * Decides what an upload needs: (upload, observation) → status and the Jobs to make or to remove. An upload is imported once; a
 * failure is final until its spec is edited. Pure: no I/O, no clock.
 */

import { toPascalCase } from '../../lib/codes/code-text.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { importJobName, renditionJobName } from '../../resources/common/names.ts';
import { findPoster, lacksPoster } from '../../resources/upload/poster.ts';
import { explainQuarantine, QUARANTINED_CONDITION } from '../../resources/upload/quarantine.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import {
  isArriving,
  isAside,
  type MediaInfo,
  type RenditionStatus,
  type UploadState,
  type UploadStatus,
  type UploadWaiting,
} from '../../resources/upload/spec.ts';
import { mergeWarnings } from '../../resources/upload/warnings.ts';
import { buildConditions, type Verdict } from '../runtime/controller.ts';
import { decideImport, keptSource } from './decide-import.ts';
import { decideRenditions, findChoiceError, listArriving } from './decide-renditions.ts';
import { describeWait, isWaiting } from './outage.ts';
import { type UploadDecision, type UploadError, type UploadObservation, UploadPlan } from './plan.ts';
import { computeProgress } from './progress.ts';

function verdicts(
  { spec }: Upload,
  media: MediaInfo | undefined,
  error: UploadError | undefined,
  wanted: RenditionStatus[],
  held: readonly string[],
  away: UploadWaiting | undefined,
): Verdict[] {
  const buildVerdict = (type: string, status: Verdict['status'], reason: string, message: string): Verdict => ({
    type,
    status,
    reason,
    message,
  });
  if (!media) {
    const doing = isArriving(spec)
      ? ['Receiving', 'A client is sending the file.']
      : away
        ? ['WaitingForLink', describeWait(away)]
        : ['Importing', 'The file is being imported.'];
    const [reason = '', message = ''] = error ? [toPascalCase(error.code), error.message] : doing;
    return [buildVerdict('Imported', 'False', reason, message), buildVerdict('Prepared', 'False', reason, message)];
  }
  const fine = buildVerdict('Imported', 'True', 'Imported', 'The file has been imported.');
  if (error) return [fine, buildVerdict('Prepared', 'False', toPascalCase(error.code), error.message)];
  const ready = wanted.filter(({ state }) => state === 'ready').map(({ profile }) => profile);
  if (ready.length === wanted.length && held.length > 0) {
    const message = `The upload will be prepared for ${held.join(', ')} when a stream that plays it may go on air.`;
    return [fine, buildVerdict('Prepared', 'False', 'OnHold', message)];
  }
  if (wanted.length === 0)
    return [fine, buildVerdict('Prepared', 'True', 'NothingWanted', 'No stream plays this upload.')];
  if (ready.length < wanted.length) {
    const missing = wanted.filter(({ state }) => state === 'pending').map(({ profile }) => profile);
    return [
      fine,
      buildVerdict('Prepared', 'False', 'Preparing', `The upload is being prepared for ${missing.join(', ')}.`),
    ];
  }
  return [fine, buildVerdict('Prepared', 'True', 'Prepared', `The upload is prepared for ${ready.join(', ')}.`)];
}

/** A condition once the upload was in quarantine: its time says since when it is, or is no more. */
function judgeQuarantine(upload: Upload): Verdict[] {
  const type = QUARANTINED_CONDITION;
  const { quarantine } = upload.spec;
  if (quarantine) {
    const message = explainQuarantine(upload, quarantine.reason);
    return [{ type, status: 'True', reason: 'Quarantined', message }];
  }
  if (!findCondition(upload.status?.conditions, type)) return [];
  return [{ type, status: 'False', reason: 'Released', message: 'The upload is not in quarantine any more.' }];
}

/** 0 to 1 of what is done in this state; `shown` is what the status says while the state stays. */
function progress(upload: Upload, state: UploadState, wanted: RenditionStatus[], plan: UploadPlan): number {
  const { name } = upload.metadata;
  const shown = upload.status?.phase === state ? upload.status.progress : undefined;
  if (state === 'ready') return 1;
  if (state === 'failed') return 0;
  const { sent } = upload.spec.source;
  if (state === 'importing') {
    // A file that a client sends comes in two steps: to us, and out of the pieces.
    const received = sent ? [sent.receivedBytes / (sent.sizeBytes ?? Number.POSITIVE_INFINITY)] : [];
    return computeProgress([...received, plan.progress(importJobName(name))?.progress], shown);
  }
  const parts = wanted.map(({ profile, state }) =>
    state === 'pending' ? (plan.progress(renditionJobName(name, profile))?.progress ?? plan.importedPart(profile)) : 1,
  );
  return computeProgress(parts, shown);
}

/** No image is an item, whatever refers to it: it becomes slates alone. */
const withoutRenditions = (observed: UploadObservation): UploadObservation => ({
  ...observed,
  profiles: [],
  sounds: [],
  urgent: new Set(),
});

export function decideUpload(upload: Upload, found: UploadObservation): UploadDecision {
  const observed = upload.spec.track === 'image' ? withoutRenditions(found) : found;
  const { generation } = upload.metadata;
  const plan = new UploadPlan(upload, observed);
  const { retry } = plan;
  const edited = (upload.status?.observedGeneration ?? 0) < (generation ?? 0) || retry !== upload.status?.retried;
  const { media, restored, error: importError, waiting } = decideImport(upload, observed, plan, edited);
  const { wanted, held, all } = media
    ? decideRenditions(upload, media, observed, plan, edited)
    : { wanted: [], held: [], all: importError ? [] : listArriving(observed, plan) };
  const pending = wanted.some(({ state }) => state === 'pending');
  const error = importError ?? findChoiceError(upload, media) ?? wanted.find(({ state }) => state === 'failed')?.error;
  const state: UploadState = pending ? 'preparing' : error ? 'failed' : media ? 'ready' : 'importing';
  const warnings = mergeWarnings(upload.status?.warnings, plan.warnings);
  const poster = (lacksPoster(upload) ? plan.findMadePoster() : undefined) ?? findPoster(upload);
  const status: UploadStatus = {
    uid: upload.metadata.uid,
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: state,
    progress: progress(upload, state, wanted, plan),
    ...(media && { sourceKey: keptSource(upload, media, observed, restored), media }),
    ...(media && poster !== undefined && { poster }),
    ...(all.length > 0 && { renditions: all }),
    ...(media && warnings.length > 0 && { warnings }),
    ...(error && { error }),
    ...(waiting && { waiting }),
    ...(retry !== undefined && { retried: retry }),
    conditions: buildConditions(
      [
        ...verdicts(upload, media, error, wanted, held, isWaiting(waiting, observed.now) ? waiting : undefined),
        ...judgeQuarantine(upload),
      ],
      upload.status?.conditions,
      generation,
      observed.now,
    ),
  };
  const { create, remove, helpers, raise, waitsForRoom, requeueAt } = plan;
  return {
    status,
    create,
    remove,
    helpers,
    raise,
    ...(waitsForRoom && { waitsForRoom }),
    ...(requeueAt && { requeueAt }),
  };
}

/** The status of an upload while some of its Jobs wait for their turn; by the names of those Jobs. */
export function addWaitingStates(upload: Upload, status: UploadStatus, queued: ReadonlySet<string>): UploadStatus {
  if (queued.size === 0) return status;
  const { name } = upload.metadata;
  const message = (type: string): string | undefined => {
    if (status.phase === 'importing') return 'The import waits for other imports to end.';
    if (type !== 'Prepared') return undefined;
    const pending = (status.renditions ?? [])
      .filter(({ state, profile }) => state === 'pending' && !isAside(profile))
      .map(({ profile }) => profile);
    const waits = pending.filter((profile) => queued.has(renditionJobName(name, profile)));
    const made = pending.filter((profile) => !waits.includes(profile));
    const waiting = `${waits.join(', ')} ${waits.length === 1 ? 'waits' : 'wait'} for other preparations to end.`;
    return made.length === 0 ? waiting : `The upload is being prepared for ${made.join(', ')}; ${waiting}`;
  };
  const conditions = status.conditions?.map((condition) => {
    const text = ['Importing', 'Preparing'].includes(condition.reason) ? message(condition.type) : undefined;
    return text === undefined ? condition : { ...condition, reason: 'Queued', message: text };
  });
  return { ...status, ...(conditions && { conditions }) };
}
