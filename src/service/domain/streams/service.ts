/** Serves all operations on streams for every transport. It writes the desired state; the operator acts on it. */

import { randomUUID } from 'node:crypto';
import { type Clock, kubeTime, systemClock } from '../../../core/lib/clock.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import { memoize } from '../../../core/lib/memoize.ts';
import { callAll } from '../../../core/resources/common/called.ts';
import { readLabels } from '../../../core/resources/common/labels.ts';
import {
  CREDIT_CONDITION,
  FINALIZER,
  RETRY_ANNOTATION,
  SKIP_ANNOTATIONS,
} from '../../../core/resources/common/names.ts';
import { listReceivers } from '../../../core/resources/stream/destinations.ts';
import { judgeEdit, type StreamEffect } from '../../../core/resources/stream/effect.ts';
import { findRefused } from '../../../core/resources/stream/health.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { LoopStreamSpec, Phase } from '../../../core/resources/stream/spec.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { createSpec, writeFields } from '../../lib/fields.ts';
import { patchLabels } from '../../lib/labels.ts';
import type { Connection, FilteredArgs, ListArgs } from '../../lib/list-page.ts';
import { connectAll, type Listing, numberKey } from '../../lib/paging/ordered.ts';
import { nameSupport } from '../../lib/support.ts';
import type { OwnedResources, PatchOptions } from '../limits/owned-resources.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { Posters } from '../uploads/posters.ts';
import { describeEffect } from './effect.ts';
import { STREAM_FIELDS } from './fields.ts';
import { SENDING } from './list.ts';
import type {
  Readiness,
  Stream,
  StreamChange,
  StreamClone,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from './record.ts';
import {
  checkCreate,
  checkReferences,
  checkSchedule,
  checkUpdate,
  type References,
  wantsAir,
  withNamed,
} from './requests.ts';
import type { createStorageEstimate } from './storage-estimate.ts';
import { computePhase, isSettled, toEvent, toReadiness, toStream, toWindows } from './view.ts';

/** Longest wait for the operator to see a change, which takes milliseconds. */
const OBSERVE_MS = 2_000;
/** Time limit of a delete: the grace period of the streamer, and a little more. */
const OFF_AIR_MS = 25_000;
/** Phases of a stream that has a pod. */
const WITH_POD: readonly (Phase | undefined)[] = ['starting', 'live', 'reconnecting', 'stopping'];
/** Longest wait for the next item, which starts long before unless the pod is unreachable. */
const SKIP_MS = 5_000;

/** A name of so many characters fits its limit in any of its counts. */
const MAX_NAME_CHARS = 100;

const ON_AIR: readonly Phase[] = ['live', 'reconnecting'];

export type EventOrder = 'time' | 'createdAt' | 'count';
/** Event times have whole or fractional seconds. */
const seconds = (time: string): string => time.slice(0, 19);
const EVENT_LISTING: Omit<Listing<StreamEvent, EventOrder>, 'list'> = {
  getId: ({ id }) => id,
  keys: {
    time: ({ time }) => seconds(time),
    createdAt: ({ createdAt }) => seconds(createdAt),
    count: ({ count }) => numberKey(count),
  },
  standard: { by: 'time', descending: true },
};

/** Options of a client that waits and wants progress meanwhile. */
export interface StreamWatch {
  onChange?: (stream: Stream) => void;
  /** Ends the wait, not the operation. */
  signal?: AbortSignal;
}

export interface StartWatch extends StreamWatch {
  /** A stream that is not ready becomes `waiting` and goes on air by itself later, instead of failing the request. */
  whenReady?: boolean | undefined;
}

/** Options of a change. */
export interface Trial {
  /** Nothing is changed: the result is what the change would be. */
  dryRun?: boolean | undefined;
}

/** Current stream; `done` says whether the requested change has happened. */
export interface Progress {
  stream: Stream;
  done: boolean;
}

export type StreamService = ReturnType<typeof createStreamService>;

export interface StreamServiceDeps {
  streams: OwnedResources<LoopStream>;
  references: References;
  posters: Pick<Posters, 'ofStream'>;
  estimateStorage: ReturnType<typeof createStorageEstimate>;
  quotas: Pick<Quotas, 'make'>;
  /** Returns the destinations that receive a stream now; undefined while nobody can say. */
  findConnected?: (accountId: string, id: string) => Promise<readonly string[] | undefined>;
  /** Streams cost credits: a stream is on air only while billing reports a balance. */
  paid?: boolean;
  /** Where users ask for help, and for credit. */
  supportUrl?: string | undefined;
  clock?: Clock;
}

const CLONE_SUFFIX = ' (copy)';

/** Cuts between characters. */
const nameClone = ({ metadata, spec }: LoopStream): string =>
  [...(spec.displayName ?? metadata.name)].slice(0, MAX_NAME_CHARS - CLONE_SUFFIX.length).join('') + CLONE_SUFFIX;

/** Leaves out what belongs to one stream: its time on air, and what only people with kubectl may set. */
function pickCloned(spec: LoopStreamSpec): Partial<LoopStreamSpec> {
  const { schedule: _schedule, suspend: _suspend, template: _template, readinessGates: _gates, ...cloned } = spec;
  return cloned;
}

export function createStreamService(deps: StreamServiceDeps) {
  const {
    streams,
    references,
    posters,
    estimateStorage,
    quotas,
    findConnected,
    paid = false,
    clock = systemClock,
  } = deps;
  const support = deps.supportUrl ? ` Ask ${nameSupport(deps.supportUrl)} where you cannot add any.` : '';
  // Cached objects are never mutated, so a view that does not depend on the time is computed once.
  const computeReadiness = memoize(toReadiness);
  const showAlways = memoize((stream: LoopStream) => toStream(stream, clock.now()));
  const showAt = (stream: LoopStream, now: Date): Stream => ({
    ...(stream.spec.schedule ? toStream(stream, now) : showAlways(stream)),
    posterUrl: posters.ofStream(stream),
  });
  const show = (stream: LoopStream): Stream => showAt(stream, clock.now());
  /** Validates a retried request as of its first try: the requested time may have passed since. */
  const askedAt = (): Date => currentIntent()?.since ?? clock.now();

  /** Returns the readiness of the current spec; it waits a moment for an operator that has not seen it yet. */
  const readiness = async (accountId: string, id: string): Promise<Readiness> => {
    const isSure = (stream: LoopStream | undefined) => stream === undefined || isSettled(stream);
    if (!isSure(streams.get(accountId, id))) await streams.until(accountId, id, isSure, OBSERVE_MS);
    return computeReadiness(streams.get(accountId, id));
  };

  const requireReady = async (accountId: string, id: string): Promise<void> => {
    const { ready, issues } = await readiness(accountId, id);
    if (ready) return;
    const detail = issues.map(({ message }) => message).join(' ');
    // A lack of credits comes first, since only the owner can fix it.
    const unpaid = issues.find(({ code }) => code === 'insufficient_credits');
    if (unpaid) throw new AppError('insufficient_credits', `${unpaid.message} ${unpaid.fix}${support}`);
    throw new AppError('stream_not_ready', detail, { extras: { issues } });
  };

  const requireAlive = (stream: LoopStream): void => {
    if (stream.metadata.deletionTimestamp) throw new AppError('conflict', 'The stream is being deleted.');
  };

  /**
   * Patches the spec so that the stream goes on air, and adds the finalizer that the operator wants before the first pod: one write
   * instead of two. The operator adds it itself where somebody has written the stream meanwhile.
   */
  const putOnAir = async (stream: LoopStream, spec: object): Promise<void> => {
    const { resourceVersion, finalizers = [] } = stream.metadata;
    if (!finalizers.includes(FINALIZER)) {
      const metadata = { resourceVersion, finalizers: [...finalizers, FINALIZER] };
      const isConflict = (error: unknown) => error instanceof AppError && error.code === 'conflict';
      const patched = await streams.patch(stream, { metadata, spec }).catch((error) => {
        if (!isConflict(error)) throw error;
        return undefined;
      });
      if (patched) return;
    }
    await streams.patch(stream, { spec });
  };

  /** Asks the operator to try at once what Kubernetes has refused. */
  const tryAgain = async (stream: LoopStream): Promise<void> => {
    if (!findRefused(stream)) return;
    const request = currentIntent()?.newId('try') ?? randomUUID();
    const annotations = { [RETRY_ANNOTATION]: `${kubeTime(clock.now())} ${request}` };
    await streams.patch(stream, { metadata: { annotations } });
  };

  /** Waits until the stream is in one of `phases` for the spec of `generation`. */
  const settle = async (
    accountId: string,
    id: string,
    phases: readonly Phase[],
    waitSeconds = 0,
    { onChange, signal }: StreamWatch = {},
  ): Promise<Progress> => {
    const { generation } = streams.get(accountId, id).metadata;
    const observed = (s: LoopStream) => (s.status?.observedGeneration ?? 0) >= (generation ?? 1);
    const reached = (s: LoopStream | undefined) => {
      const phase = s && observed(s) ? s.status?.phase : undefined;
      return phase !== undefined && phases.includes(phase);
    };
    const over = (s: LoopStream | undefined) => {
      if (s) onChange?.(show(s));
      return s === undefined || reached(s) || (observed(s) && s.status?.phase === 'failed');
    };
    if (waitSeconds > 0) await streams.until(accountId, id, over, waitSeconds * 1000, signal);
    const stream = streams.get(accountId, id);
    return { stream: show(stream), done: reached(stream) };
  };

  /** Destinations that may receive a stream: those that do where an edit of its destinations asks for it. */
  const findReceiving = async (accountId: string, stream: LoopStream, asksWhich: boolean) => {
    const all = listReceivers(stream.spec);
    const connected = asksWhich ? await findConnected?.(accountId, stream.metadata.name) : undefined;
    return connected ? all.filter((name) => connected.includes(name)) : all;
  };

  /** Writes an edit of the spec, or asks Kubernetes whether it would take it, and says what viewers see of it. */
  const edit = async (
    accountId: string,
    stream: LoopStream,
    spec: Partial<Record<keyof LoopStreamSpec, unknown>>,
    { dryRun = false, metadata, ...options }: Trial & Pick<PatchOptions, 'takesAway'> & { metadata?: object },
  ): Promise<StreamChange> => {
    const now = clock.now();
    const isRunning = SENDING.includes(computePhase(stream, now));
    // After the write its pod may have changed already.
    const receiving = isRunning ? await findReceiving(accountId, stream, spec.destinationNames !== undefined) : [];
    const edited = await streams.patch(stream, { ...(metadata && { metadata }), spec }, { ...options, dryRun });
    const change = toChange(accountId, edited, isRunning ? judgeEdit(edited, { receiving, now }) : undefined, dryRun);
    return { ...change, storageBytes: estimateStorage({ before: [stream], after: [edited] }) };
  };

  const toChange = (
    accountId: string,
    edited: LoopStream,
    effect: StreamEffect | undefined,
    dryRun = false,
  ): StreamChange => {
    const shown = show(edited);
    const { takesOffAir = false, lost: lostDestinationIDs = [] } = effect ?? {};
    const lost = lostDestinationIDs.map((id) => ({
      metadata: { name: id },
      spec: references.destination(accountId, id) ?? {},
    }));
    const said = describeEffect(effect, shown, callAll(lost));
    return { ...shown, takesOffAir, lostDestinationIDs, storageBytes: 0, effect: said, dryRun };
  };

  return {
    async create(accountId: string, input: StreamCreate): Promise<Stream> {
      checkCreate(input, askedAt());
      checkReferences(references, accountId, input);
      const spec: LoopStreamSpec = {
        ...createSpec<LoopStreamSpec>(writeFields(STREAM_FIELDS, 'create', input)),
        replicas: wantsAir(input) ? 1 : 0,
        ...(paid && { readinessGates: [{ conditionType: CREDIT_CONDITION }] }),
      };
      const metadata = { labels: input.labels, ...(wantsAir(input) && { finalizers: [FINALIZER] }) };
      return show(await quotas.make(accountId, 'streams', spec, () => streams.create(accountId, () => spec, metadata)));
    },

    /** `where` filters by the shape that clients see. */
    list(accountId: string, args: FilteredArgs, where?: (stream: Stream) => boolean): Connection<Stream> {
      const now = clock.now();
      const showNow = (stream: LoopStream) => showAt(stream, now);
      return streams.page(accountId, args, showNow, where && ((stream) => where(showNow(stream))));
    },

    get: (accountId: string, id: string): Stream => show(streams.get(accountId, id)),

    /** Creates a stream off air with the settings of another one and those of `input`. It has no schedule: two streams may not send to one key. */
    async clone(accountId: string, id: string, input: StreamClone): Promise<Stream> {
      const origin = streams.get(accountId, id);
      requireAlive(origin);
      checkUpdate(input, origin.spec);
      checkReferences(references, accountId, input);
      const patch = writeFields(STREAM_FIELDS, 'update', { name: nameClone(origin), ...input });
      const spec: LoopStreamSpec = {
        ...createSpec<LoopStreamSpec>({ ...pickCloned(origin.spec), ...patch }),
        replicas: 0,
        ...(paid && { readinessGates: [{ conditionType: CREDIT_CONDITION }] }),
      };
      const labels = input.labels ?? readLabels(origin);
      return show(
        await quotas.make(accountId, 'streams', spec, () => streams.create(accountId, () => spec, { labels })),
      );
    },

    async update(accountId: string, id: string, input: StreamUpdate, trial: Trial = {}): Promise<StreamChange> {
      const stream = streams.get(accountId, id);
      requireAlive(stream);
      checkUpdate(input, stream.spec);
      checkReferences(withNamed(references, show(stream)), accountId, input);
      const labels = patchLabels(stream, input.labels);
      return edit(accountId, stream, writeFields(STREAM_FIELDS, 'update', input), { ...trial, metadata: labels });
    },

    /** Returns true when nothing of it is on air any more, false if that takes longer. */
    async delete(accountId: string, id: string): Promise<boolean> {
      const stream = streams.get(accountId, id);
      await streams.delete(stream);
      const { uid } = stream.metadata;
      // Without a pod there is only the finalizer to remove; without an operator nobody removes that.
      const timeoutMs = WITH_POD.includes(stream.status?.phase) ? OFF_AIR_MS : OBSERVE_MS;
      return streams.until(accountId, id, (now) => now?.metadata.uid !== uid, timeoutMs);
    },

    readiness,

    windows: (accountId: string, id: string): StreamWindows => toWindows(streams.get(accountId, id), clock.now()),

    /**
     * Puts the stream on air now. Start removes a schedule that has not begun or is over. Recurring windows stay: the stream is on
     * air during them from now on. A start or a stop makes the operator try at once whatever Kubernetes has refused.
     */
    async start(accountId: string, id: string, waitSeconds?: number, watch: StartWatch = {}): Promise<Progress> {
      const stream = streams.get(accountId, id);
      requireAlive(stream);
      const now = clock.now().getTime();
      const { startAt, endAt, recurrence } = stream.spec.schedule ?? {};
      const early = !recurrence && startAt !== undefined && Date.parse(startAt) > now;
      const late = endAt !== undefined && Date.parse(endAt) <= now;
      if (stream.spec.replicas !== 1 || early || late) {
        if (!watch.whenReady) await requireReady(accountId, id);
        const schedule = late ? null : early ? (endAt ? { startAt: null, onAirUntil: null } : null) : undefined;
        await putOnAir(stream, { replicas: 1, ...(schedule === undefined ? {} : { schedule }) });
      } else await tryAgain(stream);
      const phases: Phase[] = recurrence && !late ? ['live', 'scheduled'] : ['live'];
      return settle(accountId, id, phases, waitSeconds, watch);
    },

    async stop(accountId: string, id: string, waitSeconds?: number, watch?: StreamWatch): Promise<Progress> {
      const stream = streams.get(accountId, id);
      requireAlive(stream);
      if (stream.spec.replicas !== 0) await streams.patch(stream, { spec: { replicas: 0 } }, { takesAway: true });
      else await tryAgain(stream);
      return settle(accountId, id, ['idle', 'stopped', 'ended'], waitSeconds, watch);
    },

    /** Skips to the next item without a reconnect; `done` is true when that item has begun. Concurrent requests share one skip. */
    async skip(accountId: string, id: string, { track = 'video' }: StreamSkip): Promise<Progress> {
      const stream = streams.get(accountId, id);
      requireAlive(stream);
      if (!ON_AIR.includes(computePhase(stream, clock.now())))
        throw new AppError('stream_not_live', 'The stream is not on air, so it has no next item.');
      if (track === 'audio' && !stream.spec.audioPlaylistNames?.length)
        throw validationFailed([{ path: '/track', message: 'is audio, and the stream has no audio playlist' }]);
      const asked = `${askedAt().toISOString()} ${currentIntent()?.newId('skip') ?? randomUUID()}`;
      await streams.patch(stream, { metadata: { annotations: { [SKIP_ANNOTATIONS[track]]: asked } } });
      const isDone = (now: LoopStream | undefined) => now?.status?.skipped?.[track] === asked;
      await streams.until(accountId, id, (now) => now === undefined || isDone(now), SKIP_MS);
      const after = streams.get(accountId, id);
      return { stream: show(after), done: isDone(after) };
    },

    /** Replaces the schedule: a missing field is removed. */
    async schedule(accountId: string, id: string, input: StreamSchedule, trial: Trial = {}): Promise<StreamChange> {
      const stream = streams.get(accountId, id);
      requireAlive(stream);
      checkSchedule(input, askedAt());
      const replicas = wantsAir(input) ? { replicas: 1 } : {};
      const schedule = writeFields(STREAM_FIELDS, 'schedule', input, { replace: true });
      return edit(accountId, stream, { ...schedule, ...replicas }, trial);
    },

    /** Removes the schedule. A stream on air stays on air; one that waits for its time does not start. */
    async unschedule(accountId: string, id: string, trial: Trial = {}): Promise<StreamChange> {
      const stream = streams.get(accountId, id);
      requireAlive(stream);
      const now = clock.now();
      const phase = computePhase(stream, now);
      if (!stream.spec.schedule) {
        const effect = SENDING.includes(phase) ? judgeEdit(stream, { receiving: [], now }) : undefined;
        return toChange(accountId, stream, effect, trial.dryRun);
      }
      const spec = { schedule: null, ...(phase === 'scheduled' ? { replicas: 0 } : {}) };
      return edit(accountId, stream, spec, { ...trial, takesAway: true });
    },

    /** Lists the events that Kubernetes keeps (about an hour), newest first unless `args` says otherwise. */
    async events(
      accountId: string,
      id: string,
      args: ListArgs<EventOrder>,
      where?: (event: StreamEvent) => boolean,
    ): Promise<Connection<StreamEvent>> {
      const stream = streams.get(accountId, id);
      const events = await streams.listEvents(stream);
      // Of the same second, in the order of their writes: "Stopping" comes before "Stopped".
      const written = new Map(events.map(({ metadata }) => [metadata.uid, metadata.resourceVersion.padStart(20, '0')]));
      const time = (event: StreamEvent) => `${EVENT_LISTING.keys.time(event)} ${written.get(event.id)}`;
      const listing = {
        ...EVENT_LISTING,
        keys: { ...EVENT_LISTING.keys, time },
        list: `events.${stream.metadata.name}`,
      };
      return connectAll(listing, events.map(toEvent), args, where);
    },
  };
}
