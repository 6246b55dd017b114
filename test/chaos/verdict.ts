/** What a run has shown, side by side, and whether it holds. Pure: no I/O, no clock. */
import type { Publish } from '../kit/fake/tap.ts';

/** What is charged of a session is never more than was recorded of it, and at most this much less. */
const SHORT_OF_RECORDED_SECONDS = 1;

/** A session as the stream's status tells of it, and what was charged for it. */
export interface SessionFacts {
  number: number;
  startedAt: string;
  endedAt: string | undefined;
  toldSeconds: number;
  chargedSeconds: number;
  /** Of the ledger. */
  entries: number;
}

export interface StreamFacts {
  name: string;
  sessions: SessionFacts[];
  publishes: Publish[];
  /** By the timestamps in the recordings. */
  mediaSeconds: number;
}

export interface Deposits {
  sent: number;
  /** Of those, how many are in the ledger with what they are worth, once. */
  credited: number;
  /** Transactions of which more is in the ledger than was sent. */
  twice: number;
}

export interface Line {
  stream: string;
  /** undefined: what no session tells of. */
  session: number | undefined;
  publishes: number;
  recorded: number;
  told: number;
  charged: number;
  entries: number;
  holds: boolean;
}

/** For how long both were there, in milliseconds. Times of sessions are whole seconds, rounded down. */
function overlap({ startedAt, endedAt }: SessionFacts, { firstMs, lastMs }: Publish): number {
  const end = endedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(endedAt) + 1000;
  return Math.min(lastMs, end) - Math.max(firstMs, Date.parse(startedAt));
}

/** The session in which it was published; what was there for too short a time to be counted has none. */
function sessionOf(publish: Publish, sessions: readonly SessionFacts[]): SessionFacts | undefined {
  const byOverlap = sessions.toSorted((a, b) => overlap(b, publish) - overlap(a, publish));
  return byOverlap[0] && overlap(byOverlap[0], publish) > 0 ? byOverlap[0] : undefined;
}

const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

/** A line for each session, and one for what belongs to none. */
export function linesOf({ name, sessions, publishes }: StreamFacts): Line[] {
  const by = Map.groupBy(publishes, (publish) => sessionOf(publish, sessions)?.number);
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

/** Markdown: the sessions, and a sum for each stream with what its recordings hold. */
export function tableOf(streams: readonly StreamFacts[]): string {
  const rows = streams.flatMap((stream) => {
    const lines = linesOf(stream);
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
