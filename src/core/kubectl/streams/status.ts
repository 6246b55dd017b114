/** Runs `kubectl loop status`: which streams are on air, and why the others are not. */
import { stringify } from 'yaml';
import { KubeError, type ListOptions } from '../../kube/types.ts';
import { sleep } from '../../lib/clock.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { CommandError, type Invocation, UsageError } from '../shell/call.ts';
import type { Cluster } from '../shell/cluster.ts';
import { parseReference } from '../shell/objects.ts';
import { paint, readWidth, warn, write } from '../shell/output.ts';
import { layOut } from '../shell/table.ts';
import { buildColumns, countResting, describeState, isResting, type StreamState } from './rows.ts';

export type StatusFlags = {
  all?: boolean;
  'all-namespaces'?: boolean;
  selector?: string;
  output?: string;
  watch?: boolean;
};

const PAGE_SIZE = 500;
const RETRY_MS = 1_000;

interface Wanted {
  options: ListOptions;
  /** Empty for all. */
  names: ReadonlySet<string>;
}

export async function showStatus({ args, flags, cluster }: Invocation<StatusFlags>): Promise<number> {
  const { all = false, 'all-namespaces': allNamespaces = false, selector, output = 'table', watch = false } = flags;
  if (watch && !['table', 'wide'].includes(output)) throw new UsageError('-w works with -o table and -o wide.');
  if (allNamespaces && args.length > 0) throw new UsageError('Give either names or --all-namespaces, not both.');
  const opened = cluster();
  const names = new Set(args.map((text) => parseReference(text, 'stream').name));
  const options: ListOptions = {
    ...(!allNamespaces && { namespace: opened.namespace }),
    ...(selector !== undefined && { labelSelector: selector }),
  };
  const { streams, version } = await list(opened, { options, names });
  const missing = [...names].filter((name) => !streams.some(({ metadata }) => metadata.name === name));
  if (missing.length > 0)
    throw new CommandError(
      `There is no stream "${missing.join('", "')}" in namespace "${opened.namespace}". List all with kubectl loop status -A.`,
    );
  const rows = streams.map(describeState);
  if (output === 'json') write(`${JSON.stringify({ streams: rows }, undefined, 2)}\n`);
  else if (output === 'yaml') write(stringify({ streams: rows }));
  else
    await showTable(opened, rows, {
      allNamespaces,
      wide: output === 'wide',
      all: all || names.size > 0,
      ...(watch && { watch: { options, names, version } }),
    });
  return 0;
}

async function list(
  { kube }: Cluster,
  { options, names }: Wanted,
): Promise<{ streams: LoopStream[]; version: string }> {
  const streams: LoopStream[] = [];
  let version = '';
  for (let token: string | undefined; ; ) {
    const page = await kube.page(LOOPSTREAMS, { ...options, limit: PAGE_SIZE, continue: token });
    streams.push(...page.items.filter(({ metadata }) => names.size === 0 || names.has(metadata.name)));
    version = page.resourceVersion;
    token = page.continue;
    if (token === undefined) return { streams, version };
  }
}

interface TableOptions {
  allNamespaces: boolean;
  wide: boolean;
  /** Streams that rest have rows, too. */
  all: boolean;
  watch?: Wanted & { version: string };
}

async function showTable(
  cluster: Cluster,
  rows: StreamState[],
  { allNamespaces, wide, all, watch }: TableOptions,
): Promise<void> {
  if (rows.length === 0 && !watch) {
    warn(
      allNamespaces
        ? 'There are no streams in the cluster.'
        : `There are no streams in namespace "${cluster.namespace}". List all with kubectl loop status -A.`,
    );
    return;
  }
  const shown = all ? rows : rows.filter((row) => !isResting(row));
  const titled = rows.some(({ displayName }) => displayName !== null);
  const watched = rows.some(({ onAirForViewers }) => onAirForViewers !== null);
  const columns = buildColumns({ allNamespaces, titled, watched, wide, now: () => new Date(), paint });
  const { header, line } = layOut(columns, watch ? rows : shown, wide ? undefined : readWidth());
  const table = shown.length > 0 || watch ? [header, ...shown.map(line)] : [];
  const rest = all ? undefined : countResting(rows);
  write([...table, ...(rest ? [rest] : [])].map((text) => `${text}\n`).join(''));
  if (watch) await follow(cluster, rows, watch, (row) => write(`${line(row)}\n`));
}

/** Prints a row for each change that the table shows, until the process is ended. */
async function follow(
  cluster: Cluster,
  rows: readonly StreamState[],
  { options, names, version }: Wanted & { version: string },
  print: (row: StreamState) => void,
): Promise<never> {
  const known = new Map(rows.map((row) => [`${row.namespace}/${row.name}`, JSON.stringify(row)]));
  const see = (row: StreamState) => {
    const text = JSON.stringify(row);
    if (known.get(`${row.namespace}/${row.name}`) === text) return;
    known.set(`${row.namespace}/${row.name}`, text);
    print(row);
  };
  for (let resourceVersion = version; ; ) {
    try {
      for await (const { type, object } of cluster.kube.watch(LOOPSTREAMS, { ...options, resourceVersion })) {
        resourceVersion = object.metadata.resourceVersion;
        if (type === 'BOOKMARK' || (names.size > 0 && !names.has(object.metadata.name))) continue;
        const row = describeState(object);
        see(type === 'DELETED' ? { ...row, phase: null, why: 'It was deleted.' } : row);
      }
    } catch (error) {
      if (!(error instanceof KubeError) || (error.status !== 0 && error.status !== 410)) throw error;
      await sleep(RETRY_MS);
      const again = await list(cluster, { options, names });
      again.streams.map(describeState).forEach(see);
      resourceVersion = again.version;
    }
  }
}
