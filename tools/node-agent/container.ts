/** Manages one container of a pod over its runs: starts it, and tracks its state and its exits. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Pod } from '../../src/core/kube/core.ts';
import { kubeTime } from '../../src/core/lib/clock.ts';
import { ContainerLog, readLog } from './container-log.ts';
import { type ContainerExit, ContainerProcess } from './container-process.ts';
import type { NodeContext } from './context.ts';
import { type PodAddress, referredSources, resolveArgv, resolveEnvironment } from './environment.ts';
import { type Mount, pathRewriter } from './paths.ts';
import { ContainerProber } from './prober.ts';
import { chooseNice, setNice } from './processor-share.ts';
import { backoffMs, restartsAfter } from './restart.ts';
import { type ContainerRecord, containerId, UNKNOWN_END } from './status.ts';
import { type Container, getSpec, type Terminated } from './types.ts';

const MAX_TERMINATION_MESSAGE_BYTES = 4096;
/** How much of the log becomes the message under FallbackToLogsOnError (core/v1 Container.terminationMessagePolicy). */
const FALLBACK = { bytes: 2048, lines: 80 };
const UNKNOWN_IMAGE_RETRY_MS = 60_000;
/** Doubled up to the last: a node may read a Secret a moment after the API server heard of the pod. */
const CONFIG_RETRY_MS = { first: 100, last: 2000 };

export interface ContainerPlace {
  /** The pod's directory; the container's own is below it. */
  podDir: string;
  init: boolean;
  /** Called after each change of `record`. */
  changed: () => void;
}

/** The parts of the pod that a start needs. */
export interface StartInput {
  pod: Pod;
  address: PodAddress;
  mounts: Mount[];
  /** Asked again after waiting for the API server: whether the container is still wanted. */
  wanted: () => boolean;
}

interface Prepared {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  rewrite: (text: string) => string;
}

export class ContainerRunner {
  readonly spec: Container;
  readonly record: ContainerRecord;
  readonly #context: NodeContext;
  readonly #place: ContainerPlace;
  readonly #dir: string;
  #process: ContainerProcess | undefined;
  #prober: ContainerProber | undefined;
  #log: ContainerLog | undefined;
  /** Of the running process. */
  #nice = 0;
  #exitedAt: number | undefined;
  #retryAt = 0;
  #configRetryMs = CONFIG_RETRY_MS.first;

  constructor(spec: Container, record: ContainerRecord, context: NodeContext, place: ContainerPlace) {
    this.spec = spec;
    this.record = record;
    this.#context = context;
    this.#place = place;
    this.#dir = join(place.podDir, spec.name);
    const [last] = record.terminations;
    // This agent has ended what an earlier one left running: its exit is unknown, but its message is there.
    const said = last?.reason === UNKNOWN_END ? readOrEmpty(this.#messageFile) : Buffer.alloc(0);
    if (last && said.length > 0) last.message = said.subarray(0, MAX_TERMINATION_MESSAGE_BYTES).toString('utf8');
  }

  get running(): boolean {
    return this.#process !== undefined;
  }

  /** Milliseconds until it may be started: after a crash, or after a start for which something was missing. */
  startableInMs(): number {
    const backedOff = this.#exitedAt === undefined ? 0 : this.#exitedAt + this.backoffMs;
    return Math.max(0, backedOff - performance.now(), this.#retryAt - performance.now());
  }

  get backoffMs(): number {
    return backoffMs(this.record.restartsInARow);
  }

  /** The log of this or the previous run; `live` while lines may still come. Undefined when there was no such run. */
  log(previous: boolean): { file: string; live: ContainerLog | undefined } | undefined {
    const run = this.record.starts - 1 - (previous ? 1 : 0);
    if (run < 0) return undefined;
    return { file: this.#logFile(run), live: previous ? undefined : this.#log };
  }

  /** Starts the container, or notes in its record why it cannot be started; `startableInMs` then says when to try again. */
  async start(input: StartInput): Promise<void> {
    const { pod } = input;
    const entrypoint = Object.hasOwn(this.#context.images, this.spec.image)
      ? this.#context.images[this.spec.image]
      : undefined;
    if (!entrypoint) {
      this.#unknownImage(pod);
      return;
    }
    let prepared: Prepared;
    try {
      prepared = await this.#prepare(input, entrypoint);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#wait('CreateContainerConfigError', message, this.#configRetryMs);
      if (this.#configRetryMs >= CONFIG_RETRY_MS.last) {
        this.#context.emit(pod, 'Warning', 'Failed', `Error: ${message}`);
      }
      this.#configRetryMs = Math.min(this.#configRetryMs * 2, CONFIG_RETRY_MS.last);
      return;
    }
    this.#configRetryMs = CONFIG_RETRY_MS.first;
    if (input.wanted()) this.#spawn(input, prepared);
  }

  /** Asks the run to end; `changed` is called when it has. `why` is the text of the Event. */
  terminate(pod: Pod, graceMs: number, why = `Stopping container ${this.spec.name}`, how?: 'SIGTERM' | 'SIGINT'): void {
    if (!this.#process) return;
    if (!this.#process.ending) this.#context.emit(pod, 'Normal', 'Killing', why);
    this.#process.terminate(graceMs, how);
  }

  /** Gives the run the share of the processors that the pod requests for it: that may change while it runs (`pods/resize`). */
  share(pod: Pod): void {
    const { initContainers = [], containers } = getSpec(pod);
    const { resources } = [...initContainers, ...containers].find(({ name }) => name === this.spec.name) ?? this.spec;
    const nice = this.#context.equalShares ? 0 : chooseNice(resources?.requests?.cpu);
    const pid = this.#process?.pid;
    if (pid === undefined || !this.record.running) return;
    this.record.running.resources = resources;
    if (nice === this.#nice) return;
    this.#nice = nice;
    void setNice(pid, nice);
  }

  /** It will not be started again: its status shows how it ended, and no wait. */
  giveUp(): void {
    if (!this.running && this.record.terminations.length > 0) this.record.waiting = undefined;
  }

  async #prepare({ pod, address, mounts }: StartInput, entrypoint: readonly string[]): Promise<Prepared> {
    const { spec } = this;
    const lookUp = await this.#context.sources.text(pod.metadata.namespace ?? '', referredSources(spec));
    const variables = resolveEnvironment(spec, pod, address, lookUp);
    const messagePath = spec.terminationMessagePath || '/dev/termination-log';
    const message = { mountPath: messagePath, realPath: this.#messageFile };
    const rewrite = pathRewriter([...this.#context.imageFiles, ...mounts, message]);
    const home = join(this.#place.podDir, '_home');
    const tmp = rewrite('/tmp') === '/tmp' ? join(this.#place.podDir, '_tmp') : rewrite('/tmp');
    const own = Object.entries(variables).map(([name, value]) => [name, rewrite(value)]);
    const env = {
      PATH: this.#context.path,
      HOME: home,
      TMPDIR: tmp,
      LANG: 'C.UTF-8',
      HOSTNAME: getSpec(pod).hostname ?? pod.metadata.name,
      ...this.#context.imageEnvironment(),
      ...Object.fromEntries(own),
    };
    const asked = spec.workingDir ? rewrite(spec.workingDir) : '';
    const cwd = asked !== spec.workingDir && isAbsolute(asked) ? asked : home;
    return { argv: resolveArgv(spec, entrypoint, variables, rewrite), env, cwd, rewrite };
  }

  #spawn({ pod, address }: StartInput, { argv, env, cwd, rewrite }: Prepared): void {
    const { record, spec } = this;
    if (this.#exitedAt !== undefined) record.restartsInARow++;
    record.starts++;
    const run = record.starts - 1;
    const marker = `${pod.metadata.uid}/${spec.name}/${run}`;
    const startedAt = this.#now();
    try {
      for (const dir of [this.#dir, cwd, join(this.#place.podDir, '_tmp'), join(this.#place.podDir, '_home')]) {
        mkdirSync(dir, { recursive: true, mode: 0o700 });
      }
      for (const old of [this.#logFile(run - 2), `${this.#logFile(run - 2)}.1`]) rmSync(old, { force: true });
      writeFileSync(this.#messageFile, '', { mode: 0o600 });
      this.#log = new ContainerLog(this.#logFile(run), () => this.#context.clock.now());
      const recordFile = join(this.#dir, 'process.json');
      this.#process = new ContainerProcess({ argv, env, cwd, log: this.#log, recordFile, marker });
    } catch (error) {
      this.#log?.end();
      this.#ended(pod, startedAt, {
        exitCode: 128,
        startError: error instanceof Error ? error.message : String(error),
      });
      return;
    }
    record.waiting = undefined;
    if (this.#process.pid !== undefined) {
      record.running = { startedAt, id: containerId(pod.metadata.uid, spec.name, run) };
      this.#nice = 0;
      this.share(pod);
      record.started = !spec.startupProbe;
      record.ready = record.started && !spec.readinessProbe;
      this.#context.emit(pod, 'Normal', 'Started', `Started container ${spec.name}`);
      if (!this.#place.init) this.#probe(pod, { container: spec, podIP: address.podIP, env, cwd, rewrite });
    }
    this.#place.changed();
    const lost = (error: unknown): ContainerExit => ({ exitCode: 137, startError: String(error) });
    void this.#process.exited.catch(lost).then((exit) => this.#ended(pod, startedAt, exit));
  }

  #probe(pod: Pod, ask: ConstructorParameters<typeof ContainerProber>[0]): void {
    const { record, spec } = this;
    this.#prober = new ContainerProber(ask, {
      unhealthy: (kind, message) => {
        const name = `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
        this.#context.emit(pod, 'Warning', 'Unhealthy', `${name} probe failed: ${message}`);
      },
      verdict: (kind, ok) => {
        if (kind === 'readiness') record.ready = ok;
        else if (!ok) {
          const why = `Container ${spec.name} failed ${kind} probe, will be restarted`;
          const seconds =
            spec[`${kind}Probe`]?.terminationGracePeriodSeconds ?? getSpec(pod).terminationGracePeriodSeconds;
          this.terminate(pod, (seconds ?? 30) * 1000, why);
        } else if (kind === 'startup') {
          record.started = true;
          record.ready = !spec.readinessProbe;
        }
        this.#place.changed();
      },
    });
  }

  #ended(pod: Pod, startedAt: string, exit: ContainerExit): void {
    const { record } = this;
    const ranMs = this.#context.clock.now().getTime() - Date.parse(startedAt);
    this.#prober?.stop();
    this.#process = undefined;
    this.#log = undefined;
    this.#exitedAt = performance.now();
    const terminated = this.#terminated(startedAt, exit);
    record.running = undefined;
    record.waiting = undefined;
    record.started = false;
    record.ready = this.#place.init && exit.exitCode === 0;
    record.restartsInARow = restartsAfter(record.restartsInARow, ranMs);
    record.terminations = [terminated, ...record.terminations].slice(0, 2);
    if (exit.startError) this.#context.emit(pod, 'Warning', 'Failed', `Error: ${exit.startError}`);
    this.#place.changed();
  }

  #terminated(startedAt: string, { exitCode, signal, startError }: ContainerExit): Terminated {
    const message = startError ?? this.#message(exitCode);
    return {
      exitCode,
      ...(signal === undefined ? {} : { signal }),
      reason: startError ? 'StartError' : exitCode === 0 ? 'Completed' : 'Error',
      ...(message ? { message } : {}),
      startedAt,
      finishedAt: this.#now(),
    };
  }

  #message(exitCode: number): string {
    const written = readOrEmpty(this.#messageFile).subarray(0, MAX_TERMINATION_MESSAGE_BYTES);
    if (written.length > 0) return written.toString('utf8');
    if (this.spec.terminationMessagePolicy !== 'FallbackToLogsOnError' || exitCode === 0) return '';
    const log = readLog(this.#logFile(this.record.starts - 1), { tailLines: FALLBACK.lines });
    return log.subarray(-FALLBACK.bytes).toString('utf8');
  }

  #unknownImage(pod: Pod): void {
    const { image, imagePullPolicy, name } = this.spec;
    const never = imagePullPolicy === 'Never';
    const message = `This node pulls no images, and has no program for the image "${image}".`;
    this.#wait(never ? 'ErrImageNeverPull' : 'ImagePullBackOff', message, UNKNOWN_IMAGE_RETRY_MS);
    this.#context.emit(pod, 'Warning', never ? 'ErrImageNeverPull' : 'Failed', `Container ${name}: ${message}`);
  }

  #wait(reason: string, message: string, retryMs: number): void {
    this.record.waiting = { reason, message };
    this.#retryAt = performance.now() + retryMs;
  }

  get #messageFile(): string {
    return join(this.#dir, 'termination-log');
  }

  #logFile(run: number): string {
    return join(this.#dir, `${run}.log`);
  }

  #now(): string {
    return kubeTime(this.#context.clock.now());
  }
}

function readOrEmpty(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
