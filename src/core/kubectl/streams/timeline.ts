/** Prints what a stream plays when, from its resources alone, without an API server. */
import { formatTimeline, type TimelineFormat } from '../../programme/formats.ts';
import type { OnAirList } from '../../programme/on-air.ts';
import { listPlanned, type PlannedItem } from '../../programme/plan.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { CommandError, type Invocation, UsageError } from '../shell/call.ts';
import type { Cluster } from '../shell/cluster.ts';
import { parseReference } from '../shell/objects.ts';
import { readWidth, warn, write } from '../shell/output.ts';
import { type Column, formatTable } from '../shell/table.ts';
import { readLists } from './on-air.ts';

export type TimelineFlags = { audio?: boolean; from?: string; to?: string; output?: string };

const DAY_MS = 86_400_000;
const MAX_SPAN_DAYS = 14;
const MAX_ITEMS = 60_000;

export function parseTime(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw new UsageError(`--${flag} is a time such as 2027-01-31T18:00:00Z, not "${text}".`);
}

/** From now on, and for a day, unless the flags say otherwise. Throws UsageError. */
export function readSpan(
  { from, to }: Pick<TimelineFlags, 'from' | 'to'>,
  now: Date,
): { fromMs: number; toMs: number } {
  const fromMs = parseTime('from', from) ?? now.getTime();
  const toMs = parseTime('to', to) ?? fromMs + DAY_MS;
  if (fromMs >= toMs) throw new UsageError('--from is not before --to.');
  if (toMs - fromMs > MAX_SPAN_DAYS * DAY_MS)
    throw new UsageError(`A timeline has ${MAX_SPAN_DAYS} days at most. Choose an earlier --to.`);
  return { fromMs, toMs };
}

async function readList(cluster: Cluster, stream: LoopStream, track: 'video' | 'audio', now: Date): Promise<OnAirList> {
  const { name } = stream.metadata;
  const { lists } = await readLists(cluster, stream, now);
  const list = lists[track];
  if (list) return list;
  if (Object.keys(lists).length > 0)
    throw new CommandError(`Stream "${name}" has no audio list of its own. Leave --audio out to see its videos.`);
  const { phase = 'unknown' } = stream.status ?? {};
  throw new CommandError(`Stream "${name}" is ${phase}, and only a stream on air plays something.`);
}

const COLUMNS: readonly Column<PlannedItem>[] = [
  // An estimate is to the second at most.
  { name: 'START', read: ({ startAt, exact }) => (exact ? startAt : `~ ${startAt.slice(0, 19)}Z`) },
  { name: 'SECONDS', read: ({ durationSeconds }) => durationSeconds.toFixed(1) },
  { name: 'UPLOAD', read: ({ id }) => id },
  { name: 'RULE', read: ({ rule }) => rule ?? '' },
  { name: 'NAME', read: ({ name }) => name, least: 20 },
];

export async function showTimeline({ args, flags, cluster }: Invocation<TimelineFlags>): Promise<number> {
  const now = new Date();
  const { fromMs, toMs } = readSpan(flags, now);
  const opened = cluster();
  const { name } = parseReference(args[0] ?? '', 'stream');
  const stream = await opened.kube.get(LOOPSTREAMS, opened.namespace, name);
  const list = await readList(opened, stream, flags.audio ? 'audio' : 'video', now);
  const { items, nextMs } = listPlanned(list, fromMs, toMs, MAX_ITEMS);
  const { output = 'table' } = flags;
  const channel = { id: name, name: stream.spec.displayName ?? name, now };
  if (output === 'table') write(items.length > 0 ? formatTable(COLUMNS, items, readWidth()) : '');
  else if (output === 'json') write(`${JSON.stringify(items, null, 2)}\n`);
  else write(formatTimeline(output as TimelineFormat, channel, items));
  if (items.length === 0)
    warn(`Nothing is known of what stream "${name}" plays then. See kubectl loop diagnose ${name}.`);
  if (nextMs !== undefined) warn(`The rest begins at ${new Date(nextMs).toISOString()}: ask for it with --from.`);
  return 0;
}
