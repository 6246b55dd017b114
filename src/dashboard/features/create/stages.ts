/** How far a stream that was just made is on its way to air, and what keeps it from that. Pure: no I/O, no clock. */
import type { ReadinessIssue, Upload } from '../../../service/client/index.ts';
import type { Readiness, Stream } from '../../api/api.ts';
import { canRetry } from '../uploads/text.ts';
import type { FileState } from './fileState.ts';

/** An action of a person on a stage that failed. */
export type StageAct =
  | 'replace'
  | 'retryImport'
  | 'playlist'
  | 'addCredit'
  | 'editDestination'
  | 'editStream'
  | 'start';

export interface Stage {
  label: string;
  /** It is about the files that this browser sends. */
  isSending?: true;
  state: 'done' | 'now' | 'later' | 'failed';
  /** A sentence on what the stage waits for, or what went wrong. */
  detail?: string;
  fix?: string;
  /** From 0 to 1, while that is known. */
  progress?: number;
  acts?: readonly StageAct[];
}

/** Everything that is known of the stream's way. */
export interface StageSources {
  stream: Stream;
  /** The stream's state as it is shown: a start that the operator has not seen yet counts. */
  phase: string;
  readiness: Readiness | undefined;
  /** The uploads that the stream plays, as far as they are known. */
  uploads: readonly Upload[];
  /** The stream's files that are sent from this browser. */
  files: readonly FileState[];
}

/** Codes that time solves, without a person. */
const PASSING: ReadonlySet<string> = new Set([
  'media_importing',
  'media_preparing',
  'not_checked',
  'not_reported',
  'destination_checking',
]);
const CREDIT: ReadonlySet<string> = new Set(['media_awaits_credit', 'insufficient_credits']);
const OFF_AIR: ReadonlySet<string> = new Set(['idle', 'stopped', 'ended']);

const isMediaField = (field: string): boolean =>
  ['videoUploadObjectID', 'playlistIDs', 'audioPlaylistIDs'].includes(field);
const isDestinationField = (field: string): boolean => field.startsWith('destination');
const isScheduleField = (field: string): boolean => ['scheduleStartAt', 'scheduleEndAt', 'recurrence'].includes(field);

const fail = (label: string, { message, fix }: Pick<ReadinessIssue, 'message' | 'fix'>, acts: StageAct[]): Stage => ({
  label,
  state: 'failed',
  detail: message,
  fix,
  acts,
});

/** Whether all of it has arrived and can be read. */
const hasArrived = ({ state, durationSeconds }: Upload): boolean =>
  state === 'ready' || state === 'preparing' || durationSeconds !== null;

interface Facts extends StageSources {
  /** Obstacles that need a person. */
  obstacles: readonly ReadinessIssue[];
  hasStarted: boolean;
}

function computeSending({ files, hasStarted }: Facts): Stage {
  const label = files.length > 1 ? 'Send your files' : 'Send your file';
  const stage = (state: Stage['state']): Stage => ({ label, state, isSending: true });
  const isOpen = ({ state, progress }: FileState) => state === 'cut' || progress !== undefined;
  const open = files.filter(isOpen);
  if (hasStarted || open.length === 0) return stage('done');
  const isStuck = open.some(({ state }) => state === 'failed' || state === 'cut');
  return isStuck ? { ...stage('failed'), acts: ['replace'] } : stage('now');
}

/** The acts on media that failed: what one can do depends on whether it is one file or a list. */
const listMediaActs = ({ stream }: Facts, retry: boolean): StageAct[] => [
  ...(retry ? (['retryImport'] as const) : []),
  ...(stream.playlistIDs.length > 0 ? (['playlist'] as const) : (['replace'] as const)),
];

function computeArrival(facts: Facts): Stage {
  const { uploads, readiness, hasStarted, obstacles } = facts;
  const label = facts.files.length > 0 ? 'Check the media' : 'Get the media';
  const wrong = obstacles.find(({ field, code }) => isMediaField(field) && !CREDIT.has(code));
  const broken = uploads.find((upload) => upload.error !== null && !hasArrived(upload));
  if (!hasStarted && broken?.error && (wrong || uploads.length === 1))
    return fail(label, broken.error, listMediaActs(facts, canRetry(broken)));
  if (!hasStarted && wrong && wrong.code !== 'media_failed') return fail(label, wrong, listMediaActs(facts, false));
  const waiting = uploads.find(({ state }) => state === 'importing');
  const isOpen = waiting !== undefined || readiness?.issues.some(({ code }) => code === 'media_importing');
  if (hasStarted || (readiness && !isOpen)) return { label, state: 'done' };
  return {
    label,
    state: 'now',
    ...(waiting?.waiting && { detail: waiting.waiting.message }),
    ...(waiting && waiting.progress > 0 && { progress: waiting.progress }),
  };
}

function computePreparing(facts: Facts, hasArrivedAll: boolean): Stage {
  const { readiness, uploads, hasStarted, obstacles } = facts;
  const label = 'Prepare it';
  const part = readiness?.prepared ?? 0;
  const percent = `${Math.floor(100 * part)} %`;
  if (hasStarted) {
    const rest = `${percent} is prepared; the rest is prepared while the stream plays.`;
    return { label, state: 'done', ...(part > 0 && part < 1 && { detail: rest }) };
  }
  const issues = readiness?.issues ?? [];
  const media = issues.find(({ field }) => isMediaField(field));
  if (!hasArrivedAll) return { label, state: 'later' };
  const credit = obstacles.find(({ code }) => code === 'media_awaits_credit');
  if (credit) return fail(label, credit, ['addCredit']);
  const wrong = obstacles.find(({ field }) => isMediaField(field));
  const broken = uploads.find(({ error }) => error !== null)?.error;
  if (wrong) return fail(label, broken ?? wrong, listMediaActs(facts, false));
  if (readiness && !media && !issues.some(({ code }) => code === 'not_checked')) return { label, state: 'done' };
  const progress = Math.max(part, uploads.length === 1 ? (uploads[0]?.progress ?? 0) : 0);
  return {
    label,
    state: 'now',
    detail:
      progress > 0
        ? `${Math.floor(100 * progress)} % is prepared for the chosen quality.`
        : 'The media is being prepared for the chosen quality.',
    ...(progress > 0 && { progress }),
  };
}

/** Credit, a schedule and room: whatever is about neither the media nor the destination. */
function computeStart({ stream, phase, hasStarted, obstacles }: Facts, isPrepared: boolean): Stage {
  const label = 'Start the stream';
  if (hasStarted) return { label, state: 'done' };
  if (stream.status === 'failed') {
    const { message = 'The stream could not be put on air.' } = stream.degraded ?? {};
    return { label, state: 'failed', detail: message, acts: ['start'] };
  }
  const own = obstacles.find(({ field }) => !isMediaField(field) && !isDestinationField(field));
  // Without credit nothing is prepared either, and one button is enough.
  const isSaid = obstacles.some(({ code }) => code === 'media_awaits_credit');
  if (own && !(isSaid && CREDIT.has(own.code))) {
    if (CREDIT.has(own.code)) return fail(label, own, ['addCredit']);
    return fail(label, own, isScheduleField(own.field) ? ['editStream'] : []);
  }
  if (OFF_AIR.has(phase)) return { label, state: 'failed', detail: 'The stream is not started.', acts: ['start'] };
  return { label, state: isPrepared ? 'now' : 'later' };
}

function computeConnection({ stream, hasStarted, obstacles }: Facts): Stage {
  const label = 'Connect to the destination';
  if (stream.status === 'live') return { label, state: 'done' };
  const own = obstacles.find(({ field }) => isDestinationField(field));
  if (own) return fail(label, own, ['editDestination']);
  const { degraded } = stream;
  if (hasStarted && degraded?.code === 'destination_reconnecting') return fail(label, degraded, ['editDestination']);
  return { label, state: hasStarted ? 'now' : 'later' };
}

/** Sent, checked, prepared, started, connected: each stage is done, under way, to come or in the way. */
export function computeStages(sources: StageSources): Stage[] {
  const { stream, readiness } = sources;
  const obstacles = (readiness?.issues ?? []).filter(({ code }) => !PASSING.has(code));
  const hasStarted = ['starting', 'live', 'reconnecting'].includes(stream.status);
  const facts: Facts = { ...sources, obstacles, hasStarted };
  const sending = sources.files.length > 0 ? computeSending(facts) : undefined;
  const isOpen = sending !== undefined && sending.state !== 'done';
  const arrival = isOpen ? { label: 'Check the media', state: 'later' as const } : computeArrival(facts);
  const preparing = computePreparing(facts, arrival.state === 'done');
  const start = computeStart(facts, preparing.state === 'done');
  return [...(sending ? [sending] : []), arrival, preparing, start, computeConnection(facts)];
}

export type StreamOutlook = 'live' | 'stuck' | 'sending' | 'onItsWay';

/** The whole, in one word for the title and the sentence below. */
export function findOutlook(stages: readonly Stage[]): StreamOutlook {
  if (stages.at(-1)?.state === 'done') return 'live';
  if (stages.some(({ state }) => state === 'failed')) return 'stuck';
  return stages.some(({ isSending, state }) => isSending && state === 'now') ? 'sending' : 'onItsWay';
}
