/**
 * Tests a destination by publishing to it for a moment. The API server may not read Secrets, so it sets an annotation; the operator
 * runs the test and writes the result to the status.
 */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { TEST_REFUSALS } from '../../../core/lib/codes/destinations.ts';
import { currentIntent } from '../../../core/lib/context.ts';
import { TEST_ANNOTATION } from '../../../core/resources/common/names.ts';
import type { Destination } from '../../../core/resources/destination/resource.ts';
import { holdsDestination, NOT_RUN, ON_AIR, type TestStatus } from '../../../core/resources/destination/spec.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { AppError } from '../../lib/errors.ts';
import { newId, type OwnedResources } from '../limits/owned-resources.ts';
import type { Quotas } from '../limits/quotas.ts';
import { callReached, listReachedIds } from '../limits/reached.ts';
import { createMinuteCounter } from './minute-counter.ts';
import type { DestinationTest } from './record.ts';

/** Time limit: a failing attempt takes a few seconds at most, and the start of its pod as long again. */
const TEST_MS = 30_000;

export interface TestsDeps {
  destinations: OwnedResources<Destination>;
  /** Needs the index `destination`. */
  streams: OwnedResources<LoopStream>;
  quotas: Pick<Quotas, 'check'>;
  clock?: Clock;
}

/** Converts a result to the public shape. */
export const showTest = ({ ok, stage, code, message, tookMs }: TestStatus): DestinationTest => ({
  ok,
  stage,
  message,
  tookMs,
  code: code ?? null,
});

/** A failed test is a result; an error means that no test ran. */
export function createTests({ destinations, streams, quotas, clock = systemClock }: TestsDeps) {
  const counter = createMinuteCounter(clock);

  /** Limits tests, since each starts a pod and connects to a third party. Throws `rate_limited`. */
  const keepPace = async (accountId: string): Promise<void> => {
    const { before, undo } = counter.begin(accountId);
    try {
      await quotas.check(accountId, { name: 'destinationTests', used: before, wanted: 1 });
    } catch (error) {
      undo();
      throw error;
    }
  };

  const requireOffAir = (accountId: string, id: string): void => {
    const users = streams
      .referring(accountId, 'destination', id)
      .filter(({ status }) => holdsDestination(status?.phase));
    if (users.length === 0) return;
    const detail = `Streams are on air to this destination: ${callReached(users)}.`;
    throw new AppError('destination_on_air', detail, { extras: { streamIDs: listReachedIds(users) } });
  };

  /**
   * Requests a test. A request during a test replaces the pending one, and the operator runs one test for both. The earlier wait
   * therefore ends with the next result.
   */
  const ask = async (accountId: string, destination: Destination, testId: string): Promise<TestStatus | undefined> => {
    const asked = `${clock.now().toISOString()} ${testId}`;
    const annotations = { [TEST_ANNOTATION]: asked };
    const { metadata, status } = await destinations.patch(destination, { metadata: { annotations } });
    const before = status?.test?.id;
    const findResult = (now: Destination): TestStatus | undefined => {
      const result = now.status?.test;
      const isSucceeded = now.metadata.annotations?.[TEST_ANNOTATION] !== asked;
      return result?.id === asked || (isSucceeded && result?.id !== before) ? result : undefined;
    };
    let answer: TestStatus | undefined;
    const holds = (now: Destination | undefined): boolean => {
      answer = now && findResult(now);
      return now === undefined || answer !== undefined;
    };
    await destinations.until(accountId, metadata.name, holds, TEST_MS);
    return answer;
  };

  return async (accountId: string, id: string): Promise<DestinationTest> => {
    const destination = destinations.get(accountId, id);
    const testId = currentIntent()?.newId('tst') ?? newId('tst');
    const known = destination.status?.test;
    // An earlier try of the same request got this result.
    if (known?.id.endsWith(` ${testId}`) && known.code !== NOT_RUN) return showTest(known);
    requireOffAir(accountId, id);
    await keepPace(accountId);
    const result = await ask(accountId, destination, testId);
    // The destination may be gone by now.
    destinations.get(accountId, id);
    if (result?.code === ON_AIR) throw new AppError('destination_on_air', result.message);
    if (result && result.code !== NOT_RUN) return showTest(result);
    const why = result?.message ?? 'It did not end in time.';
    throw new AppError('upstream_unavailable', `${TEST_REFUSALS.not_run.meaning} ${why}`);
  };
}
