/**
 * Decides which messages people get about one object. An outage that lasts is one message, and its end is another. A stream that
 * flaps is one message until it is calm, and then one more. Pure: no I/O, no clock.
 *
 * A message has the times of its events, which are of the operator's clock. A wait is measured by the clock of the database, from the time
 * at which an event was recorded. So clocks that differ neither delay a message nor cause one.
 */
import { findFix } from '../../../../core/lib/codes/codes.ts';
import type { AccountEvent } from '../../events/record.ts';

export interface AlertRule {
  /** How long an outage lasts before there is a message; 0 for at once. */
  offAirSeconds: number;
  /** So many outages within `flappingSeconds`, however short, are one message until the stream is calm. */
  flappingCount: number;
  /** The stream is calm after as long without an outage. */
  flappingSeconds: number;
}

/** How long a stream is on air before a single outage counts as over. A shorter pause is part of the outage. */
export const BACK_SECONDS = 30;
/** An object has one message in so long about the same problem. */
const NOTE_MS = 3_600_000;
/** So many recordings say how far the clocks of operator and database are apart. */
const MAX_DELAYS = 5;
const ENOUGH_DELAYS = 3;

/** An event as it was recorded. */
export interface RecordedEvent
  extends Pick<AccountEvent, 'type' | 'timestamp' | 'object' | 'objectID' | 'seq' | 'data'> {
  /** Time of the database at which it was recorded. */
  recordedAt: string;
}

type Cause = Pick<AccountEvent['data'], 'code' | 'message' | 'fix'>;

/** Outages with short pauses between them. Times are milliseconds of the operator's clock. */
interface Incident {
  name: string;
  fromMs: number;
  /** Begin of the outage under way; null while the stream is on air. */
  offSinceMs: number | null;
  /** End of the last outage. */
  toMs: number;
  outages: number;
  /** Sum and maximum of the outages that have ended. */
  offAirMs: number;
  longestMs: number;
  cause: Cause;
  isFlapping: boolean;
  /** Whether events are missing. */
  isApproximate: boolean;
  /** Whether a message was about it, so that its end is a message too. */
  isOpen: boolean;
  /** The last message about the outage under way. */
  announced: 'off_air' | 'flapping' | null;
}

/** The outages of one kind. */
interface Outages {
  incident: Incident | null;
  /** An incident that is over, until there is a message about it. */
  over: { incident: Incident; how: 'on_air' | 'stopped'; atMs: number } | null;
  /** Outages that began within the window. */
  recent: { fromMs: number; lengthMs: number }[];
}

/** Outages that viewers have although a destination takes media. */
interface ViewerOutages extends Outages {
  /** Destinations whose viewers do not see the stream. */
  unseen: string[];
}

/** The memory of one object for one endpoint, as JSON. Its own outages are those in which no destination takes media. */
export interface AlertState extends Outages {
  objectID: string;
  /** Not set before the first event about viewers, and in what an earlier release kept. */
  viewers?: ViewerOutages;
  /** Number of the last event. */
  seq: number;
  /** Time of the last event by the operator's clock, and that of its recording by the clock of the database. */
  atMs: number;
  recordedAtMs: number;
  /** Difference of these two times, for the last recordings. */
  delaysMs: number[];
  /** Times of messages about other events: type and code → milliseconds. */
  notedMs: Record<string, number>;
}

/**
 * - off_air      the stream is off air, and that has lasted.
 * - flapping     it goes off air again and again.
 * - back         it is on air again.
 * - calm         it flaps no longer.
 * - stopped      it was stopped while it was off air.
 * - was_off_air  it was off air, and there was no message in time.
 * - note         another event.
 */
export const ALERT_KINDS = ['off_air', 'flapping', 'back', 'calm', 'stopped', 'was_off_air', 'note'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Times are ISO 8601. */
export interface AlertMessage extends Cause {
  /** The same for the same fact about the object. */
  key: string;
  /** It is about what viewers see. Not set in a message of an earlier release. */
  isForViewers?: boolean;
  kind: AlertKind;
  type: AccountEvent['type'];
  object: AccountEvent['object'];
  objectID: string;
  name: string;
  /** When that happened of which the message is. */
  at: string;
  /** Facts of another event. */
  facts: Pick<AccountEvent['data'], 'startAt' | 'hoursLeft' | 'credits'> | null;
  outage: {
    from: string;
    /** End of the last outage. Null while one is under way. */
    to: string | null;
    /** Begin of the outage under way. */
    offSince: string | null;
    outages: number;
    /** Of all outages that have ended. */
    offAirSeconds: number;
    isApproximate: boolean;
  } | null;
}

export interface AlertOutcome {
  state: AlertState;
  messages: AlertMessage[];
  /** When the rule has to be applied again though nothing happens. */
  wakeAt: Date | null;
}

export interface AlertPolicy {
  rule: AlertRule;
  /** The types of events that the endpoint wants. */
  types: readonly string[];
}

/** The rule decides about these together; every other event is a message of its own. */
const OUTAGE_TYPES: readonly string[] = ['stream.reconnecting', 'stream.off_air', 'stream.recovered'];
/** And about these. */
const VIEWER_TYPES: readonly string[] = ['platform.live', 'platform.ended'];

const begin = (objectID: string): AlertState => ({
  objectID,
  seq: 0,
  atMs: 0,
  recordedAtMs: 0,
  delaysMs: [],
  incident: null,
  over: null,
  recent: [],
  notedMs: {},
});

/**
 * Applies the rule to the events of one object, which are in order, and to the time. An event that the state knows changes nothing.
 * `state` is null for an object that is new to the endpoint. `now` is of the database.
 */
export function applyAlertRule(
  state: AlertState | null,
  events: readonly RecordedEvent[],
  now: Date,
  { rule, types }: AlertPolicy,
): AlertOutcome {
  const next = structuredClone(state ?? begin(events[0]?.objectID ?? ''));
  const wantsOutages = OUTAGE_TYPES.some((type) => types.includes(type));
  const wantsViewers = VIEWER_TYPES.some((type) => types.includes(type));
  if (!wantsOutages) Object.assign(next, NO_OUTAGES);
  if (!wantsViewers) delete next.viewers;
  const messages: AlertMessage[] = [];
  for (const event of events) {
    if (event.seq <= next.seq) continue;
    const hasGap = next.seq > 0 && event.seq > next.seq + 1;
    recordTimes(next, event);
    if (wantsOutages) followOutages(next, event, rule, hasGap);
    if (wantsViewers) followViewers(next, event, rule, hasGap);
    const isNote = types.includes(event.type) && ![...OUTAGE_TYPES, ...VIEWER_TYPES].includes(event.type);
    if (isNote && !isToldByPlatform(event, types) && takeNote(next, event, now)) messages.push(buildNote(event));
  }
  const decisions = [decide(next, now, rule), decideForViewers(next, now, rule)];
  for (const { message } of decisions) if (message) messages.push(message);
  const waitMs = Math.min(...decisions.map((one) => one.waitMs ?? Number.POSITIVE_INFINITY));
  return { state: next, messages, wakeAt: Number.isFinite(waitMs) ? new Date(now.getTime() + waitMs) : null };
}

const NO_OUTAGES: Outages = { incident: null, over: null, recent: [] };

/** The outages of viewers with the times of the events, so that the same rule applies to them. Changes of it change the state. */
function withViewers<T>(state: AlertState, apply: (outages: AlertState, unseen: Set<string>) => T): T {
  const { viewers, ...rest } = state;
  const { unseen, ...outages } = viewers ?? { ...structuredClone(NO_OUTAGES), unseen: [] };
  const known = new Set(unseen);
  const one: AlertState = { ...rest, ...outages };
  const result = apply(one, known);
  const { incident, over, recent } = one;
  state.viewers = { incident, over, recent, unseen: [...known] };
  return result;
}

/** A stop ends it, and so does a start whose stop was lost. An outage in which no destination takes media is told as such. */
function followViewers(state: AlertState, event: RecordedEvent, rule: AlertRule, hasGap: boolean): void {
  if (!state.viewers && event.type !== 'platform.ended') return;
  withViewers(state, (outages, unseen) => {
    beginFollowing(outages, rule, hasGap);
    const destination = event.data.destinationID ?? '';
    switch (event.type) {
      case 'platform.ended':
        unseen.add(destination);
        beginOutage(outages, event, state.atMs, rule);
        break;
      case 'platform.live':
        unseen.delete(destination);
        if (unseen.size === 0) endOutage(outages, state.atMs, null);
        break;
      case 'stream.live':
      case 'stream.stopped':
        unseen.clear();
        stop(outages, state.atMs, rule);
        break;
      default:
    }
  });
}

function decideForViewers(state: AlertState, now: Date, rule: AlertRule): Decision {
  if (!state.viewers) return {};
  const { message, waitMs } = withViewers(state, (outages) => decide(outages, now, rule));
  if (!message) return { waitMs };
  const type = VIEWER_MESSAGES[message.kind] ?? message.type;
  return { waitMs, message: { ...message, key: `viewers_${message.key}`, type, isForViewers: true } };
}

/** Events of the platform say the same as that the stream is degraded by it. */
const isToldByPlatform = ({ type, data: { code } }: RecordedEvent, types: readonly string[]): boolean =>
  type === 'stream.degraded' &&
  findFix(code ?? undefined, 'platformLive') !== undefined &&
  types.some((one) => one.startsWith('platform.'));

/** Events of one transaction are one recording. The latest of them was delayed least. */
function recordTimes(state: AlertState, { seq, timestamp, recordedAt }: RecordedEvent): void {
  const [atMs, recordedAtMs] = [Date.parse(timestamp), Date.parse(recordedAt)];
  const delayMs = recordedAtMs - atMs;
  const isSameRecording = state.delaysMs.length > 0 && recordedAtMs === state.recordedAtMs;
  const known = isSameRecording ? state.delaysMs.slice(0, -1) : state.delaysMs;
  const latest = isSameRecording ? Math.min(delayMs, state.delaysMs.at(-1) ?? delayMs) : delayMs;
  Object.assign(state, { seq, atMs, recordedAtMs, delaysMs: [...known, latest].slice(-MAX_DELAYS) });
}

/** How long after its time the last event was recorded. The clocks are taken to be equal until enough recordings say otherwise. */
function findLatenessMs({ delaysMs, atMs, recordedAtMs }: AlertState): number {
  const clocksApartMs = Math.min(...delaysMs, ...(delaysMs.length < ENOUGH_DELAYS ? [0] : []));
  return Math.max(0, recordedAtMs - atMs - clocksApartMs);
}

/** Ends an incident after which the stream was on air for long. */
function beginFollowing(state: AlertState, rule: AlertRule, hasGap: boolean): void {
  const { incident, atMs } = state;
  if (incident && hasGap) incident.isApproximate = true;
  if (incident?.offSinceMs === null && atMs - incident.toMs >= findPauseMs(incident, rule))
    finish(state, 'on_air', incident.toMs, rule);
}

function followOutages(state: AlertState, event: RecordedEvent, rule: AlertRule, hasGap: boolean): void {
  const { atMs } = state;
  beginFollowing(state, rule, hasGap);
  switch (event.type) {
    case 'stream.reconnecting':
    case 'stream.off_air':
      beginOutage(state, event, atMs, rule);
      break;
    case 'stream.live':
      endOutage(state, atMs, null);
      break;
    case 'stream.recovered': {
      const lengthMs = event.data.offAirSeconds === null ? null : event.data.offAirSeconds * 1000;
      // Its begin was lost.
      if (state.incident?.offSinceMs == null && lengthMs !== null) {
        beginOutage(state, event, atMs - lengthMs, rule);
        if (state.incident && hasGap) state.incident.isApproximate = true;
      }
      endOutage(state, atMs, lengthMs);
      break;
    }
    case 'stream.stopped':
      stop(state, atMs, rule);
      break;
    default:
  }
}

/** The second event of an outage has its cause, where the first one came before anybody knew it. */
function beginOutage(state: AlertState, event: RecordedEvent, atMs: number, rule: AlertRule): void {
  const { name, code, message, fix } = event.data;
  const incident = state.incident ?? resume(state) ?? createIncident(name, atMs);
  state.incident = incident;
  incident.name = name;
  if (code !== null || message !== null) incident.cause = { code, message, fix };
  if (incident.offSinceMs !== null) return;
  incident.offSinceMs = atMs;
  incident.outages += 1;
  const windowMs = rule.flappingSeconds * 1000;
  state.recent = [
    ...state.recent.filter(({ fromMs }) => Math.abs(atMs - fromMs) < windowMs),
    { fromMs: atMs, lengthMs: 0 },
  ];
  if (!incident.isFlapping && state.recent.length >= rule.flappingCount) beginFlapping(incident, state.recent);
  state.recent = state.recent.slice(-rule.flappingCount);
}

const createIncident = (name: string, fromMs: number): Incident => ({
  name,
  fromMs,
  offSinceMs: null,
  toMs: fromMs,
  outages: 0,
  offAirMs: 0,
  longestMs: 0,
  cause: { code: null, message: null, fix: null },
  isFlapping: false,
  isApproximate: false,
  isOpen: false,
  announced: null,
});

/** Goes on with an incident that seemed to be over, where there was no message about its end yet. */
function resume(state: AlertState): Incident | undefined {
  const incident = state.over?.incident;
  state.over = null;
  return incident && { ...incident, announced: null };
}

/** The outages that made it flapping may have been incidents of their own. */
function beginFlapping(incident: Incident, recent: AlertState['recent']): void {
  incident.isFlapping = true;
  const [first] = recent;
  if (!first || first.fromMs >= incident.fromMs) return;
  incident.fromMs = first.fromMs;
  incident.outages = recent.length;
  incident.offAirMs = recent.reduce((sum, { lengthMs }) => sum + lengthMs, 0);
}

/** `lengthMs` is what the event says. */
function endOutage({ incident, recent }: AlertState, atMs: number, lengthMs: number | null): void {
  if (incident?.offSinceMs == null) return;
  const ms = lengthMs ?? Math.max(0, atMs - incident.offSinceMs);
  incident.toMs = atMs;
  incident.offAirMs += ms;
  incident.longestMs = Math.max(incident.longestMs, ms);
  incident.offSinceMs = null;
  if (incident.announced === 'off_air' && incident.isFlapping) incident.announced = 'flapping';
  const last = recent.at(-1);
  if (last) last.lengthMs = ms;
}

/** An outage after a stop has nothing to do with those before it. */
function stop(state: AlertState, atMs: number, rule: AlertRule): void {
  const isOffAir = state.incident?.offSinceMs != null;
  endOutage(state, atMs, null);
  finish(state, isOffAir ? 'stopped' : 'on_air', isOffAir ? atMs : (state.incident?.toMs ?? atMs), rule);
  state.recent = [];
}

function finish(state: AlertState, how: 'on_air' | 'stopped', atMs: number, rule: AlertRule): void {
  const { incident } = state;
  if (!incident) return;
  state.incident = null;
  if (incident.isFlapping) state.recent = [];
  if (isWorthTelling(incident, rule)) state.over = { incident, how, atMs };
}

const isWorthTelling = ({ isOpen, isFlapping, longestMs }: Incident, { offAirSeconds }: AlertRule): boolean =>
  isOpen || isFlapping || longestMs >= offAirSeconds * 1000;

/** How long the stream has to be on air until an incident is over. */
const findPauseMs = ({ isFlapping }: Incident, { flappingSeconds }: AlertRule): number =>
  (isFlapping ? flappingSeconds : BACK_SECONDS) * 1000;

interface Decision {
  message?: AlertMessage | undefined;
  waitMs?: number | undefined;
}

function decide(state: AlertState, now: Date, rule: AlertRule): Decision {
  const sinceEventMs = Math.max(0, now.getTime() - state.recordedAtMs);
  const { incident } = state;
  if (incident?.offSinceMs != null) {
    const offAirMs = Math.max(0, state.atMs - incident.offSinceMs) + sinceEventMs;
    return decideOffAir(state, incident, offAirMs, rule);
  }
  if (!incident) return { message: reportOver(state) };
  // A pause is measured from the recording of its begin. Of a stream that flaps, one that was recorded late has lasted all along.
  const latenessMs = incident.isFlapping ? findLatenessMs(state) : 0;
  const pauseMs = Math.max(0, state.atMs - incident.toMs) + sinceEventMs + latenessMs;
  const leftMs = findPauseMs(incident, rule) - pauseMs;
  if (leftMs <= 0) {
    finish(state, 'on_air', incident.toMs, rule);
    return { message: reportOver(state) };
  }
  const waitMs = isWorthTelling(incident, rule) ? leftMs : undefined;
  return { message: incident.isFlapping ? announceFlapping(state, incident) : undefined, waitMs };
}

/** An outage that lasts as long as the window is flapping no longer. */
function decideOffAir(state: AlertState, incident: Incident, offAirMs: number, rule: AlertRule): Decision {
  const message = incident.isFlapping ? announceFlapping(state, incident) : undefined;
  if (incident.announced === 'off_air') return {};
  const limitSeconds =
    incident.announced === 'flapping' ? Math.max(rule.flappingSeconds, rule.offAirSeconds) : rule.offAirSeconds;
  const leftMs = limitSeconds * 1000 - offAirMs;
  if (leftMs > 0) return { message, waitMs: leftMs };
  Object.assign(incident, { isOpen: true, announced: 'off_air' });
  return { message: buildOutageMessage(state, incident, 'off_air', incident.offSinceMs ?? incident.fromMs) };
}

/** Nothing where people know already that something is wrong. */
function announceFlapping(state: AlertState, incident: Incident): AlertMessage | undefined {
  if (incident.announced !== null || incident.isOpen) return undefined;
  Object.assign(incident, { isOpen: true, announced: 'flapping' });
  return buildOutageMessage(state, incident, 'flapping', state.atMs);
}

function reportOver(state: AlertState): AlertMessage | undefined {
  const { over } = state;
  state.over = null;
  return over ? buildOutageMessage(state, over.incident, findEnd(over), over.atMs) : undefined;
}

function findEnd({ incident, how }: NonNullable<AlertState['over']>): AlertKind {
  if (how === 'stopped') return 'stopped';
  if (!incident.isOpen) return 'was_off_air';
  return incident.isFlapping ? 'calm' : 'back';
}

/** The types of messages about viewers. */
const VIEWER_MESSAGES: Partial<Record<AlertKind, AccountEvent['type']>> = {
  off_air: 'platform.ended',
  flapping: 'platform.ended',
  back: 'platform.live',
  calm: 'platform.live',
  was_off_air: 'platform.live',
};

const toIso = (ms: number): string => new Date(ms).toISOString();

const TYPES = {
  off_air: 'stream.off_air',
  flapping: 'stream.off_air',
  back: 'stream.recovered',
  calm: 'stream.recovered',
  was_off_air: 'stream.recovered',
  stopped: 'stream.stopped',
} as const satisfies Partial<Record<AlertKind, AccountEvent['type']>>;

function buildOutageMessage(
  { objectID, seq }: AlertState,
  { name, cause, fromMs, toMs, offSinceMs, outages, offAirMs, isApproximate }: Incident,
  kind: AlertKind,
  atMs: number,
): AlertMessage {
  return {
    key: `${kind}_${seq}`,
    kind,
    type: kind === 'note' ? 'stream.off_air' : TYPES[kind],
    object: 'stream',
    objectID,
    name,
    at: toIso(atMs),
    ...cause,
    facts: null,
    outage: {
      from: toIso(fromMs),
      to: offSinceMs === null ? toIso(toMs) : null,
      offSince: offSinceMs === null ? null : toIso(offSinceMs),
      outages,
      offAirSeconds: Math.round(offAirMs / 1000),
      isApproximate,
    },
  };
}

/** A problem of a stream that goes off air is the cause in that message. */
function takeNote(state: AlertState, { type, data: { code } }: RecordedEvent, now: Date): boolean {
  if (type === 'stream.degraded' && state.incident) return false;
  const [nowMs, key] = [now.getTime(), `${type} ${code ?? ''}`];
  const recent = Object.entries(state.notedMs).filter(([, ms]) => Math.abs(nowMs - ms) < NOTE_MS);
  const isKnown = recent.some(([known]) => known === key);
  state.notedMs = Object.fromEntries(isKnown ? recent : [...recent, [key, nowMs]]);
  return !isKnown;
}

const buildNote = ({ seq, type, object, objectID, timestamp, data }: RecordedEvent): AlertMessage => ({
  key: `note_${seq}`,
  kind: 'note',
  type,
  object,
  objectID,
  name: data.name,
  at: timestamp,
  code: data.code,
  message: data.message,
  fix: data.fix,
  facts: { startAt: data.startAt, hoursLeft: data.hoursLeft, credits: data.credits },
  outage: null,
});
