/** Runs the probes of one container in their rhythm and reports their decisions (probes.ts). */
import { type ProbeContext, sendProbe } from './probe-request.ts';
import { afterOutcome, getProbe, NO_VERDICT, type ProbeKind, type ProbeState, timing } from './probes.ts';
import type { Probe } from './types.ts';

export interface ProberEvents {
  /** A verdict changed, or was reached for the first time. */
  verdict(kind: ProbeKind, ok: boolean): void;
  /** One outcome was bad, whether or not that decides anything. */
  unhealthy(kind: ProbeKind, message: string): void;
}

const KINDS: readonly ProbeKind[] = ['startup', 'liveness', 'readiness'];

export class ContainerProber {
  readonly #context: ProbeContext;
  readonly #events: ProberEvents;
  readonly #startedAt = performance.now();
  readonly #timers = new Map<ProbeKind, NodeJS.Timeout>();
  readonly #states = new Map<ProbeKind, ProbeState>();
  #started: boolean;
  #stopped = false;

  /** Begins at once; `startedAt` of the container is now. */
  constructor(context: ProbeContext, events: ProberEvents) {
    this.#context = context;
    this.#events = events;
    this.#started = !context.container.startupProbe;
    for (const kind of KINDS) {
      const probe = getProbe(context.container, kind);
      if (probe && (kind === 'startup' || this.#started)) this.#begin(kind, probe);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #begin(kind: ProbeKind, probe: Probe): void {
    const waited = performance.now() - this.#startedAt;
    this.#after(kind, probe, timing(probe).initialDelayMs - waited);
  }

  #after(kind: ProbeKind, probe: Probe, ms: number): void {
    if (this.#stopped) return;
    this.#timers.set(
      kind,
      setTimeout(() => void this.#ask(kind, probe), Math.max(0, ms)),
    );
  }

  async #ask(kind: ProbeKind, probe: Probe): Promise<void> {
    const began = performance.now();
    const rhythm = timing(probe);
    const outcome = await sendProbe(probe, this.#context, rhythm.timeoutMs);
    if (this.#stopped) return;
    const before = this.#states.get(kind) ?? NO_VERDICT;
    const state = afterOutcome(before, outcome.ok, rhythm);
    this.#states.set(kind, state);
    if (!outcome.ok) this.#events.unhealthy(kind, outcome.message);
    if (state.verdict !== undefined && state.verdict !== before.verdict) this.#decided(kind, state.verdict);
    // A container that started is not asked again whether it did, and one that is to be killed not whether it lives.
    if (kind === 'startup' && state.verdict !== undefined) return;
    if (kind === 'liveness' && state.verdict === false) return;
    this.#after(kind, probe, rhythm.periodMs - (performance.now() - began));
  }

  #decided(kind: ProbeKind, ok: boolean): void {
    this.#events.verdict(kind, ok);
    if (kind !== 'startup' || !ok) return;
    this.#started = true;
    for (const later of ['liveness', 'readiness'] as const) {
      const probe = getProbe(this.#context.container, later);
      if (probe) this.#begin(later, probe);
    }
  }
}
