/**
 * Computes the findings about a stream from all its facts: the most important first, each with the next tool to call. Pure: no I/O,
 * no clock.
 */
import { type Static, Type } from 'typebox';
import { findFix } from '../../../core/lib/codes/codes.ts';
import { describeRefusal } from '../../../core/lib/codes/destinations.ts';
import { DIAGNOSES } from '../../../core/lib/codes/streams.ts';
import type { Destination } from '../../domain/destinations/record.ts';
import { LiveStats } from '../../domain/stats/record.ts';
import { Readiness, type ReadinessIssue, Stream, StreamEvent } from '../../domain/streams/record.ts';

const Finding = Type.Object({
  code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
  message: Type.String({ description: 'The problem, as a sentence.' }),
  fix: Type.String({ description: 'Action that solves the problem.' }),
  tool: Type.Union([Type.String(), Type.Null()], { description: 'Tool to call next. Null if none can help.' }),
});
type Finding = Static<typeof Finding>;

const known = {
  stream: Stream,
  readiness: Readiness,
  liveStats: LiveStats,
  events: Type.Union([Type.Array(StreamEvent), Type.Null()], {
    description: 'The last events, newest first. Null while Kubernetes, which stores them, is unavailable.',
  }),
};

export const Diagnosis = Type.Object({
  summary: Type.String({ description: 'State of the stream, as a sentence.' }),
  findings: Type.Array(Finding, { description: 'Problems, the most important first. Empty if there are none.' }),
  ...known,
});
export type Diagnosis = Static<typeof Diagnosis>;

const Facts = Type.Object(known);
type Facts = Static<typeof Facts>;

/** Tools by the field of an issue. */
const TOOL_FOR_FIELD = new Map([
  ['destinationIDs', 'update_destination'],
  ['videoUploadObjectID', 'get_upload'],
  ['playlistIDs', 'get_playlist'],
  ['scheduleStartAt', 'schedule_stream'],
]);
/** Tools by code, where the field is not specific enough. */
const TOOL_FOR_CODE = new Map([
  ['destination_not_found', 'update_stream'],
  ['upload_not_found', 'update_stream'],
  ['playlist_not_found', 'update_stream'],
  ['media_failed', 'create_upload_from_link'],
  ['overlays_missing', 'create_upload_from_link'],
  ['cards_missing', 'create_upload_from_link'],
  ['slate_missing', 'create_upload_from_link'],
  ['media_preparing', 'get_stream_readiness'],
  ['playlist_empty', 'change_playlist'],
  ['not_checked', 'get_stream_readiness'],
  ['insufficient_credits', 'create_top_up'],
  ['media_awaits_credit', 'create_top_up'],
  ['media_awaits_gate', 'get_stream_readiness'],
]);

/** For a code that is newer than the table. */
const UNKNOWN_FIX = 'Try again in a moment. If the problem persists, read the events.';

const describeIssue = ({ code, message, fix, field }: ReadinessIssue): Finding => ({
  code,
  message,
  fix,
  tool: TOOL_FOR_CODE.get(code) ?? TOOL_FOR_FIELD.get(field) ?? null,
});

function findFailedDestinations({ liveStats }: Facts): Finding[] {
  return liveStats.destinations.flatMap(({ name, connected, lastError }): Finding[] => {
    if (connected || !lastError) return [];
    const { code, message } = lastError;
    return [
      {
        code,
        message: describeRefusal(name, message),
        fix: findFix(code, 'destination') ?? UNKNOWN_FIX,
        tool: 'update_destination',
      },
    ];
  });
}

type SeenDestination = Pick<Destination, 'name' | 'platformLive'>;

/** Codes of a view that say nothing of the stream on air. */
const NO_MATTER: ReadonlySet<string | null> = new Set([null, 'not_sending', 'starting']);

/** Returns findings for what viewers do not see, what nobody knows of it, and what platforms say of the media. */
const findViewers = ({ stream }: Facts, destinations: readonly SeenDestination[]): Finding[] =>
  destinations.flatMap(({ name, platformLive }): Finding[] => {
    if (stream.status !== 'live' || !platformLive) return [];
    const { code, message, fix, issues } = platformLive;
    const bad = issues.filter(({ severity }) => severity !== 'info');
    return [...(NO_MATTER.has(code) ? [] : [{ code: code ?? '', message, fix }]), ...bad].map((one) => ({
      code: one.code,
      message: `Destination "${name}": ${one.message}`,
      fix: one.fix ?? UNKNOWN_FIX,
      tool: 'get_destination',
    }));
  });

/** Returns findings for items that the stream skips. Items in preparation get the tool that shows their progress. */
const listWarnings = ({ readiness }: Facts): Finding[] =>
  readiness.warnings.map(({ code, message, fix }) => ({
    code,
    message,
    fix,
    tool: TOOL_FOR_CODE.get(code) ?? 'change_playlist',
  }));

/** Returns findings for items that only the pod has reported so far. */
const findBrokenItems = ({ readiness, liveStats }: Facts): Finding[] =>
  liveStats.brokenItems
    .filter(({ id }) => !readiness.warnings.some(({ item }) => item?.objectID === id))
    .map(({ code, name, message }) => ({
      code,
      message: `Item "${name}" cannot be played and is left out. ${message}`,
      fix: findFix(code, 'brokenItem') ?? UNKNOWN_FIX,
      tool: 'create_upload_from_link',
    }));

const ON_AIR = ['live', 'reconnecting'];

function checkState({ stream, liveStats }: Facts): Finding[] {
  const { status } = stream;
  const findings: Finding[] = [];
  const add = (code: keyof typeof DIAGNOSES, tool: string) => {
    const { meaning: message, fix } = DIAGNOSES[code];
    findings.push({ code, message, fix, tool });
  };
  if (status === 'failed') add('failed', 'start_stream');
  if (ON_AIR.includes(status) && !liveStats.live && liveStats.destinations.length === 0)
    add('no_numbers', 'get_stream_live_stats');
  return findings;
}

/** Tools by the code of `degraded`. */
const TOOL_FOR_DEGRADED = new Map([
  ['nothing_playable', 'create_upload_from_link'],
  ['items_left_out', 'create_upload_from_link'],
  ['preparation_behind', 'get_stream_readiness'],
  ['media_failed', 'create_upload_from_link'],
  ['destination_reconnecting', 'get_stream_live_stats'],
]);

/** This condition summarizes problems of items and destinations. It is left out after their own findings, unless nothing plays. */
function findDegraded({ stream: { degraded } }: Facts, found: readonly Finding[]): Finding[] {
  if (!degraded || (found.length > 0 && degraded.code !== 'nothing_playable')) return [];
  const { code, message, fix } = degraded;
  return [{ code, message, fix, tool: TOOL_FOR_DEGRADED.get(code) ?? 'list_stream_events' }];
}

const AS_IT_SHOULD_BE: Record<Facts['stream']['status'], string> = {
  idle: 'It is off air and ready: start_stream puts it on air.',
  scheduled: 'It waits for its scheduled start.',
  waiting: 'It goes on air as soon as it is ready.',
  starting: 'It is starting.',
  live: 'It is on air, and nothing is wrong.',
  reconnecting: 'It is reconnecting to its destination.',
  stopping: 'It is going off air.',
  stopped: 'It is off air and ready: start_stream puts it on air.',
  ended: 'Its schedule is over: start_stream puts it on air again.',
  failed: 'It has failed.',
};

/** `destinations` are those of the stream. */
export function diagnose(facts: Facts, destinations: readonly SeenDestination[] = []): Diagnosis {
  const { stream, readiness } = facts;
  const parts = [
    ...findViewers(facts, destinations),
    ...findFailedDestinations(facts),
    ...listWarnings(facts),
    ...findBrokenItems(facts),
  ];
  const findings = [
    ...readiness.issues.map(describeIssue),
    ...findDegraded(facts, parts),
    ...parts,
    ...checkState(facts),
  ];
  const [first] = findings;
  const how = first ? first.message : AS_IT_SHOULD_BE[stream.status];
  return { summary: `Stream "${stream.name}" is ${stream.status}. ${how}`, findings, ...facts };
}
