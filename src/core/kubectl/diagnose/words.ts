/** Parses the last words of a pod out of its log, which is JSON line by line. Pure: no I/O, no clock. */
import { DESTINATION_ACCEPTED } from '../../protocol/codes.ts';
import { toLine } from '../shell/table.ts';

const INFO = 30;
const WARN = 40;

/** One warning or error of a log. ffmpeg's own words are in `message`, without secrets: the pod redacts them. */
export interface Word {
  /** RFC 3339; empty where the line has none. */
  time: string;
  message: string;
  /** The destination that it is about. */
  destination?: string;
  code?: string;
  /** The destination accepts the stream since: the warnings before it are over. */
  isAccepted?: true;
}

const text = (value: unknown): string => (typeof value === 'string' ? toLine(value).slice(0, 500) : '');

function parseLine(line: string): Word | undefined {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    // Node's own words about a crash are no JSON.
    const message = text(line);
    return message === '' ? undefined : { time: '', message };
  }
  if (typeof entry !== 'object' || entry === null) return undefined;
  const [time, message, destination, code] = [entry.time, entry.msg, entry.destination, entry.code].map(text);
  const about = { ...(destination && { destination }), ...(code && { code }) };
  // Of a destination, pods before `event` wrote no other lines of this level than of one that accepts.
  const isAccepted =
    destination !== '' && entry.level === INFO && (entry.event ?? DESTINATION_ACCEPTED) === DESTINATION_ACCEPTED;
  if (isAccepted) return { time: time ?? '', message: message ?? '', ...about, isAccepted };
  const isBad = typeof entry.level === 'number' && entry.level >= WARN;
  return isBad && message ? { time: time ?? '', message, ...about } : undefined;
}

/** Warnings and errors, and when a destination accepted, the oldest first. */
export const parseLog = (log: string): Word[] => log.split('\n').flatMap((line) => parseLine(line) ?? []);

/** The last word about each destination that does not accept the stream now. */
export function findRefusals(words: readonly Word[]): Word[] {
  const last = new Map<string, Word>();
  for (const word of words) if (word.destination !== undefined) last.set(word.destination, word);
  return [...last.values()].filter(({ isAccepted }) => !isAccepted);
}
