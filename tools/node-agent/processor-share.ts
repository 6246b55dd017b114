/**
 * Gives the processes of a container the share of a busy processor that it requests, as a kubelet does with control groups. Nice values
 * need no root: each step is 1.25 times less (sched(7)). Where a session is scheduled as one group, the value of the group is what counts.
 */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCpus } from '../../src/core/kube/quantity.ts';

/** The most that is requested. Containers that request as much, or nothing, are like every other process of the machine. */
const FULL_SHARE_MILLICPUS = 200;
const STEP = 1.25;
const LOWEST = 19;
/** The kernel lets a user change groups ten times a second. */
const RETRY_MS = 100;
const RETRIES = 20;

/** Returns the nice value for a request of processors, as Kubernetes writes it (`250m`, `2`). */
export function chooseNice(request: string | undefined): number {
  const cpus = parseCpus(request);
  if (cpus === undefined) return 0;
  const millicpus = Math.max(1, cpus * 1000);
  const steps = Math.log(FULL_SHARE_MILLICPUS / millicpus) / Math.log(STEP);
  return Math.min(LOWEST, Math.max(0, Math.round(steps)));
}

/**
 * Sets the nice value of a session by its first process. Processes that this one starts from now on have it too. Only root may lower a value; where it
 * cannot be set, the processes run as all others do.
 */
export async function setNice(leader: number, nice: number): Promise<void> {
  try {
    setPriority(leader, nice);
  } catch {
    return;
  }
  for (let tries = 0; tries < RETRIES; tries++) {
    try {
      writeFileSync(`/proc/${leader}/autogroup`, String(nice));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      await sleep(RETRY_MS);
    }
  }
}
