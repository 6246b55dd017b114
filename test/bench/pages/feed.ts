/// <reference lib="dom" />
/**
 * Measures the latency of a change: to a client that follows the feed and reads the changed objects, and to an open page. The clock starts
 * at the request to the API; for changes by kubectl or the operator, when a watch of our own on kube-apiserver receives it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { createKube } from '../../../src/core/kube/client.ts';
import { createReflector } from '../../../src/core/kube/reflector.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { kubectl } from '../../kit/kubectl.ts';
import { visit } from '../../kit/real/page.ts';
import type { System } from '../../kit/system/system.ts';
import { median, type Row } from '../report.ts';
import { streamOffAir } from './stream.ts';

/** A change that takes longer counts as lost. */
const LIMIT_MS = 30_000;
const BAR_MS = 1000;
/** A page reads the same object twice a second at most: the next change comes after that. */
const PAUSE_MS = 600;

/** The expected state: a new name, or a state. */
interface Wanted {
  name?: string;
  status?: string;
}

/** Resolves to the time of the state, in milliseconds of a clock that Chromium shares. */
type Seen = (wanted: Wanted) => Promise<number>;

const within = <T>(who: string, wanted: Wanted, promise: Promise<T>): Promise<T> =>
  Promise.race([
    promise,
    sleep(LIMIT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`${who} has not seen ${JSON.stringify(wanted)} within ${LIMIT_MS / 1000} s`);
    }),
  ]);

/** Checks at every notification until it finds the expected state. */
function lookout<T>(fits: (seen: T, wanted: Wanted) => boolean) {
  let waiting: { wanted: Wanted; resolve: (at: number) => void } | undefined;
  return {
    see(seen: T): void {
      if (waiting && fits(seen, waiting.wanted)) waiting.resolve(Date.now());
    },
    for: (wanted: Wanted): Promise<number> => new Promise((resolve) => (waiting = { wanted, resolve })),
  };
}

/** Starts a client that follows the feed, and reads changed objects. */
function followingClient({ client }: System, id: string, stop: AbortSignal): Seen {
  type Stream = Awaited<ReturnType<typeof client.streams.get>>;
  const at = lookout<Stream>(
    ({ name, status }, wanted) => name === (wanted.name ?? name) && status === (wanted.status ?? status),
  );
  const follow = async () => {
    for await (const news of client.changes({ signal: stop }))
      if (news === 'reset' || news.id === id) at.see(await client.streams.get(id));
  };
  follow().catch((error) => {
    if (!stop.aborted) throw error;
  });
  return (wanted) => within('the client', wanted, at.for(wanted));
}

/** Observes a page of the stream from within, at every change of its content. */
const watchingPage =
  (page: Page): Seen =>
  (wanted) =>
    page.evaluate(
      ({ name, status }) =>
        new Promise<number>((resolve) => {
          const isShown = () =>
            (name === undefined || document.querySelector('h1')?.textContent?.includes(name)) &&
            (status === undefined || document.querySelector(`[data-testid="stream-status"][data-phase="${status}"]`));
          const watch = new MutationObserver(() => {
            if (!isShown()) return;
            watch.disconnect();
            resolve(Date.now());
          });
          watch.observe(document.documentElement, {
            subtree: true,
            childList: true,
            characterData: true,
            attributes: true,
          });
        }),
      wanted,
    );

/** Watches kube-apiserver. */
async function ownWatch({ facts }: System, id: string, stack: AsyncDisposableStack): Promise<Seen> {
  const kube = createKube({ kubeconfig: facts.kubeconfig });
  stack.defer(() => kube.close());
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const reflector = createReflector(kube, LOOPSTREAMS, { namespace: NAMESPACE, log: createLogger('bench', 'silent') });
  const at = lookout<LoopStream>(
    ({ spec, status }, wanted) =>
      spec.displayName === (wanted.name ?? spec.displayName) && status?.phase === (wanted.status ?? status?.phase),
  );
  reflector.onChange((_key, current) => current?.metadata.name === id && at.see(current));
  reflector.start(stop.signal);
  await reflector.synced;
  return (wanted) => within('the watch', wanted, at.for(wanted));
}

interface Kind {
  what: string;
  /** Makes the nth change. */
  change(n: number): Promise<unknown>;
  wanted(n: number): Wanted;
  /** The clock starts at the watch's event; otherwise at the call. */
  byWatch: boolean;
}

function listKinds(system: System, id: string): Kind[] {
  const { client } = system;
  const renamed = (by: string, n: number) => `Renamed by ${by}, ${n}`;
  const inHours = (n: number) => new Date(Date.now() + (24 + n) * 3_600_000).toISOString();
  return [
    {
      what: 'a change by the API, from when it is asked',
      change: (n) => client.streams.update(id, { name: renamed('the API', n) }),
      wanted: (n) => ({ name: renamed('the API', n) }),
      byWatch: false,
    },
    {
      what: 'a change by kubectl',
      change: (n) =>
        kubectl(
          system,
          ...['patch', 'loopstream', id, '--type=merge', '-p'],
          JSON.stringify({ spec: { displayName: renamed('kubectl', n) } }),
        ),
      wanted: (n) => ({ name: renamed('kubectl', n) }),
      byWatch: true,
    },
    {
      what: 'a state that the operator writes',
      // Each change makes the operator write another state: from idle to scheduled, and back.
      change: (n) =>
        n % 2 === 0 ? client.streams.schedule(id, { scheduleStartAt: inHours(n) }) : client.streams.unschedule(id),
      wanted: (n) => ({ status: n % 2 === 0 ? 'scheduled' : 'idle' }),
      byWatch: true,
    },
  ];
}

const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(0.99 * values.length) - 1] ?? Number.NaN;
const describe = (values: readonly number[]): string => `median ${median(values)} ms, p99 ${p99(values)} ms`;

/** `times` is the number of changes of each kind, which alternate. */
export async function feedRows(system: System, browser: Browser, times: number): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const id = await streamOffAir(system, 'To be changed');
  stack.defer(async () => void (await system.client.streams.delete(id)));
  const page = await visit(browser, system, `/streams/${id}`);
  stack.defer(page.close);
  await page.page.locator('[data-testid="stream-status"][data-phase="idle"]').waitFor();
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const [watch, client, shown] = [
    await ownWatch(system, id, stack),
    followingClient(system, id, stop.signal),
    watchingPage(page.page),
  ];
  const kinds = listKinds(system, id);
  const took = kinds.map(() => ({ client: [] as number[], page: [] as number[] }));
  for (let n = 0; n < times; n++) {
    for (const [k, { change, wanted, byWatch }] of kinds.entries()) {
      await sleep(PAUSE_MS);
      const seen = Promise.all([watch(wanted(n)), client(wanted(n)), within('the page', wanted(n), shown(wanted(n)))]);
      const asked = Date.now();
      await change(n);
      const [fact, atClient, atPage] = await seen;
      took[k]?.client.push(atClient - (byWatch ? fact : asked));
      took[k]?.page.push(atPage - (byWatch ? fact : asked));
    }
  }
  return kinds.flatMap(({ what }, k) => {
    const { client: atClient = [], page: onPage = [] } = took[k] ?? {};
    const result = (all: number[]) => (p99(all) <= BAR_MS ? 'holds' : 'misses');
    const common = { peer: '–', beside: '–', bar: '≤ 1 s' };
    return [
      { ...common, what: `${what} → a client has read it`, ours: describe(atClient), result: result(atClient) },
      { ...common, what: '… → the page shows it', ours: describe(onPage), result: result(onPage) },
    ];
  });
}
