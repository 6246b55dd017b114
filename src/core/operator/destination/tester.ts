/** Makes the pods of destinations' tests, and removes them. */

import { PODS, type Pod } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import { ACCOUNT_LABEL, testPodName } from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import { holdsDestination } from '../../resources/destination/spec.ts';
import { BY_DESTINATION } from '../caches/caches.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { describeRefusal, isRefusal, splitKey } from '../runtime/controller.ts';
import { decideTest, findAskedTest, isTooLate, notRun, type TestObservation, type TestStep } from './test.ts';
import { buildTestPod } from './test-pod.ts';
import { TestTurns } from './test-turns.ts';

/** Tests at the same time: a thousand destinations that are tested at once must not fill the cluster with pods. */
const MAX_TESTS = 20;
/** Tests of one account at the same time: five others find a place at once. */
const MAX_TESTS_EACH = 4;
const TURN_REQUEUE_MS = 1000;
const PATIENCE_MS = 5 * TURN_REQUEUE_MS;
/** How long until a refused pod is tried again. */
const REFUSED_RETRY_MS = 2000;

export class Tester {
  readonly #deps: ControllerDeps;
  readonly #turns = new TestTurns({ total: MAX_TESTS, each: MAX_TESTS_EACH, patienceMs: PATIENCE_MS });

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
  }

  /** Makes the pod when its turn has come. Returns the result to write and the pod to remove. */
  async advance(
    key: string,
    destination: Destination,
    seen: Pick<TestObservation, 'ready' | 'secretVersion'>,
  ): Promise<TestStep> {
    const { caches, clock } = this.#deps;
    const [namespace] = splitKey(key);
    const pod = this.#findPod(destination);
    const id = findAskedTest(destination);
    if (id === undefined && !pod) {
      this.leave(key);
      return {};
    }
    const users = caches.streams.byIndex(BY_DESTINATION, key);
    const onAir = users
      .filter(({ status }) => holdsDestination(status?.phase))
      .map(({ metadata, spec }) => spec.displayName || metadata.name);
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
    if (!this.#turns.take(key, account, now.getTime())) return { requeueAfterMs: TURN_REQUEUE_MS };
    const refusal = await this.#make(namespace, destination, seen.secretVersion ?? '');
    if (refusal === undefined) return step;
    this.leave(key);
    // The cause may pass while the requester waits.
    if (!isTooLate(id, now)) return { requeueAfterMs: REFUSED_RETRY_MS };
    return { result: notRun(id, `Kubernetes rejected the test pod: ${refusal}`, now) };
  }

  /** Whether no test of the destination is asked for, and no pod of one is left. */
  isIdle(destination: Destination): boolean {
    return findAskedTest(destination) === undefined && this.#findPod(destination) === undefined;
  }

  /** There is no test of it any more. */
  leave(key: string): void {
    this.#turns.leave(key);
  }

  async remove({ metadata }: Pod): Promise<void> {
    const { name, namespace = '', uid } = metadata;
    await this.#deps.kube.delete(PODS, namespace, name, { uid });
  }

  #findPod({ metadata }: Destination): Pod | undefined {
    return this.#deps.caches.pods.get(metadata.namespace ?? '', testPodName(metadata.uid));
  }

  /** Returns why the pod cannot be made, if only others can change that. */
  async #make(namespace: string, destination: Destination, secretVersion: string): Promise<string | undefined> {
    const { kube, caches, settings } = this.#deps;
    const pod = buildTestPod(destination, secretVersion, settings);
    try {
      caches.pods.upsert(await kube.create(PODS, namespace, pod));
      return undefined;
    } catch (error) {
      if (isRefusal(error)) return describeRefusal(error, namespace);
      if (!hasReason(error, 'AlreadyExists')) throw error;
    }
    // The watch has not reported it yet, or it is somebody else's: the next reconcile decides.
    caches.pods.upsert(await kube.get(PODS, namespace, pod.metadata.name));
    return undefined;
  }
}
