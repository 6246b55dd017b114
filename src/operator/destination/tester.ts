/** Makes the pods of destinations' tests and takes them away. */

import { PODS, type Pod } from '../../kube/core.ts';
import { ACCOUNT_LABEL, testPodName } from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import { holdsDestination } from '../../resources/destination/spec.ts';
import { BY_DESTINATION } from '../caches/caches.ts';
import type { Tools } from '../caches/tools.ts';
import { isReason, isRefusal, splitKey } from '../runtime/controller.ts';
import { askedFor, decideTest, notRun, type TestStep, type TestWorld } from './test.ts';
import { buildProbe } from './test-pod.ts';
import { TestTurns } from './test-turns.ts';

/** At the same time: whoever tests a thousand destinations at once must not fill the cluster with their pods. */
const MAX_TESTS = 20;
/** Of one account: whatever it tests, five others find a place at once. */
const MAX_TESTS_EACH = 4;
const TURN_AGAIN_MS = 1000;
const PATIENCE_MS = 5 * TURN_AGAIN_MS;

export class Tester {
  readonly #tools: Tools;
  readonly #turns = new TestTurns({ total: MAX_TESTS, each: MAX_TESTS_EACH, patienceMs: PATIENCE_MS });

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Makes the pod when it is time for it. Answers what is then left to write and to take away. */
  async advance(
    key: string,
    destination: Destination,
    seen: Pick<TestWorld, 'ready' | 'secretVersion'>,
  ): Promise<TestStep> {
    const { caches, clock } = this.#tools;
    const [namespace] = splitKey(key);
    const pod = caches.pods.get(namespace, testPodName(destination.metadata.uid));
    const id = askedFor(destination);
    if (id === undefined && !pod) {
      this.leave(key);
      return {};
    }
    const users = caches.streams.byIndex(BY_DESTINATION, key);
    const onAir = users.filter(({ status }) => holdsDestination(status?.phase)).map(({ metadata }) => metadata.name);
    const now = clock.now();
    const step = decideTest(destination, { ...seen, pod, onAir, now });
    if (id === undefined || step.result) {
      this.leave(key);
      return step;
    }
    // Destinations that were made with kubectl share as an account does.
    const account = destination.metadata.labels?.[ACCOUNT_LABEL] ?? '';
    if (pod) this.#turns.hold(key, account);
    if (!step.make) return step;
    if (!this.#turns.take(key, account, now.getTime())) return { requeueAfterMs: TURN_AGAIN_MS };
    const refusal = await this.#make(namespace, destination, seen.secretVersion ?? '');
    if (refusal === undefined) return step;
    this.leave(key);
    return { result: notRun(id, `Its pod is refused: ${refusal}`, now) };
  }

  /** There is no test of it any more. */
  leave(key: string): void {
    this.#turns.leave(key);
  }

  async remove({ metadata }: Pod): Promise<void> {
    const { name, namespace = '', uid } = metadata;
    await this.#tools.kube.delete(PODS, namespace, name, { uid });
  }

  /** Answers why it cannot be made, if only others can change that. */
  async #make(namespace: string, destination: Destination, secretVersion: string): Promise<string | undefined> {
    const { kube, caches, settings } = this.#tools;
    const pod = buildProbe(destination, secretVersion, settings);
    try {
      caches.pods.upsert(await kube.create(PODS, namespace, pod));
      return undefined;
    } catch (error) {
      if (isRefusal(error)) return error.message;
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
    // We did not hear of it, or it is somebody else's: the next look tells.
    caches.pods.upsert(await kube.get(PODS, namespace, pod.metadata.name));
    return undefined;
  }
}
