/**
 * Writes the status of one pod: only when it changed, one write at a time, the newest wins, with retries until the API
 * server accepts it. Server-side apply keeps the conditions that others own.
 */

import { once } from 'node:events';
import { PODS, type Pod, type PodStatus } from '../../src/core/kube/core.ts';
import { type Kube, KubeError } from '../../src/core/kube/types.ts';
import { type Backoff, exponentialMs } from '../../src/core/lib/backoff.ts';
import { sleep } from '../../src/core/lib/clock.ts';
import type { Logger } from '../../src/core/lib/log.ts';

const FIELD_MANAGER = 'loopstream-node';
const BACKOFF: Backoff = { baseMs: 200, maxMs: 5000 };
/** News older than this about our own last write are not taken for somebody else's change. */
const SETTLED_MS = 2000;

export class StatusWriter {
  readonly #kube: Kube;
  readonly #log: Logger;
  readonly #pod: Pod;
  readonly #abort = new AbortController();
  #wanted: PodStatus | undefined;
  #written = '';
  #writtenAt = 0;
  #writing: Promise<void> | undefined;

  constructor(kube: Kube, pod: Pod, log: Logger) {
    this.#kube = kube;
    this.#pod = pod;
    this.#log = log;
  }

  /** The status that was asked for last. */
  get wanted(): PodStatus | undefined {
    return this.#wanted;
  }

  publish(status: PodStatus): void {
    this.#wanted = status;
    if (JSON.stringify(status) !== this.#written) this.#writing ??= this.#write();
  }

  /**
   * Receives the API server's current status. A readiness that another client changed (a node thought dead) is written
   * again.
   */
  observed(status: PodStatus | undefined): void {
    const ready = (status: PodStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    if (!this.#wanted || this.#writing || performance.now() - this.#writtenAt < SETTLED_MS) return;
    if (ready(status) === ready(this.#wanted)) return;
    this.#written = '';
    this.publish(this.#wanted);
  }

  /** Resolves when nothing waits to be written, or the API server has not taken it within this time. */
  async flush(withinMs: number): Promise<void> {
    const late = AbortSignal.timeout(withinMs);
    while (this.#writing && !late.aborted) await Promise.race([this.#writing, once(late, 'abort')]);
  }

  stop(): void {
    this.#abort.abort();
  }

  async #write(): Promise<void> {
    const { name, namespace = '', uid } = this.#pod.metadata;
    for (let failures = 0; this.#wanted && !this.#abort.signal.aborted; ) {
      const text = JSON.stringify(this.#wanted);
      if (text === this.#written) break;
      try {
        const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid }, status: this.#wanted };
        await this.#kube.apply(PODS, namespace, object, { fieldManager: FIELD_MANAGER, subresource: 'status' });
        this.#written = text;
        this.#writtenAt = performance.now();
        failures = 0;
      } catch (err) {
        if (isGone(err)) break;
        this.#log.warn({ err, pod: `${namespace}/${name}` }, 'a pod status was not written');
        await sleep(exponentialMs(BACKOFF, failures++), this.#abort.signal).catch(() => {});
      }
    }
    this.#writing = undefined;
  }
}

const isGone = (error: unknown): boolean => error instanceof KubeError && error.status === 404;
