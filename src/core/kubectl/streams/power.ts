/** Puts streams on air and takes them off, as `kubectl scale` does. */
import { RETRY_ANNOTATION } from '../../resources/common/names.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import { findRefused } from '../../resources/stream/health.ts';
import { getConditionFix } from '../../resources/stream/readiness.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { CommandError, type Invocation } from '../shell/call.ts';
import { parseReference } from '../shell/objects.ts';
import { warn, write } from '../shell/output.ts';
import { explain } from './problems.ts';
import { annotate, makeRequest } from './requests.ts';
import { waitFor } from './wait.ts';

export type PowerFlags = { wait?: boolean; timeout?: string; yes?: boolean; 'dry-run'?: string };

const DEFAULT_SECONDS = 300;

/** Accepts `90`, `90s` or `5m`. */
function parseTimeout(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SECONDS * 1000;
  const found = /^(\d+)(s|m|h)?$/.exec(text);
  if (!found) throw new CommandError(`"${text}" is no time. Write 90s or 5m.`);
  return Number(found[1]) * { s: 1_000, m: 60_000, h: 3_600_000 }[(found[2] ?? 's') as 's' | 'm' | 'h'];
}

const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

async function ask(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} Continue? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** Whether the stream is to be stopped: a dry run only tells what a stop would end, and a person may refuse. */
async function mayStop({ metadata: { name }, spec, status }: LoopStream, isDryRun: boolean): Promise<boolean> {
  const isRunning = ['starting', 'live', 'reconnecting'].includes(status?.phase ?? '');
  const effect = isRunning
    ? `This takes stream "${name}" off air now, at ${listReceivers(spec).join(', ')}.`
    : `Stream "${name}" is not on air.`;
  if (isDryRun) {
    write(`${effect} Nothing was changed (dry run).\n`);
    return false;
  }
  if (!isRunning || (await ask(effect))) return true;
  write(`Stream "${name}" stays on air.\n`);
  return false;
}

const setReplicas = (replicas: 0 | 1, hasArrived: (stream: LoopStream) => boolean, verb: string) =>
  async function run({ args, flags, cluster }: Invocation<PowerFlags>): Promise<number> {
    const { kube, namespace } = cluster();
    const timeoutMs = parseTimeout(flags.timeout);
    const isDryRun = (flags['dry-run'] ?? 'none') !== 'none';
    for (const text of args) {
      const { name } = parseReference(text, 'stream');
      // A script has said what it wants, and may lack the right to read.
      const looks = isDryRun || (replicas === 0 && !flags.yes && isTerminal());
      if (looks && !(await mayStop(await kube.get(LOOPSTREAMS, namespace, name), isDryRun))) continue;
      // The operator tries at once whatever Kubernetes has refused.
      const asked = annotate(RETRY_ANNOTATION, makeRequest());
      const stream = await kube.mergePatch(LOOPSTREAMS, namespace, name, { ...asked, spec: { replicas } });
      if (replicas === 1 && stream.spec.suspend)
        warn(`Stream "${name}" stays off air: spec.suspend is true. Set it to false to put the stream on air.`);
      if (!flags.wait) {
        write(`Stream "${name}" was asked to ${verb}.\n`);
        continue;
      }
      const arrived = await waitFor(kube, LOOPSTREAMS, { namespace, name, timeoutMs }, (now) =>
        hasArrived(now) ? now.status?.phase : undefined,
      );
      if (arrived === undefined) {
        const now = await kube.get(LOOPSTREAMS, namespace, name);
        const refused = findRefused(now);
        const again = refused ? ` ${getConditionFix(refused)}` : '';
        throw new CommandError(
          `Stream "${name}" is still ${now.status?.phase ?? 'unknown'}. ${explain(now).why}${again} See kubectl loop diagnose ${name}.`,
        );
      }
      write(`Stream "${name}" is ${arrived}.\n`);
    }
    return 0;
  };

/** A status of an older spec says nothing about what was asked for now. */
const isCurrent = ({ metadata, status }: LoopStream): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

export const startStreams = setReplicas(1, (stream) => isCurrent(stream) && stream.status?.phase === 'live', 'start');
export const stopStreams = setReplicas(
  0,
  (stream) => isCurrent(stream) && ['idle', 'stopped'].includes(stream.status?.phase ?? ''),
  'stop',
);
