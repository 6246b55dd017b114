/**
 * Builds the status of a pod as a kubelet writes it, from the agent's state of its containers. Pure: no I/O, no clock.
 *
 * A container is waiting (with the reason), running, or terminated. `terminations` holds its last exit and the one
 * before: while it runs or waits to run again, the last one is its lastState.
 */
import type { ContainerStatus, Pod, PodStatus } from '../../src/core/kube/core.ts';
import { restarts } from './restart.ts';
import {
  type Container,
  type ContainerResources,
  getSpec,
  isSidecar,
  type NodePodSpec,
  type PodCondition,
  type Terminated,
} from './types.ts';

export interface ContainerRecord {
  name: string;
  image: string;
  /** Runs beside the main containers and ends after them; what becomes of it says nothing of the pod. */
  sidecar: boolean;
  /** How often it was started; the first start is not a restart. */
  starts: number;
  /** Restarts in a row, for the backoff. */
  restartsInARow: number;
  running?: { startedAt: string; id: string; resources?: ContainerResources | undefined } | undefined;
  /** Passed its startup probe, or has none. */
  started: boolean;
  ready: boolean;
  /** Why it does not run now, when that is not simply that it has ended. */
  waiting?: { reason: string; message?: string } | undefined;
  /** Newest first, two at most. */
  terminations: Terminated[];
}

/** The end of a container that ran when the previous agent ended. */
export const UNKNOWN_END = 'ContainerStatusUnknown';

/** Names one run of a container among all. */
export const containerId = (podUid: string, name: string, starts: number): string =>
  `local://${podUid}/${name}/${starts}`;

/**
 * The record an agent begins with. A container that the API server believes to be running belonged to an agent that is
 * gone, and its processes with it: nobody knows how it ended, which a kubelet calls ContainerStatusUnknown with 137.
 */
export function initialRecord(container: Container, known: ContainerStatus | undefined, now: string): ContainerRecord {
  const terminations: Terminated[] = [];
  const { running, terminated } = known?.state ?? {};
  if (running) {
    terminations.push({
      exitCode: 137,
      reason: UNKNOWN_END,
      message: 'The container could not be located when the node agent was started.',
      ...(running.startedAt ? { startedAt: running.startedAt } : {}),
      finishedAt: now,
    });
  } else if (terminated) terminations.push(terminated);
  if (known?.lastState?.terminated) terminations.push(known.lastState.terminated);
  const ran = terminations.length > 0;
  return {
    name: container.name,
    image: container.image,
    sidecar: isSidecar(container),
    starts: ran ? (known?.restartCount ?? 0) + 1 : 0,
    restartsInARow: 0,
    started: false,
    ready: false,
    terminations: terminations.slice(0, 2),
  };
}

/** `resources` are those that the run has: without them the API server refuses a change. */
type NodeContainerStatus = ContainerStatus & { containerID?: string; resources?: ContainerResources };

export function containerStatus(record: ContainerRecord, notYet: string): NodeContainerStatus {
  const [last, before] = record.terminations;
  const { name, image, running, waiting } = record;
  const base = { name, image, imageID: `local://${image}`, restartCount: Math.max(0, record.starts - 1) };
  const lastState = (terminated: Terminated | undefined) => (terminated ? { lastState: { terminated } } : {});
  if (running) {
    const { startedAt, id, resources } = running;
    const { ready, started } = record;
    const own = { containerID: id, ...(resources && { resources }) };
    return { ...base, ready, started, state: { running: { startedAt } }, ...own, ...lastState(last) };
  }
  const idle = { ...base, ready: false, started: false };
  if (waiting) return { ...idle, state: { waiting }, ...lastState(last) };
  // An init container that did its work is ready (core/v1 ContainerStatus.ready).
  if (last) return { ...idle, ready: record.ready, state: { terminated: last }, ...lastState(before) };
  return { ...idle, state: { waiting: { reason: notYet } } };
}

export interface PodFacts {
  pod: Pod;
  init: readonly ContainerRecord[];
  main: readonly ContainerRecord[];
  podIP: string;
  hostIP: string;
  startTime: string;
  /** Volumes are there, so that containers can be started. */
  mounted: boolean;
  /** The pod was ended by the node as a whole, e.g. DeadlineExceeded. */
  failed?: { reason: string; message: string } | undefined;
  /** No container will be started any more; those that ran have ended. */
  over: boolean;
}

const done = (record: ContainerRecord): boolean =>
  !record.running && !record.waiting && record.terminations[0]?.exitCode === 0;

/** An init container lets the next one begin: it has succeeded, or is a sidecar that has been started. */
const passed = (record: ContainerRecord): boolean =>
  record.sidecar ? record.started || record.terminations.length > 0 : done(record);

/** Init containers in order: the first that keeps the others waiting, -1 when none does. */
export const firstUnfinished = (init: readonly ContainerRecord[]): number =>
  init.findIndex((record) => !passed(record));

/** Whether a main container has come to its end under the pod's restart policy. */
export function hasEnded(record: ContainerRecord, policy: NodePodSpec['restartPolicy'] = 'Always'): boolean {
  const [last] = record.terminations;
  return !record.running && !record.waiting && last !== undefined && !restarts(policy, last);
}

function computePhase({ init, main, over, failed }: PodFacts, spec: NodePodSpec): NonNullable<PodStatus['phase']> {
  const policy = spec.restartPolicy ?? 'Always';
  const stillRunning = [...init, ...main].some((record) => record.running);
  if (failed && !stillRunning) return 'Failed';
  if (over && !stillRunning) return main.length > 0 && main.every(done) ? 'Succeeded' : 'Failed';
  const unfinished = init[firstUnfinished(init)];
  if (unfinished) {
    const [last] = unfinished.terminations;
    const gaveUp = last && !unfinished.running && !unfinished.waiting && !restarts(policy, last);
    return gaveUp ? 'Failed' : 'Pending';
  }
  if (main.some((record) => !record.running && record.terminations.length === 0)) return 'Pending';
  if (!main.every((record) => hasEnded(record, policy)) || init.some((record) => record.running)) return 'Running';
  return main.every(done) ? 'Succeeded' : 'Failed';
}

type Verdict = { status: 'True' | 'False'; reason?: string; message?: string };

const TRUE: Verdict = { status: 'True' };

const names = (records: readonly ContainerRecord[]): string => `[${records.map(({ name }) => name).join(' ')}]`;

function verdicts(facts: PodFacts, phase: string): Record<string, Verdict> {
  const { init, main } = facts;
  const unfinished = init.filter((record) => !passed(record));
  const unready = main.filter((record) => !record.running || !record.ready);
  const initialized: Verdict =
    unfinished.length === 0
      ? TRUE
      : {
          status: 'False',
          reason: 'ContainersNotInitialized',
          message: `containers with incomplete status: ${names(unfinished)}`,
        };
  let ready: Verdict = TRUE;
  if (phase === 'Succeeded') ready = { status: 'False', reason: 'PodCompleted' };
  else if (phase === 'Failed') ready = { status: 'False', reason: 'PodFailed' };
  else if (unready.length > 0) {
    const message = `containers with unready status: ${names(unready)}`;
    ready = { status: 'False', reason: 'ContainersNotReady', message };
  }
  return {
    PodReadyToStartContainers: facts.mounted ? TRUE : { status: 'False' },
    Initialized: initialized,
    Ready: ready,
    ContainersReady: ready,
    PodScheduled: TRUE,
  };
}

/**
 * The status to write. `previous` gives each condition the time of its last change; `now` is for those that change.
 * Conditions of others (DisruptionTarget) are not in it: the status is written by server-side apply, which keeps them.
 */
export function podStatus(facts: PodFacts, previous: readonly PodCondition[], now: string): PodStatus {
  const phase = computePhase(facts, getSpec(facts.pod));
  const conditions = Object.entries(verdicts(facts, phase)).map(([type, verdict]): PodCondition => {
    const before = previous.find((condition) => condition.type === type);
    const since = before?.status === verdict.status ? before.lastTransitionTime : undefined;
    return { type, ...verdict, lastTransitionTime: since ?? now };
  });
  const mainNotYet =
    facts.init.length > 0 && firstUnfinished(facts.init) !== -1 ? 'PodInitializing' : 'ContainerCreating';
  return {
    phase,
    ...facts.failed,
    hostIP: facts.hostIP,
    podIP: facts.podIP,
    podIPs: [{ ip: facts.podIP }],
    startTime: facts.startTime,
    conditions,
    containerStatuses: facts.main.map((record) => containerStatus(record, mainNotYet)),
    ...(facts.init.length > 0
      ? { initContainerStatuses: facts.init.map((record) => containerStatus(record, 'PodInitializing')) }
      : {}),
  };
}

/** A pod that will never run a container again. */
export const isOver = (status: PodStatus | undefined): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';
