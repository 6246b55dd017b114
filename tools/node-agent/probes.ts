/**
 * Decides the verdicts of probes (core/v1 Probe) as a kubelet does. Pure: no I/O, no clock; prober.ts asks and waits.
 *
 * A probe's verdict changes after as many equal outcomes in a row as its threshold. Before the first verdict a container
 * counts as not ready and as alive. With a startup probe it also counts as not started: until it has started, the other
 * two do not ask.
 */
import type { Container, Probe } from './types.ts';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

export interface Outcome {
  ok: boolean;
  /** Why not, for the event. */
  message: string;
}

export interface ProbeState {
  /** The current verdict; undefined until the first threshold is reached. */
  verdict: boolean | undefined;
  /** The outcome that came last, and how often in a row. */
  lastOk: boolean | undefined;
  inARow: number;
}

export const NO_VERDICT: ProbeState = { verdict: undefined, lastOk: undefined, inARow: 0 };

export interface Timing {
  initialDelayMs: number;
  periodMs: number;
  timeoutMs: number;
  successThreshold: number;
  failureThreshold: number;
}

/** The defaults of core/v1. */
export const timing = (probe: Probe): Timing => ({
  initialDelayMs: (probe.initialDelaySeconds ?? 0) * 1000,
  periodMs: (probe.periodSeconds ?? 10) * 1000,
  timeoutMs: (probe.timeoutSeconds ?? 1) * 1000,
  successThreshold: probe.successThreshold ?? 1,
  failureThreshold: probe.failureThreshold ?? 3,
});

/** The state after one more outcome. */
export function afterOutcome(
  state: ProbeState,
  ok: boolean,
  { successThreshold, failureThreshold }: Timing,
): ProbeState {
  const inARow = state.lastOk === ok ? state.inARow + 1 : 1;
  const reached = inARow >= (ok ? successThreshold : failureThreshold);
  return { verdict: reached ? ok : state.verdict, lastOk: ok, inARow };
}

/** A named port is one of the container's. Throws when it has none of that name. */
export function portNumber(port: number | string, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  if (named === undefined) throw new Error(`couldn't find port: ${port}`);
  return named;
}

export const getProbe = (container: Container, kind: ProbeKind): Probe | undefined => container[`${kind}Probe`];
