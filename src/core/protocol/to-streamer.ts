/**
 * Reads what the operator says to a streamer's pod: its program, its destinations, a command. The checks are written by hand, since
 * a streamer does not load the schema library (lib/shape.ts). A test compares them with the schemas. Pure: no I/O, no clock.
 */
import { atLeast, isDateTime, isInteger, isString, list, object, oneOrMore } from '../lib/shape.ts';
import { PROGRAM_ANNOTATION } from '../resources/common/names.ts';
import { MOST_LEAST_KBPS } from '../resources/destination/least-bitrate.ts';
import { FIELDS } from '../resources/destination/read.ts';
import { LEAST_EVERY_SECONDS } from '../resources/playlist/rule-limits.ts';
import type { ReleaseRequest, SkipRequest } from './commands.ts';
import type { DestinationSecrets } from './destinations.ts';
import type { Program } from './program.ts';
import type { Read } from './read-message.ts';

const UNEXPECTED: Read<never> = { ok: false, failure: { code: 'unexpected', path: '' } };
const NOT_JSON: Read<never> = { ok: false, failure: { code: 'not_json', path: '' } };

function parse<T>(text: string | undefined, read: (value: unknown) => Read<T>): Read<T> {
  try {
    return read(JSON.parse(text ?? ''));
  } catch {
    return NOT_JSON;
  }
}

const isObject = object({});
const isOneOf =
  (...values: unknown[]) =>
  (value: unknown) =>
    values.includes(value);

const isItem = object(
  { id: isString, name: isString, rendition: isString },
  { cut: isOneOf(true, false), sound: isString, card: isString },
);
const isApart = object({ least: atLeast(1), groups: list(atLeast(0)) });
const isRule = object(
  {
    name: isString,
    when: object(
      {},
      {
        everySeconds: atLeast(LEAST_EVERY_SECONDS),
        eachItems: atLeast(1),
        at: object({ cron: isString, timeZone: isString }),
        window: object({ cron: isString, timeZone: isString, durationSeconds: atLeast(1) }),
      },
    ),
    start: isOneOf('Border', 'Cut'),
    lateSeconds: atLeast(0),
    after: isOneOf('Resume', 'Next', 'Restart'),
    count: atLeast(1),
    pick: isOneOf('Next', 'Shuffle'),
    items: list(isItem),
  },
  { list: isString, apart: isApart },
);
const isTrack = object(
  { mode: isOneOf('sequential', 'shuffle'), items: oneOrMore(isItem) },
  { lists: list(object({ id: isString, items: atLeast(1) })), rules: list(isRule), apart: isApart },
);
const place = { round: atLeast(0), turn: atLeast(0) };
const isStanding = object(
  {
    ...place,
    items: atLeast(0),
    rules: list(
      object({ name: isString, ...place, items: atLeast(0), since: isDateTime }, { offsetTicks: atLeast(0) }),
    ),
  },
  {
    offsetTicks: atLeast(0),
    played: list(isString),
    next: object({ left: atLeast(0) }, { rule: isString, dueAt: isDateTime }),
  },
);
export const isProgram = object(
  {
    version: isInteger,
    epoch: isDateTime,
    seed: isInteger,
    profile: isString,
    video: isTrack,
    destinations: oneOrMore(isString),
  },
  {
    audio: isTrack,
    slate: isString,
    audioEpoch: isDateTime,
    standings: object({}, { video: isStanding, audio: isStanding }),
    skipped: object({}, { video: isString, audio: isString }),
    destinationsRevision: isString,
  },
);

/** Reads a program from its JSON text: the operator from a pod's annotation, the pod from a file. */
export const readProgram = (text: string | undefined): Read<Program> =>
  parse(text, (value) => (isProgram(value) ? { ok: true, message: value as Program } : UNEXPECTED));

/** The program that a pod was given; undefined when it carries none that can be read. */
export function readPodProgram(pod: { metadata: { annotations?: Record<string, string> } }): Program | undefined {
  const read = readProgram(pod.metadata.annotations?.[PROGRAM_ANNOTATION]);
  return read.ok ? read.message : undefined;
}

const MAX_ID = 256;

export function readSkipRequest(value: unknown): Read<SkipRequest> {
  if (!isObject(value)) return UNEXPECTED;
  const { id, track = 'video' } = value as Partial<SkipRequest>;
  const isKnown = track === 'video' || track === 'audio';
  if (!isString(id) || id === undefined || id === '' || id.length > MAX_ID || !isKnown) return UNEXPECTED;
  return { ok: true, message: { id, track } };
}

const isRelease = object({ podUID: isString });

export const readReleaseRequest = (value: unknown): Read<ReleaseRequest> =>
  isRelease(value) ? { ok: true, message: value as ReleaseRequest } : UNEXPECTED;

const trim = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

const isLeastKbps = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_LEAST_KBPS;

/** Reads the destinations that have a URL, by name. */
export function readDestinations(value: unknown): Read<Map<string, DestinationSecrets>> {
  if (!isObject(value)) return UNEXPECTED;
  const found = Object.entries(value as Record<string, unknown>).map(([name, given]): [string, DestinationSecrets] => {
    const fields = isObject(given) ? (given as Record<string, unknown>) : {};
    const texts = FIELDS.map((field) => [field, trim(fields[field])]);
    const secrets = Object.fromEntries(texts) as Record<(typeof FIELDS)[number], string>;
    const { leastBitrateKbps } = fields;
    return [name, isLeastKbps(leastBitrateKbps) ? { ...secrets, leastBitrateKbps } : secrets];
  });
  return { ok: true, message: new Map(found.filter(([, { rtmpUrl }]) => rtmpUrl !== '')) };
}
