/** Compares the results of a run, and decides whether they hold. Pure: no I/O, no clock. */
import type { Publish } from '../kit/fake/tap.ts';

/** The charge of a session is never more than its recording, and at most this much less. */
const SHORT_OF_RECORDED_SECONDS = 1;

/** A session from the stream's status, and its charge. */
export interface SessionFacts {
  number: number;
  startedAt: string;
  endedAt: string | undefined;
  toldSeconds: number;
  chargedSeconds: number;
  /** The number of ledger entries. */
  entries: number;
}

export interface StreamFacts {
  name: string;
  sessions: SessionFacts[];
  publishes: Publish[];
  /** Seconds by the timestamps in the recordings. */
  mediaSeconds: number;
}

export interface Deposits {
  sent: number;
  /** The number of those that the ledger has once, with their worth. */
  credited: number;
  /** Transactions with more credit in the ledger than was sent. */
  twice: number;
}

export interface Line {
  stream: string;
  /** undefined: outside of any session. */
  session: number | undefined;
  publishes: number;
  recorded: number;
  told: number;
  charged: number;
  entries: number;
  holds: boolean;
}

/** Returns the common time of both, in milliseconds. Times of sessions are whole seconds, rounded down. */
function overlap({ startedAt, endedAt }: SessionFacts, { firstMs, lastMs }: Publish): number {
  const end = endedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(endedAt) + 1000;
  return Math.min(lastMs, end) - Math.max(firstMs, Date.parse(startedAt));
}

/** Returns the session of a publish; a publish too short to be counted has none. */
function findSession(publish: Publish, sessions: readonly SessionFacts[]): SessionFacts | undefined {
  const byOverlap = sessions.toSorted((a, b) => overlap(b, publish) - overlap(a, publish));
  return byOverlap[0] && overlap(byOverlap[0], publish) > 0 ? byOverlap[0] : undefined;
}

const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

/** Returns a line for each session, and one for publishes outside of any. */
export function buildLines({ name, sessions, publishes }: StreamFacts): Line[] {
  const by = Map.groupBy(publishes, (publish) => findSession(publish, sessions)?.number);
  const facts: (SessionFacts | undefined)[] = [...sessions, ...(by.has(undefined) ? [undefined] : [])];
  return facts.map((session) => {
    const own = by.get(session?.number) ?? [];
    const recorded = sum(own, ({ onAirMs }) => onAirMs) / 1000;
    const [told, charged] = [session?.toldSeconds ?? 0, session?.chargedSeconds ?? 0];
    const holds = charged <= recorded && recorded - charged <= SHORT_OF_RECORDED_SECONDS && charged === told;
    const numbers = { publishes: own.length, recorded, told, charged, entries: session?.entries ?? 0 };
    return { stream: name, session: session?.number, ...numbers, holds };
  });
}

const seconds = (value: number): string => `${value.toFixed(1)} s`;

/** Returns Markdown: the sessions, and a sum for each stream with the length of its recordings. */
export function formatTable(streams: readonly StreamFacts[]): string {
  const rows = streams.flatMap((stream) => {
    const lines = buildLines(stream);
    const total = {
      recorded: sum(lines, (line) => line.recorded),
      charged: sum(lines, (line) => line.charged),
      publishes: sum(lines, (line) => line.publishes),
      entries: sum(lines, (line) => line.entries),
    };
    return [
      ...lines.map((line) => ({ ...line, media: '', name: String(line.session ?? 'none') })),
      { ...total, stream: stream.name, name: 'all', media: seconds(stream.mediaSeconds), holds: true },
    ];
  });
  const titles = ['stream', 'session', 'publishes', 'media in the recordings'].concat([
    ...['recorded at the receiver', 'charged', 'difference', 'entries'],
  ]);
  const cells = rows.map(({ stream, name, publishes, media, recorded, charged, entries, holds }) => [
    ...[stream, name, String(publishes), media, seconds(recorded), seconds(charged)],
    ...[`${(charged - recorded).toFixed(2)} s${holds ? '' : ' ← does not hold'}`, String(entries)],
  ]);
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}
