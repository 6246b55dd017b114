/**
 * Decides how many pods help each Job that makes a rendition in ranges. They work on places that no Job holds, and give a place back as
 * soon as a Job may begin there: a helper that ends loses one chunk at most. So an account's helpers may have more than its share of the
 * places. Pure: no I/O, no clock.
 */

import type { Node } from '../../kube/core.ts';
import { parseCpus } from '../../kube/quantity.ts';
import type { PodPlacement } from '../../resources/stream/template.ts';
import { findRepulsion } from '../pods/taints.ts';
import { DECODER_CPUS } from './job-pod.ts';

/** A rendition that helpers may help to make. */
export interface Help {
  /** Name of the helpers' Job. */
  name: string;
  account: string | undefined;
  /** A stream waits for it, or plays the part that is prepared. */
  urgent: boolean;
  /** When the upload was made (RFC 3339). */
  since: string;
  /** Ranges that are not made yet. */
  left: number;
}

export interface HelperPlaces {
  /** Places that no Job holds, and none is about to take. */
  free: number;
  /** Helpers of one rendition at most. */
  most: number;
  /** The accounts of the Jobs that run, once for each Job. */
  running: readonly (string | undefined)[];
}

/** By code units. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The number of helpers of each rendition, by name. Renditions that streams wait for come first, then accounts take turns. */
export function shareHelpers({ free, most, running }: HelperPlaces, helps: readonly Help[]): Map<string, number> {
  const pods = new Map(helps.map(({ name }) => [name, 0]));
  const held = new Map<string | undefined, number>();
  const countPods = ({ name }: Help) => pods.get(name) ?? 0;
  const countHeld = ({ account }: Help) => held.get(account) ?? 0;
  for (const account of running) held.set(account, (held.get(account) ?? 0) + 1);
  const byTurn = (a: Help, b: Help): number =>
    Number(b.urgent) - Number(a.urgent) ||
    countHeld(a) - countHeld(b) ||
    countPods(a) - countPods(b) ||
    byText(a.since, b.since) ||
    byText(a.name, b.name);
  for (let left = free; left > 0; left--) {
    const [first, ...others] = helps.filter((help) => countPods(help) < Math.min(help.left, most));
    if (!first) break;
    const next = others.reduce((best, help) => (byTurn(help, best) < 0 ? help : best), first);
    pods.set(next.name, countPods(next) + 1);
    held.set(next.account, countHeld(next) + 1);
  }
  return pods;
}

/**
 * The parallelism of the helpers' Job, which has `current` now and is to have so many pods. A Job never has more pods than ranges are
 * left, so the last ones need no write each.
 */
export const chooseParallelism = (current: number, pods: number, left: number): number =>
  pods >= left ? Math.max(current, pods) : pods;

const mayRun = (node: Node, { nodeSelector = {}, tolerations = [] }: PodPlacement): boolean =>
  findRepulsion(node, tolerations) === undefined &&
  Object.entries(nodeSelector).every(([key, value]) => node.metadata.labels?.[key] === value);

/**
 * The pods that the nodes have processors for, the Jobs' own among them. A pod uses all processors of a small node, so a second one there
 * would only slow down the first.
 */
export function countWorkers(nodes: readonly Node[], placement: PodPlacement): number {
  const cpus = nodes.flatMap((node) =>
    mayRun(node, placement) ? [parseCpus(node.status?.allocatable?.cpu) ?? 0] : [],
  );
  return cpus.reduce((sum, count) => sum + Math.max(1, Math.floor(count / DECODER_CPUS)), 0);
}
