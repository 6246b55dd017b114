/** Tells what changed in the status of a destination as Events. Pure: no I/O, no clock. */

import type { EventInput } from '../../kube/events.ts';
import type { Condition } from '../../resources/common/conditions.ts';
import type { TestStatus } from '../../resources/destination/spec.ts';
import { buildNormalEvent, buildWarningEvent } from '../runtime/controller.ts';

/** `test`: one that has just come to its end. */
export function buildDestinationEvents(
  before: Condition | undefined,
  ready: Condition,
  test?: TestStatus,
): EventInput[] {
  const events: EventInput[] = [];
  if (before?.reason !== ready.reason)
    events.push(
      ready.status === 'True'
        ? buildNormalEvent('Ready', ready.message)
        : buildWarningEvent(ready.reason, ready.message),
    );
  if (test)
    events.push(test.ok ? buildNormalEvent('TestPassed', test.message) : buildWarningEvent('TestFailed', test.message));
  return events;
}
